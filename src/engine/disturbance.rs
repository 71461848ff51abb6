//! What disturbances do to the system.
//!
//! What is done at once (a restart, a switch, a stop) happens when its turn comes, a restart in waves
//! wave by wave. What lasts (slowness, outages, changed limits, a pause) is worked out anew from all
//! that lasts whenever something begins or ends, so that nothing has to be undone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::client::{BOOT_CHECK, Client, Phase};
use super::database::{Job, Work};
use super::key::{Class, Key, Layout, NEVER};
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::{Failure, Outcome, Policy};
use crate::random::{Moment, Purpose};
use crate::scenario::{Action, DeadWaiters, Failure as OutOfOrder, Orphans, Scenario};
use crate::units::{SimTime, Span};

/// When disturbances begin and end, and what is in force.
#[derive(Debug)]
pub(super) struct Moments {
    layout: Layout,
    turns: BinaryHeap<Reverse<Turn>>,
    /// The key of the first of them.
    next: Key,
    /// How long every attempt takes to be refused, while the database is out of order so.
    pub refusing: Option<Span>,
    /// The client limit; none is let in while admissions are paused.
    pub max_client_conn: Option<u32>,
}

/// A disturbance begins, goes on with its next wave, or ends. Ends come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    time: SimTime,
    begins: bool,
    /// Which disturbance.
    index: usize,
    wave: u32,
}

/// Until when a client that was told to stop stays away, and which disturbance told it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    back: SimTime,
    index: usize,
}

impl Moments {
    pub fn new(scenario: &Scenario, layout: Layout) -> Moments {
        let max_client_conn = scenario.pooler.max_client_conn;
        let turns = BinaryHeap::new();
        let mut moments = Moments { layout, turns, next: NEVER, refusing: None, max_client_conn };
        for (index, disturbance) in scenario.happenings().enumerate() {
            let (time, holds) = (disturbance.at, disturbance.action.holds());
            moments.push(Turn { time, begins: true, index, wave: 0 });
            if holds > Span::ZERO {
                moments.push(Turn { time: time + holds, begins: false, index, wave: 0 });
            }
        }
        moments
    }

    /// The key of the next of them.
    #[inline]
    pub fn next(&self) -> Key {
        self.next
    }

    fn push(&mut self, turn: Turn) {
        self.turns.push(Reverse(turn));
        self.watch();
    }

    fn pop(&mut self) -> Option<Turn> {
        let turn = self.turns.pop();
        self.watch();
        turn.map(|Reverse(turn)| turn)
    }

    fn watch(&mut self) {
        self.next = match self.turns.peek() {
            Some(Reverse(turn)) => self.layout.key(turn.time, Class::Disturbance, 0),
            None => NEVER,
        };
    }
}

impl<'a, O: Observer, T: Timers> Simulation<'a, O, T> {
    /// A disturbance begins, goes on or ends.
    pub(super) fn disturb(&mut self) {
        let Some(Turn { begins, index, wave, .. }) = self.moments.pop() else {
            return;
        };
        let scenario = self.scenario;
        let clients = scenario.fleet.clients;
        let disturbance = scenario.happenings().nth(index).expect("a disturbance that was planned");
        let action = &disturbance.action;
        if begins && wave == 0 {
            self.emit(Event::Disturbed { index });
        }
        match action {
            Action::Restart { clients: share, over, database, waves, to } => {
                let (restarting, next) = (share.of(clients), wave + 1);
                if next < waves.count(restarting) {
                    let time = disturbance.at + waves.begin(next);
                    self.moments.push(Turn { time, begins, index, wave: next });
                }
                let database = database.filter(|_| wave == 0);
                let to = to.as_ref().map(|to| &to.policy);
                self.restart_wave(waves.clients(wave, restarting), index, *over, database, to);
            }
            Action::Outage { over, failure: OutOfOrder::Refusing { .. } } if begins => {
                self.cut_claims(0..0, true);
                self.cut_sessions(0..0, true);
                self.backends.go_down(self.now + *over);
                self.restart_limiter(self.now + *over);
                self.apply_lasting();
                self.forget_attempts();
            }
            Action::Outage { over, failure: OutOfOrder::Hanging } if begins => {
                self.backends.hold(self.now + *over);
                self.restart_limiter(self.now + *over);
                self.apply_lasting();
            }
            Action::Switch { clients: share, to } => {
                let switched = 0..share.of(clients);
                let workers = self.guests.workers();
                let theirs = workers.filter(|(_, owner, _)| switched.contains(owner));
                let all: Vec<u32> = theirs.map(|(slot, ..)| slot).chain(switched.clone()).collect();
                for &client in &all {
                    self.forget_calls(client);
                }
                for client in switched {
                    self.switch(client, &to.policy);
                }
                for client in all {
                    self.rouse(client);
                    let began = self.clients[client as usize].acquisition_began;
                    self.begin_calls(client, began);
                }
            }
            Action::Stop { clients: share, over, back_over } => {
                for client in 0..share.of(clients) {
                    self.stop(client, index, *over, *back_over);
                }
            }
            Action::Slow { .. }
            | Action::Burst { .. }
            | Action::Outage { .. }
            | Action::Change { .. }
            | Action::Pause { .. } => self.apply_lasting(),
        }
        self.bury_tombstones();
        self.serve();
    }

