//! The pooler's queue: places waiting for a backend, first in, first out.
//!
//! A place belongs to an attempt. Whether its client still waits is the client's to know: a place
//! whose client has gone on is dead. Dead places are kept (and hold their client slot until a backend
//! or the timeout reaches them) or dropped at once; a dropped one leaves a tombstone that is skipped,
//! so that nobody searches the queue.

use std::collections::VecDeque;

use super::client::AttemptId;
use super::key::{Class, Key, Layout, NEVER};
use crate::units::{SimTime, Span};

/// A place in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub admitted: SimTime,
    pub client: u32,
    pub attempt: AttemptId,
}

/// Places in the order of admission.
#[derive(Debug)]
pub(super) struct Queue {
    layout: Layout,
    places: VecDeque<Place>,
    /// Places that hold a client slot: tombstones do not.
    waiting: u32,
    timeout: Option<Span>,
    /// When the head times out.
    expiry: Key,
}

impl Queue {
    pub fn new(timeout: Option<Span>, layout: Layout) -> Queue {
        Queue { layout, places: VecDeque::new(), waiting: 0, timeout, expiry: NEVER }
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
                self.layout.key(head.admitted + timeout, Class::Expiry, 0)
            }
            _ => NEVER,
        };
    }
}
