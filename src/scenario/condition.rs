//! What is asked of a figure of `summary.csv`, as in `sv_active_max <= 294`.
//!
//! Whether the replicates show it is decided by the figure's interval, in `metrics`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::{ScenarioError, alternatives};
use crate::metric::Metric;

/// A figure and what it shall be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Condition {
    /// The figure.
    pub metric: Metric,
    /// How it must compare.
    pub comparison: Comparison,
}

/// A relation to a limit, in the figure's unit. Written `< 120`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// On which side of the limit a figure must be.
    pub relation: Relation,
    /// A finite number.
    pub limit: f64,
}

/// On which side of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// A text that is no comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoComparison;

/// The metric of a name.
///
/// # Errors
///
/// If there is none; the nearest is named.
pub fn metric_named(name: &str) -> Result<Metric, ScenarioError> {
    Metric::named(name).ok_or_else(|| {
        let all = Metric::ALL.iter().map(|metric| metric.name());
        let help = alternatives(name, "metrics", all);
        ScenarioError::plain(format!("there is no metric `{name}`"), help)
    })
}

impl Condition {
    /// Reads a metric and a comparison.
    ///
    /// # Errors
    ///
    /// If it is written otherwise, or there is no such metric.
    pub fn parse(text: &str) -> Result<Condition, ScenarioError> {
        let (name, comparison) = text.split_at(text.find(['<', '>']).unwrap_or(text.len()));
        let comparison = comparison.parse().map_err(|NoComparison| {
            let help = "write a metric of summary.csv, a sign and a finite number, as in \
                        \"time_to_drain_s < 120\"";
            ScenarioError::plain(format!("`{text}` is no condition"), help.into())
        })?;
        Ok(Condition { metric: metric_named(name.trim())?, comparison })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.metric, self.comparison)
    }
}

impl Comparison {
    /// Whether `figure`, which may be infinite, is on the right side.
    pub fn holds(self, figure: f64) -> bool {
        match self.relation {
            Relation::Below => figure < self.limit,
            Relation::AtMost => figure <= self.limit,
            Relation::Above => figure > self.limit,
            Relation::AtLeast => figure >= self.limit,
        }
    }
}

impl Relation {
    /// Two signs before the one that they begin with.
    const ALL: [Relation; 4] =
        [Relation::AtMost, Relation::AtLeast, Relation::Below, Relation::Above];

    fn sign(self) -> &'static str {
        match self {
            Relation::Below => "<",
            Relation::AtMost => "<=",
            Relation::Above => ">",
            Relation::AtLeast => ">=",
        }
    }
}

impl FromStr for Comparison {
    type Err = NoComparison;

    /// Digits may be grouped by `_`, as in TOML.
    fn from_str(text: &str) -> Result<Comparison, NoComparison> {
        let read =
            |relation: Relation| Some((relation, text.trim().strip_prefix(relation.sign())?));
        let (relation, number) = Relation::ALL.into_iter().find_map(read).ok_or(NoComparison)?;
        let limit: f64 = number.trim().replace('_', "").parse().map_err(|_| NoComparison)?;
        limit.is_finite().then_some(Comparison { relation, limit }).ok_or(NoComparison)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.relation.sign(), self.limit)
    }
}

impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_is_a_sign_and_a_number() {
        for (text, relation, limit, shown) in [
            ("< 120", Relation::Below, 120.0, "< 120"),
            ("<=294", Relation::AtMost, 294.0, "<= 294"),
            ("  >  0.5 ", Relation::Above, 0.5, "> 0.5"),
            (">= 11_543", Relation::AtLeast, 11_543.0, ">= 11543"),
        ] {
            let comparison: Comparison = text.parse().unwrap();
            assert_eq!(comparison, Comparison { relation, limit });
            assert_eq!(comparison.to_string(), shown);
        }
        for wrong in ["", "120", "= 120", "== 120", "< 2m", "<", "< inf", "> NaN", "=< 3", "≤ 3"]
        {
            assert_eq!(wrong.parse::<Comparison>(), Err(NoComparison), "{wrong}");
        }
    }

    #[test]
    fn only_an_inclusive_relation_holds_on_the_limit() {
        let holds = |text: &str| text.parse::<Comparison>().unwrap().holds(3.0);
        assert_eq!(["< 3", "<= 3", "> 3", ">= 3"].map(holds), [false, true, false, true]);
        assert!(!"< 3".parse::<Comparison>().unwrap().holds(f64::INFINITY));
    }

    #[test]
    fn a_condition_is_a_metric_and_a_comparison() {
        let soon = Condition::parse("time_to_drain_s<120").unwrap();
        assert_eq!(soon.metric, Metric::TimeToDrain);
        assert_eq!(soon.to_string(), "time_to_drain_s < 120");
        for wrong in ["", "polls", "polls < ", "polls = 3", "pols < 3", "polls < inf"] {
            assert!(Condition::parse(wrong).is_err(), "{wrong}");
        }
    }
}
