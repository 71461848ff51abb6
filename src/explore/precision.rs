//! How many replicates a figure takes to be known well enough.
//!
//! A sequential rule in few looks: play at least ten replicates, and as long as half an interval is
//! wider than asked for, as many as its width calls for (it falls with 1/√n), at most twice as many as
//! there are. Intervals after such a rule hold the truth a little less often than they promise, the
//! less the more replicates there were at first (Law, Simulation Modeling and Analysis, 5th ed., 9.4.1).

use crate::metrics::{Estimate, Kind, Metric};
use crate::scenario::{ScenarioError, metric_named};

/// What is asked of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Which figure.
    pub metric: Metric,
    /// The widest half of its interval: of a share in its own unit, else as a share of the estimate.
    pub half: f64,
}

/// Replicates to begin with: fewer may agree by chance.
pub const FEWEST: u32 = 10;

impl Precision {
    /// Reads `METRIC=5%`, or `METRIC=0.05`.
    ///
    /// # Errors
    ///
    /// If it is written otherwise, or there is no such metric.
    pub fn parse(text: &str) -> Result<Precision, ScenarioError> {
        let (name, width) = text.split_once('=').unwrap_or((text, ""));
        let width = width.trim();
        let number = match width.strip_suffix('%') {
            Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
            None => width.parse(),
        };
        let half = number.ok().filter(|half| (1e-4..=1.0).contains(half)).ok_or_else(|| {
            let help = "write a metric of summary.csv and half the width of its interval, from \
                        0.01 % to 100 %, as in sv_active_mean=5%";
            ScenarioError::plain(format!("`{text}` is no precision"), help.into())
        })?;
        Ok(Precision { metric: metric_named(name.trim())?, half })
    }

    /// How many replicates to have next, at most `most`, where not all estimates from `n` are known
    /// well enough.
    pub fn next(&self, n: u32, most: u32, estimates: &[Estimate]) -> Option<u32> {
        let widest = estimates.iter().map(|estimate| self.width(estimate)).fold(0.0, f64::max);
        if widest <= self.half || n >= most {
            return None;
        }
        let needed = f64::from(n) * (widest / self.half).powi(2);
        let twice = n.saturating_mul(2);
        let next = if needed < f64::from(twice) { needed.ceil() as u32 } else { twice };
        Some(next.max(n + 1).min(most))
    }

    /// Half of an interval as it is asked for, infinite where there is none. A time that never comes is
    /// known well enough, and so is what does not exist.
    pub fn width(&self, estimate: &Estimate) -> f64 {
        let never = estimate.replicates > 0 && estimate.censored == estimate.replicates;
        if never || estimate.replicates == 0 {
            return 0.0;
        }
        let Some((low, high)) = estimate.bounds() else { return f64::INFINITY };
        let half = (high - low) / 2.0;
        match (self.metric.kind(), estimate.estimate) {
            (Kind::Share, _) => half,
            _ if half == 0.0 => 0.0,
            (_, Some(middle)) => half / middle.abs(),
            (_, None) => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Value;

    fn estimate(metric: Metric, values: &[f64]) -> Estimate {
        let values: Vec<Value> = values.iter().map(|&value| Value::Number(value)).collect();
        Estimate::of(metric, &values)
    }

    #[test]
    fn a_wide_interval_calls_for_what_its_width_says() {
        let precision = Precision::parse("polls = 10%").unwrap();
        assert_eq!(precision, Precision { metric: Metric::Polls, half: 0.1 });
        // 3 ± 1.9632, 65.4 %: 5 · 6.544² = 214 replicates, in steps of at most twice as many.
        let wide = estimate(Metric::Polls, &[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(precision.next(5, 100, &[wide]), Some(10));
        assert_eq!(precision.next(100, 1_000, &[wide]), Some(200));
        assert_eq!(precision.next(5, 8, &[wide]), Some(8));
        assert_eq!(precision.next(8, 8, &[wide]), None, "there may be no more");
        let close = estimate(Metric::Polls, &[99.0, 100.0, 101.0]);
        assert_eq!(precision.next(3, 100, &[close]), None);
        assert_eq!(precision.next(3, 100, &[close, wide]), Some(6), "the widest counts");
        // 10 ± 1.2417: 5 · 1.2417² = 7.7.
        let nearly = estimate(Metric::Polls, &[9.0, 9.0, 10.0, 11.0, 11.0]);
        assert_eq!(precision.next(5, 100, &[nearly]), Some(8));
    }

    #[test]
    fn a_share_is_known_in_its_own_unit_and_never_is_known_at_once() {
        let share = Precision::parse("drained_share=0.2").unwrap();
        // Wilson: 0 of 6 is up to 0.3903.
        assert_eq!(share.next(6, 100, &[estimate(Metric::DrainedShare, &[0.0; 6])]), None);
        assert!(share.next(5, 100, &[estimate(Metric::DrainedShare, &[1.0; 5])]).is_some());
        let time = Precision::parse("time_to_drain_s=5%").unwrap();
        let never = Estimate::of(Metric::TimeToDrain, &[Value::Censored; 4]);
        let absent = Estimate::of(Metric::TimeToDrain, &[Value::Absent; 4]);
        assert_eq!(time.next(4, 100, &[never, absent]), None);
        let mixed = Estimate::of(Metric::TimeToDrain, &[Value::Censored, Value::Number(3.0)]);
        assert_eq!(time.next(2, 100, &[mixed]), Some(4));
    }

    #[test]
    fn what_is_no_precision_is_refused() {
        for wrong in ["", "polls", "polls=", "polls=5 s", "polls=0%", "polls=200%", "pols=5%"] {
            assert!(Precision::parse(wrong).is_err(), "{wrong}");
        }
    }
}
