//! The state of a unit, and the loop that ties its stations together.

use std::collections::{BTreeMap, BTreeSet};

use super::backends::Backends;
use super::calls::Calls;
use super::calm::Calm;
use super::client::{AttemptId, Client, Phase, Stand};
use super::client_pool::ClientPools;
use super::connections::Connection;
use super::database::{Database, Work};
use super::disturbance::{Moments, Stop};
use super::facts::Facts;
use super::fleet::Parts;
use super::guest::{Guests, Requests};
use super::handshake::Handshake;
use super::key::{Class, Key, Layout, NEVER};
use super::limiter::Limiter;
use super::memory::Delays;
use super::observer::{End, Event, Gauges, Observer};
use super::queue::{Place, Queue};
use super::session::Link;
use super::timers::Timers;
use super::work::Works;
use crate::policy::Policy;
use crate::random::World;
use crate::scenario::{DeadWaiters, Scenario};
use crate::units::SimTime;

/// All state of one unit.
pub(super) struct Simulation<'a, O, T> {
    pub(super) scenario: &'a Scenario,
    pub(super) facts: Facts,
    pub(super) parts: Parts<'a>,
    pub(super) world: World,
    pub(super) observer: O,
    pub(super) now: SimTime,
    pub(super) stands: Vec<Stand>,
    pub(super) clients: Vec<Client>,
    pub(super) client_pools: ClientPools,
    pub(super) guests: Guests,
    pub(super) requests: Option<Requests<'a>>,
    pub(super) works: Option<Works<'a>>,
    /// The connection that each client has; empty where no policy keeps any.
    pub(super) connections: Vec<Connection>,
    /// Connections that are open and not in use.
    pub(super) idle: u32,
    /// The last delays of those whose retries remember them.
    pub(super) delays: Delays,
    /// The calls of those whose rules are nested or under guards.
    pub(super) calls: Calls<'a>,
    pub(super) limiter: Option<Limiter<'a>>,
    pub(super) handshake: Option<Handshake>,
    pub(super) queue: Queue,
    pub(super) backends: Backends<'a>,
    pub(super) database: Database<'a>,
    /// Places of clients that were killed, where that costs something else than their leaving would.
    pub(super) killed: BTreeSet<(u32, AttemptId)>,
    /// Clients that were told to stop.
    pub(super) stopped: BTreeMap<u32, Stop>,
    /// Sessions between two claims, by client.
    pub(super) links: BTreeMap<u32, Link>,
    /// Backends at work for nobody.
    pub(super) wasted: u32,
    /// Backends at work for a client that waits, or linked to one.
    pub(super) good: u32,
    /// Claims without client or backend.
    pub(super) orphans: u32,
    /// Logins ever begun.
    pub(super) logins: u32,
    /// When the pool next has something to do of itself.
    pub(super) pool_wake: Key,
    pub(super) moments: Moments,
    pub(super) layout: Layout,
    pub(super) timers: T,
    calm: Option<Calm>,
    /// Events handled.
    pub(super) events: u64,
}

