//! Calm: stretches of time in which nobody waits, played a window at a time.
//!
//! While every attempt finds a backend and the database works at full speed, polls do not touch each
//! other: an attempt that arrives is served at once and done when its demand has passed, whatever else
//! happens. Draws are keyed by what they are for, so the order in which polls are played changes no
//! number. A window takes all arrivals up to its end, plays the poll of each by itself up to the next time that
//! its client arrives, and tells the observer of all arrivals and completions together; only the levels
//! are put in order.
//!
//! A window is calm if, at its beginning, all at work are claims that their clients wait for, none of them
//! is done at that instant, nobody waits, and
//!
//! - there are never more claims in it than backends, clients that the limit allows, and jobs that the
//!   database executes at full speed;
//! - each arrival is the first attempt of a poll;
//! - no disturbance falls into it, and nobody polls twice in it;
//! - whole ticks are added to the database's clock without rounding.
//!
//! All of that is known before anything is changed. A client whose claim is at work when the calm ends before
//! the run does is woken again; its next timer, set too early, stays in the calendar and will be set again.
//!
//! A stretch that is not calm is played event by event, and a window tried again later. Both leave the same records
//! to the last bit; `tests/calm.rs` compares them.
//!
//! Of what else can happen the scenario must have nothing: see [`shortest_sleep`].

use super::client::{AttemptId, Phase, Stand};
use super::course::{Course, Step};
use super::database::{Job, Work};
use super::demand;
use super::key::{Class, Key, NEVER};
use super::observer::{Observer, Poll, Window};
use super::order::Sorter;
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::{Cadence, Outcome, Policy, Sleep};
use crate::random::{Moment, Purpose, Site};
use crate::scenario::Scenario;
use crate::units::{SimTime, Span};

/// After a window that was not calm the next is tried so many windows later.
const PATIENCE: u64 = 8;

/// As many arrivals as a window should have: enough for its fixed costs to vanish, and few enough for
/// all that it handles to stay in the nearest caches.
const ENOUGH: usize = 512;

/// How calm is played, where a scenario has any.
#[derive(Debug)]
pub(super) struct Calm {
    /// When the next window is tried.
    pub next_try: SimTime,
    /// No client polls twice within this.
    shortest: Span,
    /// How many slots of the calendar the next window spans.
    slots: u64,
    /// Timers that go off in the window, then those that its polls set.
    keys: Vec<Key>,
    /// Polls whose claims are at work, then those of the window. When one begins, its client's next is
    /// known.
    polls: Vec<Poll>,
    /// Those of them that do not end in the window.
    left: Vec<Poll>,
    /// How long the claims of the others have run, and room for more.
    services: Vec<Span>,
    steps: Vec<Step>,
    sorter: Sorter<Step>,
    course: Course,
}

