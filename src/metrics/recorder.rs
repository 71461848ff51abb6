//! The observer that leaves a [`UnitRecord`].

use std::collections::VecDeque;

use super::occupancy::Gauge;
use super::{
    BadTimes, Bucket, Counts, Drain, Latencies, LatencyKind, Levels, Occupancy, Recurrence,
    Timeline, UnitRecord, ledger,
};
use crate::engine::observer::{Begins, End, Event, Gauges, Observer, Outcome};
use crate::scenario::{DrainRule, Scenario};
use crate::units::{SimTime, Span, TICKS_PER_SECOND};

const SECOND: Span = Span::from_ticks(TICKS_PER_SECOND);

/// The width of the sliding window of `peak_arrivals_100ms`.
const PEAK_WINDOW: Span = Span::from_millis(100);

/// Measures one unit.
#[derive(Debug)]
pub struct Recorder {
    /// When measuring begins.
    opens: SimTime,
    open: bool,
    end: SimTime,
    /// Over the whole run, for the ledger.
    counts: Counts,
    /// Over what came before the measured window.
    before: Counts,
    gauges: Gauges,
    all: Gauge,
    good: Gauge,
    wasted: Gauge,
    sampled: [Levels; 3],
    clients_max: u32,
    latencies: Latencies,
    timeline: Timeline,
    /// The bucket of the present, its place in the timeline, when it began, and since when the levels
    /// hold.
    present: Bucket,
    bucket: usize,
    bucket_began: SimTime,
    level_since: SimTime,
    /// Time for which the pool was short of backends while somebody waited, over the whole run and
    /// over what came before the measured window.
    short: u64,
    short_before: u64,
    sv_login_max: u32,
    /// The next instant at which something is to be done: a whole second, or the opening.
    next_mark: SimTime,
    arrivals: PeakCount,
    drain: DrainWatch,
    service: ServiceWatch,
    pool_size: u32,
    /// At which the fleet's largest part comes back.
    interval: Span,
}

impl Recorder {
    /// Ready to watch one unit of `scenario` under its policy number `policy`.
    pub fn new(scenario: &Scenario, policy: usize) -> Recorder {
        let opens = SimTime::ZERO + scenario.run.warm_up;
        let most = scenario.most_backends();
        let parts = &scenario.policies[policy].parts;
        let largest =
            parts.iter().rev().max_by_key(|part| part.share).expect("a policy has a part");
        let trigger = scenario.first_trigger();
        Recorder {
            opens,
            open: false,
            end: SimTime::ZERO + scenario.run.duration,
            counts: Counts::default(),
            before: Counts::default(),
            gauges: Gauges::default(),
            all: Gauge::new(most),
            good: Gauge::new(most),
            wasted: Gauge::new(most),
            sampled: [const { Levels { held: Vec::new() } }; 3].map(|_| Levels::new(most)),
            clients_max: 0,
            latencies: Latencies::new(),
            timeline: Timeline::new(scenario.run.duration),
            present: Bucket::default(),
            bucket: 0,
            bucket_began: SimTime::ZERO,
            level_since: SimTime::ZERO,
            short: 0,
            short_before: 0,
            sv_login_max: 0,
            next_mark: SimTime::ZERO,
            arrivals: PeakCount::new(trigger.unwrap_or(opens)),
            drain: DrainWatch::new(scenario),
            service: ServiceWatch::new(scenario.fleet.clients, trigger),
            pool_size: scenario.pooler.pool_size,
            interval: largest.policy.interval(),
        }
    }

