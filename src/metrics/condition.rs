//! A condition on a metric, and whether an estimate meets it.

use super::{Estimate, Metric};
use crate::scenario::ScenarioError;

/// `time_to_drain_s < 120`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// What is compared.
    pub metric: Metric,
    /// Whether it shall be below the limit; else above.
    below: bool,
    limit: f64,
}

/// What an estimate says of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The whole interval meets it.
    Holds,
    /// The whole interval misses it.
    Fails,
    /// The limit lies within the interval, or there is none.
    Undecided,
}

impl Condition {
    /// Reads `METRIC < NUMBER` or `METRIC > NUMBER`.
    ///
    /// # Errors
    ///
    /// If it is written otherwise, or there is no such metric.
    pub fn parse(text: &str) -> Result<Condition, ScenarioError> {
        let at = text.find(['<', '>']);
        let parts = at.map(|at| (text[..at].trim(), &text[at..=at], text[at + 1..].trim()));
        let limit = |limit: &str| limit.trim_start_matches('=').trim().parse::<f64>().ok();
        let Some((name, sign, Some(limit))) =
            parts.map(|(name, sign, rest)| (name, sign, limit(rest)))
        else {
            let help = "write a metric of summary.csv and a limit, as in \"time_to_drain_s < 120\"";
            return Err(ScenarioError::plain(format!("`{text}` is no condition"), help.into()));
        };
        let metric = Metric::named(name)?;
        if !limit.is_finite() {
            let help = "write a finite number";
            return Err(ScenarioError::plain(format!("`{text}` has no limit"), help.into()));
        }
        Ok(Condition { metric, below: sign == "<", limit })
    }

    /// What an estimate says of it, at the confidence of its interval.
    pub fn judge(&self, estimate: &Estimate) -> Judgement {
        let meets = |value: f64| if self.below { value < self.limit } else { value > self.limit };
        match estimate.bounds() {
            Some((low, high)) if meets(low) && meets(high) => Judgement::Holds,
            Some((low, high)) if !meets(low) && !meets(high) => Judgement::Fails,
            _ => Judgement::Undecided,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Value;

    fn numbers(values: &[f64]) -> Vec<Value> {
        values.iter().map(|&value| Value::Number(value)).collect()
    }

    #[test]
    fn the_whole_interval_must_be_on_one_side() {
        let below = Condition::parse("polls < 10").unwrap();
        let judge = |values: &[f64]| below.judge(&Estimate::of(Metric::Polls, &numbers(values)));
        assert_eq!(judge(&[8.0, 8.1, 7.9]), Judgement::Holds);
        assert_eq!(judge(&[12.0, 12.1, 11.9]), Judgement::Fails);
        assert_eq!(judge(&[9.0, 10.5, 9.5]), Judgement::Undecided);
        assert_eq!(judge(&[9.0]), Judgement::Undecided, "one replicate has no interval");
    }

    #[test]
    fn a_time_that_has_not_come_is_late() {
        let soon = Condition::parse("time_to_drain_s < 120").unwrap();
        let judge = |values: &[Value]| soon.judge(&Estimate::of(Metric::TimeToDrain, values));
        assert_eq!(judge(&[Value::Censored; 6]), Judgement::Fails);
        assert_eq!(judge(&numbers(&[90.0; 6])), Judgement::Holds);
        let mut mixed = numbers(&[90.0; 5]);
        mixed.push(Value::Censored);
        assert_eq!(judge(&mixed), Judgement::Undecided);
    }

    #[test]
    fn a_share_of_all_is_not_certain() {
        let half = Condition::parse("drained_share >= 0.5").unwrap();
        let most = Condition::parse("drained_share >= 0.9").unwrap();
        let estimate = Estimate::of(Metric::DrainedShare, &numbers(&[1.0; 6]));
        assert_eq!(half.judge(&estimate), Judgement::Holds);
        assert_eq!(most.judge(&estimate), Judgement::Undecided);
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for wrong in ["", "polls", "polls < ", "polls = 3", "pols < 3", "polls < inf"] {
            assert!(Condition::parse(wrong).is_err(), "{wrong}");
        }
    }
}
