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
            Event::Granted { .. } => self.served += 1,
            Event::Abandoned { .. } => self.abandoned += 1,
            Event::TimedOut { .. } => self.timed_out += 1,
            Event::Dropped { waited, .. } => {
                self.dropped += 1;
                self.dropped_waiting += u64::from(waited.is_some());
            }
            Event::Pending { waited, .. } => {
                self.pending += 1;
                self.pending_waiting += u64::from(waited.is_some());
            }
            Event::PlaceExpired => self.places_expired += 1,
            Event::PlacesForgotten { places } => self.places_forgotten += u64::from(places),
            Event::DeadServed { .. } => self.dead_served += 1,
            Event::Completed { good: true, .. } => self.good_claims += 1,
            Event::Completed { good: false, .. } => self.wasted_claims += 1,
            Event::ClaimDropped { .. } => self.dropped_claims += 1,
            Event::PollEnded { .. } | Event::Disturbed { .. } | Event::Restarted { .. } => {}
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
            abandoned: self.abandoned - earlier.abandoned,
            dropped: self.dropped - earlier.dropped,
            dropped_waiting: self.dropped_waiting - earlier.dropped_waiting,
            pending: self.pending - earlier.pending,
            pending_waiting: self.pending_waiting - earlier.pending_waiting,
            dead_served: self.dead_served - earlier.dead_served,
            places_expired: self.places_expired - earlier.places_expired,
            places_forgotten: self.places_forgotten - earlier.places_forgotten,
            good_claims: self.good_claims - earlier.good_claims,
            wasted_claims: self.wasted_claims - earlier.wasted_claims,
            dropped_claims: self.dropped_claims - earlier.dropped_claims,
        }
    }
}
