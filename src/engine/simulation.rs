//! The loop that ties clients, queue and database together.

use super::client::{Client, Phase};
use super::database::{Claim, Database};
use super::demand;
use super::heap::MinHeap;
use super::key::{Class, Key, Layout, NEVER};
use super::observer::{Begins, End, Event, Gauges, Observer};
use super::queue::{Place, Queue};
use crate::policy::{Outcome, Policy};
use crate::random::{Moment, Purpose, World};
use crate::scenario::{DeadWaiters, Initial, Scenario};
use crate::units::{SimTime, Span};

/// All state of one unit.
pub(super) struct Simulation<'a, O> {
    pub(super) scenario: &'a Scenario,
    pub(super) policy: &'a Policy,
    pub(super) world: World,
    pub(super) observer: O,
    pub(super) now: SimTime,
    pub(super) clients: Vec<Client>,
    pub(super) queue: Queue,
    pub(super) database: Database,
    /// Backends at work for nobody.
    pub(super) wasted: u32,
    /// Backends at work for a client that waits.
    pub(super) good: u32,
    layout: Layout,
    calendar: MinHeap,
    /// Disturbances that have begun.
    begun: usize,
    events: u64,
}

impl<'a, O: Observer> Simulation<'a, O> {
    pub fn new(scenario: &'a Scenario, policy: usize, replicate: u32, observer: O) -> Self {
        let policy = &scenario.policies[policy].policy;
        let fleet = &scenario.fleet;
        let layout = Layout::new(fleet.clients);
        let longest = scenario.run.duration + fleet.round_trip;
        assert!(longest <= layout.longest_run(), "the run's instants fit a key");
        let step = match fleet.initial {
            Initial::Warm { interval } => policy.poll.step_reaching(interval),
            Initial::Cold => 0,
        };
        let mut simulation = Simulation {
            scenario,
            policy,
            world: World::new(scenario.run.seed, replicate),
            observer,
            now: SimTime::ZERO,
            clients: vec![Client::new(step); fleet.clients as usize],
            queue: Queue::new(scenario.pooler.query_wait_timeout, layout),
            database: Database::new(&scenario.database, scenario.pooler.pool_size, layout),
            wasted: 0,
            good: 0,
            layout,
            calendar: MinHeap::with_capacity(fleet.clients as usize),
            begun: 0,
            events: 0,
        };
        for client in 0..fleet.clients {
            let wait = simulation.first_wait(client);
            simulation.begin_poll(client, wait);
        }
        simulation
    }

    /// Plays the unit to its end.
    pub fn run(mut self) -> End {
        let end = SimTime::ZERO + self.scenario.run.duration;
        loop {
            let timer = self.calendar.peek().unwrap_or(NEVER);
            let key = timer
                .min(self.database.next())
                .min(self.queue.expiry())
                .min(self.next_disturbance());
            let time = self.layout.time(key);
            if key == NEVER || time >= end {
                break;
            }
            debug_assert!(time >= self.now, "time moves forward");
            self.now = time;
            self.events += 1;
            match self.layout.class(key) {
                Class::Arrival => {
                    self.calendar.pop();
                    let client = self.layout.client(key);
                    if self.clients[client as usize].timer == key {
                        self.arrive(client);
                    }
                }
                Class::Completion => self.complete(),
                Class::Impatience => {
                    self.calendar.pop();
                    let client = self.layout.client(key);
                    if self.clients[client as usize].timer == key {
                        self.abandon(client);
                    }
                }
                Class::Expiry => self.expire(),
                Class::Disturbance => {
                    self.begun += 1;
                    self.disturb(self.begun - 1);
                }
            }
        }
        self.end(end)
    }

    #[inline(always)]
    pub(super) fn emit(&mut self, event: Event) {
        let gauges = Gauges { good: self.good, wasted: self.wasted, waiting: self.queue.waiting() };
        self.observer.on(self.now, event, gauges);
    }

    /// Lets a client begin its next poll after `wait`.
    #[inline]
    pub(super) fn begin_poll(&mut self, client: u32, wait: Span) {
        let state = &mut self.clients[client as usize];
        state.poll_began = self.now + wait;
        self.begin_acquisition(client, wait);
    }

    /// The attempt of a client failed: its acquisition rule decides.
    pub(super) fn fail(&mut self, client: u32) {
        let state = &mut self.clients[client as usize];
        let failed = state.attempt.attempt.saturating_add(1);
        let elapsed = self.now.since(state.acquisition_began);
        let site = self.world.site(Purpose::RetryJitter, client, state.attempt.moment());
        match self.policy.acquire.next(failed, elapsed, site) {
            Some(delay) => {
                state.attempt.attempt = failed;
                self.depart(client, delay);
            }
            None => self.end_poll(client, Outcome::Error),
        }
    }