impl<'a, O: Observer, T: Timers> Simulation<'a, O, T> {
    pub fn new(scenario: &'a Scenario, policy: usize, replicate: u32, observer: O) -> Self {
        let fleet = &scenario.fleet;
        let parts = Parts::new(&scenario.policies[policy], fleet.clients);
        let layout = Layout::new(scenario.places());
        let world = World::new(scenario.run.seed, replicate);
        let handling = scenario.policies[policy].handling.as_ref();
        let requests = scenario.background.as_ref().zip(handling);
        let requests =
            requests.map(|(settings, handling)| Requests::new(settings, handling, &world));
        let works = scenario
            .work
            .as_ref()
            .map(|settings| Works::new(settings, fleet.clients, layout, &world));
        let longest = scenario.run.duration + fleet.round_trip;
        assert!(longest <= layout.longest_run(), "the run's instants fit a key");
        let pooler = &scenario.pooler;
        let facts = Facts::new(scenario, policy);
        let keeping = if facts.connections { fleet.clients as usize } else { 0 };
        let mut simulation = Simulation {
            scenario,
            facts,
            world,
            guests: Guests::new(fleet.clients),
            requests,
            works,
            observer,
            now: SimTime::ZERO,
            stands: vec![Stand::NEW; fleet.clients as usize],
            clients: bytemuck::zeroed_vec(fleet.clients as usize),
            client_pools: ClientPools::new(&parts),
            connections: vec![Connection::default(); keeping],
            idle: 0,
            delays: Delays::default(),
            calls: Calls::default(),
            parts,
            limiter: pooler.limiter.as_ref().map(Limiter::new),
            handshake: pooler.handshake.as_ref().map(|settings| Handshake::new(settings, layout)),
            queue: Queue::new(pooler, layout),
            backends: Backends::new(pooler, scenario.backends_at_start(), layout),
            database: Database::new(&scenario.database, scenario.most_backends(), layout),
            killed: BTreeSet::new(),
            stopped: BTreeMap::new(),
            links: BTreeMap::new(),
            wasted: 0,
            good: 0,
            orphans: 0,
            logins: 0,
            pool_wake: NEVER,
            moments: Moments::new(scenario, layout),
            layout,
            timers: T::new(fleet.clients as usize, layout.order_bits()),
            calm: facts.nap.map(|nap| Calm::new(nap + fleet.round_trip)),
            events: 0,
        };
        simulation.begin();
        simulation
    }

    /// Plays the unit to its end.
    pub fn run(mut self) -> End {
        let end = SimTime::ZERO + self.scenario.run.duration;
        let bound = self.layout.key(end, Class::Disturbance, 0);
        loop {
            if let Some(mut calm) = self.calm.take_if(|calm| calm.next_try <= self.now) {
                self.play_calm(&mut calm, end);
                self.calm = Some(calm);
            }
            let other = (self.database.next())
                .min(self.queue.expiry())
                .min(self.pool_wake)
                .min(self.moments.next())
                .min(if self.facts.stations { self.next_at_stations() } else { NEVER });
            let key = self.timers.peek(other).unwrap_or(other);
            if key >= bound {
                break;
            }
            let time = self.layout.time(key);
            debug_assert!(time >= self.now, "time moves forward");
            self.now = time;
            let class = self.layout.class(key);
            if matches!(class, Class::Arrival | Class::Alarm) {
                self.timers.pop();
                let client = self.layout.client(key);
                if self.stands[client as usize].timer != key {
                    continue;
                }
            }
            self.events += 1;
            match class {
                Class::Arrival => {
                    let client = self.layout.client(key);
                    self.rouse(client);
                    self.arrive(client);
                }
                Class::Completion => self.complete(),
                Class::Alarm => {
                    let client = self.layout.client(key);
                    // One that no longer holds may have been due at this very instant.
                    self.stands[client as usize].timer = NEVER;
                    self.alarm(client);
                }
                Class::Expiry => self.expire(),
                Class::Login => self.log_in(),
                Class::Handshake => self.shake_hands(),
                Class::Supply if key == self.next_request() => self.receive(),
                Class::Supply => self.work(),
                Class::Disturbance => self.disturb(),
            }
        }
        self.end(end)
    }

    /// The next event at the stations that few scenarios have.
    fn next_at_stations(&mut self) -> Key {
        let handshake = self.handshake.as_ref().map_or(NEVER, Handshake::next);
        let work = self.works.as_mut().map_or(NEVER, Works::next);
        handshake.min(work).min(self.next_request())
    }

    fn next_request(&self) -> Key {
        self.requests.as_ref().map_or(NEVER, |requests| requests.next(self.layout))
    }

