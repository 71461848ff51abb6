//! Whether replicates show that a figure is on the right side of a limit.
//!
//! A threshold passes where the whole 95 % interval satisfies it and fails where the whole interval
//! violates it; otherwise the limit lies within the interval, or there is none, and more replicates may
//! decide. How many, if the estimate stays as it is:
//!
//! - A mean, whose half width h falls with 1/√n: n · (h / distance to the limit)².
//! - A share p against the limit c: Wilson's interval holds c as long as
//!   (p − c)² ≤ z² · c · (1 − c) / n, so z² · c · (1 − c) / (p − c)².
//! - A median: below 6 replicates there is no interval, so 6. From there on the limit is outside the
//!   interval when the share q of replicates on the right side is far enough from a half, by the sign
//!   test about z/2 · 1/√n: (z/2 / (q − ½))².

use super::estimate::NORMAL_QUANTILE;
use super::{Estimate, Kind, Value, replicates_for_median_interval};
use crate::scenario::Comparison;

/// Whether a figure is on the right side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The whole interval is.
    Pass,
    /// All of it is on the wrong side.
    Fail,
    /// Neither is shown.
    Undecided(Undecided),
}

/// Why nothing is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// The figure does not exist.
    Absent,
    /// About so many replicates in all would show it.
    Replicates(u64),
    /// The estimate is as good as on the limit: no number of replicates would.
    OnTheLimit,
}

impl Judgement {
    /// Judges `estimate`, which was made of `values`.
    pub fn of(comparison: Comparison, estimate: &Estimate, values: &[Value]) -> Judgement {
        if estimate.replicates == 0 {
            return Judgement::Undecided(Undecided::Absent);
        }
        let Some((low, high)) = estimate.bounds() else {
            return Judgement::Undecided(Undecided::Replicates(match estimate.metric.kind() {
                Kind::Time => replicates_for_median_interval() as u64,
                Kind::Mean | Kind::Share => 2,
            }));
        };
        // What satisfies a comparison is a half-line: it holds of all between two that satisfy it.
        match (comparison.holds(low), comparison.holds(high)) {
            (true, true) => Judgement::Pass,
            (false, false) => Judgement::Fail,
            _ => Judgement::Undecided(more(comparison, estimate, (low, high), values)),
        }
    }

    /// Its word in files.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Pass => "pass",
            Judgement::Fail => "fail",
            Judgement::Undecided(_) => "undecided",
        }
    }

    /// How many replicates would decide, where more would.
    pub fn replicates_to_decide(self) -> Option<u64> {
        match self {
            Judgement::Undecided(Undecided::Replicates(replicates)) => Some(replicates),
            _ => None,
        }
    }
}

fn more(
    comparison: Comparison,
    estimate: &Estimate,
    (low, high): (f64, f64),
    values: &[Value],
) -> Undecided {
    let n = estimate.replicates as f64;
    let needed = match estimate.metric.kind() {
        Kind::Mean => {
            let distance = estimate.estimate.map_or(0.0, |mean| mean - comparison.limit);
            n * ((high - low) / 2.0 / distance).powi(2)
        }
        Kind::Share => {
            let (limit, share) = (comparison.limit, estimate.estimate.unwrap_or_default());
            NORMAL_QUANTILE.powi(2) * limit * (1.0 - limit) / (share - limit).powi(2)
        }
        Kind::Time => {
            let right = values.iter().filter(|value| match value {
                Value::Number(time) => comparison.holds(*time),
                Value::Censored => comparison.holds(f64::INFINITY),
                Value::Absent => false,
            });
            (NORMAL_QUANTILE / 2.0 / (right.count() as f64 / n - 0.5)).powi(2)
        }
    };
    // A quotient by zero, or by what is left of a difference that should be none.
    if !needed.is_finite() || needed > MOST {
        return Undecided::OnTheLimit;
    }
    Undecided::Replicates((needed.ceil() as u64).max(estimate.replicates as u64 + 1))
}

/// Replicates beyond which nobody will wait for a decision.
const MOST: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metric;

    fn judged(metric: Metric, comparison: &str, values: &[Value]) -> Judgement {
        let comparison = comparison.parse().unwrap();
        Judgement::of(comparison, &Estimate::of(metric, values), values)
    }

    fn numbers(values: &[f64]) -> Vec<Value> {
        values.iter().map(|&value| Value::Number(value)).collect()
    }

    const fn replicates(n: u64) -> Judgement {
        Judgement::Undecided(Undecided::Replicates(n))
    }

    /// The mean of 1 to 5 is 3 ± 1.9632.
    #[test]
    fn a_mean_is_judged_by_its_whole_interval() {
        let of = |comparison: &str| {
            judged(Metric::Polls, comparison, &numbers(&[1.0, 2.0, 3.0, 4.0, 5.0]))
        };
        assert_eq!(
            (of("< 5"), of(">= 1"), of("> 5")),
            (Judgement::Pass, Judgement::Pass, Judgement::Fail)
        );
        assert_eq!(of("<= 1"), Judgement::Fail);
        // 5 · (1.9632 / 1)² = 19.27, and on the other side the same.
        assert_eq!(
            (of("< 4"), of("> 4"), of("< 2")),
            (replicates(20), replicates(20), replicates(20))
        );
        assert_eq!(of("< 3"), Judgement::Undecided(Undecided::OnTheLimit));
        assert_eq!(judged(Metric::Polls, "< 9", &numbers(&[1.0])), replicates(2));
        assert_eq!(
            judged(Metric::Polls, "< 9", &[Value::Absent]),
            Judgement::Undecided(Undecided::Absent)
        );
        // No width at all: even the limit itself is decided.
        let same = |comparison: &str| judged(Metric::Polls, comparison, &numbers(&[3.0; 4]));
        assert_eq!((same("<= 3"), same("< 3")), (Judgement::Pass, Judgement::Fail));
    }

    /// Wilson at n of n is [n / (n + 3.8415), 1]: 72 replicates are too few for 0.95, 73 enough.
    #[test]
    fn a_share_names_exactly_the_replicates_that_decide() {
        let of = |n: usize, comparison: &str| {
            judged(Metric::DrainedShare, comparison, &numbers(&vec![1.0; n]))
        };
        assert_eq!(of(5, ">= 0.95"), replicates(73));
        assert_eq!((of(72, ">= 0.95"), of(73, ">= 0.95")), (replicates(73), Judgement::Pass));
        assert_eq!(of(5, "> 0.5"), Judgement::Pass);
        assert_eq!(of(5, ">= 1"), Judgement::Undecided(Undecided::OnTheLimit));
    }

    #[test]
    fn a_censored_time_is_infinite() {
        let of =
            |comparison: &str, values: &[Value]| judged(Metric::TimeToDrain, comparison, values);
        let never = [Value::Censored; 6];
        assert_eq!((of("< 120", &never), of(">= 120", &never)), (Judgement::Fail, Judgement::Pass));
        assert_eq!(of("< 120", &never[..5]), replicates(6), "no interval");
        // Of 6 the interval is the whole range.
        let mut times = numbers(&[90.0, 91.0, 92.0, 93.0, 94.0, 95.0]);
        assert_eq!((of("< 96", &times), of("< 90", &times)), (Judgement::Pass, Judgement::Fail));
        times[5] = Value::Censored;
        // 5 of 6 on the right side: (0.98 / (1/3))² = 8.64.
        assert_eq!(of("< 120", &times), replicates(9));
        assert_eq!(of("< 93", &times), Judgement::Undecided(Undecided::OnTheLimit), "3 of 6");
    }
}