    /// Clients restart together, and the database with them where it is `back` after a while.
    fn restart_wave(
        &mut self,
        clients: Range<u32>,
        index: usize,
        over: Span,
        back: Option<Span>,
        to: Option<&'a Policy>,
    ) {
        self.cut_claims(clients.clone(), back.is_some());
        self.cut_sessions(clients.clone(), back.is_some());
        self.drop_work(clients.clone());
        if let Some(back) = back {
            self.backends.go_down(self.now + back);
            self.restart_limiter(self.now + back);
        }
        for client in clients {
            self.restart(client, index, over, to);
        }
        if back.is_some() {
            self.forget_attempts();
        }
    }

    fn restart_limiter(&mut self, at: SimTime) {
        if let Some(limiter) = &mut self.limiter {
            limiter.restart(at);
        }
    }

    /// Puts into force what lasts at this instant. Of several changes of one limit the last holds.
    fn apply_lasting(&mut self) {
        let scenario = self.scenario;
        let (mut slowdown, mut load) = (1.0, 1.0);
        let mut pool_size = scenario.pooler.pool_size;
        let mut contention = &scenario.database.contention;
        let mut paused = false;
        self.moments.refusing = None;
        self.moments.max_client_conn = scenario.pooler.max_client_conn;
        let lasts = |at: SimTime, holds| at <= self.now && self.now < at + holds;
        let mut lasting: Vec<_> = scenario
            .happenings()
            .filter(|happening| lasts(happening.at, happening.action.holds()))
            .collect();
        lasting.sort_by_key(|happening| happening.at);
        for happening in lasting {
            match &happening.action {
                Action::Slow { factor, .. } => slowdown *= factor,
                Action::Burst { factor, .. } => load *= factor,
                Action::Outage { failure: OutOfOrder::Hanging, .. } => slowdown = f64::INFINITY,
                Action::Outage { failure: OutOfOrder::Refusing { after }, .. } => {
                    self.moments.refusing = Some(*after);
                }
                Action::Pause { .. } => paused = true,
                Action::Change {
                    pool_size: size, max_client_conn: limit, contention: law, ..
                } => {
                    pool_size = size.unwrap_or(pool_size);
                    self.moments.max_client_conn = limit.or(self.moments.max_client_conn);
                    contention = law.as_ref().unwrap_or(contention);
                }
                Action::Restart { .. } | Action::Switch { .. } | Action::Stop { .. } => {}
            }
        }
        if paused {
            self.moments.max_client_conn = Some(0);
        }
        self.database.slow_down(self.now, slowdown);
        if let Some(requests) = &mut self.requests {
            requests.change_rate(self.now, load);
        }
        self.database.contend(self.now, contention);
        if self.backends.resize(pool_size) {
            self.emit(Event::PoolResized { pool_size });
        }
    }

    /// A client follows another policy from now on, at the interval that it has reached.
    fn switch(&mut self, client: u32, to: &'a Policy) {
        let before = &self.policy(client).poll;
        if *before != to.poll {
            let stand = &mut self.stands[client as usize];
            stand.set_step(to.poll.step_reaching(before.nominal(stand.step.into())));
        }
        self.parts.follow(client, to);
    }

    /// A client is told to stop: at once if it is between polls, else at the end of its poll.
    fn stop(&mut self, client: u32, index: usize, over: Span, back_over: Span) {
        let back = self.now + over + self.skew(client, index, back_over);
        let told = self.stopped.get(&client).map_or(back, |stop| stop.back.max(back));
        self.stopped.insert(client, Stop { back: told, index });
        self.rouse(client);
        let phase = self.stands[client as usize].phase;
        let Client { attempt, acquisition_began, .. } = self.clients[client as usize];
        let first = attempt.attempt == 0 && matches!(attempt.transaction, 0 | BOOT_CHECK);
        let between = matches!(phase, Phase::Away | Phase::Asking) && acquisition_began >= self.now;
        if phase == Phase::Busy || first && between {
            self.stays_away(client);
        }
    }

    /// Lets a client that was told to stop stay away, if its time has not come, and says whether.
    pub(super) fn stays_away(&mut self, client: u32) -> bool {
        let Some(&Stop { back, index }) = self.stopped.get(&client) else { return false };
        if back <= self.now {
            return false;
        }
        self.emit(Event::Stopped { client, index });
        let state = &mut self.clients[client as usize];
        state.attempt = state.attempt.next_poll();
        self.start(client, index as u32 + 1, back.since(self.now));
        true
    }

    /// Where within a span a client comes back from a disturbance.
    fn skew(&self, client: u32, index: usize, over: Span) -> Span {
        let moment = Moment { poll: index as u32 + 1, ..Moment::default() };
        let skew = self.world.site(Purpose::RestartSkew, client, moment).uniform(0);
        Span::from_ticks((over.ticks() as f64 * skew) as u64)
    }