    /// The record of the unit that ended so.
    ///
    /// # Panics
    ///
    /// If the ledger does not close, which is a bug of the engine.
    pub fn finish(mut self, end: &End) -> UnitRecord {
        self.pass_marks(end.at);
        self.book_levels(end.at);
        self.timeline.buckets[self.bucket] = self.present;
        let area = |of: fn(&Bucket) -> u64| self.timeline.buckets.iter().map(of).sum();
        let areas = ledger::Areas {
            waiting: area(|b| b.cl_waiting_ticks),
            active: area(|b| b.sv_active_ticks),
        };
        ledger::check(&self.counts, areas, end);
        let occupancy = Occupancy {
            all: self.all.finish(end.at),
            good: self.good.finish(end.at),
            wasted: self.wasted.finish(end.at),
            sampled: self.sampled,
        };
        let measured = end.at.since(self.opens).ticks();
        assert_eq!(occupancy.all.total(), measured, "every tick of the window has one level");
        let drains = self.drain.finish(end.at);
        let drained = drains.first().and_then(|drain| Some(drain.at + drain.after?));
        let recurrence = Recurrence::read(&mut self.timeline, self.opens, drained, self.interval);
        UnitRecord {
            counts: self.counts.since(&self.before),
            recurrence,
            sv_login_max: self.sv_login_max,
            short: Span::from_ticks(self.short - self.short_before),
            occupancy,
            clients_max: self.clients_max,
            peak_arrivals: self.arrivals.peak,
            timeline: self.timeline,
            latencies: self.latencies,
            drains,
            served: self.service.reached,
            events: end.events,
        }
    }

    /// Does what was due at whole seconds and at the opening, up to `now`.
    #[cold]
    fn pass_marks(&mut self, now: SimTime) {
        while self.next_mark <= now {
            let mark = self.next_mark;
            if mark >= self.opens && !self.open {
                self.open = true;
                self.before = self.counts;
                self.clients_max = self.gauges.clients();
                self.sv_login_max = self.gauges.logging_in;
                self.book_levels(mark);
                self.short_before = self.short;
                for gauge in [&mut self.all, &mut self.good, &mut self.wasted] {
                    gauge.restart(mark);
                }
            }
            let whole_second = mark.ticks().is_multiple_of(TICKS_PER_SECOND);
            if whole_second && self.open && mark < self.end {
                let Gauges { good, wasted, .. } = self.gauges;
                for (levels, level) in self.sampled.iter_mut().zip([good + wasted, good, wasted]) {
                    levels.held[level as usize] += 1;
                }
            }
            if mark >= self.bucket_began + self.timeline.width && mark < self.end {
                self.next_bucket(mark);
            }
            let second = SimTime::from_ticks(mark.ticks() / TICKS_PER_SECOND * TICKS_PER_SECOND);
            let next = second + SECOND;
            self.next_mark = if self.open { next } else { next.min(self.opens) };
        }
    }

    fn next_bucket(&mut self, began: SimTime) {
        self.book_levels(began);
        self.timeline.buckets[self.bucket] = std::mem::take(&mut self.present);
        self.bucket += 1;
        self.bucket_began = began;
        self.raise_bucket_levels();
    }

    #[inline]
    fn raise_bucket_levels(&mut self) {
        let gauges = self.gauges;
        let bucket = &mut self.present;
        bucket.sv_active_max = bucket.sv_active_max.max(u64::from(gauges.active()));
        bucket.clients_max = bucket.clients_max.max(u64::from(gauges.clients()));
        bucket.cl_waiting_max = bucket.cl_waiting_max.max(u64::from(gauges.waiting));
    }

    /// Books the time at the present levels into the present bucket.
    #[inline]
    fn book_levels(&mut self, now: SimTime) {
        let held = now.since(self.level_since).ticks();
        let gauges = &self.gauges;
        let bucket = &mut self.present;
        bucket.sv_active_ticks += u64::from(gauges.active()) * held;
        bucket.cl_waiting_ticks += u64::from(gauges.waiting) * held;
        if gauges.waiting > 0 && gauges.connected < self.pool_size {
            bucket.short_ticks += held;
            self.short += held;
        }
        self.level_since = now;
    }

    #[inline]
    fn take_gauges(&mut self, now: SimTime, gauges: Gauges) {
        if gauges == self.gauges {
            return;
        }
        self.book_levels(now);
        self.all.set(now, gauges.active());
        self.good.set(now, gauges.good);
        self.wasted.set(now, gauges.wasted);
        self.gauges = gauges;
        self.raise_bucket_levels();
        if self.open {
            self.clients_max = self.clients_max.max(gauges.clients());
            self.sv_login_max = self.sv_login_max.max(gauges.logging_in);
        }
    }

