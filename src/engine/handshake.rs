//! The handshake station: every attempt passes one server, first in, first out.
//!
//! A handshake has two parts: up to the check of the client limit, which takes the share of it that a
//! refused attempt costs, and the rest for those that pass. Who has gone away in the meantime costs
//! what a refused one does.

use std::collections::VecDeque;

use super::client::AttemptId;
use super::key::{Class, Key, Layout, NEVER};
use crate::scenario::{CountFrom, Handshake as Settings};
use crate::units::{SimTime, Span};

/// Attempts in the station.
#[derive(Debug)]
pub(super) struct Handshake {
    layout: Layout,
    counted: bool,
    to_check: Span,
    after_check: Span,
    queue: VecDeque<(u32, AttemptId)>,
    /// Whether the first in the queue has passed the check.
    passed: bool,
    next: Key,
}

impl Handshake {
    pub fn new(settings: &Settings, layout: Layout) -> Handshake {
        let to_check =
            Span::from_ticks_f64(settings.service.ticks() as f64 * settings.refused_cost);
        Handshake {
            layout,
            counted: settings.count == CountFrom::Accept,
            to_check,
            after_check: Span::from_ticks(settings.service.ticks() - to_check.ticks()),
            queue: VecDeque::new(),
            passed: false,
            next: NEVER,
        }
    }

    /// The key of its next event.
    #[inline]
    pub fn next(&self) -> Key {
        self.next
    }

    /// Attempts in the station that hold a client slot.
    pub fn clients(&self) -> u32 {
        if self.counted { self.queue.len() as u32 } else { 0 }
    }

    pub fn enter(&mut self, now: SimTime, client: u32, attempt: AttemptId) {
        self.queue.push_back((client, attempt));
        if self.queue.len() == 1 {
            self.schedule(now, self.to_check);
        }
    }

    /// The attempt whose check, or handshake, is done now, and whether it had passed the check before.
    pub fn due(&self) -> (u32, AttemptId, bool) {
        let &(client, attempt) = self.queue.front().expect("a handshake was due");
        (client, attempt, self.passed)
    }

    /// The first attempt has passed the check: the rest of its handshake follows.
    pub fn pass(&mut self, now: SimTime) {
        self.passed = true;
        self.schedule(now, self.after_check);
    }

    /// The first attempt leaves the station.
    pub fn leave(&mut self, now: SimTime) {
        self.queue.pop_front();
        self.passed = false;
        match self.queue.is_empty() {
            true => self.next = NEVER,
            false => self.schedule(now, self.to_check),
        }
    }

    /// Empties the station.
    pub fn forget(&mut self) {
        self.queue.clear();
        self.passed = false;
        self.next = NEVER;
    }

    fn schedule(&mut self, now: SimTime, after: Span) {
        self.next = self.layout.key(now + after, Class::Handshake, 0);
    }
}
