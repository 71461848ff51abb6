//! The ordered list of units that a run consists of.
//!
//! A unit is one (policy, replicate): one simulation, one thread, one record. The order is policy by
//! policy, replicate by replicate; results are folded in it whatever the order in which units finish.

use crate::scenario::Scenario;

/// One simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Index of the policy in the scenario.
    pub policy: usize,
    /// The replicate, from 0: which random world.
    pub replicate: u32,
}

/// All units of `scenario`, in plan order.
pub fn units(scenario: &Scenario) -> Vec<Unit> {
    (0..scenario.policies.len())
        .flat_map(|policy| {
            (0..scenario.run.replicates).map(move |replicate| Unit { policy, replicate })
        })
        .collect()
}
