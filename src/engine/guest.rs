//! Guests: those who need the pool for once, behind the fleet's clients in the same array.
//!
//! A request of the background load takes a free slot, makes its acquisitions by the same rules as any
//! client, and gives the slot back. Its draws are keyed by its number, not by its slot: all policies meet the
//! same requests.

use super::client::{Client, Phase};
use super::key::{Class, Key, Layout, NEVER};
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use crate::policy::{Handling, Outcome};
use crate::random::{Moment, Purpose, Site, World};
use crate::scenario::Background;
use crate::units::{SimTime, Span, TICKS_PER_SECOND};

/// The background load: when the next request comes, and who is inside.
#[derive(Debug)]
pub(super) struct Guests<'a> {
    pub settings: &'a Background,
    pub handling: &'a Handling,
    /// Requests so far.
    number: u32,
    next: SimTime,
    /// Requests a second, at present.
    rate: f64,
    /// Free slots, counted within the array of clients; the last left is the first taken.
    free: Vec<u32>,
}

impl<'a> Guests<'a> {
    pub fn new(settings: &'a Background, handling: &'a Handling, world: &World) -> Guests<'a> {
        let rate = settings.rate;
        let mut guests =
            Guests { settings, handling, number: 0, next: SimTime::ZERO, rate, free: Vec::new() };
        guests.schedule(SimTime::ZERO, world);
        guests
    }

    /// The key of the next arrival.
    pub fn next(&self, layout: Layout) -> Key {
        layout.key(self.next, Class::Supply, 0)
    }

    /// So many `times` as many requests come from now on. What is left of the wait for the next one shrinks
    /// with it, so that the arrivals are a Poisson process of that rate.
    pub fn change_rate(&mut self, now: SimTime, times: f64) {
        let rate = self.settings.rate * times;
        if rate != self.rate {
            let left = self.next.since(now).ticks() as f64 * self.rate / rate;
            self.next = now + Span::from_ticks_f64(left);
            self.rate = rate;
        }
    }

    fn schedule(&mut self, now: SimTime, world: &World) {
        let site = world.site(Purpose::Request, self.number, Moment::default());
        let wait = site.exponential() * TICKS_PER_SECOND as f64 / self.rate;
        self.next = now + Span::from_ticks_f64(wait);
    }
}

impl<O: Observer> Simulation<'_, O> {
    /// Whether this is no client of the fleet.
    #[inline]
    pub(super) fn is_guest(&self, client: u32) -> bool {
        client >= self.scenario.fleet.clients
    }

    /// A request of the background load comes in, and its first attempt sets out.
    pub(super) fn receive(&mut self) {
        let Some(guests) = &mut self.guests else { return };
        let number = guests.number;
        guests.number = number.wrapping_add(1);
        guests.schedule(self.now, &self.world);
        let room = self.scenario.fleet.clients + guests.settings.at_once;
        let slot = match guests.free.pop() {
            Some(slot) => slot,
            None if (self.clients.len() as u32) < room => {
                self.clients.push(Client::new(0));
                self.clients.len() as u32 - 1
            }
            None => return self.emit(Event::RequestTurnedAway),
        };
        let state = &mut self.clients[slot as usize];
        state.start = number;
        state.failures = 0;
        state.attempt = state.attempt.next_poll();
        self.emit(Event::RequestCame { client: slot });
        self.begin_poll(slot, Span::ZERO);
        self.clients[slot as usize].due = self.now;
    }

    /// Requests under way.
    pub(super) fn requests_under_way(&self) -> u32 {
        let free = self.guests.as_ref().map_or(0, |guests| guests.free.len());
        self.clients.len() as u32 - self.scenario.fleet.clients - free as u32
    }

    /// The server has done with a request: its client may ask again if it failed.
    pub(super) fn end_request(&mut self, client: u32, outcome: Outcome) {
        let handling = self.guests.as_ref().expect("a guest has a host").handling;
        let state = &self.clients[client as usize];
        let (came, good) = (state.due, outcome != Outcome::Error);
        let tries = state.failures.saturating_add(1);
        let site = self.site(Purpose::OuterJitter, client, Moment::default());
        let again = match good {
            true => None,
            false => handling.client.next(u32::from(tries), self.now.since(came), site),
        };
        let state = &mut self.clients[client as usize];
        if let Some(delay) = again {
            state.failures = tries;
            state.attempt = state.attempt.next_poll();
            self.begin_poll(client, delay.max(handling.retry_after.unwrap_or(Span::ZERO)));
            self.clients[client as usize].due = came;
        } else {
            state.phase = Phase::Away;
            state.timer = NEVER;
            self.emit(Event::RequestEnded { client, came, good });
            self.guests.as_mut().expect("a guest has a host").free.push(client);
        }
    }

    /// Where a client, or a guest by its number and try, draws.
    #[inline]
    pub(super) fn site(&self, purpose: Purpose, client: u32, moment: Moment) -> Site {
        if !self.is_guest(client) {
            return self.world.site(purpose, client, moment);
        }
        let Client { start, failures, .. } = self.clients[client as usize];
        // What a request asks of the database does not depend on how often it has come.
        let poll = if purpose == Purpose::Demand { 0 } else { u32::from(failures) };
        let who = self.scenario.fleet.clients.wrapping_add(start);
        self.world.site(purpose, who, Moment { poll, ..moment })
    }
}
