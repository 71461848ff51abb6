//! What a recorder makes of a window: the same as of its events one by one.

use std::ops::RangeInclusive;

use super::Recorder;
use crate::engine::observer::{Gauges, Step, Window};
use crate::metrics::LatencyKind;
use crate::units::Span;

impl Recorder {
    pub(super) fn take_window(&mut self, window: Window<'_>) {
        let Window { round_trip, steps, services, .. } = window;
        let (arrivals, ended) = ((steps.len() - services.len()) as u64, services.len() as u64);
        self.take_steps(steps, window.levels.clone());
        self.take_departures(round_trip);
        self.counts.polls += arrivals;
        self.counts.acquisitions += arrivals;
        self.counts.attempts += arrivals;
        self.counts.admitted += arrivals;
        self.counts.connects += arrivals;
        self.counts.served += arrivals;
        self.counts.good_claims += ended;
        self.present.connects += arrivals;
        self.present.good += ended;
        let ticks = services.iter().map(|service| service.ticks()).sum();
        self.counts.run += ticks;
        if self.open {
            self.latencies.record_many(LatencyKind::Wait, Span::ZERO, arrivals);
            self.latencies.record_polls(services, ticks, round_trip);
        }
        if self.drain.is_waiting() {
            for poll in window.ended() {
                self.drain.polled(poll.at, poll.client);
            }
        }
        if steps.last().is_some_and(|last| self.service.is_waiting(last.time())) {
            let mut ended: Vec<_> = window.ended().collect();
            ended.sort_unstable_by_key(|poll| poll.at);
            for poll in ended {
                self.service.served(poll.at, poll.client);
            }
        }
    }

    /// Counts attempts where they set out, which for the first of them may be before the window.
    fn take_departures(&mut self, round_trip: Span) {
        let early = self.bucket_began.max(self.opens) + round_trip;
        let arrivals = std::mem::take(&mut self.window_arrivals);
        let late = arrivals.partition_point(|&arrival| arrival < early);
        for &arrival in &arrivals[..late] {
            let at = arrival - round_trip;
            if self.open && at < self.opens {
                self.before.polls += 1;
                self.before.acquisitions += 1;
                self.before.attempts += 1;
            }
            let bucket = self.bucket_at(at);
            bucket.attempts += 1;
            bucket.polls += 1;
        }
        self.present.attempts += (arrivals.len() - late) as u64;
        self.present.polls += (arrivals.len() - late) as u64;
        self.window_arrivals = arrivals;
    }

    /// Follows the level of active backends, all of them good, and lists arrivals.
    fn take_steps(&mut self, steps: &[Step], levels: RangeInclusive<u32>) {
        let Some(first) = steps.first() else { return self.window_arrivals.clear() };
        self.book_levels(first.time());
        self.all.hold(first.time());
        self.good.hold(first.time());
        self.window_arrivals.resize(steps.len(), first.time());
        let (spent, times) = (&mut self.window_held[..], &mut self.window_arrivals[..]);
        let (mut level, mut since, mut arrivals) = (self.gauges.good, first.time(), 0);
        for step in steps {
            let now = step.time();
            spent[level as usize] += now.ticks() - since.ticks();
            since = now;
            // Which of the two it is nobody could foretell, and a branch would have to.
            times[arrivals] = now;
            arrivals += usize::from(step.arrives());
            level = step.level_after(level);
        }
        self.window_arrivals.truncate(arrivals);
        for held in levels.clone() {
            let ticks = std::mem::take(&mut self.window_held[held as usize]);
            self.all.held[held as usize] += ticks;
            self.good.held[held as usize] += ticks;
            self.present.sv_active_ticks += u64::from(held) * ticks;
        }
        self.arrivals.count_all(&self.window_arrivals);
        self.gauges.good = level;
        self.all.move_to(since, level);
        self.good.move_to(since, level);
        self.level_since = since;
        self.raise_levels(Gauges { good: *levels.end(), ..self.gauges });
    }
}
