//! The ordered list of units that a run consists of.
//!
//! A unit is one (policy, variant, replicate): one simulation, one thread, one record. The order is
//! policy by policy, variant by variant, replicate by replicate; results are folded in it whatever
//! the order in which units finish.

use crate::scenario::Scenario;

/// One simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Index of the policy in the scenario.
    pub policy: usize,
    /// Index of the variant in the scenario; 0 where it has none.
    pub variant: usize,
    /// The replicate, from 0: which random world.
    pub replicate: u32,
}

/// All units of `scenario`, in plan order.
pub fn units(scenario: &Scenario) -> Vec<Unit> {
    units_from(scenario, 0)
}

/// Those from replicate number `first` on.
pub fn units_from(scenario: &Scenario, first: u32) -> Vec<Unit> {
    let variants = scenario.variants.len().max(1);
    let pairs = (0..scenario.policies.len())
        .flat_map(|policy| (0..variants).map(move |variant| (policy, variant)));
    pairs
        .flat_map(|(policy, variant)| {
            (first..scenario.run.replicates).map(move |replicate| Unit {
                policy,
                variant,
                replicate,
            })
        })
        .collect()
}
