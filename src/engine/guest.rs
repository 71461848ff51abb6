//! Guests: those who need the pool for once, behind the fleet's clients in the same array.
//!
//! A request of the background load, or a worker whose item needs further transactions, takes a free
//! slot, makes its acquisitions by the same rules as any client, and gives the slot back. Its draws are
//! keyed by what it is, not by its slot: all policies meet the same requests.

use std::ops::Range;

use bytemuck::Zeroable;

use super::client::{Client, Phase, Stand};
use super::connections::Connection;
use super::key::{Class, Key, Layout, NEVER};
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use super::timers::Timers;
use super::work::{Item, Works};
use crate::policy::{ClientPool, Failure, Handling, Outcome, Past, Policy};
use crate::random::{Moment, Purpose, Site, World};
use crate::scenario::{Background, Demand};
use crate::units::{SimTime, Span, TICKS_PER_SECOND};

/// Who is in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) enum Guest {
    /// The so-many-th request.
    Request(u32),
    /// A worker of a client, with its item.
    Worker { client: u32, item: Item },
}

impl Guest {
    fn kind(self) -> usize {
        usize::from(matches!(self, Guest::Worker { .. }))
    }
}

/// The slots behind the fleet.
#[derive(Debug)]
pub(super) struct Guests {
    /// Clients of the fleet.
    fleet: u32,
    /// Who is in each slot, or was there last, and whether it is still there.
    slots: Vec<(Guest, bool)>,
    /// Free slots that had a request, and that had a worker; the last left is the first taken. A slot
    /// stays with its kind, so that what is left of a guest in the pooler's queue can be told.
    free: [Vec<u32>; 2],
}

/// The background load.
#[derive(Debug)]
pub(super) struct Requests<'a> {
    settings: &'a Background,
    handling: &'a Handling,
    /// Requests so far.
    number: u32,
    next: SimTime,
    /// Requests a second, at present.
    rate: f64,
    /// Requests under way.
    pub inside: u32,
}

impl<'a> Requests<'a> {
    pub fn new(settings: &'a Background, handling: &'a Handling, world: &World) -> Requests<'a> {
        let rate = settings.rate;
        let (number, next, inside) = (0, SimTime::ZERO, 0);
        let mut requests = Requests { settings, handling, number, next, rate, inside };
        requests.schedule(SimTime::ZERO, world);
        requests
    }

    /// The key of the next arrival.
    pub fn next(&self, layout: Layout) -> Key {
        layout.key(self.next, Class::Supply, 0)
    }

    /// So many `times` as many requests come from now on. What is left of the wait for the next one
    /// shrinks with it, so that the arrivals are a Poisson process of that rate.
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

impl Guests {
    pub fn new(fleet: u32) -> Guests {
        Guests { fleet, slots: Vec::new(), free: [Vec::new(), Vec::new()] }
    }

    /// The client of the fleet that a worker works for; else who is asked about.
    #[inline]
    pub fn owner(&self, client: u32) -> u32 {
        match (client >= self.fleet).then(|| self.guest(client)) {
            Some(Guest::Worker { client: owner, .. }) => owner,
            _ => client,
        }
    }

    /// Whether a client is one of those who die, or a worker of one.
    #[inline]
    pub fn dies(&self, client: u32, died: &Range<u32>) -> bool {
        died.contains(&self.owner(client))
    }

    fn guest(&self, client: u32) -> Guest {
        self.slots[(client - self.fleet) as usize].0
    }

    /// Workers at the pool: their slots and whom they work for, with their items.
    pub fn workers(&self) -> impl Iterator<Item = (u32, u32, Item)> {
        (self.fleet..).zip(&self.slots).filter_map(|(slot, &guest)| match guest {
            (Guest::Worker { client, item }, true) => Some((slot, client, item)),
            _ => None,
        })
    }
}

impl<'a, O: Observer, T: Timers> Simulation<'a, O, T> {
    /// Whether this is no client of the fleet.
    #[inline]
    pub(super) fn is_guest(&self, client: u32) -> bool {
        client >= self.guests.fleet
    }

    /// Whether this is a worker with an item that needs further transactions.
    pub(super) fn is_worker(&self, client: u32) -> bool {
        self.guests.owner(client) != client
    }

    /// Whether this was a guest that has left: its client died in the meantime.
    pub(super) fn has_left(&self, client: u32) -> bool {
        self.is_guest(client) && !self.guests.slots[(client - self.guests.fleet) as usize].1
    }

    /// Whether a client goes on when some have died.
    pub(super) fn outlives(&self, client: u32, died: &Range<u32>) -> bool {
        !self.guests.dies(client, died) && !self.has_left(client)
    }

    /// Gives a guest a slot.
    pub(super) fn settle(&mut self, guest: Guest) -> u32 {
        let Guests { fleet, slots, free } = &mut self.guests;
        let client = free[guest.kind()].pop().unwrap_or_else(|| {
            self.clients.push(Client::zeroed());
            self.stands.push(Stand::NEW);
            slots.push((guest, true));
            if !self.connections.is_empty() {
                self.connections.push(Connection::default());
            }
            self.clients.len() as u32 - 1
        });
        slots[(client - *fleet) as usize] = (guest, true);
        let state = &mut self.clients[client as usize];
        state.failures = 0;
        state.attempt = state.attempt.next_poll();
        client
    }

