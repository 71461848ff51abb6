//! The pooler's queue: places waiting for a backend, first in, first out.
//!
//! A place belongs to an attempt. Whether its client still waits is the client's to know: a place
//! whose client has gone on is dead. Dead places are kept (and hold their client slot until a backend
//! or the timeout reaches them) or dropped at once; a dropped one leaves a tombstone that is skipped,
//! so that nobody searches the queue.

use std::collections::VecDeque;

use super::client::AttemptId;
use super::key::{Class, Key, Layout, NEVER};
use crate::policy::Leave;
use crate::scenario::Pooler;
use crate::units::{SimTime, Span};

/// A place in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub admitted: SimTime,
    pub client: u32,
    pub attempt: AttemptId,
    /// How its client leaves it, should it lose patience.
    pub leave: Leave,
}

/// Places in the order of admission.
#[derive(Debug)]
pub(super) struct Queue {
    layout: Layout,
    places: VecDeque<Place>,
    /// Places that hold a client slot: tombstones do not.
    waiting: u32,
    timeout: Option<Span>,
    /// How often the pooler looks for places that have waited too long.
    grid: Span,
    /// When the head times out.
    expiry: Key,
}

impl Queue {
    pub fn new(pooler: &Pooler, layout: Layout) -> Queue {
        Queue {
            layout,
            places: VecDeque::new(),
            waiting: 0,
            timeout: pooler.query_wait_timeout,
            grid: pooler.timeout_grid.unwrap_or(Span::from_ticks(1)),
            expiry: NEVER,
        }
    }

    /// The head of the queue.
    #[inline]
    pub fn head(&self) -> Option<&Place> {
        self.places.front()
    }

    /// How long all places that hold a slot have waited up to `now`, summed; `dead` tells tombstones.
    pub fn waited_so_far(&self, now: SimTime, dead: impl Fn(&Place) -> bool) -> u64 {
        let held = self.places.iter().filter(|place| !dead(place));
        held.map(|place| now.since(place.admitted).ticks()).sum()
    }

    /// Places that hold a client slot.
    #[inline]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// The key of the next timeout.
    #[inline]
    pub fn expiry(&self) -> Key {
        self.expiry
    }

    #[inline]
    pub fn push(&mut self, place: Place) {
        self.places.push_back(place);
        self.waiting += 1;
        if self.places.len() == 1 {
            self.watch_head();
        }
    }

    /// Takes the head, a place that holds a slot.
    #[inline]
    pub fn pop(&mut self) -> Option<Place> {
        let place = self.places.pop_front()?;
        self.waiting -= 1;
        self.watch_head();
        Some(place)
    }

    /// A place has been given up: it no longer holds a slot. Call [`bury`](Self::bury) when its
    /// client has gone on.
    pub fn give_up(&mut self, places: u32) {
        self.waiting -= places;
    }

    /// Removes tombstones from the head, where `dead` tells which they are.
    pub fn bury(&mut self, dead: impl Fn(&Place) -> bool) {
        while self.places.front().is_some_and(&dead) {
            self.places.pop_front();
        }
        self.watch_head();
    }

    /// Empties the queue and returns how many places held a slot.
    pub fn forget(&mut self) -> u32 {
        self.places.clear();
        self.watch_head();
        std::mem::take(&mut self.waiting)
    }

    #[inline]
    fn watch_head(&mut self) {
        self.expiry = match (self.places.front(), self.timeout) {
            (Some(head), Some(timeout)) => {
                let due = (head.admitted + timeout).ticks();
                let seen = due.div_ceil(self.grid.ticks()).saturating_mul(self.grid.ticks());
                self.layout.key(SimTime::from_ticks(seen), Class::Expiry, 0)
            }
            _ => NEVER,
        };
    }
}