    /// Cuts off the running claims of `restarting` clients and their workers: the database drops them, or
    /// they run on without a backend. A `database` that goes down drops everything at work in it.
    pub(super) fn cut_claims(&mut self, restarting: Range<u32>, database: bool) {
        let guests = &self.guests;
        let hit = |job: &Job| match job.work {
            Work::Good | Work::Captive => database || guests.dies(job.client, &restarting),
            Work::Dead | Work::Orphan | Work::Attempt(_) => database,
        };
        let run_on = !database && self.scenario.pooler.orphans == Orphans::Run;
        let hit_jobs = if run_on {
            let jobs = self.database.jobs().filter(|job| hit(job)).copied().collect();
            self.database.rededicate(|job| {
                if hit(job) {
                    job.work = Work::Orphan;
                }
            });
            jobs
        } else {
            self.database.cut_off(self.now, hit)
        };
        for Job { client, work, started, .. } in hit_jobs {
            let service = self.now.since(started);
            match work {
                Work::Orphan => {
                    self.orphans -= 1;
                    continue;
                }
                Work::Attempt(_) => continue,
                Work::Good => self.good -= 1,
                Work::Captive | Work::Dead => self.wasted -= 1,
            }
            self.backends.close();
            if !database {
                self.emit(Event::BackendLost { client });
            }
            if run_on {
                self.orphans += 1;
                self.emit(Event::ClaimOrphaned { client, service });
            } else {
                self.emit(Event::ClaimDropped { client, good: work == Work::Good, service });
            }
            match work {
                _ if !self.outlives(client, &restarting) => {}
                Work::Good => self.end_poll(client, Outcome::Error),
                Work::Captive => self.fail(client, Failure::Dropped),
                _ => {}
            }
        }
    }

    /// The pooler forgets every connection, place and handshake. A client that was in one of the
    /// latter two sees its attempt fail.
    fn forget_attempts(&mut self) {
        self.close_connections();
        self.forget_places();
        if let Some(handshake) = &mut self.handshake {
            handshake.forget();
        }
        for client in 0..self.clients.len() as u32 {
            let phase = self.stands[client as usize].phase;
            if matches!(phase, Phase::Connecting | Phase::Held) {
                self.emit(Event::Dropped { client, waited: None });
                self.fail(client, Failure::Dropped);
            }
        }
    }

    /// The pooler forgets every place. A client that waited in one sees its attempt fail.
    pub(super) fn forget_places(&mut self) {
        let waited = self.waited_so_far();
        let places = self.queue.forget();
        self.killed.clear();
        self.emit(Event::PlacesForgotten { places, waited });
        // Nobody is in a place any more before the first hears of it: who fails may take others with it.
        let mut told = Vec::new();
        for (client, stand) in (0..).zip(&mut self.stands) {
            let phase = stand.phase;
            if matches!(phase, Phase::Waiting | Phase::Captive) {
                told.push((client, phase, self.clients[client as usize].admitted));
                (stand.phase, stand.timer) = (Phase::Away, NEVER);
            }
        }
        for (client, phase, admitted) in told {
            if phase == Phase::Waiting {
                self.emit(Event::Dropped { client, waited: Some(self.now.since(admitted)) });
            }
            if !self.has_left(client) {
                self.fail(client, Failure::Dropped);
            }
        }
    }

    /// A client dies in the middle of what it is doing; its claim has been cut.
    pub(super) fn cut_attempt(&mut self, client: u32) {
        self.rouse(client);
        let phase = self.stands[client as usize].phase;
        let Client { admitted, attempt, .. } = self.clients[client as usize];
        let waited = self.now.since(admitted);
        match phase {
            Phase::Waiting | Phase::Captive => {
                if matches!(self.scenario.pooler.dead_waiters, DeadWaiters::ByLeave) {
                    self.killed.insert((client, attempt));
                }
                self.leave_place(waited);
                if phase == Phase::Waiting {
                    self.emit(Event::Dropped { client, waited: Some(waited) });
                }
            }
            Phase::Connecting | Phase::Held => self.emit(Event::Dropped { client, waited: None }),
            Phase::Away if self.tell_departure(client) => {
                self.emit(Event::Dropped { client, waited: None });
            }
            _ => {}
        }
        self.forget_calls(client);
    }

    /// A client loses its connection and starts again, at its base interval; one that was told to stop
    /// stays away.
    fn restart(&mut self, client: u32, index: usize, over: Span, to: Option<&'a Policy>) {
        self.cut_attempt(client);
        if let Some(to) = to {
            self.parts.follow(client, to);
        }
        let state = &mut self.clients[client as usize];
        state.attempt = state.attempt.next_poll();
        self.emit(Event::Restarted { client, index });
        let away = self.stopped.get(&client).map_or(Span::ZERO, |stop| stop.back.since(self.now));
        self.start(client, index as u32 + 1, self.skew(client, index, over).max(away));
    }
}
