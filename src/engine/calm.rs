//! Calm: stretches of time in which nobody waits, played a window at a time.
//!
//! While every attempt finds a backend and the database works at full speed, polls do not touch each
//! other: an attempt that arrives is served at once and done when its demand has passed, whatever else
//! happens. Draws are keyed by what they are for, so the order in which polls are played changes no
//! number. A window takes all arrivals and completions up to its end, plays each by itself, and tells the
//! observer of them together; only the levels are put in order.
//!
//! A window is calm if, at its beginning, all at work are claims that their clients wait for, nobody
//! waits, and
//!
//! - with all its arrivals there are no more claims than backends, clients that the limit allows, and
//!   jobs that the database executes at full speed;
//! - each arrival is the first attempt of a poll, with a demand of at least a tick;
//! - no disturbance falls into it, and nobody polls twice in it;
//! - the database's clock and all its targets are whole ticks, so that they stay exact.
//!
//! If one is not, the loop plays it event by event and tries again later. Both leave the same records
//! to the last bit; `tests/calm.rs` compares them.
//!
//! Of what else can happen the scenario must have nothing: see [`Calm::new`].

use super::calendar::Calendar;
use super::client::{AttemptId, Phase};
use super::database::{Job, Work};
use super::demand;
use super::key::{Class, Key, Layout, NEVER};
use super::observer::{Observer, Poll, Step, Window};
use super::simulation::Simulation;
use crate::policy::{Cadence, Outcome, Policy, Sleep};
use crate::random::{Moment, Purpose};
use crate::scenario::Scenario;
use crate::units::{SimTime, Span};

/// After a window that was not calm the next is tried so many windows later.
const PATIENCE: u64 = 8;

/// How calm is played, where a scenario has any.
#[derive(Debug)]
pub(super) struct Calm {
    /// When the next window is tried.
    pub next_try: SimTime,
    /// No client polls twice within this.
    shortest: Span,
    /// Timers that go off in the window, and those that hold, with when their claims will be done.
    keys: Vec<Key>,
    arrivals: Vec<(Key, Key)>,
    /// Claims at work, by when they are done.
    running: Calendar,
    /// Those that are done within the window.
    due: Vec<Key>,
    steps: Vec<Step>,
    polls: Vec<Poll>,
}

impl Calm {
    /// How a unit's calm is played, or `None` where nothing is ever played so.
    pub fn new(scenario: &Scenario, policy: usize, layout: Layout) -> Option<Calm> {
        let (fleet, pooler, database) = (&scenario.fleet, &scenario.pooler, &scenario.database);
        let others = scenario.happenings().filter_map(|happening| happening.action.to());
        let parts = scenario.policies[policy].parts.iter().map(|part| &part.policy);
        let policies: Vec<&Policy> = parts.chain(others.map(|to| &to.policy)).collect();
        let plain = fleet.transactions_per_poll == 1
            && pooler.limiter.is_none()
            && pooler.handshake.is_none()
            && pooler.logins.is_none()
            && database.attempt_cost.is_none()
            && scenario.background.is_none()
            && scenario.work.is_none()
            && policies.iter().all(|policy| is_plain(policy));
        let shortest = policies.iter().map(|policy| policy.poll.shortest()).min()?;
        (plain && shortest > Span::ZERO).then(|| Calm {
            next_try: SimTime::ZERO,
            shortest: shortest + fleet.round_trip,
            keys: Vec::new(),
            arrivals: Vec::new(),
            running: Calendar::new(scenario.most_backends() as usize, layout.order_bits()),
            due: Vec::new(),
            steps: Vec::new(),
            polls: Vec::new(),
        })
    }
}

/// Whether what a client does that finds a backend at once depends on nobody else.
fn is_plain(policy: &Policy) -> bool {
    let remembers = policy.acquire.retries().any(|retry| retry.delay.remembers());
    policy.connection.is_none()
        && policy.client_pool.is_none()
        && policy.acquire.layers().is_empty()
        && policy.cadence == Cadence::FixedDelay
        && matches!(policy.rules.empty.sleep, Sleep::Base | Sleep::Current | Sleep::TwiceCurrent)
        && !remembers
}