    /// The bucket of an instant that may lie a little in the past.
    #[inline]
    fn bucket_at(&mut self, at: SimTime) -> &mut Bucket {
        if at >= self.bucket_began {
            &mut self.present
        } else {
            let index = self.timeline.index(at);
            &mut self.timeline.buckets[index]
        }
    }

    #[inline]
    fn time(&mut self, kind: LatencyKind, span: Span) {
        if self.open {
            self.latencies.record(kind, span);
        }
    }
}

impl Observer for Recorder {
    #[inline(always)]
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        if now >= self.next_mark {
            self.pass_marks(now);
        }
        self.counts.count(&event);
        match event {
            Event::Departed { at, begins, .. } => {
                // Told late, counted when it was.
                if self.open && at < self.opens {
                    self.before.count(&event);
                }
                let bucket = self.bucket_at(at);
                bucket.attempts += 1;
                bucket.polls += u64::from(begins == Begins::Poll);
            }
            Event::Refused { .. } => {
                self.present.refused += 1;
                self.arrivals.count(now);
                self.drain.failed(now);
            }
            Event::Admitted { .. } => self.arrivals.count(now),
            Event::Granted { waited, .. } => {
                self.time(LatencyKind::Wait, waited);
                self.drain.waited(now, waited);
            }
            Event::Abandoned { waited, .. } => {
                self.present.abandoned += 1;
                self.time(LatencyKind::WaitAbandoned, waited);
                self.drain.waited(now, waited);
                self.drain.failed(now);
            }
            Event::TimedOut { waited, .. } => {
                self.present.timed_out += 1;
                self.time(LatencyKind::WaitTimedOut, waited);
                self.drain.waited(now, waited);
                self.drain.failed(now);
            }
            Event::ConnectTimedOut { .. } | Event::PoolTimedOut { .. } => {
                self.present.timed_out += 1;
                self.drain.failed(now);
            }
            Event::Dropped { waited, .. } | Event::Pending { waited, .. } => {
                if let Some(waited) = waited {
                    self.drain.waited(now, waited);
                }
            }
            Event::Completed { good: true, service, .. } => {
                self.present.good += 1;
                self.time(LatencyKind::ServiceGood, service);
            }
            Event::Completed { good: false, service, .. } => {
                self.present.wasted += 1;
                self.time(LatencyKind::ServiceWasted, service);
            }
            Event::PollEnded { client, began, outcome } => {
                let failed = outcome == Outcome::Error;
                let kind =
                    if failed { LatencyKind::ResponseError } else { LatencyKind::ResponseGood };
                self.time(kind, now.since(began));
                self.drain.polled(now, client);
                if !failed {
                    self.service.served(now, client);
                }
            }
            Event::Restarted { client, index } | Event::Stopped { client, index } => {
                self.drain.restarted(client, index);
            }
            Event::PoolResized { pool_size } => {
                self.book_levels(now);
                self.pool_size = pool_size;
            }
            Event::DeadClosed { .. } | Event::BackendLost { .. } => self.present.backends_lost += 1,
            Event::LoggedIn => self.present.logins += 1,
            Event::DeadServed { .. }
            | Event::Continued { .. }
            | Event::SessionCut { .. }
            | Event::ClaimDropped { .. }
            | Event::ClaimOrphaned { .. }
            | Event::PlaceExpired { .. }
            | Event::PlaceGivenUp { .. }
            | Event::PlaceSkipped { .. }
            | Event::PlacesForgotten { .. }
            | Event::LoginBegan
            | Event::LoginFailed
            | Event::Exited { .. }
            | Event::Disturbed { .. } => {}
        }
        self.take_gauges(now, gauges);
    }
}

/// The most arrivals within a sliding window.
#[derive(Debug)]
struct PeakCount {
    from: SimTime,
    recent: VecDeque<SimTime>,
    peak: u64,
}

impl PeakCount {
    fn new(from: SimTime) -> PeakCount {
        PeakCount { from, recent: VecDeque::new(), peak: 0 }
    }

