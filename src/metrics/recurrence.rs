//! How a herd comes back: after it has drained it may return each interval, as high as ever.
//!
//! All from the timeline's buckets, so it costs a run nothing: the largest later peaks, the
//! dispersion of poll starts (variance / mean of a bucket's count, 1 for a Poisson stream), and
//! their phase coherence, |Σ exp(2πi·t/P)| / N over the poll starts of the interval P before (1 in
//! step, about 1/√N spread out; the order parameter of Kuramoto).

use serde::{Deserialize, Serialize};

use super::timeline::{Bucket, Timeline};
use crate::units::{SimTime, Span};

/// Fewer buckets than this resolve no phase.
const COARSEST: u64 = 10;

/// One in the unit of a bucket's coherence.
const MILLION: f64 = 1e6;

/// How a herd came back in one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recurrence {
    /// Most active backends in a bucket after the first trigger's drain; `None` if it did not drain.
    pub later_peak: Option<u64>,
    /// Most client connections opened in a bucket after it.
    pub later_connects: Option<u64>,
    /// Whole buckets of the measured window.
    pub buckets: u64,
    /// Poll starts in them.
    pub polls: u64,
    /// Their squares, summed over buckets.
    pub polls_squared: u128,
    /// Phase coherence at the end of the run, in millionths; `None` if buckets are too wide for it.
    pub coherence: Option<u64>,
}

impl Recurrence {
    /// Reads it from a timeline measured from `opens` on, and writes its buckets' coherence.
    pub(super) fn read(
        timeline: &mut Timeline,
        opens: SimTime,
        drained: Option<SimTime>,
        interval: Span,
    ) -> Recurrence {
        let coherent = write_coherence(timeline, interval);
        let whole = |from: SimTime| {
            let first = timeline.index(from + timeline.width - Span::from_ticks(1));
            &timeline.buckets[first.min(timeline.buckets.len())..]
        };
        let measured = whole(opens);
        let squares = measured.iter().map(|bucket| u128::from(bucket.polls).pow(2));
        let later = |of: fn(&Bucket) -> u64| drained.and_then(|at| whole(at).iter().map(of).max());
        Recurrence {
            later_peak: later(|bucket| bucket.sv_active_max),
            later_connects: later(|bucket| bucket.connects),
            buckets: measured.len() as u64,
            polls: measured.iter().map(|bucket| bucket.polls).sum(),
            polls_squared: squares.sum(),
            coherence: timeline.buckets.last().filter(|_| coherent).map(|last| last.coherence),
        }
    }

    /// Variance / mean of poll starts per bucket; `None` without polls.
    pub fn dispersion(&self) -> Option<f64> {
        let (n, sum) = (self.buckets as f64, self.polls as f64);
        let squares = self.polls_squared as f64;
        (self.buckets > 1 && self.polls > 0)
            .then(|| (squares - sum * sum / n) / (n - 1.0) / (sum / n))
    }
}

fn write_coherence(timeline: &mut Timeline, interval: Span) -> bool {
    let bins = interval.ticks() / timeline.width.ticks();
    if bins < COARSEST || bins > timeline.buckets.len() as u64 {
        return false;
    }
    let bins = bins as usize;
    let turn = std::f64::consts::TAU * timeline.width.ticks() as f64 / interval.ticks() as f64;
    let polls: Vec<f64> = timeline.buckets.iter().map(|bucket| bucket.polls as f64).collect();
    for (index, bucket) in timeline.buckets.iter_mut().enumerate() {
        let recent = &polls[(index + 1).saturating_sub(bins)..=index];
        let (mut x, mut y) = (0.0, 0.0);
        for (phase, polls) in recent.iter().enumerate() {
            x += polls * libm::cos(turn * phase as f64);
            y += polls * libm::sin(turn * phase as f64);
        }
        let n: f64 = recent.iter().sum();
        if n > 0.0 {
            bucket.coherence = libm::round(libm::sqrt(x * x + y * y) / n * MILLION) as u64;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(polls: impl Fn(usize) -> u64) -> Recurrence {
        let mut timeline = Timeline::new(Span::from_secs(300));
        for (index, bucket) in timeline.buckets.iter_mut().enumerate() {
            bucket.polls = polls(index);
        }
        Recurrence::read(&mut timeline, SimTime::ZERO, None, Span::from_secs(30))
    }

    #[test]
    fn a_herd_in_step_is_coherent_and_overdispersed() {
        let herd = read(|second| if second % 30 == 0 { 300 } else { 0 });
        assert_eq!(herd.coherence, Some(1_000_000));
        // 300 in one second of 30: variance 300²·(1/30)(29/30)·(300/299) over a mean of 10.
        assert!((herd.dispersion().unwrap() - 290.0 * 300.0 / 299.0).abs() < 1e-9);
    }

    #[test]
    fn an_even_stream_is_neither() {
        let even = read(|_| 10);
        assert_eq!(even.coherence, Some(0));
        assert_eq!(even.dispersion(), Some(0.0));
        assert_eq!(read(|_| 0).dispersion(), None);
    }
}
