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
        Folding { scenario, policies: Vec::new() }
    }

    /// Folds in the record of the plan's next unit.
    pub fn add(&mut self, unit: Unit, record: UnitRecord) {
        match self.policies.last_mut() {
            Some(summary) if unit.replicate > 0 => summary.add(&record),
            _ => {
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
