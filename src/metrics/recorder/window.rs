//! What a recorder makes of a window: the same as of its events one by one.

use super::Recorder;
use crate::engine::observer::{Gauges, Step, Window};
use crate::metrics::LatencyKind;
use crate::units::Span;

impl Recorder {
    pub(super) fn take_window(&mut self, window: Window<'_>) {
        let Window { round_trip, steps, polls } = window;
        let (arrivals, ended) = ((steps.len() - polls.len()) as u64, polls.len() as u64);
        self.take_departures(steps, arrivals, round_trip);
        self.counts.polls += arrivals;
        self.counts.acquisitions += arrivals;
        self.counts.attempts += arrivals;
        self.counts.admitted += arrivals;
        self.counts.connects += arrivals;
        self.counts.served += arrivals;
        self.counts.good_claims += ended;
        self.present.connects += arrivals;
        self.present.good += ended;
        if self.open {
            self.latencies.record_many(LatencyKind::Wait, Span::ZERO, arrivals);
        }
        let mut run = 0;
        for poll in &*polls {
            let service = poll.at.since(poll.started);
            run += service.ticks();
            if self.open {
                self.latencies.record(LatencyKind::ServiceGood, service);
                self.latencies.record(LatencyKind::ResponseGood, service + round_trip);
            }
            self.drain.polled(poll.at, poll.client);
        }
        self.counts.run += run;
        self.take_steps(steps);
        if self.service.is_waiting(polls.iter().map(|poll| poll.at).min()) {
            polls.sort_unstable_by_key(|poll| poll.at);
            for poll in &*polls {
                self.service.served(poll.at, poll.client);
            }
        }
    }

    /// Counts attempts where they set out, which for the first of them may be before the window.
    fn take_departures(&mut self, steps: &[Step], arrivals: u64, round_trip: Span) {
        let early = self.bucket_began.max(self.opens) + round_trip;
        for (told, arrival) in (0..).zip(steps.iter().filter(|step| step.arrives())) {
            if arrival.time() >= early {
                self.present.attempts += arrivals - told;
                self.present.polls += arrivals - told;
                return;
            }
            let at = arrival.time() - round_trip;
            if self.open && at < self.opens {
                self.before.polls += 1;
                self.before.acquisitions += 1;
                self.before.attempts += 1;
            }
            let bucket = self.bucket_at(at);
            bucket.attempts += 1;
            bucket.polls += 1;
        }
    }

    /// Follows the level of active backends, all of them good, and the density of arrivals.
    fn take_steps(&mut self, steps: &[Step]) {
        let Some(first) = steps.first() else { return };
        self.book_levels(first.time());
        self.all.hold(first.time());
        self.good.hold(first.time());
        let (mut level, mut highest, mut since, mut area) = (self.gauges.good, 0, first.time(), 0);
        for step in steps {
            let now = step.time();
            let held = now.since(since).ticks();
            self.all.held[level as usize] += held;
            self.good.held[level as usize] += held;
            area += u64::from(level) * held;
            since = now;
            if step.arrives() {
                self.arrivals.count(now);
                level += 1;
                highest = highest.max(level);
            } else {
                level -= 1;
            }
        }
        self.gauges.good = level;
        self.all.move_to(since, level);
        self.good.move_to(since, level);
        self.present.sv_active_ticks += area;
        self.level_since = since;
        self.raise_levels(Gauges { good: highest, ..self.gauges });
    }
}
