//! What differs from the reference policy, world by world.

use super::Results;
use crate::metrics::{Design, Difference, Metric, PolicySummary};

/// A policy, in one variant where there are several, held against the reference in the same variant.
#[derive(Clone, Debug, PartialEq)]
pub struct AgainstReference<'a> {
    /// Which policy, and in which variant.
    pub policy: &'a PolicySummary,
    /// One per metric, in the order of [`Metric::ALL`].
    pub differences: Vec<Difference>,
}

impl Results {
    /// Every policy but the reference, in the order of the results; empty without a reference.
    pub fn against_reference(&self) -> Vec<AgainstReference<'_>> {
        let Some(name) = &self.loaded.scenario.reference else { return Vec::new() };
        let others = self.policies.iter().filter(|policy| policy.policy != *name);
        others
            .filter_map(|policy| {
                let same = |other: &&PolicySummary| {
                    other.policy == *name && other.variant == policy.variant
                };
                let reference = self.policies.iter().find(same)?;
                let difference = |&metric: &Metric| {
                    let (a, b) = (reference.values(metric), policy.values(metric));
                    Difference::of(metric, Design::Paired, &a, &b)
                };
                let differences = Metric::ALL.iter().map(difference).collect();
                Some(AgainstReference { policy, differences })
            })
            .collect()
    }
}

impl AgainstReference<'_> {
    /// The difference of one metric.
    pub fn difference(&self, metric: Metric) -> &Difference {
        &self.differences[metric as usize]
    }
}
