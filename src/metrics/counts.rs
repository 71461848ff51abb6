//! Counts of events, over the whole run and over the measured window.

use serde::{Deserialize, Serialize};

use crate::engine::observer::{Begins, Event, MOST_LAYERS};

/// How often each thing happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Polls begun.
    pub polls: u64,
    /// Acquisitions begun.
    pub acquisitions: u64,
    /// Attempts begun.
    pub attempts: u64,
    /// Attempts refused.
    pub refused: u64,
    /// Those of them that the rate limiter refused.
    pub throttled: u64,
    /// Tries that a guard of their client held back.
    pub rejected: u64,
    /// Retries that a guard denied.
    pub retries_denied: u64,
    /// Tries of the layers around the innermost, from the inside out.
    pub outer_tries: [u64; MOST_LAYERS - 1],
    /// Attempts given a place.
    pub admitted: u64,
    /// Those of them that opened a connection.
    pub connects: u64,
    /// Times that a client kept its connection after a transaction.
    pub connections_kept: u64,
    /// Connections closed that were kept and not in use.
    pub connections_closed: u64,
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
    /// Attempts cut off by a disturbance, or by a login that failed when no backend was left.
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
    /// Requests of the background load that came in.
    pub requests: u64,
    /// Requests that found no room.
    pub requests_turned_away: u64,
    /// Requests served.
    pub requests_served: u64,
    /// Requests whose client gave up.
    pub requests_failed: u64,
    /// Items of work that arrived.
    pub items: u64,
    /// Items that went back to their queue.
    pub items_returned: u64,
    /// Items done.
    pub items_done: u64,
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
            Event::Throttled { .. } => self.throttled += 1,
            Event::Rejected { begins, .. } => {
                self.rejected += 1;
                self.acquisitions += u64::from(begins <= Begins::Acquisition);
                self.polls += u64::from(begins == Begins::Poll);
            }
            Event::RetryDenied { .. } => self.retries_denied += 1,
            Event::OuterTry { within, .. } => {
                self.outer_tries[usize::from(within) - 1] += 1;
            }
            Event::Admitted { connects, .. } => {
                self.admitted += 1;
                self.connects += u64::from(connects);
            }
            Event::ConnectionKept { .. } => self.connections_kept += 1,
            Event::ConnectionsClosed { connections } => {
                self.connections_closed += u64::from(connections);
            }
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
            Event::RequestCame { .. } => self.requests += 1,
            Event::RequestTurnedAway => self.requests_turned_away += 1,
            Event::RequestEnded { good, .. } => {
                *if good { &mut self.requests_served } else { &mut self.requests_failed } += 1;
            }
            Event::ItemArrived { .. } => self.items += 1,
            Event::ItemReturned { .. } => self.items_returned += 1,
            Event::ItemDone { .. } => self.items_done += 1,
            Event::PollEnded { .. }
            | Event::ItemTaken { .. }
            | Event::Disturbed { .. }
            | Event::Restarted { .. }
            | Event::Stopped { .. }
            | Event::PoolResized { .. }
            | Event::Exited { .. }
            | Event::Left { .. }
            | Event::LoginBegan => {}
        }
    }

    /// What is left without a part of them: what came earlier, or happened to others.
    pub fn without(&self, part: &Counts) -> Counts {
        Counts {
            polls: self.polls - part.polls,
            acquisitions: self.acquisitions - part.acquisitions,
            attempts: self.attempts - part.attempts,
            refused: self.refused - part.refused,
            throttled: self.throttled - part.throttled,
            rejected: self.rejected - part.rejected,
            retries_denied: self.retries_denied - part.retries_denied,
            outer_tries: std::array::from_fn(|layer| {
                self.outer_tries[layer] - part.outer_tries[layer]
            }),
            admitted: self.admitted - part.admitted,
            connects: self.connects - part.connects,
            connections_kept: self.connections_kept - part.connections_kept,
            connections_closed: self.connections_closed - part.connections_closed,
            served: self.served - part.served,
            timed_out: self.timed_out - part.timed_out,
            connect_timed_out: self.connect_timed_out - part.connect_timed_out,
            pool_timed_out: self.pool_timed_out - part.pool_timed_out,
            abandoned: self.abandoned - part.abandoned,
            dropped: self.dropped - part.dropped,
            dropped_waiting: self.dropped_waiting - part.dropped_waiting,
            pending: self.pending - part.pending,
            pending_waiting: self.pending_waiting - part.pending_waiting,
            continued: self.continued - part.continued,
            dead_served: self.dead_served - part.dead_served,
            places_expired: self.places_expired - part.places_expired,
            places_forgotten: self.places_forgotten - part.places_forgotten,
            good_claims: self.good_claims - part.good_claims,
            wasted_claims: self.wasted_claims - part.wasted_claims,
            dropped_claims: self.dropped_claims - part.dropped_claims,
            orphaned_claims: self.orphaned_claims - part.orphaned_claims,
            places_skipped: self.places_skipped - part.places_skipped,
            places_given_up: self.places_given_up - part.places_given_up,
            dead_closed: self.dead_closed - part.dead_closed,
            backends_lost: self.backends_lost - part.backends_lost,
            logins: self.logins - part.logins,
            logins_failed: self.logins_failed - part.logins_failed,
            requests: self.requests - part.requests,
            requests_turned_away: self.requests_turned_away - part.requests_turned_away,
            requests_served: self.requests_served - part.requests_served,
            requests_failed: self.requests_failed - part.requests_failed,
            items: self.items - part.items,
            items_returned: self.items_returned - part.items_returned,
            items_done: self.items_done - part.items_done,
            waited: self.waited - part.waited,
            run: self.run - part.run,
        }
    }
}