    #[inline(always)]
    pub(super) fn emit(&mut self, event: Event) {
        let gauges = self.gauges();
        self.observer.on(self.now, event, gauges);
    }

    #[inline(always)]
    fn gauges(&self) -> Gauges {
        Gauges {
            good: self.good,
            wasted: self.wasted,
            waiting: self.queue.waiting(),
            idle: self.idle,
            connecting: self.handshake.as_ref().map_or(0, Handshake::clients),
            connected: self.backends.connected(),
            logging_in: self.backends.logging_in(),
        }
    }

    #[inline]
    pub(super) fn policy(&self, client: u32) -> &'a Policy {
        if self.is_guest(client) { self.guest_policy(client) } else { self.parts.policy(client) }
    }

    /// Whether the client of a place still waits in it.
    #[inline]
    pub(super) fn is_alive(&self, place: &Place) -> bool {
        self.is_in(place, Phase::Waiting)
    }

    /// Whether the client of a place waits in it though its patience has ended.
    pub(super) fn is_captive(&self, place: &Place) -> bool {
        self.is_in(place, Phase::Captive)
    }

    #[inline]
    fn is_in(&self, place: &Place, phase: Phase) -> bool {
        self.stands[place.client as usize].phase == phase
            && self.clients[place.client as usize].attempt == place.attempt
    }

    /// Where dead waiters are dropped, clears those at the head of the queue.
    #[inline]
    pub(super) fn bury_tombstones(&mut self) {
        if self.drops_dead_waiters() {
            let (stands, clients) = (&self.stands, &self.clients);
            self.queue.bury(|place| is_tombstone(stands, clients, place));
        }
    }

    pub(super) fn drops_dead_waiters(&self) -> bool {
        matches!(self.scenario.pooler.dead_waiters, DeadWaiters::Dropped)
    }

    /// How long all places have waited, summed, in ticks.
    pub(super) fn waited_so_far(&self) -> u64 {
        let drops = self.drops_dead_waiters();
        self.queue.waited_so_far(self.now, |place| {
            drops && is_tombstone(&self.stands, &self.clients, place)
        })
    }

    #[inline]
    pub(super) fn set_timer(&mut self, client: u32, time: SimTime, class: Class) {
        let key = self.layout.key(time, class, client);
        self.stands[client as usize].timer = key;
        if key != NEVER {
            self.timers.push(key);
        }
    }

    fn end(mut self, end: SimTime) -> End {
        self.now = end;
        for client in 0..self.clients.len() as u32 {
            let phase = self.stands[client as usize].phase;
            if phase == Phase::Waiting {
                let admitted = self.clients[client as usize].admitted;
                self.emit(Event::Pending { client, waited: Some(end.since(admitted)) });
            } else if matches!(phase, Phase::Connecting | Phase::Held)
                || self.tell_departure(client)
            {
                self.emit(Event::Pending { client, waited: None });
            }
        }
        let claims = self
            .database
            .jobs()
            .filter(|job| matches!(job.work, Work::Good | Work::Captive | Work::Dead));
        End {
            at: end,
            gauges: self.gauges(),
            waited: self.waited_so_far(),
            served: claims
                .map(|job| job.started)
                .chain(self.links.values().map(|link| link.since))
                .map(|since| end.since(since).ticks())
                .sum(),
            linked: self.links.len() as u32,
            requests: self.requests.as_ref().map_or(0, |requests| requests.inside),
            items_queued: self.works.as_ref().map_or(0, Works::queued),
            items_under_way: self.items_under_way(),
            connections: self.backends.connections(),
            events: self.events,
        }
    }
}

/// Whether the place of a pooler that drops dead waiters is one that was dropped.
fn is_tombstone(stands: &[Stand], clients: &[Client], place: &Place) -> bool {
    let phase = stands[place.client as usize].phase;
    !matches!(phase, Phase::Waiting | Phase::Captive)
        || clients[place.client as usize].attempt != place.attempt
}