/// The least time that a client of these policies sleeps, unless the scenario has anything that is never
/// calm.
pub(super) fn shortest_sleep(scenario: &Scenario, policies: &[&Policy]) -> Option<Span> {
    let Scenario { fleet, pooler, database, .. } = scenario;
    let plain = fleet.transactions_per_poll == 1
        && pooler.limiter.is_none()
        && pooler.handshake.is_none()
        && pooler.logins.is_none()
        && database.attempt_cost.is_none()
        && scenario.background.is_none()
        && scenario.work.is_none()
        && policies.iter().all(|policy| is_plain(policy));
    let shortest = policies.iter().map(|policy| policy.poll.shortest()).min()?;
    (plain && shortest > Span::ZERO).then_some(shortest)
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

impl Calm {
    /// How calm is played if no client polls twice within `shortest`.
    pub fn new(shortest: Span) -> Calm {
        Calm {
            next_try: SimTime::ZERO,
            shortest,
            slots: 1,
            keys: Vec::new(),
            polls: Vec::new(),
            left: Vec::new(),
            services: Vec::new(),
            steps: Vec::new(),
            sorter: Sorter::default(),
            course: Course::default(),
        }
    }
}

impl<O: Observer, T: Timers> Simulation<'_, O, T> {
    /// Plays windows, up to `end`, for as long as they are calm.
    #[inline(never)]
    pub(super) fn play_calm(&mut self, calm: &mut Calm, end: SimTime) {
        let full_speed = self.database.full_speed(self.backends.always());
        let limit = self.moments.max_client_conn.unwrap_or(u32::MAX).min(full_speed);
        let is_open = self.good < limit && self.calm_until(calm, end).is_some();
        if is_open && self.begin_calm(calm, end) {
            while let Some(until) = self.calm_until(calm, end) {
                let spanned = self.slots_until(until);
                if self.play_window(calm, until, limit) {
                    self.now = until;
                    // All at work are looked at once a window.
                    let enough = ENOUGH.max(calm.polls.len());
                    if calm.keys.len() < enough && spanned >= calm.slots {
                        calm.slots = 2 * spanned;
                    } else if calm.keys.len() > 4 * enough {
                        calm.slots = (calm.slots / 2).max(1);
                    }
                } else if spanned > 1 {
                    calm.slots = spanned / 2;
                } else {
                    break;
                }
            }
            // When the run is over they are asleep beyond it, which is as good: no attempt is on its way.
            if self.now < end {
                self.wake(&calm.polls);
            }
            self.end_calm(calm);
        }
        let window = self.layout.time(self.timers.slot_width());
        calm.next_try = self.now + Span::from_ticks((PATIENCE * window.ticks()).max(1));
    }

    /// The claims leave the database's hands, and their clients go to sleep ahead of time, if all is as it
    /// must be.
    fn begin_calm(&mut self, calm: &mut Calm, end: SimTime) -> bool {
        let still = self.queue.head().is_none()
            && self.wasted == 0
            && self.orphans == 0
            && self.pool_wake == NEVER
            && self.layout.time(self.database.next()) > self.now
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
        calm.polls.clear();
        for (Job { client, started, .. }, at) in self.database.suspend(self.now) {
            let number = self.clients[client as usize].attempt.poll;
            let stand = &mut self.stands[client as usize];
            stand.phase = Phase::Asleep;
            calm.polls.push(Poll { client, number, started, at, step: stand.step });
        }
        self.sleep_after(&calm.polls, &mut calm.keys);
        true
    }

    /// Clients whose claims are at work are awake again.
    fn wake(&mut self, polls: &[Poll]) {
        for &Poll { client, number, started, step, .. } in polls {
            let stand = &mut self.stands[client as usize];
            (stand.poll, stand.step) = (number, step);
            stand.timer = self.layout.key(started, Class::Arrival, client);
            self.rouse(client);
            // The timer of its next poll is left in the calendar, where it will be set again.
            let stand = &mut self.stands[client as usize];
            (stand.phase, stand.timer) = (Phase::Served, NEVER);
        }
    }

    /// The database takes the claims over again.
    fn end_calm(&mut self, calm: &Calm) {
        let jobs = calm.polls.iter().map(|&Poll { client, started, at, .. }| {
            (Job { client, work: Work::Good, started, connected: SimTime::ZERO }, at)
        });
        self.database.resume(self.now, jobs);
        self.backends.occupy(self.good);
    }

    /// How many slots of the calendar there are up to then, the present one counted as whole.
    fn slots_until(&self, until: SimTime) -> u64 {
        let slot = |time| self.layout.key(time, Class::Disturbance, 0) / self.timers.slot_width();
        slot(until).saturating_sub(slot(self.now)).max(1)
    }

    /// The end of the window that begins now.
    fn calm_until(&mut self, calm: &Calm, end: SimTime) -> Option<SimTime> {
        let now = self.layout.key(self.now, Class::Disturbance, 0);
        let width = self.timers.slot_width();
        let span = width.saturating_mul(calm.slots);
        let slots_end = self.layout.time((now | (width - 1)).saturating_add(span - width + 1));
        let until = slots_end
            .min(self.layout.time(self.moments.next()))
            .min(self.observer.calm_until(self.now))
            .min(self.database.exact_until())
            .min(self.now + calm.shortest)
            .min(end);
        (until > self.now).then_some(until)
    }

    /// Plays all that happens until then, if it is calm: all is drawn and put in order before anything
    /// is changed.
    fn play_window(&mut self, calm: &mut Calm, until: SimTime, limit: u32) -> bool {
        let Calm { keys, polls, left, services, steps, sorter, course, .. } = calm;
        let before = polls.len();
        keys.clear();
        self.timers.take_before(self.layout.key(until, Class::Disturbance, 0), keys);
        let mut is_calm = self.begin_polls(keys, polls) && self.draw_claims(&mut polls[before..]);
        if is_calm {
            let some_at_once = list_steps(polls, before, until, steps, left, services);
            sorter.sort(steps, Step::first(self.now)..Step::first(until));
            if some_at_once {
                tell_apart(&polls[before..], steps);
            }
            is_calm = course.follow(self.now, self.good, steps, limit);
        }
        if !is_calm {
            for Poll { client, started, .. } in polls.drain(before..) {
                self.stands[client as usize].timer =
                    self.layout.key(started, Class::Arrival, client);
            }
            self.timers.put_back(keys);
            return false;
        }
        self.sleep_after(&polls[before..], keys);
        if course.lowest() == 0 {
            self.database.follow(self.good, steps);
        }
        self.good = left.len() as u32;
        self.events += steps.len() as u64;
        let round_trip = self.scenario.fleet.round_trip;
        let services = &services[..polls.len() - left.len()];
        let window = Window { round_trip, course, services, polls, until };
        if self.facts.exits {
            for poll in window.ended() {
                self.clients[poll.client as usize].failures = 0;
            }
        }
        self.observer.on_window(window);
        std::mem::swap(polls, left);
        true
    }

    /// Begins the polls of a window, and says whether each is one whose client was asleep. Nothing else is
    /// done here, so that the processor can wait for many clients at once.
    fn begin_polls(&mut self, keys: &[Key], polls: &mut Vec<Poll>) -> bool {
        for &key in keys {
            let client = self.layout.client(key);
            let stand = &mut self.stands[client as usize];
            if stand.timer != key {
                continue;
            }
            if stand.phase != Phase::Asleep {
                return false;
            }
            // The same timer may have been set twice.
            stand.timer = NEVER;
            let started = self.layout.time(key);
            let Stand { poll: number, step, .. } = *stand;
            polls.push(Poll { client, number, started, at: started, step });
        }
        true
    }

    /// Draws what polls ask for, and says whether all of it is something that the database holds exactly.
    fn draw_claims(&mut self, polls: &mut [Poll]) -> bool {
        let law = self.scenario.database.claim(0);
        let (most_exact, exact_until) = (self.database.most_exact(), self.database.exact_until());
        let site = |poll: &Poll| {
            let moment = Moment { poll: poll.number, ..Moment::default() };
            self.world.site(Purpose::Demand, poll.client, moment)
        };
        let (mut longest, mut latest) = (Span::ZERO, SimTime::ZERO);
        demand::sample_all(law, polls, site, |poll, demand| {
            poll.at = poll.started + demand;
            longest = longest.max(demand);
            latest = latest.max(poll.at);
        });
        longest < most_exact && latest < exact_until
    }

    /// Lets clients that are asleep sleep until the poll after theirs, as if its claim were done.
    fn sleep_after(&mut self, polls: &[Poll], keys: &mut Vec<Key>) {
        keys.clear();
        let mut rest = polls;
        while let Some(first) = rest.first() {
            let Policy { rules, poll: schedule, .. } = self.parts.policy(first.client);
            let alike = self.parts.alike(rest.iter().map(|poll| poll.client));
            let (alike, others) = rest.split_at(alike);
            match rules.turns(Outcome::Empty, schedule) {
                Some(turns) => self.set_alarms(alike, |step, site| turns.turn(step, site), keys),
                None => {
                    let turn = |step, site| rules.turn(Outcome::Empty, step, schedule, site);
                    self.set_alarms(alike, turn, keys);
                }
            }
            rest = others;
        }
        self.timers.push_all(keys);
    }

    /// Lets clients sleep as long as `turn` says for the step at which each is, and lists their timers.
    #[inline]
    fn set_alarms(
        &mut self,
        polls: &[Poll],
        turn: impl Fn(u32, Site) -> (Span, u32),
        keys: &mut Vec<Key>,
    ) {
        let (layout, round_trip) = (self.layout, self.scenario.fleet.round_trip);
        keys.extend(polls.iter().map(|&Poll { client, number, at, step, .. }| {
            let moment = Moment { poll: number, ..Moment::default() };
            let site = self.world.site(Purpose::PollJitter, client, moment);
            let (sleep, step) = turn(step.into(), site);
            let key = layout.key(at + sleep + round_trip, Class::Arrival, client);
            let stand = &mut self.stands[client as usize];
            (stand.timer, stand.poll) = (key, number.wrapping_add(1));
            stand.set_step(step);
            key
        }));
    }
}

