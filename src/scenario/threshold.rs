//! Thresholds: what the user asks of the policies' figures.

use serde::Serialize;

use super::{Condition, Scenario};
use crate::metric::Metric;

/// A condition on a figure, asked of one policy or of each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Threshold {
    /// The policy that it is asked of; `None` is of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Which figure, and how it must compare.
    #[serde(flatten)]
    pub condition: Condition,
}

impl Scenario {
    /// What is asked of `policy`, in the file's order: its own thresholds, and those for each policy
    /// whose figure it has none of its own for.
    pub fn thresholds_of<'a>(&'a self, policy: &'a str) -> impl Iterator<Item = &'a Threshold> {
        let its_own = move |threshold: &Threshold| threshold.policy.as_deref() == Some(policy);
        let replaced = move |metric: Metric| {
            self.thresholds.iter().any(|other| its_own(other) && other.condition.metric == metric)
        };
        self.thresholds.iter().filter(move |threshold| match threshold.policy {
            None => !replaced(threshold.condition.metric),
            Some(_) => its_own(threshold),
        })
    }
}