    #[inline]
    fn count(&mut self, now: SimTime) {
        if now < self.from {
            return;
        }
        while self.recent.front().is_some_and(|&first| now.since(first) >= PEAK_WINDOW) {
            self.recent.pop_front();
        }
        self.recent.push_back(now);
        self.peak = self.peak.max(self.recent.len() as u64);
    }
}

/// Follows every trigger to its drain.
#[derive(Debug)]
struct DrainWatch {
    rule: DrainRule,
    bad: BadTimes,
    /// The triggers, then the responses.
    courses: Vec<Course>,
    triggers: usize,
    /// By client, the last disturbance that restarted it (from 1) while its first poll since has
    /// not ended.
    first_poll_of: Vec<u16>,
}

/// The course of a disturbance.
#[derive(Debug)]
struct Course {
    at: SimTime,
    /// When it had run its course, as far as is known.
    over: SimTime,
    /// Restarted clients whose first poll has not ended.
    outstanding: u32,
}

impl DrainWatch {
    fn new(scenario: &Scenario) -> DrainWatch {
        let clients = scenario.fleet.clients;
        let courses = scenario.happenings().map(|happening| {
            let over = happening.at + happening.action.over(clients);
            Course { at: happening.at, over, outstanding: 0 }
        });
        DrainWatch {
            rule: scenario.drain,
            bad: BadTimes::new(scenario.drain.hold),
            courses: courses.collect(),
            triggers: scenario.disturbances.len(),
            first_poll_of: vec![0; clients as usize],
        }
    }

    #[inline]
    fn failed(&mut self, now: SimTime) {
        self.bad.book(now, now);
    }

    #[inline]
    fn waited(&mut self, now: SimTime, waited: Span) {
        if waited > self.rule.wait {
            self.bad.book(now - waited + self.rule.wait, now);
        }
    }

    fn restarted(&mut self, client: u32, index: usize) {
        let number = &mut self.first_poll_of[client as usize];
        if *number > 0 {
            self.courses[usize::from(*number) - 1].outstanding -= 1;
        }
        *number = index as u16 + 1;
        self.courses[index].outstanding += 1;
    }

    #[inline]
    fn polled(&mut self, now: SimTime, client: u32) {
        let number = std::mem::take(&mut self.first_poll_of[client as usize]);
        if number > 0 {
            let course = &mut self.courses[usize::from(number) - 1];
            course.outstanding -= 1;
            course.over = course.over.max(now);
        }
    }

    fn finish(mut self, end: SimTime) -> Vec<Drain> {
        for course in &mut self.courses {
            if course.outstanding > 0 {
                course.over = SimTime::NEVER;
            }
        }
        let (triggers, responses) = self.courses.split_at(self.triggers);
        let responses = responses.iter().filter(|course| course.over > course.at);
        let busy: Vec<_> = responses.map(|course| (course.at, course.over)).collect();
        let drain = |trigger: &Course| self.bad.drain(trigger.at, trigger.over, end, &busy);
        triggers.iter().map(drain).collect()
    }
}

/// Waits for shares of the fleet to have had a good poll after the first trigger.
#[derive(Debug)]
struct ServiceWatch {
    trigger: SimTime,
    served: Vec<bool>,
    count: usize,
    goals: [usize; 2],
    reached: [Option<Span>; 2],
}

impl ServiceWatch {
    fn new(clients: u32, trigger: Option<SimTime>) -> ServiceWatch {
        let clients = clients as usize;
        ServiceWatch {
            trigger: trigger.unwrap_or(SimTime::NEVER),
            served: vec![false; clients],
            count: 0,
            goals: [clients.div_ceil(2), (clients * 99).div_ceil(100)],
            reached: [None; 2],
        }
    }

    #[inline]
    fn served(&mut self, now: SimTime, client: u32) {
        let served = &mut self.served[client as usize];
        if now < self.trigger || *served {
            return;
        }
        *served = true;
        self.count += 1;
        for (goal, reached) in self.goals.iter().zip(&mut self.reached) {
            if self.count == *goal {
                *reached = Some(now.since(self.trigger));
            }
        }
    }
}
