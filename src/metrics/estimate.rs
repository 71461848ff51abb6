//! One metric over the replicates of a policy.
//!
//! - A mean carries Student's t interval at 95 %.
//! - A share carries Wilson's interval at 95 % (Wilson, J. Am. Stat. Assoc. 22, 1927).
//! - A time that may be censored is the median with the order-statistic interval: between the k-th
//!   smallest and the k-th largest of n values lies the median with probability
//!   1 − 2·P(Binomial(n, ½) < k), whatever the law. Censored values count as infinite; an estimate or a
//!   bound that falls on one stays empty. Below 6 replicates no such interval reaches 95 %.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Kind, Metric, Value};

/// The confidence of every interval.
pub(super) const CONFIDENCE: f64 = 0.95;

/// The 97.5 % quantile of the standard normal law.
pub(super) const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// The estimate of one metric from the replicates of one policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// What is estimated.
    pub metric: Metric,
    /// Mean, share or median; `None` where there is none, or where the median is censored.
    pub estimate: Option<f64>,
    /// Lower bound at 95 %.
    pub low: Option<f64>,
    /// Upper bound at 95 %; `None` also where it is beyond the end of the run.
    pub high: Option<f64>,
    /// Replicates with a value, censored ones included.
    pub replicates: usize,
    /// Those that were censored.
    pub censored: usize,
}

impl Estimate {
    /// Estimates `metric` from one value per replicate.
    pub fn of(metric: Metric, values: &[Value]) -> Estimate {
        let numbers = numbers(values);
        let censored = values.iter().filter(|value| **value == Value::Censored).count();
        let (estimate, low, high) = match metric.kind() {
            Kind::Mean => mean(&numbers),
            Kind::Share => share(&numbers),
            Kind::Time => median(numbers.clone(), censored),
        };
        Estimate { metric, estimate, low, high, replicates: numbers.len() + censored, censored }
    }

    /// Its interval; a bound of a time that had not come is infinite. `None` where there is none.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let open = self.metric.kind() == Kind::Time && interval_rank(self.replicates).is_some();
        let bound = |bound: Option<f64>| bound.or(open.then_some(f64::INFINITY));
        bound(self.low).zip(bound(self.high))
    }
}

/// The values that are numbers.
pub(super) fn numbers(values: &[Value]) -> Vec<f64> {
    let number = |value: &Value| match value {
        Value::Number(number) => Some(*number),
        Value::Censored | Value::Absent => None,
    };
    values.iter().filter_map(number).collect()
}

/// An estimate and its bounds.
pub(super) type Interval = (Option<f64>, Option<f64>, Option<f64>);

/// The mean with Student's interval.
pub(super) fn mean(numbers: &[f64]) -> Interval {
    if numbers.is_empty() {
        return (None, None, None);
    }
    let n = numbers.len() as f64;
    let (mean, variance) = mean_and_variance(numbers);
    if numbers.len() < 2 {
        return (Some(mean), None, None);
    }
    let half = student_quantile(n - 1.0) * (variance / n).sqrt();
    (Some(mean), Some(mean - half), Some(mean + half))
}

/// Of at least one number; the variance of one is none.
pub(super) fn mean_and_variance(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let squares = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (mean, squares / (n - 1.0))
}

/// The quantile of Student's law that a two-sided interval reaches to.
pub(super) fn student_quantile(degrees_of_freedom: f64) -> f64 {
    let law = StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("degrees of freedom");
    law.inverse_cdf((1.0 + CONFIDENCE) / 2.0)
}

fn share(numbers: &[f64]) -> Interval {
    let n = numbers.len() as f64;
    if numbers.is_empty() {
        return (None, None, None);
    }
    let p = numbers.iter().sum::<f64>() / n;
    let (low, high) = wilson(p, n);
    (Some(p), Some(low), Some(high))
}

