//! What a recorder makes of a window: the same as of its events one by one.

use super::Recorder;
use crate::engine::observer::{Gauges, Poll, Step, Window};
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
        let service = |poll: &Poll| poll.at.since(poll.started);
        self.counts.run += polls.iter().map(|poll| service(poll).ticks()).sum::<u64>();
        if self.open {
            let services = polls.iter().map(service);
            let responses = services.clone().map(|service| service + round_trip);
            self.latencies.record_many(LatencyKind::Wait, Span::ZERO, arrivals);
            self.latencies.record_all(LatencyKind::ServiceGood, services);
            self.latencies.record_all(LatencyKind::ResponseGood, responses);
        }
        if self.drain.is_waiting() {
            for poll in &*polls {
                self.drain.polled(poll.at, poll.client);
            }
        }
        self.take_steps(steps);
        if steps.last().is_some_and(|last| self.service.is_waiting(last.time())) {
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
        let (mut level, mut since) = (self.gauges.good, first.time());
        let (mut lowest, mut highest) = (level, level);
        for step in steps {
            let now = step.time();
            self.window_held[level as usize] += now.since(since).ticks();
            since = now;
            // Which of the two it is nobody could foretell, and a branch would have to.
            level = level + 2 * u32::from(step.arrives()) - 1;
            lowest = lowest.min(level);
            highest = highest.max(level);
        }
        for held in lowest..=highest {
            let ticks = std::mem::take(&mut self.window_held[held as usize]);
            self.all.held[held as usize] += ticks;
            self.good.held[held as usize] += ticks;
            self.present.sv_active_ticks += u64::from(held) * ticks;
        }
        self.arrivals.count_all(steps.iter().filter(|step| step.arrives()).map(|step| step.time()));
        self.gauges.good = level;
        self.all.move_to(since, level);
        self.good.move_to(since, level);
        self.level_since = since;
        self.raise_levels(Gauges { good: highest, ..self.gauges });
    }
}