    /// A poll came to its end: its outcome decides the sleep before the next.
    #[inline]
    pub(super) fn end_poll(&mut self, client: u32, outcome: Outcome) {
        let state = &mut self.clients[client as usize];
        let began = state.poll_began;
        let site = self.world.site(
            Purpose::PollJitter,
            client,
            Moment { poll: state.attempt.poll, ..Moment::default() },
        );
        let (sleep, step) = self.policy.rules.turn(outcome, state.step, &self.policy.poll, site);
        state.step = step;
        state.attempt = state.attempt.next_poll();
        self.emit(Event::PollEnded { client, began, outcome });
        self.begin_poll(client, sleep);
    }

    /// Tells of the attempt that a client has on its way, and whether there is one.
    pub(super) fn tell_departure(&mut self, client: u32) -> bool {
        let state = &self.clients[client as usize];
        let at = self.layout.time(state.timer) - self.scenario.fleet.round_trip;
        let departed = state.phase == Phase::Away && state.timer != NEVER && at < self.now;
        if departed {
            self.departed(client, at);
        }
        departed
    }

    /// Gives idle backends to the queue until one of them runs out.
    #[inline]
    pub(super) fn serve(&mut self) {
        while self.database.has_idle()
            && let Some(place) = self.queue.pop()
        {
            if self.is_alive(&place) {
                self.grant(place.client, self.now.since(place.admitted));
            } else {
                self.serve_dead(&place);
            }
            self.bury_tombstones();
        }
    }

    /// Whether the client of a place still waits in it.
    #[inline]
    pub(super) fn is_alive(&self, place: &Place) -> bool {
        let state = &self.clients[place.client as usize];
        state.phase == Phase::Waiting && state.attempt == place.attempt
    }

    /// A living client has left its place: it stays as a dead one, or is given up.
    pub(super) fn leave_place(&mut self) {
        if self.drops_dead_waiters() {
            self.queue.give_up(1);
        }
    }

    /// Where dead waiters are dropped, clears those at the head of the queue.
    #[inline]
    pub(super) fn bury_tombstones(&mut self) {
        if self.drops_dead_waiters() {
            let clients = &self.clients;
            self.queue.bury(|place| {
                let state = &clients[place.client as usize];
                state.phase != Phase::Waiting || state.attempt != place.attempt
            });
        }
    }

    fn drops_dead_waiters(&self) -> bool {
        matches!(self.scenario.pooler.dead_waiters, DeadWaiters::Dropped)
    }

    fn first_wait(&self, client: u32) -> Span {
        match self.scenario.fleet.initial {
            Initial::Warm { interval } => {
                let phase = self.world.site(Purpose::WarmPhase, client, Moment::default());
                Span::from_ticks((interval.ticks() as f64 * phase.uniform(0)) as u64)
            }
            Initial::Cold => self.start_up(client, 0),
        }
    }

    /// The start-up wait of a client's `start`-th start.
    pub(super) fn start_up(&self, client: u32, start: u32) -> Span {
        let moment = Moment { poll: start, ..Moment::default() };
        self.policy.start_up.wait(self.world.site(Purpose::StartUp, client, moment))
    }

    fn next_disturbance(&self) -> Key {
        match self.scenario.disturbances.get(self.begun) {
            Some(disturbance) => self.layout.key(disturbance.at, Class::Disturbance, 0),
            None => NEVER,
        }
    }

    #[inline]
    fn begin_acquisition(&mut self, client: u32, wait: Span) {
        self.clients[client as usize].acquisition_began = self.now + wait;
        self.depart(client, wait);
    }

    /// Sends a client's next attempt off after `wait`.
    #[inline]
    fn depart(&mut self, client: u32, wait: Span) {
        self.clients[client as usize].phase = Phase::Away;
        self.set_timer(client, self.now + wait + self.scenario.fleet.round_trip, Class::Arrival);
    }

    #[inline]
    fn set_timer(&mut self, client: u32, time: SimTime, class: Class) {
        let key = self.layout.key(time, class, client);
        self.clients[client as usize].timer = key;
        if key != NEVER {
            self.calendar.push(key);
        }
    }

