//! Records become results, one after the other in plan order, so that few of them are held at once.

use crate::metrics::{PolicySummary, UnitRecord};
use crate::plan::Unit;
use crate::scenario::Scenario;

/// The summaries of a run under way.
#[derive(Debug)]
pub struct Folding<'a> {
    scenario: &'a Scenario,
    policies: Vec<PolicySummary>,
}

impl<'a> Folding<'a> {
    /// Nothing folded yet.
    pub fn new(scenario: &'a Scenario) -> Folding<'a> {
        Folding::onto(Vec::new(), scenario)
    }

    /// The first replicates folded already.
    pub fn onto(policies: Vec<PolicySummary>, scenario: &'a Scenario) -> Folding<'a> {
        Folding { scenario, policies }
    }

    /// Folds in the record of the plan's next unit.
    pub fn add(&mut self, unit: Unit, record: UnitRecord) {
        let variants = self.scenario.variants.len().max(1);
        match self.policies.get_mut(unit.policy * variants + unit.variant) {
            Some(summary) => summary.add(&record),
            None => {
                let variant = unit.variant(self.scenario).map(str::to_owned);
                let policy = unit.policy(self.scenario);
                self.policies.push(PolicySummary::new(policy, variant, record));
            }
        }
    }

    /// One summary per policy, or policy and variant, of which there was a record.
    pub fn finish(self) -> Vec<PolicySummary> {
        self.policies
    }
}
