//! Counts of events, over the whole run and over the measured window.

use crate::engine::observer::{Begins, Event};

/// How often each thing happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Polls begun.
    pub polls: u64,
    /// Acquisitions begun.
    pub acquisitions: u64,
    /// Attempts begun.
    pub attempts: u64,
    /// Attempts refused.
    pub refused: u64,
    /// Attempts given a place.
    pub admitted: u64,
    /// Attempts granted a backend.
    pub served: u64,
    /// Attempts timed out in the queue.
    pub timed_out: u64,
    /// Attempts timed out in the handshake.
    pub connect_timed_out: u64,
    /// Attempts timed out in the pool of their client's process.
    pub pool_timed_out: u64,
    /// Attempts abandoned.
    pub abandoned: u64,
    /// Attempts cut off by a disturbance.
    pub dropped: u64,
    /// Those of them that held a place.
    pub dropped_waiting: u64,
    /// Attempts that the end of the run cut short.
    pub pending: u64,
    /// Those of them that held a place.
    pub pending_waiting: u64,
    /// Later claims of a session started.
    pub continued: u64,
    /// Claims started for dead places.
    pub dead_served: u64,
    /// Dead places timed out.
    pub places_expired: u64,
    /// Places that a disturbance removed, dead or alive.
    pub places_forgotten: u64,
    /// Claims completed while their client waited.
    pub good_claims: u64,
    /// Claims completed for nobody.
    pub wasted_claims: u64,
    /// Running claims cut off by a disturbance.
    pub dropped_claims: u64,
    /// Running claims that lost client and backend and run on.
    pub orphaned_claims: u64,
    /// Dead places that a backend passed over.
    pub places_skipped: u64,
    /// Dead places dropped when their client left.
    pub places_given_up: u64,
    /// Dead places that a backend was closed for.
    pub dead_closed: u64,
    /// Backends closed because their client had left, those included.
    pub backends_lost: u64,
    /// Backends logged in.
    pub logins: u64,
    /// Logins that failed.
    pub logins_failed: u64,
    /// How long the places that have ended had waited, summed, in microseconds.
    pub waited: u64,
    /// How long the claims that have ended had run, and backends been linked between those of a
    /// session, summed, in microseconds.
    pub run: u64,
}

impl Counts {
    /// Counts one event.
    #[inline(always)]
    pub fn count(&mut self, event: &Event) {
        match *event {
            Event::Departed { begins, .. } => {
                self.attempts += 1;
                self.acquisitions += u64::from(begins <= Begins::Acquisition);
                self.polls += u64::from(begins == Begins::Poll);
            }
            Event::Refused { .. } => self.refused += 1,
            Event::Admitted { .. } => self.admitted += 1,
            Event::Granted { waited, .. } => {
                self.served += 1;
                self.waited += waited.ticks();
            }
            // Its place may stay on, and so its wait; see the ends of dead places.
            Event::Abandoned { .. } => self.abandoned += 1,
            Event::TimedOut { waited, .. } => {
                self.timed_out += 1;
                self.waited += waited.ticks();
            }
            Event::ConnectTimedOut { .. } => self.connect_timed_out += 1,
            Event::PoolTimedOut { .. } => self.pool_timed_out += 1,
            Event::Dropped { waited, .. } => {
                self.dropped += 1;
                self.dropped_waiting += u64::from(waited.is_some());
            }
            Event::Pending { waited, .. } => {
                self.pending += 1;
                self.pending_waiting += u64::from(waited.is_some());
            }
            Event::PlaceExpired { waited } => {
                self.places_expired += 1;
                self.waited += waited.ticks();
            }
            Event::PlacesForgotten { places, waited } => {
                self.places_forgotten += u64::from(places);
                self.waited += waited;
            }
            Event::PlaceGivenUp { waited } => {
                self.places_given_up += 1;
                self.waited += waited.ticks();
            }
            Event::PlaceSkipped { waited } => {
                self.places_skipped += 1;
                self.waited += waited.ticks();
            }
            Event::DeadServed { waited, .. } => {
                self.dead_served += 1;
                self.waited += waited.ticks();
            }
            Event::DeadClosed { waited, .. } => {
                self.dead_closed += 1;
                self.backends_lost += 1;
                self.waited += waited.ticks();
            }
            Event::BackendLost { .. } => self.backends_lost += 1,
            Event::LoggedIn => self.logins += 1,
            Event::LoginFailed => self.logins_failed += 1,
            Event::Completed { good, service, .. } => {
                *if good { &mut self.good_claims } else { &mut self.wasted_claims } += 1;
                self.run += service.ticks();
            }
            Event::Continued { idle, .. } => {
                self.continued += 1;
                self.run += idle.ticks();
            }
            Event::SessionCut { idle, .. } => self.run += idle.ticks(),
            Event::ClaimDropped { service, .. } => {
                self.dropped_claims += 1;
                self.run += service.ticks();
            }
            Event::ClaimOrphaned { service, .. } => {
                self.orphaned_claims += 1;
                self.run += service.ticks();
            }
            Event::PollEnded { .. }
            | Event::Disturbed { .. }
            | Event::Restarted { .. }
            | Event::Stopped { .. }
            | Event::PoolResized { .. }
            | Event::Exited { .. }
            | Event::LoginBegan => {}
        }
    }

    /// What has happened since `earlier`.
    pub fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            polls: self.polls - earlier.polls,
            acquisitions: self.acquisitions - earlier.acquisitions,
            attempts: self.attempts - earlier.attempts,
            refused: self.refused - earlier.refused,
            admitted: self.admitted - earlier.admitted,
            served: self.served - earlier.served,
            timed_out: self.timed_out - earlier.timed_out,
            connect_timed_out: self.connect_timed_out - earlier.connect_timed_out,
            pool_timed_out: self.pool_timed_out - earlier.pool_timed_out,
            abandoned: self.abandoned - earlier.abandoned,
            dropped: self.dropped - earlier.dropped,
            dropped_waiting: self.dropped_waiting - earlier.dropped_waiting,
            pending: self.pending - earlier.pending,
            pending_waiting: self.pending_waiting - earlier.pending_waiting,
            continued: self.continued - earlier.continued,
            dead_served: self.dead_served - earlier.dead_served,
            places_expired: self.places_expired - earlier.places_expired,
            places_forgotten: self.places_forgotten - earlier.places_forgotten,
            good_claims: self.good_claims - earlier.good_claims,
            wasted_claims: self.wasted_claims - earlier.wasted_claims,
            dropped_claims: self.dropped_claims - earlier.dropped_claims,
            orphaned_claims: self.orphaned_claims - earlier.orphaned_claims,
            places_skipped: self.places_skipped - earlier.places_skipped,
            places_given_up: self.places_given_up - earlier.places_given_up,
            dead_closed: self.dead_closed - earlier.dead_closed,
            backends_lost: self.backends_lost - earlier.backends_lost,
            logins: self.logins - earlier.logins,
            logins_failed: self.logins_failed - earlier.logins_failed,
            waited: self.waited - earlier.waited,
            run: self.run - earlier.run,
        }
    }
}