/// Lists the arrivals of the polls from `before` on, and the completions of all that end before `until`; and
/// which polls are left, and how long the claims of the others have run. Says whether any claim takes no time.
fn list_steps(
    polls: &[Poll],
    before: usize,
    until: SimTime,
    steps: &mut Vec<Step>,
    left: &mut Vec<Poll>,
    services: &mut Vec<Span>,
) -> bool {
    let arrivals = polls.len() - before;
    steps.resize(arrivals + polls.len(), Step::first(until));
    left.resize(left.len().max(polls.len()), Poll::default());
    services.resize(services.len().max(polls.len()), Span::ZERO);
    for (step, poll) in steps.iter_mut().zip(&polls[before..]) {
        *step = Step::arrival(poll.started);
    }
    let (mut done, mut at_work, mut some_at_once) = (0, 0, false);
    let completions = &mut steps[arrivals..];
    // Which of the two a poll is nobody could foretell, and a branch would have to.
    for poll in polls {
        let step = Step::completion(poll.started, poll.at);
        some_at_once |= step.ends_at_once();
        (completions[done], services[done], left[at_work]) =
            (step, poll.at.since(poll.started), *poll);
        let ends = poll.at < until;
        done += usize::from(ends);
        at_work += usize::from(!ends);
    }
    steps.truncate(arrivals + done);
    left.truncate(at_work);
    some_at_once
}

/// Puts claims that take no time where they are when played one by one: done before the next arrives, though
/// that be at the same instant. So arrivals and these completions alternate as the polls do.
#[cold]
fn tell_apart(begun: &[Poll], steps: &mut [Step]) {
    let at_once = steps.iter().filter(|step| step.ends_at_once());
    let instants: Vec<SimTime> = at_once.map(|step| step.time()).collect();
    let meets_one = |poll: &&Poll| instants.binary_search(&poll.started).is_ok();
    let mut polls: Vec<&Poll> = begun.iter().filter(meets_one).collect();
    polls.sort_unstable_by_key(|poll| (poll.started, poll.client));
    let mut index = 0;
    for &Poll { started, at, .. } in polls {
        let arrival = Step::arrival(started);
        index += steps[index..].partition_point(|&step| step < arrival);
        steps[index] = arrival;
        index += 1;
        if at == started {
            steps[index] = Step::completion(started, at);
            index += 1;
        }
    }
}
