//! What a recorder makes of a window: the same as of its events one by one.

use super::Recorder;
use crate::engine::observer::{Course, Gauges, Window};
use crate::metrics::LatencyKind;
use crate::units::{SimTime, Span};

impl Recorder {
    pub(super) fn take_window(&mut self, window: Window<'_>) {
        let Window { round_trip, course, services, .. } = window;
        let (arrivals, ended) = (course.arrivals().len() as u64, services.len() as u64);
        self.take_levels(course);
        self.arrivals.count_all(course.arrivals());
        self.take_departures(course.arrivals(), round_trip);
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
        if self.service.is_waiting(course.last()) {
            let mut ended: Vec<_> = window.ended().collect();
            ended.sort_unstable_by_key(|poll| poll.at);
            for poll in ended {
                self.service.served(poll.at, poll.client);
            }
        }
    }

    /// Counts attempts where they set out, which for the first of them may be before the window.
    fn take_departures(&mut self, arrivals: &[SimTime], round_trip: Span) {
        let early = self.bucket_began.max(self.opens) + round_trip;
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
    }

    /// Books the levels of active backends, all of them good.
    fn take_levels(&mut self, course: &Course) {
        self.book_levels(course.began());
        for gauge in [&mut self.all, &mut self.good] {
            gauge.hold(course.began());
            gauge.move_to(course.last(), course.level());
        }
        for (level, held) in course.held() {
            self.all.held[level as usize] += held.ticks();
            self.good.held[level as usize] += held.ticks();
            self.present.sv_active_ticks += u64::from(level) * held.ticks();
        }
        self.level_since = course.last();
        self.raise_levels(Gauges { good: course.highest(), ..self.gauges });
        self.gauges.good = course.level();
    }
}
