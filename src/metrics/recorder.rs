//! The observer that leaves a [`UnitRecord`].

mod window;

use super::backlog::Backlog;
use super::occupancy::Gauge;
use super::watch::{DrainWatch, PeakCount, ServiceWatch};
use super::{
    Bucket, Counts, Latencies, LatencyKind, Levels, Occupancy, Recurrence, Timeline, UnitRecord,
    ledger,
};
use crate::engine::observer::{Begins, End, Event, Gauges, Observer, Outcome, Window};
use crate::scenario::Scenario;
use crate::units::{SimTime, Span, TICKS_PER_SECOND};

const SECOND: Span = Span::from_ticks(TICKS_PER_SECOND);

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
    /// The same two of guests alone, and where these begin behind the fleet.
    guests: [Counts; 2],
    first_guest: u32,
    has_guests: bool,
    /// By slot, whether requests use it: the others are workers of the fleet.
    request_slots: Vec<bool>,
    backlog: Option<Backlog>,
    gauges: Gauges,
    /// Whether levels may change without a word: so attempts enter and leave a handshake station, and old
    /// backends are closed.
    changes_silently: bool,
    /// Waiting places whose client has left.
    dead: i64,
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
        let pooler = &scenario.pooler;
        Recorder {
            opens,
            open: false,
            end: SimTime::ZERO + scenario.run.duration,
            counts: Counts::default(),
            before: Counts::default(),
            guests: [Counts::default(); 2],
            first_guest: scenario.fleet.clients,
            has_guests: scenario.background.is_some(),
            request_slots: Vec::new(),
            backlog: scenario.work.is_some().then(Backlog::default),
            gauges: Gauges { connected: scenario.backends_at_start(), ..Gauges::default() },
            changes_silently: pooler.handshake.is_some() || pooler.logins.is_some(),
            dead: 0,
            all: Gauge::new(most),
            good: Gauge::new(most),
            wasted: Gauge::new(most),
            sampled: [const { Levels { held: Vec::new() } }; 3].map(|_| Levels::new(most)),
            clients_max: 0,
            latencies: Latencies::default(),
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
            pool_size: pooler.pool_size,
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
        let living = self.counts.pending_waiting as i64;
        assert_eq!(
            self.dead + living,
            i64::from(end.gauges.waiting),
            "a waiting place is dead or alive"
        );
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
        let guests = self.guests[0].without(&self.guests[1]);
        UnitRecord {
            counts: self.counts.without(&self.before).without(&guests),
            requests: self.has_guests.then_some(guests),
            work: self.backlog.map(|backlog| backlog.finish(&self.counts, end.at)),
            recurrence,
            sv_login_max: self.sv_login_max,
            short: Span::from_ticks(self.short - self.short_before),
            occupancy,
            clients_max: self.clients_max,
            peak_arrivals: self.arrivals.peak(),
            timeline: self.timeline,
            latencies: self.latencies,
            drains,
            served: self.service.finish(),
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
                self.guests[1] = self.guests[0];
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
        if let Some(backlog) = &self.backlog {
            self.present.oldest_ticks = backlog.oldest(began).ticks();
        }
        self.timeline.buckets[self.bucket] = std::mem::take(&mut self.present);
        self.bucket += 1;
        self.bucket_began = began;
        self.raise_bucket_levels(self.gauges);
    }

    /// Levels have been reached.
    #[inline]
    fn raise_levels(&mut self, gauges: Gauges) {
        self.raise_bucket_levels(gauges);
        if self.open {
            self.clients_max = self.clients_max.max(gauges.clients());
            self.sv_login_max = self.sv_login_max.max(gauges.logging_in);
        }
    }

    #[inline]
    fn raise_bucket_levels(&mut self, gauges: Gauges) {
        let bucket = &mut self.present;
        bucket.sv_active_max = bucket.sv_active_max.max(u64::from(gauges.active()));
        bucket.clients_max = bucket.clients_max.max(u64::from(gauges.clients()));
        bucket.cl_waiting_max = bucket.cl_waiting_max.max(u64::from(gauges.waiting));
    }

    /// Books the time at the present levels into the present bucket.
    #[inline]
    fn book_levels(&mut self, now: SimTime) {
        let held = now.since(self.level_since).ticks();
        if held == 0 {
            return;
        }
        let gauges = &self.gauges;
        let bucket = &mut self.present;
        bucket.sv_active_ticks += u64::from(gauges.active()) * held;
        bucket.cl_waiting_ticks += u64::from(gauges.waiting) * held;
        bucket.cl_dead_ticks += self.dead as u64 * held;
        if let Some(backlog) = &self.backlog {
            bucket.backlog_ticks += backlog.queued * held;
        }
        if gauges.waiting > 0 && gauges.connected < self.pool_size {
            bucket.short_ticks += held;
            self.short += held;
        }
        self.level_since = now;
    }

    /// Whether levels can be others than before when this is told: most events move none, and then they need
    /// not even be compared.
    #[inline(always)]
    fn may_move_levels(&self, event: &Event) -> bool {
        let moves_none = matches!(
            event,
            Event::Departed { .. }
                | Event::Refused { .. }
                | Event::Abandoned { .. }
                | Event::PollEnded { .. }
        );
        !moves_none || self.changes_silently
    }

    #[inline(always)]
    fn take_gauges(&mut self, now: SimTime, gauges: Gauges) {
        if !gauges.same(&self.gauges) {
            self.take_changed(now, gauges);
        }
    }

    #[inline(never)]
    fn take_changed(&mut self, now: SimTime, gauges: Gauges) {
        self.book_levels(now);
        self.all.set(now, gauges.active());
        self.good.set(now, gauges.good);
        self.wasted.set(now, gauges.wasted);
        self.gauges = gauges;
        self.raise_levels(gauges);
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

    /// Items join or leave the backlog.
    fn move_backlog(&mut self, now: SimTime, change: impl FnOnce(&mut Backlog)) {
        self.book_levels(now);
        if let Some(backlog) = &mut self.backlog {
            let before = backlog.queued;
            change(backlog);
            self.drain.backlog(now, before, backlog.queued);
        }
    }

    /// Places die, or dead ones go. Within one instant more may have gone than had died: a disturbance takes
    /// the places of the living before these are told.
    fn move_dead(&mut self, now: SimTime, change: i64) {
        self.book_levels(now);
        self.dead += change;
    }

    fn is_of_guests(&self, event: &Event) -> bool {
        match event {
            Event::RequestTurnedAway => true,
            event => event.client().is_some_and(|client| {
                let slot = client.checked_sub(self.first_guest);
                slot.is_some_and(|slot| self.request_slots.get(slot as usize) == Some(&true))
            }),
        }
    }

    /// Guests count apart; what they do to the pooler and to the fleet's rest counts with all.
    fn on_guest(&mut self, now: SimTime, event: Event) {
        self.guests[0].count(&event);
        match event {
            Event::Departed { at, .. } if self.open && at < self.opens => {
                self.before.count(&event);
                self.guests[1].count(&event);
            }
            Event::Refused { .. } => {
                self.arrivals.count(now);
                self.drain.failed(now);
            }
            Event::Admitted { .. } => self.arrivals.count(now),
            Event::Granted { waited, .. } => self.drain.waited(now, waited),
            Event::Abandoned { waited, .. } => {
                self.move_dead(now, 1);
                self.drain.waited(now, waited);
                self.drain.failed(now);
            }
            Event::TimedOut { waited, .. } => {
                self.drain.waited(now, waited);
                self.drain.failed(now);
            }
            Event::Dropped { waited: Some(_), .. } => self.move_dead(now, 1),
            Event::DeadServed { .. } | Event::DeadClosed { .. } => self.move_dead(now, -1),
            Event::ConnectTimedOut { .. } | Event::Rejected { .. } => self.drain.failed(now),
            Event::RequestEnded { came, good, .. } => {
                let kind = if good { LatencyKind::RequestGood } else { LatencyKind::RequestError };
                self.time(kind, now.since(came));
                self.present.requests_served += u64::from(good);
                self.present.requests_failed += u64::from(!good);
            }
            Event::RequestTurnedAway => self.present.requests_failed += 1,
            _ => {}
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
        if let Event::RequestCame { client } = event {
            let slot = (client - self.first_guest) as usize;
            self.request_slots.resize(self.request_slots.len().max(slot + 1), false);
            self.request_slots[slot] = true;
        }
        if self.has_guests && self.is_of_guests(&event) {
            self.on_guest(now, event);
            return self.take_gauges(now, gauges);
        }
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
            Event::Rejected { begins, .. } => {
                self.present.polls += u64::from(begins == Begins::Poll);
                self.drain.failed(now);
            }
            Event::Admitted { connects, .. } => {
                self.present.connects += u64::from(connects);
                self.arrivals.count(now);
            }
            Event::Granted { waited, .. } => {
                self.time(LatencyKind::Wait, waited);
                self.drain.waited(now, waited);
            }
            Event::Abandoned { waited, .. } => {
                self.present.abandoned += 1;
                self.move_dead(now, 1);
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
            Event::Dropped { waited: Some(waited), .. } => {
                self.move_dead(now, 1);
                self.drain.waited(now, waited);
            }
            Event::Pending { waited: Some(waited), .. } => self.drain.waited(now, waited),
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
            Event::ItemArrived { .. } => self.move_backlog(now, |backlog| backlog.queue(now)),
            Event::ItemReturned { arrived } => {
                self.move_backlog(now, |backlog| backlog.queue(arrived));
            }
            Event::ItemTaken { arrived, first, .. } => {
                self.move_backlog(now, |backlog| backlog.take(now, arrived));
                if first {
                    self.time(LatencyKind::Pickup, now.since(arrived));
                }
            }
            Event::ItemDone { arrived, .. } => {
                self.time(LatencyKind::ItemDone, now.since(arrived));
            }
            Event::Restarted { client, index } => {
                self.drain.restarted(client, index);
                self.service.restarted(now, client);
            }
            Event::Stopped { client, index } => self.drain.restarted(client, index),
            Event::Left { client } => self.service.left(now, client),
            Event::PoolResized { pool_size } => {
                self.book_levels(now);
                self.pool_size = pool_size;
            }
            Event::DeadClosed { .. } => {
                self.present.backends_lost += 1;
                self.move_dead(now, -1);
            }
            Event::BackendLost { .. } => self.present.backends_lost += 1,
            Event::DeadServed { .. }
            | Event::PlaceExpired { .. }
            | Event::PlaceGivenUp { .. }
            | Event::PlaceSkipped { .. } => self.move_dead(now, -1),
            Event::PlacesForgotten { places, .. } => self.move_dead(now, -i64::from(places)),
            Event::LoggedIn => self.present.logins += 1,
            Event::Throttled { .. }
            | Event::RetryDenied { .. }
            | Event::OuterTry { .. }
            | Event::ConnectionKept { .. }
            | Event::ConnectionsClosed { .. }
            | Event::Continued { .. }
            | Event::SessionCut { .. }
            | Event::ClaimDropped { .. }
            | Event::ClaimOrphaned { .. }
            | Event::Dropped { waited: None, .. }
            | Event::Pending { waited: None, .. }
            | Event::LoginBegan
            | Event::LoginFailed
            | Event::RequestCame { .. }
            | Event::RequestEnded { .. }
            | Event::RequestTurnedAway
            | Event::Exited { .. }
            | Event::Disturbed { .. } => {}
        }
        if self.may_move_levels(&event) {
            self.take_gauges(now, gauges);
        } else {
            debug_assert_eq!(gauges, self.gauges, "{event:?} moves no level");
        }
    }

    /// Whole seconds and the opening are marks between windows.
    fn calm_until(&mut self, now: SimTime) -> SimTime {
        if now >= self.next_mark {
            self.pass_marks(now);
        }
        self.next_mark
    }

    fn on_window(&mut self, window: Window<'_>) {
        self.take_window(window);
    }
}