    /// A guest leaves its slot.
    pub(super) fn leave(&mut self, client: u32) {
        self.release(client);
        self.hang_up(client);
        self.forget_calls(client);
        let stand = &mut self.stands[client as usize];
        (stand.phase, stand.timer) = (Phase::Away, NEVER);
        let Guests { fleet, slots, free } = &mut self.guests;
        let (guest, inside) = &mut slots[(client - *fleet) as usize];
        *inside = false;
        free[guest.kind()].push(client);
    }

    pub(super) fn guest_policy(&self, client: u32) -> &'a Policy {
        match self.guests.guest(client) {
            Guest::Request(_) => {
                &self.requests.as_ref().expect("there are requests").handling.server
            }
            Guest::Worker { client, .. } => self.parts.policy(client),
        }
    }

    /// The pool of the process that a client or a worker belongs to.
    #[inline]
    pub(super) fn client_pool(&self, client: u32) -> Option<ClientPool> {
        if !self.is_guest(client) {
            return self.parts.client_pool(client);
        }
        match self.guests.guest(client) {
            Guest::Request(_) => None,
            Guest::Worker { client, .. } => self.parts.client_pool(client),
        }
    }

    /// The demands of a guest's transactions.
    pub(super) fn guest_claims(&self, client: u32) -> &'a [Demand] {
        match self.guests.guest(client) {
            Guest::Request(_) => {
                &self.requests.as_ref().expect("there are requests").settings.claims
            }
            Guest::Worker { .. } => {
                &self.works.as_ref().expect("there is work").settings.transactions
            }
        }
    }

    /// The law of a claim's demand.
    #[inline]
    pub(super) fn claim_law(&self, client: u32, transaction: u8) -> &'a Demand {
        match self.is_guest(client) {
            true => &self.guest_claims(client)[usize::from(transaction)],
            false => self.scenario.database.claim(transaction),
        }
    }

    /// A request of the background load comes in, and its first attempt sets out.
    pub(super) fn receive(&mut self) {
        let Some(requests) = &mut self.requests else { return };
        let number = requests.number;
        requests.number = number.wrapping_add(1);
        requests.schedule(self.now, &self.world);
        if requests.inside == requests.settings.at_once {
            return self.emit(Event::RequestTurnedAway);
        }
        requests.inside += 1;
        let client = self.settle(Guest::Request(number));
        self.emit(Event::RequestCame { client });
        self.begin_poll(client, Span::ZERO);
    }

    /// A guest has made its acquisitions, or failed to.
    pub(super) fn end_visit(&mut self, client: u32, outcome: Outcome) {
        let good = outcome != Outcome::Error;
        match self.guests.guest(client) {
            Guest::Request(_) => self.end_request(client, good),
            Guest::Worker { client: owner, item } => match self.hot_pause(client) {
                Some(pause) if !good => {
                    let state = &mut self.clients[client as usize];
                    state.attempt = state.attempt.next_poll();
                    self.begin_poll(client, pause);
                }
                _ => {
                    self.leave(client);
                    self.end_item(owner, item, good);
                }
            },
        }
    }

    /// The server has done with a request: its client may ask again if it failed.
    fn end_request(&mut self, client: u32, good: bool) {
        let requests = self.requests.as_mut().expect("there are requests");
        let handling = requests.handling;
        let Client { due: came, failures, .. } = self.clients[client as usize];
        let tries = failures.saturating_add(1);
        let site = self.site(Purpose::OuterJitter, client, Moment::default());
        let elapsed = self.now.since(came);
        let past = Past { previous: None, elapsed };
        let again = handling.client.retries().next().filter(|_| !good).and_then(|retry| {
            retry.next(u32::from(tries), Failure::Refused, past, handling.retry_after, site)
        });
        match again {
            Some(delay) => {
                let state = &mut self.clients[client as usize];
                state.failures = tries;
                state.attempt = state.attempt.next_poll();
                self.begin_poll(client, delay);
                self.clients[client as usize].due = came;
            }
            None => {
                self.requests.as_mut().expect("there are requests").inside -= 1;
                self.emit(Event::RequestEnded { client, came, good });
                self.leave(client);
            }
        }
    }

    /// Where a client, or a guest by what it is and its try, draws.
    #[inline]
    pub(super) fn site(&self, purpose: Purpose, client: u32, moment: Moment) -> Site {
        if self.is_guest(client) {
            self.guest_site(purpose, client, moment)
        } else {
            self.world.site(purpose, client, moment)
        }
    }

    fn guest_site(&self, purpose: Purpose, client: u32, moment: Moment) -> Site {
        let (who, poll) = match self.guests.guest(client) {
            // What a request asks of the database does not depend on how often it has come.
            Guest::Request(number) if purpose == Purpose::Demand => (number, 0),
            Guest::Request(number) => (number, u32::from(self.clients[client as usize].failures)),
            // Requests do not come so often.
            Guest::Worker { item, .. } => (item.tenant, item.number | 1 << 31),
        };
        self.world.site(purpose, self.guests.fleet.wrapping_add(who), Moment { poll, ..moment })
    }

    /// Items with clients, with their workers at the pool, or of dead clients.
    pub(super) fn items_under_way(&self) -> u64 {
        let workers = self.guests.workers().count() as u64;
        workers + self.works.as_ref().map_or(0, Works::under_way)
    }
}
