//! The life of a client: it starts, sleeps, sets out, and its attempts and polls come to their ends.

use super::client::{AttemptId, BOOT_CHECK, Phase, Stand};
use super::key::{Class, NEVER};
use super::observer::{Begins, Event, Observer};
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::guard::Ending;
use crate::policy::{Acquire, Cadence, Failure, MissedTick, Outcome, Past, Policy, Sleep};
use crate::random::{Moment, Purpose};
use crate::scenario::Initial;
use crate::units::{SimTime, Span};

impl<O: Observer, T: Timers> Simulation<'_, O, T> {
    /// Sets the first timer of each client.
    pub(super) fn begin(&mut self) {
        let clients = 0..self.scenario.fleet.clients;
        match self.scenario.fleet.initial {
            Initial::Warm { interval } => {
                let reached = |(policy, _): (&Policy, u32)| policy.poll.step_reaching(interval);
                let steps: Vec<u32> = self.parts.sizes().map(reached).collect();
                for client in clients {
                    self.begin_warm(client, interval, steps[self.parts.part(client)]);
                }
            }
            Initial::Cold => clients.for_each(|client| self.start(client, 0, Span::ZERO)),
        }
    }

    /// A client has slept for some part of an `interval` that was reached at this step.
    fn begin_warm(&mut self, client: u32, interval: Span, step: u32) {
        self.stands[client as usize].set_step(step);
        let phase = self.world.site(Purpose::WarmPhase, client, Moment::default());
        let wait = Span::from_ticks((interval.ticks() as f64 * phase.uniform(0)) as u64);
        self.begin_connected(client);
        match self.facts.nap {
            Some(_) => self.nap(client, 0, wait),
            None => self.begin_poll(client, wait),
        }
    }

    /// Starts a client `after` a while, at its base interval and without a connection. `number`
    /// says which of its starts it is.
    pub(super) fn start(&mut self, client: u32, number: u32, after: Span) {
        self.hang_up(client);
        self.empty_pool(client);
        self.forget_calls(client);
        self.renew_guards(client);
        self.forget_delay(client);
        let state = &mut self.clients[client as usize];
        state.start = number;
        state.failures = 0;
        self.stands[client as usize].step = 0;
        if self.policy(client).boot_check.is_some() {
            self.clients[client as usize].attempt.transaction = BOOT_CHECK;
            self.begin_acquisition(client, after);
        } else {
            self.begin_poll(client, after + self.start_up(client));
        }
    }

    /// Lets a client begin its next poll after `wait`.
    #[inline]
    pub(super) fn begin_poll(&mut self, client: u32, wait: Span) {
        let state = &mut self.clients[client as usize];
        if self.facts.nap.is_some() {
            let poll = state.attempt.poll;
            return self.nap(client, poll, wait);
        }
        state.poll_began = self.now + wait;
        state.due = state.poll_began;
        self.begin_acquisition(client, wait);
    }

    /// Lets a client sleep until the attempt of a poll that begins after `wait` arrives: nothing is
    /// written down of that poll before, and nobody else has to know.
    #[inline]
    fn nap(&mut self, client: u32, poll: u32, wait: Span) {
        let stand = &mut self.stands[client as usize];
        (stand.phase, stand.poll) = (Phase::Asleep, poll);
        self.set_timer(client, self.now + wait + self.scenario.fleet.round_trip, Class::Arrival);
    }

    /// Writes down the poll of a client that is asleep.
    #[inline]
    pub(super) fn rouse(&mut self, client: u32) {
        let stand = &mut self.stands[client as usize];
        if stand.phase != Phase::Asleep {
            return;
        }
        stand.phase = Phase::Away;
        let state = &mut self.clients[client as usize];
        state.attempt = AttemptId { poll: stand.poll, ..AttemptId::default() };
        let began = match stand.timer {
            NEVER => SimTime::NEVER,
            key => self.layout.time(key) - self.scenario.fleet.round_trip,
        };
        (state.poll_began, state.due, state.acquisition_began) = (began, began, began);
    }

    /// The attempt of a client failed: its acquisition rule decides.
    pub(super) fn fail(&mut self, client: u32, failure: Failure) {
        let state = &self.clients[client as usize];
        let failed = state.attempt.attempt.saturating_add(1);
        if state.attempt.transaction == BOOT_CHECK {
            return self.fail_boot_check(client, failed);
        }
        let hint = self.hint(failure);
        let retry = match &self.policy(client).acquire {
            Acquire::Once => return self.end_poll(client, Outcome::Error),
            Acquire::Retry(retry) => retry,
            Acquire::Layers(_) => return self.fail_calls(client, 0, failure, hint),
        };
        let elapsed = self.now.since(state.acquisition_began);
        let moment = state.attempt.moment();
        let site = self.site(Purpose::RetryJitter, client, moment);
        let past = Past { previous: self.previous_delay(client, retry), elapsed };
        match retry.next(failed, failure, past, hint, site) {
            Some(delay) => {
                self.remember_delay(client, retry, delay);
                self.clients[client as usize].attempt.attempt = failed;
                self.depart(client, delay);
            }
            None => self.end_poll(client, Outcome::Error),
        }
    }

    /// What the server tells those whose attempt it failed so: how long to wait.
    fn hint(&self, failure: Failure) -> Option<Span> {
        let limiter = self.scenario.pooler.limiter.as_ref()?;
        limiter.retry_after.filter(|_| failure == Failure::Throttled)
    }

    fn fail_boot_check(&mut self, client: u32, failed: u32) {
        match self.policy(client).boot_check {
            Some(check) if failed < check.attempts => {
                self.clients[client as usize].attempt.attempt = failed;
                self.depart(client, check.delay);
            }
            Some(_) => self.exit(client),
            // It follows another policy since, which has no such check.
            None => self.pass_boot_check(client),
        }
    }

    /// A started client goes on to its first poll.
    fn pass_boot_check(&mut self, client: u32) {
        if self.stays_away(client) {
            return;
        }
        let state = &mut self.clients[client as usize];
        state.attempt = state.attempt.next_poll();
        let wait = self.start_up(client);
        self.begin_poll(client, wait);
    }

    /// After how long a client, or its worker, knocks again when it has failed, if it is one that does so at
    /// once.
    pub(super) fn hot_pause(&self, client: u32) -> Option<Span> {
        let hot = self.policy(client).hot_loop?;
        (self.parts.rank(self.guests.owner(client)) < hot.clients).then_some(hot.pause)
    }

    /// A client exits, and its supervisor starts it again.
    fn exit(&mut self, client: u32) {
        let supervisor = self.policy(client).supervisor.expect("who exits has a supervisor");
        self.emit(Event::Exited { client });
        if self.works.is_some() {
            self.cut_claims(client..client + 1, false);
            self.cut_sessions(client..client + 1, false);
            self.drop_work(client..client + 1);
            self.bury_tombstones();
            // Backends that this has set free are given out when what is going on is over.
            self.pool_wake = self.layout.key(self.now, Class::Login, 0);
        }
        if self.stays_away(client) {
            return;
        }
        let state = &mut self.clients[client as usize];
        // Counted from the other end than the restarts by disturbances.
        let number = !state.attempt.poll;
        state.attempt = state.attempt.next_poll();
        self.start(client, number, supervisor.delay);
    }

    /// A poll came to its end: its outcome decides the sleep before the next.
    #[inline]
    pub(super) fn end_poll(&mut self, client: u32, outcome: Outcome) {
        if outcome == Outcome::Error {
            self.end_calls(client, Ending::Failed(Failure::Dropped));
        }
        if self.is_guest(client) {
            return self.end_visit(client, outcome);
        }
        let policy = self.policy(client);
        let state = &mut self.clients[client as usize];
        let began = state.poll_began;
        let moment = Moment { poll: state.attempt.poll, ..Moment::default() };
        let site = self.world.site(Purpose::PollJitter, client, moment);
        let step = self.stands[client as usize].step.into();
        let (sleep, step) = policy.rules.turn(outcome, step, &policy.poll, site);
        state.failures = match outcome {
            Outcome::Error => state.failures.saturating_add(1),
            Outcome::Claimed | Outcome::Empty => 0,
        };
        let failures = state.failures;
        self.emit(Event::PollEnded { client, began, outcome });
        if !self.stopped.is_empty() && self.stays_away(client) {
            return;
        }
        if outcome == Outcome::Error {
            if policy.supervisor.is_some_and(|supervisor| u32::from(failures) >= supervisor.after) {
                return self.exit(client);
            }
            // Where there is work, it is the workers that knock so.
            if self.works.is_none()
                && let Some(pause) = self.hot_pause(client)
            {
                let state = &mut self.clients[client as usize];
                state.attempt = state.attempt.next_poll();
                return self.begin_poll(client, pause);
            }
        }
        self.stands[client as usize].set_step(step);
        let state = &mut self.clients[client as usize];
        state.attempt = state.attempt.next_poll();
        if policy.rules.rule(outcome).sleep == Sleep::ForGood {
            self.hang_up(client);
            self.emit(Event::Left { client });
        }
        match policy.cadence {
            Cadence::FixedDelay => self.begin_poll(client, sleep),
            Cadence::FixedRate(missed) => self.tick(client, sleep, missed),
        }
        if self.is_busy(client) {
            let wait = self.clients[client as usize].poll_began.since(self.now);
            self.look_after(client, wait);
        }
    }

    /// Lets a client poll at its next tick, `period` after the one before.
    fn tick(&mut self, client: u32, period: Span, missed: MissedTick) {
        let due = self.clients[client as usize].due;
        let late = self.now.since(due).ticks();
        let ticks = if period == Span::ZERO { late } else { period.ticks() };
        // The last tick that has come, and the next.
        let last = SimTime::from_ticks(due.ticks() + late - late % ticks.max(1));
        if last > due && missed == MissedTick::Fire {
            self.begin_poll(client, Span::ZERO);
            self.clients[client as usize].due = last;
        } else {
            let next = if last == self.now && last > due { last } else { last + period };
            self.begin_poll(client, next.since(self.now));
        }
    }

    /// Tells of the attempt that a client has on its way, and whether there is one.
    pub(super) fn tell_departure(&mut self, client: u32) -> bool {
        let Stand { phase, timer, .. } = self.stands[client as usize];
        if !matches!(phase, Phase::Away | Phase::Asleep) || timer == NEVER {
            return false;
        }
        let at = self.layout.time(timer) - self.scenario.fleet.round_trip;
        if at < self.now {
            self.rouse(client);
            self.departed(client, at);
        }
        at < self.now
    }

    /// The start-up wait of a client's present start.
    fn start_up(&self, client: u32) -> Span {
        let moment = Moment { poll: self.clients[client as usize].start, ..Moment::default() };
        self.policy(client).start_up.draw(self.world.site(Purpose::StartUp, client, moment))
    }

    #[inline]
    fn begin_acquisition(&mut self, client: u32, wait: Span) {
        let at = self.now + wait;
        self.clients[client as usize].acquisition_began = at;
        self.begin_calls(client, at);
        self.depart(client, wait);
    }

    /// Sends a client's next attempt off after `wait`, if its guards let it go and with a connection of
    /// its process if it needs one.
    #[inline(always)]
    pub(super) fn depart(&mut self, client: u32, wait: Span) {
        if self.facts.asks && self.asks(client) {
            self.ask_after(client, wait);
        } else {
            self.set_out(client, wait);
        }
    }

    /// Whether a client's attempts set out only when its guards let them, or with a connection of its process.
    fn asks(&self, client: u32) -> bool {
        self.client_pool(client).is_some() || !self.policy(client).acquire.layers().is_empty()
    }

    /// Lets a client's next attempt set out after `wait`.
    #[inline(always)]
    pub(super) fn set_out(&mut self, client: u32, wait: Span) {
        self.stands[client as usize].phase = Phase::Away;
        self.set_timer(client, self.now + wait + self.scenario.fleet.round_trip, Class::Arrival);
    }

    #[inline]
    pub(super) fn departed(&mut self, client: u32, at: SimTime) {
        let begins = self.begins(client);
        self.emit(Event::Departed { client, at, begins });
    }

    /// What a client's present attempt begins.
    #[inline]
    pub(super) fn begins(&self, client: u32) -> Begins {
        let attempt = self.clients[client as usize].attempt;
        match attempt {
            _ if attempt.attempt > 0 => Begins::Nothing,
            _ if attempt.transaction > 0 || self.is_worker(client) => Begins::Acquisition,
            _ => Begins::Poll,
        }
    }

    /// A client's transaction is done: the next follows, or the poll is over.
    #[inline]
    pub(super) fn advance_transaction(&mut self, client: u32) {
        let state = &mut self.clients[client as usize];
        if state.attempt.transaction == BOOT_CHECK {
            return self.pass_boot_check(client);
        }
        self.end_calls(client, Ending::Good);
        if self.has_more_transactions(client) {
            let state = &mut self.clients[client as usize];
            state.attempt.transaction += 1;
            state.attempt.attempt = 0;
            self.begin_acquisition(client, Span::ZERO);
        } else {
            let outcome =
                if self.is_guest(client) { Outcome::Empty } else { self.take_items(client) };
            self.end_poll(client, outcome);
        }
    }

    /// Whether the transaction that a client is in has others after it.
    #[inline]
    pub(super) fn has_more_transactions(&self, client: u32) -> bool {
        let AttemptId { transaction, .. } = self.clients[client as usize].attempt;
        let transactions = match self.is_guest(client) {
            true => self.guest_claims(client).len(),
            false => usize::from(self.scenario.fleet.transactions_per_poll),
        };
        transaction != BOOT_CHECK && usize::from(transaction) + 1 < transactions
    }
}
