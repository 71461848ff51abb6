//! The edge of a key: how far it can go until a condition no longer holds.

use crate::metrics::{Estimate, Judgement};

/// Whether the largest or the smallest value is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
}

/// A value that was tried.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The value.
    pub value: f64,
    /// What came of it.
    pub estimate: Estimate,
    /// What that says of the condition.
    pub judgement: Judgement,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Edge {
    /// All that the search tried, in order.
    pub steps: Vec<Step>,
    /// What was tried on both sides of the edge afterwards.
    pub checks: Vec<Step>,
    /// The value found, in fresh random worlds; `None` if the condition holds nowhere in reach.
    pub found: Option<Step>,
    /// The nearest value at which it does not hold; `None` if it holds everywhere in reach.
    pub beyond: Option<f64>,
}

impl Edge {
    /// Whether what was tried on both sides agrees with an edge.
    pub fn is_monotone(&self, aim: Aim) -> bool {
        let Some(found) = &self.found else { return true };
        self.checks.iter().chain(&self.steps).all(|step| {
            let within = match aim {
                Aim::Largest => step.value <= found.value,
                Aim::Smallest => step.value >= found.value,
            };
            !within || step.judgement != Judgement::Fail
        })
    }
}
