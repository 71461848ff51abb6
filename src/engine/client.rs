//! The clients: a flat array of small states.
//!
//! A client has one timer. Instead of being searched and removed from the calendar, a timer that no
//! longer holds is left there and not honoured: the client remembers which one does.

use super::key::{Key, NEVER};
use crate::random::Moment;
use crate::units::SimTime;

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its next attempt will reach the pooler when its timer fires: asleep, between retries or on its
    /// way.
    Away,
    /// It will ask its process for a connection when its timer fires.
    Asking,
    /// All its workers are busy: it looks again when its timer fires.
    Busy,
    /// It waits for a connection of its process; its timer is the end of that wait.
    Lining,
    /// Its attempt is being admitted; its timer, if any, is the connect timeout.
    Connecting,
    /// The rate limiter lets its attempt wait, which goes on when its timer fires.
    Held,
    /// Its attempt was refused, which it learns when its timer fires.
    Refused,
    /// The same, by the rate limiter.
    Throttled,
    /// It holds a place in the queue; its timer, if any, is the end of its patience.
    Waiting,
    /// Its patience has ended, but it cannot leave before it has been served.
    Captive,
    /// Its claim is being executed.
    Served,
    /// Its claim is done and its backend stays with it: the next claim begins when its timer fires.
    Linked,
}

/// Which attempt of a client: unique over its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct AttemptId {
    /// Polls before this one, counted on across restarts.
    pub poll: u32,
    /// Attempts before this one in the same acquisition.
    pub attempt: u32,
    /// Transactions before this one in the same poll.
    pub transaction: u8,
}

/// The state of one client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    /// The timer that holds.
    pub timer: Key,
    /// When the present poll began.
    pub poll_began: SimTime,
    /// When it was due, which a ticker counts from.
    pub due: SimTime,
    /// When the first attempt of the present acquisition set out.
    pub acquisition_began: SimTime,
    /// When its attempt was admitted, while it waits; when it arrived, while the rate limiter holds it.
    pub admitted: SimTime,
    /// The present attempt.
    pub attempt: AttemptId,
    /// Where its poll schedule stands.
    pub step: u32,
    /// Which start of the client this is; draws of a start are keyed by it.
    pub start: u32,
    /// Polls in a row that have failed.
    pub failures: u16,
    pub phase: Phase,
    /// Whether it holds a connection of its process.
    pub has_connection: bool,
}

/// The transaction number of a boot check: no poll has so many.
pub(super) const BOOT_CHECK: u8 = u8::MAX;

impl AttemptId {
    /// The moment of a draw that must not depend on the attempt.
    #[inline]
    pub fn transaction_moment(self) -> Moment {
        Moment { poll: self.poll, transaction: self.transaction, attempt: 0 }
    }

    /// The moment of a draw for this attempt alone.
    #[inline]
    pub fn moment(self) -> Moment {
        Moment { poll: self.poll, transaction: self.transaction, attempt: self.attempt }
    }

    /// The first attempt of the next poll.
    #[inline]
    pub fn next_poll(self) -> AttemptId {
        AttemptId { poll: self.poll.wrapping_add(1), ..AttemptId::default() }
    }
}

impl Client {
    /// A client that has not begun its first poll.
    pub fn new(step: u32) -> Client {
        Client {
            timer: NEVER,
            poll_began: SimTime::ZERO,
            due: SimTime::ZERO,
            acquisition_began: SimTime::ZERO,
            admitted: SimTime::ZERO,
            attempt: AttemptId::default(),
            step,
            start: 0,
            failures: 0,
            phase: Phase::Away,
            has_connection: false,
        }
    }
}