/// Wilson's interval of a share `p` of `n`.
pub(super) fn wilson(p: f64, n: f64) -> (f64, f64) {
    let z2 = NORMAL_QUANTILE.powi(2);
    let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = NORMAL_QUANTILE * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

fn median(mut numbers: Vec<f64>, censored: usize) -> Interval {
    numbers.sort_by(f64::total_cmp);
    let n = numbers.len() + censored;
    if n == 0 {
        return (None, None, None);
    }
    let ranked = |rank: usize| numbers.get(rank).copied();
    let middle = match (ranked((n - 1) / 2), ranked(n / 2)) {
        (Some(a), Some(b)) => Some((a + b) / 2.0),
        _ => None,
    };
    match interval_rank(n) {
        Some(k) => (middle, ranked(k - 1), ranked(n - k)),
        None => (middle, None, None),
    }
}

/// The largest k for which the k-th smallest and k-th largest of n values hold the median between
/// them with the stated confidence.
fn interval_rank(n: usize) -> Option<usize> {
    let mut term = 0.5f64.powi(n as i32);
    let (mut below, mut rank) = (0.0, 0);
    while 1.0 - 2.0 * (below + term) >= CONFIDENCE {
        below += term;
        term *= (n - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    (rank > 0).then_some(rank)
}

/// The fewest replicates for which a median has an interval.
pub fn replicates_for_median_interval() -> usize {
    (1..).find(|&n| interval_rank(n).is_some()).expect("six are enough")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_values(values: &[f64]) -> Vec<Value> {
        values.iter().map(|&v| Value::Number(v)).collect()
    }

    #[test]
    fn a_mean_has_students_interval() {
        let estimate = Estimate::of(Metric::Polls, &as_values(&[1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(estimate.estimate, Some(3.0));
        // t(0.975, 4) = 2.776445, s = 1.581139, n = 5.
        assert!((estimate.high.unwrap() - 3.0 - 2.776_445 * 1.581_139 / 5f64.sqrt()).abs() < 1e-5);
        let alone = Estimate::of(Metric::Polls, &as_values(&[7.0]));
        assert_eq!((alone.estimate, alone.low, alone.high), (Some(7.0), None, None));
        assert_eq!(Estimate::of(Metric::Polls, &[Value::Absent]).estimate, None);
    }

    #[test]
    fn a_share_of_all_is_not_certain() {
        let estimate = Estimate::of(Metric::DrainedShare, &as_values(&[1.0; 5]));
        assert_eq!(estimate.estimate, Some(1.0));
        // Wilson: n / (n + z²) = 5 / 8.841459.
        assert!((estimate.low.unwrap() - 0.565_518).abs() < 1e-5);
        assert_eq!(estimate.high, Some(1.0));
    }

    #[test]
    fn a_censored_time_is_infinite_in_its_median() {
        let mut values = as_values(&[10.0, 20.0, 30.0, 40.0]);
        values.push(Value::Censored);
        let estimate = Estimate::of(Metric::TimeToDrain, &values);
        assert_eq!((estimate.estimate, estimate.replicates, estimate.censored), (Some(30.0), 5, 1));
        assert_eq!((estimate.low, estimate.high), (None, None), "5 replicates give no interval");
        values.push(Value::Number(50.0));
        let estimate = Estimate::of(Metric::TimeToDrain, &values);
        assert_eq!(estimate.estimate, Some(35.0));
        assert_eq!(
            (estimate.low, estimate.high),
            (Some(10.0), None),
            "its upper bound is censored"
        );
        let stuck = Estimate::of(Metric::TimeToDrain, &[Value::Censored; 5]);
        assert_eq!((stuck.estimate, stuck.censored), (None, 5));
    }

    /// Ranks from the tables of the sign test: n = 6: 1, 9: 2, 12: 3, 20: 6, 25: 8.
    #[test]
    fn the_medians_interval_takes_the_tabled_ranks() {
        for (n, k) in [(6, 1), (9, 2), (12, 3), (20, 6), (25, 8)] {
            assert_eq!(interval_rank(n), Some(k), "n = {n}");
        }
        assert_eq!(interval_rank(5), None);
        assert_eq!(replicates_for_median_interval(), 6);
    }
}
