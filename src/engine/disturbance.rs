//! What disturbances do to the system.

use std::ops::Range;

use super::client::{Client, Phase};
use super::database::{Job, Work};
use super::key::{Class, Key, Layout, NEVER};
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use crate::policy::{Leave, Outcome};
use crate::random::{Moment, Purpose};
use crate::scenario::{Action, DeadWaiters, Failure, Orphans, Scenario};
use crate::units::{SimTime, Span};

/// When disturbances begin and end, in order, and what is in force.
#[derive(Debug)]
pub(super) struct Moments {
    layout: Layout,
    /// (time, whether it begins then, index in the scenario): ends come first.
    rest: std::iter::Peekable<std::vec::IntoIter<(SimTime, bool, usize)>>,
    /// How long every attempt takes to be refused, while the database is out of order so.
    pub refusing: Option<Span>,
}

impl Moments {
    pub fn new(scenario: &Scenario, layout: Layout) -> Moments {
        let mut moments = Vec::new();
        for (index, disturbance) in scenario.disturbances.iter().enumerate() {
            moments.push((disturbance.at, true, index));
            if !matches!(disturbance.action, Action::Restart { .. }) {
                moments.push((disturbance.at + disturbance.action.over(), false, index));
            }
        }
        moments.sort_unstable();
        Moments { layout, rest: moments.into_iter().peekable(), refusing: None }
    }

    /// The key of the next of them.
    #[inline]
    pub fn next(&mut self) -> Key {
        match self.rest.peek() {
            Some(&(time, ..)) => self.layout.key(time, Class::Disturbance, 0),
            None => NEVER,
        }
    }
}

impl<O: Observer> Simulation<'_, O> {
    /// A disturbance begins or ends.
    pub(super) fn disturb(&mut self) {
        let Some((_, begins, index)) = self.moments.rest.next() else { return };
        let action = self.scenario.disturbances[index].action;
        if begins {
            self.emit(Event::Disturbed { index });
        }
        match action {
            Action::Restart { clients, over, database } if begins => {
                let restarting = clients.of(self.scenario.fleet.clients);
                self.cut_claims(&(0..restarting), database.is_some());
                self.cut_sessions(&(0..restarting), database.is_some());
                self.drop_work(&(0..restarting));
                if let Some(back) = database {
                    self.backends.close_all(self.now + back);
                }
                for client in 0..restarting {
                    self.restart(client, index, over);
                }
                if database.is_some() {
                    self.forget_attempts();
                }
            }
            Action::Outage { over, failure: Failure::Refusing { .. } } if begins => {
                self.cut_claims(&(0..0), true);
                self.cut_sessions(&(0..0), true);
                self.backends.close_all(self.now + over);
                self.apply_lasting();
                self.forget_attempts();
            }
            Action::Outage { over, failure: Failure::Hanging } if begins => {
                self.backends.hold(self.now + over);
                self.apply_lasting();
            }
            _ => self.apply_lasting(),
        }
        self.bury_tombstones();
        self.serve();
    }

    /// Puts into force what lasts at this instant.
    fn apply_lasting(&mut self) {
        let (mut slowdown, mut load) = (1.0, 1.0);
        self.moments.refusing = None;
        for disturbance in &self.scenario.disturbances {
            let action = disturbance.action;
            if !(disturbance.at <= self.now && self.now < disturbance.at + action.over()) {
                continue;
            }
            match action {
                Action::Slow { factor, .. } => slowdown *= factor,
                Action::Burst { factor, .. } => load *= factor,
                Action::Outage { failure: Failure::Hanging, .. } => {
                    slowdown = f64::INFINITY;
                }
                Action::Outage { failure: Failure::Refusing { after }, .. } => {
                    self.moments.refusing = Some(after);
                }
                Action::Restart { .. } => {}
            }
        }
        self.database.slow_down(self.now, slowdown);
        if let Some(requests) = &mut self.requests {
            requests.change_rate(self.now, load);
        }
    }

    /// Cuts off the running claims of `restarting` clients and their workers: the database drops them, or
    /// they run on without a backend. A `database` that goes down drops everything at work in it.
    pub(super) fn cut_claims(&mut self, restarting: &Range<u32>, database: bool) {
        let guests = &self.guests;
        let dies = |client| restarting.contains(&guests.owner(client));
        let hit = |job: &Job| match job.work {
            Work::Good | Work::Captive => database || dies(job.client),
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
            if !database {
                self.backends.close();
                self.emit(Event::BackendLost { client });
            }
            if run_on {
                self.orphans += 1;
                self.emit(Event::ClaimOrphaned { client, service });
            } else {
                self.emit(Event::ClaimDropped { client, good: work == Work::Good, service });
            }
            match work {
                _ if restarting.contains(&self.guests.owner(client)) || self.has_left(client) => {}
                Work::Good => self.end_poll(client, Outcome::Error),
                Work::Captive => self.fail(client),
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
            if self.clients[client as usize].phase == Phase::Connecting {
                self.emit(Event::Dropped { client, waited: None });
                self.fail(client);
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
        for (client, state) in (0..).zip(&mut self.clients) {
            if matches!(state.phase, Phase::Waiting | Phase::Captive) {
                told.push((client, state.phase, state.admitted));
                state.phase = Phase::Away;
                state.timer = NEVER;
            }
        }
        for (client, phase, admitted) in told {
            if phase == Phase::Waiting {
                self.emit(Event::Dropped { client, waited: Some(self.now.since(admitted)) });
            }
            if !self.has_left(client) {
                self.fail(client);
            }
        }
    }

    /// A client dies in the middle of what it is doing; its claim has been cut.
    pub(super) fn cut_attempt(&mut self, client: u32) {
        let Client { phase, admitted, attempt, .. } = self.clients[client as usize];
        let waited = self.now.since(admitted);
        match phase {
            Phase::Waiting | Phase::Captive => {
                if matches!(self.scenario.pooler.dead_waiters, DeadWaiters::ByLeave)
                    && self.policy(client).leave == Leave::Terminate
                {
                    self.killed.insert((client, attempt));
                }
                self.leave_place(waited);
                if phase == Phase::Waiting {
                    self.emit(Event::Dropped { client, waited: Some(waited) });
                }
            }
            Phase::Connecting => self.emit(Event::Dropped { client, waited: None }),
            Phase::Away if self.tell_departure(client) => {
                self.emit(Event::Dropped { client, waited: None });
            }
            _ => {}
        }
    }

    /// A client loses its connection and starts again, at its base interval.
    fn restart(&mut self, client: u32, index: usize, over: Span) {
        self.cut_attempt(client);
        let start = index as u32 + 1;
        let moment = Moment { poll: start, ..Moment::default() };
        let skew = self.world.site(Purpose::RestartSkew, client, moment).uniform(0);
        let back = Span::from_ticks((over.ticks() as f64 * skew) as u64);
        let state = &mut self.clients[client as usize];
        state.attempt = state.attempt.next_poll();
        self.emit(Event::Restarted { client, index });
        self.start(client, start, back);
    }
}
