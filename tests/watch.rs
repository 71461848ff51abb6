//! Playing scenarios in tests, and watching single events.

use herdsim::engine::observer::{Event, Gauges, Observer};
use herdsim::metrics::{Bucket, Metric, PolicySummary};
use herdsim::scenario::{self, Scenario};
use herdsim::units::SimTime;
use herdsim::{engine, sweep};

/// A shipped scenario, with overrides.
pub fn shipped(name: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    match scenario::load(name, &overrides) {
        Ok(loaded) => loaded.scenario,
        Err(error) => panic!("{}", error.render(false)),
    }
}

/// A scenario written in the test.
pub fn written(text: &str) -> Scenario {
    written_with(text, &[])
}

/// A scenario written in the test, with overrides.
pub fn written_with(text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    match scenario::parse("test", "test.toml", text, &overrides) {
        Ok(loaded) => loaded.scenario,
        Err(error) => panic!("{}", error.render(false)),
    }
}

/// Only these policies of a scenario.
pub fn only(mut scenario: Scenario, policies: &[&str]) -> Scenario {
    let policies: Vec<String> = policies.iter().map(|&name| name.to_owned()).collect();
    scenario.select(&policies).expect("the policies exist");
    scenario
}

/// All replicates of all policies, on both cores.
pub fn play(scenario: &Scenario) -> Vec<PolicySummary> {
    sweep::play(scenario, 2, &|_| {})
}

/// The estimate of a metric, which must exist.
pub fn estimate(summary: &PolicySummary, metric: Metric) -> f64 {
    let policy = &summary.policy;
    summary.estimate(metric).estimate.unwrap_or_else(|| panic!("{policy} has no {metric}"))
}

/// A rate per second over the last `seconds` whole buckets of one second, mean over replicates.
pub fn final_rate(summary: &PolicySummary, seconds: usize, of: fn(&Bucket) -> u64) -> f64 {
    let buckets = &summary.timeline.buckets;
    let sum: u64 = buckets[buckets.len() - seconds..].iter().map(of).sum();
    sum as f64 / (seconds * summary.replicates.len()) as f64
}

/// Every event of one unit with its time, in order.
pub fn events(scenario: &Scenario, policy: usize) -> Vec<(SimTime, Event)> {
    struct Log(Vec<(SimTime, Event)>);
    impl Observer for Log {
        fn on(&mut self, now: SimTime, event: Event, _: Gauges) {
            self.0.push((now, event));
        }
    }
    let mut log = Log(Vec::new());
    engine::play(scenario, policy, 0, &mut log);
    log.0
}

/// Asserts that `value` lies within `tolerance` (a share) of `expected`.
#[track_caller]
pub fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value / expected - 1.0).abs() <= tolerance,
        "{value} is not within {} % of {expected}",
        100.0 * tolerance
    );
}
