//! Records become results, one after the other in plan order, so that few of them are held at once.

use crate::metrics::{Outcome, PolicySummary, UnitRecord, Value};
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

/// The outcomes of a sweep under way: of each record, its metrics alone.
#[derive(Debug)]
pub struct FoldingPoints<'a> {
    points: &'a [Scenario],
    outcomes: Vec<Vec<Outcome>>,
}

impl<'a> FoldingPoints<'a> {
    /// Nothing folded yet of a sweep with these points.
    pub fn new(points: &'a [Scenario]) -> FoldingPoints<'a> {
        FoldingPoints { points, outcomes: vec![Vec::new(); points.len()] }
    }

    /// Folds in the metrics of the plan's next unit.
    pub fn add(&mut self, unit: Unit, values: Vec<Value>) {
        let (scenario, outcomes) = (&self.points[unit.point], &mut self.outcomes[unit.point]);
        match outcomes.last_mut() {
            Some(outcome) if unit.replicate > 0 => outcome.replicates.push(values),
            _ => outcomes.push(Outcome {
                policy: unit.policy(scenario).to_owned(),
                variant: unit.variant(scenario).map(str::to_owned),
                replicates: vec![values],
            }),
        }
    }

    /// By point, the outcomes of its policies and variants of which there was a record.
    pub fn finish(self) -> Vec<Vec<Outcome>> {
        self.outcomes
    }
}