impl<O: Observer> Simulation<'_, O> {
    /// Plays windows, up to `end`, for as long as they are calm.
    #[inline(never)]
    pub(super) fn play_calm(&mut self, calm: &mut Calm, end: SimTime) {
        let full_speed = self.database.full_speed(self.backends.always());
        let limit = self.moments.max_client_conn.unwrap_or(u32::MAX).min(full_speed);
        if self.begin_calm(calm, end) {
            while let Some(until) = self.calm_until(calm, end)
                && self.play_window(calm, until, limit)
            {
                self.now = until;
            }
            self.end_calm(calm);
        }
        let window = self.layout.time(self.calendar.slot_width());
        calm.next_try = self.now + Span::from_ticks((PATIENCE * window.ticks()).max(1));
    }

    /// The claims leave the database's hands, if all is as it must be.
    fn begin_calm(&mut self, calm: &mut Calm, end: SimTime) -> bool {
        let still = self.queue.head().is_none()
            && self.wasted == 0
            && self.orphans == 0
            && self.pool_wake == NEVER
            && self.stopped.is_empty()
            && self.moments.refusing.is_none();
        let at_once = |job: &Job| {
            let state = &self.clients[job.client as usize];
            let AttemptId { attempt, transaction, .. } = state.attempt;
            let first = attempt == 0 && transaction == 0;
            let arrival = state.poll_began + self.scenario.fleet.round_trip;
            first && job.work == Work::Good && job.started == arrival
        };
        if !still || !self.database.jobs().all(at_once) || !self.database.is_exact(end) {
            return false;
        }
        calm.running.begin_at(self.layout.key(self.now, Class::Disturbance, 0));
        for (job, end) in self.database.suspend(self.now) {
            calm.running.push(self.layout.key(end, Class::Completion, job.client));
        }
        true
    }

    /// The database takes the claims over again, and their clients' states tell of them.
    fn end_calm(&mut self, calm: &mut Calm) {
        calm.due.clear();
        calm.running.take_before(NEVER, &mut calm.due);
        let jobs = calm.due.iter().map(|&key| {
            let client = self.layout.client(key);
            let state = &mut self.clients[client as usize];
            (state.phase, state.timer) = (Phase::Served, NEVER);
            let started = state.poll_began + self.scenario.fleet.round_trip;
            let job = Job { client, work: Work::Good, started, connected: SimTime::ZERO };
            (job, self.layout.time(key))
        });
        self.database.resume(self.now, jobs);
        self.backends.occupy(self.good);
    }

    /// The end of the window that begins now.
    fn calm_until(&mut self, calm: &Calm, end: SimTime) -> Option<SimTime> {
        let now = self.layout.key(self.now, Class::Disturbance, 0);
        let slot_ends = self.layout.time((now | (self.calendar.slot_width() - 1)) + 1);
        let until = slot_ends
            .min(self.layout.time(self.moments.next()))
            .min(self.observer.calm_until(self.now))
            .min(self.now + calm.shortest)
            .min(end);
        (until > self.now).then_some(until)
    }

    /// Plays all that happens until then, if it is calm.
    fn play_window(&mut self, calm: &mut Calm, until: SimTime, limit: u32) -> bool {
        let bound = self.layout.key(until, Class::Disturbance, 0);
        calm.keys.clear();
        self.calendar.take_before(bound, &mut calm.keys);
        if !self.prepare(calm, limit) {
            calm.keys.iter().for_each(|&key| self.calendar.push(key));
            return false;
        }
        calm.due.clear();
        calm.running.take_before(bound, &mut calm.due);
        for &(_, done) in &calm.arrivals {
            if done < bound { calm.due.push(done) } else { calm.running.push(done) }
        }
        let Calm { arrivals, due, steps, polls, .. } = calm;
        steps.clear();
        steps.extend(arrivals.iter().map(|&(key, _)| Step::arrival(self.layout.time(key))));
        steps.extend(due.iter().map(|&key| Step::completion(self.layout.time(key))));
        steps.sort_unstable();
        if due.len() >= self.good as usize {
            self.database.follow(self.good, steps);
        }
        self.good += arrivals.len() as u32;
        self.good -= due.len() as u32;
        self.events += (calm.keys.len() + due.len()) as u64;
        polls.clear();
        polls.extend(due.iter().map(|&key| self.end_calm_poll(key)));
        let round_trip = self.scenario.fleet.round_trip;
        self.observer.on_window(Window { round_trip, steps, polls });
        true
    }

    /// Draws what the arrivals of a window ask for, and says whether it is calm.
    fn prepare(&self, calm: &mut Calm, limit: u32) -> bool {
        calm.arrivals.clear();
        for &key in &calm.keys {
            let client = self.layout.client(key);
            let state = &self.clients[client as usize];
            if state.timer != key {
                continue;
            }
            let AttemptId { poll, attempt, transaction } = state.attempt;
            let site =
                self.world.site(Purpose::Demand, client, Moment { poll, ..Moment::default() });
            let demand = demand::sample(self.scenario.database.claim(0), site);
            let first = attempt == 0 && transaction == 0;
            let done = self.layout.time(key) + demand;
            let done = self.layout.key(done, Class::Completion, client);
            let held = self.database.holds(demand) && done != NEVER;
            if !first || state.phase != Phase::Away || !held {
                return false;
            }
            calm.arrivals.push((key, done));
        }
        calm.arrivals.len() as u64 + u64::from(self.good) <= u64::from(limit)
    }

    /// A claim is done, and so is its poll: its client goes to sleep.
    #[inline]
    fn end_calm_poll(&mut self, key: Key) -> Poll {
        let (at, client) = (self.layout.time(key), self.layout.client(key));
        let policy = self.policy(client);
        let round_trip = self.scenario.fleet.round_trip;
        let state = &mut self.clients[client as usize];
        let began = state.poll_began;
        let moment = Moment { poll: state.attempt.poll, ..Moment::default() };
        let site = self.world.site(Purpose::PollJitter, client, moment);
        let (sleep, step) = policy.rules.turn(Outcome::Empty, state.step, &policy.poll, site);
        let begins = at + sleep;
        state.phase = Phase::Away;
        state.step = step;
        state.failures = 0;
        state.attempt = state.attempt.next_poll();
        (state.poll_began, state.due, state.acquisition_began) = (begins, begins, begins);
        self.set_timer(client, begins + round_trip, Class::Arrival);
        Poll { client, began, started: began + round_trip, at }
    }
}
