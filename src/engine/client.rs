//! The clients: two flat arrays of small states.
//!
//! What a client is about, its [`Stand`], is all there is to know of one that sleeps, and fits fifteen
//! bytes: where everybody is served at once nothing else is ever read. What it remembers of the poll
//! under way, its [`Client`], is written when that poll begins; until a client has first needed it, its
//! memory has not been touched, and costs nothing.
//!
//! A client has one timer. Instead of being searched and removed from the calendar, a timer that no
//! longer holds is left there and not honoured: the client remembers which one does.

use bytemuck::Zeroable;

use super::key::{Key, NEVER};
use crate::random::Moment;
use crate::units::SimTime;

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The first attempt of its next poll will reach the pooler when its timer fires. It set out a round
    /// trip before, when the poll began, and nothing of that is written down yet.
    Asleep,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Zeroable)]
pub(super) struct AttemptId {
    /// Polls before this one, counted on across restarts.
    pub poll: u32,
    /// Attempts before this one in the same acquisition.
    pub attempt: u32,
    /// Transactions before this one in the same poll.
    pub transaction: u8,
}

/// Where a client stands, and what wakes it.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed)]
pub(super) struct Stand {
    /// The timer that holds.
    pub timer: Key,
    /// While it is asleep, the number of the poll that is to come.
    pub poll: u32,
    /// Where its poll schedule stands.
    pub step: u16,
    pub phase: Phase,
}

/// What a client remembers while it is not asleep.
#[derive(Clone, Copy, Debug, Zeroable)]
pub(super) struct Client {
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
    /// Which start of the client this is; draws of a start are keyed by it.
    pub start: u32,
    /// Polls in a row that have failed.
    pub failures: u16,
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

impl Stand {
    /// A client that has not begun its first poll.
    pub const NEW: Stand = Stand { timer: NEVER, poll: 0, step: 0, phase: Phase::Away };

    /// Sets how far its schedule has come. One that still grows after 65,535 steps grows no further.
    #[inline]
    pub fn set_step(&mut self, step: u32) {
        self.step = step.min(u16::MAX.into()) as u16;
    }
}
