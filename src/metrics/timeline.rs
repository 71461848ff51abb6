//! The course of a run in buckets of one second, or wider where the run is long.

use serde::{Deserialize, Serialize};

use crate::units::{SimTime, Span};

/// At most about this many buckets, so that a plot of a long run stays a file of some hundred
/// kilobytes.
const MOST_BUCKETS: u64 = 2_000;

/// What happened within one bucket: counts, and levels held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// Polls begun.
    pub polls: u64,
    /// Attempts begun.
    pub attempts: u64,
    /// Client connections opened.
    pub connects: u64,
    /// Attempts refused.
    pub refused: u64,
    /// Attempts of living clients timed out in the queue.
    pub timed_out: u64,
    /// Attempts abandoned.
    pub abandoned: u64,
    /// Claims completed while their client waited.
    pub good: u64,
    /// Claims completed for nobody.
    pub wasted: u64,
    /// Requests of the background load served.
    pub requests_served: u64,
    /// Requests failed or turned away.
    pub requests_failed: u64,
    /// Items of work that wait × microseconds.
    pub backlog_ticks: u64,
    /// Age of the oldest of them at the end of the bucket, in microseconds.
    pub oldest_ticks: u64,
    /// Backends that logged in.
    pub logins: u64,
    /// Backends closed because their client had left.
    pub backends_lost: u64,
    /// Active backends × microseconds.
    pub sv_active_ticks: u64,
    /// Waiting places, dead ones included, × microseconds.
    pub cl_waiting_ticks: u64,
    /// The dead ones among them × microseconds.
    pub cl_dead_ticks: u64,
    /// Microseconds in which somebody waited while the pool was short of backends.
    pub short_ticks: u64,
    /// Phase coherence of the poll starts in the interval up to the end of this bucket, in millionths.
    pub coherence: u64,
    /// Most active backends.
    pub sv_active_max: u64,
    /// Most client connections, dead places included.
    pub clients_max: u64,
    /// Most waiting places, dead ones included.
    pub cl_waiting_max: u64,
}

/// Buckets from the start of the run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Width of a bucket; the last one may be cut short by the end of the run.
    pub width: Span,
    /// The end of the run.
    pub end: SimTime,
    /// The buckets in order; sums where several replicates were added.
    pub buckets: Vec<Bucket>,
}

impl Timeline {
    /// Empty buckets over a run of `duration`.
    pub fn new(duration: Span) -> Timeline {
        let seconds = duration.ticks().div_ceil(MOST_BUCKETS * crate::units::TICKS_PER_SECOND);
        let width = Span::from_secs(seconds.max(1));
        let buckets = duration.ticks().div_ceil(width.ticks()) as usize;
        Timeline { width, end: SimTime::ZERO + duration, buckets: vec![Bucket::default(); buckets] }
    }

    /// The index of the bucket that `time` falls into.
    pub fn index(&self, time: SimTime) -> usize {
        (time.ticks() / self.width.ticks()) as usize
    }

    /// When bucket `index` begins.
    pub fn start(&self, index: usize) -> SimTime {
        SimTime::from_ticks(index as u64 * self.width.ticks())
    }

    /// How long bucket `index` lasts.
    pub fn length(&self, index: usize) -> Span {
        (self.start(index) + self.width).min(self.end).since(self.start(index))
    }

    /// Adds another's buckets to this one's.
    pub fn add(&mut self, other: &Timeline) {
        for (sum, bucket) in self.buckets.iter_mut().zip(&other.buckets) {
            sum.polls += bucket.polls;
            sum.attempts += bucket.attempts;
            sum.connects += bucket.connects;
            sum.refused += bucket.refused;
            sum.timed_out += bucket.timed_out;
            sum.abandoned += bucket.abandoned;
            sum.good += bucket.good;
            sum.wasted += bucket.wasted;
            sum.requests_served += bucket.requests_served;
            sum.requests_failed += bucket.requests_failed;
            sum.backlog_ticks += bucket.backlog_ticks;
            sum.oldest_ticks += bucket.oldest_ticks;
            sum.logins += bucket.logins;
            sum.backends_lost += bucket.backends_lost;
            sum.sv_active_ticks += bucket.sv_active_ticks;
            sum.cl_waiting_ticks += bucket.cl_waiting_ticks;
            sum.cl_dead_ticks += bucket.cl_dead_ticks;
            sum.short_ticks += bucket.short_ticks;
            sum.coherence += bucket.coherence;
            sum.sv_active_max += bucket.sv_active_max;
            sum.clients_max += bucket.clients_max;
            sum.cl_waiting_max += bucket.cl_waiting_max;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_have_wider_buckets_and_the_last_may_be_short() {
        let timeline = Timeline::new(Span::from_secs(32 * 60));
        assert_eq!((timeline.width, timeline.buckets.len()), (Span::from_secs(1), 1_920));
        let timeline = Timeline::new(Span::from_secs(4 * 3_600 + 1));
        assert_eq!(timeline.width, Span::from_secs(8));
        assert!(timeline.buckets.len() <= 2_000);
        assert_eq!(timeline.length(timeline.buckets.len() - 1), Span::from_secs(1));
        assert_eq!(timeline.index(SimTime::from_ticks(15_999_999)), 1);
    }
}
