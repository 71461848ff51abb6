//! What came of the scenario's thresholds.

use super::Results;
use crate::metrics::{Estimate, Judgement, Metric, Outcome, Value};
use crate::scenario::{Condition, Scenario, Threshold};

/// A threshold, held against a policy, in one variant where there are several.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged<'a> {
    /// Whose figure it is.
    pub policy: &'a str,
    /// In which variant, where the scenario has variants.
    pub variant: Option<&'a str>,
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
        let all = self.policies.iter().flat_map(|summary| {
            let variant = summary.variant.as_deref();
            let values = |metric| summary.values(metric);
            Judged::all(&self.loaded.scenario, &summary.policy, variant, values)
        });
        all.collect()
    }
}

impl<'a> Judged<'a> {
    /// All that is asked of a policy, held against what came of it.
    pub fn of(scenario: &'a Scenario, outcome: &'a Outcome) -> impl Iterator<Item = Judged<'a>> {
        let variant = outcome.variant.as_deref();
        Judged::all(scenario, &outcome.policy, variant, |metric| outcome.values(metric))
    }

    /// All that is asked of a policy, held against its `values`, one per replicate.
    fn all(
        scenario: &'a Scenario,
        policy: &'a str,
        variant: Option<&'a str>,
        values: impl Fn(Metric) -> Vec<Value>,
    ) -> impl Iterator<Item = Judged<'a>> {
        scenario.thresholds_of(policy).map(move |threshold| {
            let Condition { metric, comparison } = threshold.condition;
            let values = values(metric);
            let estimate = Estimate::of(metric, &values);
            let judgement = Judgement::of(comparison, &estimate, &values);
            Judged { policy, variant, threshold, estimate, judgement }
        })
    }
}