    #[inline]
    fn departed(&mut self, client: u32, at: SimTime) {
        let attempt = self.clients[client as usize].attempt;
        let begins = match attempt {
            _ if attempt.attempt > 0 => Begins::Nothing,
            _ if attempt.transaction > 0 => Begins::Acquisition,
            _ => Begins::Poll,
        };
        self.emit(Event::Departed { client, at, begins });
    }

    /// An attempt reaches the pooler: it is refused, queued, or served at once.
    #[inline]
    fn arrive(&mut self, client: u32) {
        self.departed(client, self.now - self.scenario.fleet.round_trip);
        let clients = self.good + self.wasted + self.queue.waiting();
        if self.scenario.pooler.max_client_conn.is_some_and(|limit| clients >= limit) {
            self.emit(Event::Refused { client });
            self.fail(client);
        } else if self.database.has_idle() {
            self.emit(Event::Admitted { client });
            self.grant(client, Span::ZERO);
        } else {
            self.enqueue(client);
        }
    }

    fn enqueue(&mut self, client: u32) {
        let state = &mut self.clients[client as usize];
        state.phase = Phase::Waiting;
        state.admitted = self.now;
        state.timer = NEVER;
        self.queue.push(Place { admitted: self.now, client, attempt: state.attempt });
        if let Some(patience) = self.policy.patience {
            self.set_timer(client, self.now + patience, Class::Impatience);
        }
        self.emit(Event::Admitted { client });
    }

    /// An attempt is served: its claim starts.
    #[inline]
    fn grant(&mut self, client: u32, waited: Span) {
        let state = &mut self.clients[client as usize];
        state.phase = Phase::Served;
        state.timer = NEVER;
        let moment = state.attempt.transaction_moment();
        let site = self.world.site(Purpose::Demand, client, moment);
        let demand = demand::sample(&self.scenario.database.claim, site);
        let claim = Claim { client, good: true, started: self.now };
        self.database.start(self.now, claim, demand);
        self.good += 1;
        self.emit(Event::Granted { client, waited });
    }

    fn serve_dead(&mut self, place: &Place) {
        let DeadWaiters::Kept { demand } = &self.scenario.pooler.dead_waiters else {
            unreachable!("a dropped dead waiter has no place to be served");
        };
        let site = self.world.site(Purpose::DeadDemand, place.client, place.attempt.moment());
        let demand = demand::sample(demand, site);
        let claim = Claim { client: place.client, good: false, started: self.now };
        self.database.start(self.now, claim, demand);
        self.wasted += 1;
        self.emit(Event::DeadServed { client: place.client });
    }

    /// A claim is done: its backend goes to the queue, its client on.
    #[inline]
    fn complete(&mut self) {
        let Claim { client, good, started } = self.database.complete(self.now);
        *if good { &mut self.good } else { &mut self.wasted } -= 1;
        self.emit(Event::Completed { client, good, service: self.now.since(started) });
        if good {
            self.advance_transaction(client);
        }
        self.serve();
    }

    #[inline]
    fn advance_transaction(&mut self, client: u32) {
        let state = &mut self.clients[client as usize];
        let done = state.attempt.transaction + 1;
        if done < self.scenario.fleet.transactions_per_poll {
            state.attempt.transaction = done;
            state.attempt.attempt = 0;
            self.begin_acquisition(client, Span::ZERO);
        } else {
            self.end_poll(client, Outcome::Empty);
        }
    }

    /// A waiting client's patience ends: it leaves, its attempt has failed.
    fn abandon(&mut self, client: u32) {
        let waited = self.now.since(self.clients[client as usize].admitted);
        self.leave_place();
        self.emit(Event::Abandoned { client, waited });
        self.fail(client);
        self.bury_tombstones();
    }

    /// The head of the queue has waited as long as the pooler allows.
    fn expire(&mut self) {
        let place = self.queue.pop().expect("an expiry has a head");
        if self.is_alive(&place) {
            let waited = self.now.since(place.admitted);
            self.emit(Event::TimedOut { client: place.client, waited });
            self.fail(place.client);
        } else {
            self.emit(Event::PlaceExpired);
        }
        self.bury_tombstones();
    }

    fn end(mut self, end: SimTime) -> End {
        self.now = end;
        for client in 0..self.scenario.fleet.clients {
            let Client { phase, admitted, .. } = self.clients[client as usize];
            if phase == Phase::Waiting {
                self.emit(Event::Pending { client, waited: Some(end.since(admitted)) });
            } else if self.tell_departure(client) {
                self.emit(Event::Pending { client, waited: None });
            }
        }
        let gauges = Gauges { good: self.good, wasted: self.wasted, waiting: self.queue.waiting() };
        End { at: end, gauges, events: self.events }
    }
}
