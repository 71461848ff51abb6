//! What came of the scenario's thresholds.

use super::Results;
use crate::metrics::{Estimate, Judgement, PolicySummary};
use crate::scenario::{Condition, Threshold};

/// A threshold, held against a policy, in one variant where there are several.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<'a> {
    /// Whose figure it is.
    pub policy: &'a PolicySummary,
    /// What was asked of it.
    pub threshold: &'a Threshold,
    /// The figure.
    pub estimate: Estimate,
    /// Whether it is on the right side.
    pub judgement: Judgement,
}

impl Results {
    /// Every threshold of every policy, or policy and variant, in the order of the results.
    pub fn judged(&self) -> Vec<Judged<'_>> {
        let scenario = &self.loaded.scenario;
        let all = self.policies.iter().flat_map(|policy| {
            scenario.thresholds_of(&policy.policy).map(move |threshold| (policy, threshold))
        });
        all.map(|(policy, threshold)| Judged::of(policy, threshold)).collect()
    }
}

impl<'a> Judged<'a> {
    fn of(policy: &'a PolicySummary, threshold: &'a Threshold) -> Judged<'a> {
        let Condition { metric, comparison } = threshold.condition;
        let estimate = policy.estimate(metric);
        let judgement = Judgement::of(comparison, &estimate, &policy.values(metric));
        Judged { policy, threshold, estimate, judgement }
    }
}
