//! Playing scenarios in tests, and watching single events.

use herdsim::engine::observer::{Event, Gauges, Observer};
use herdsim::metrics::{Bucket, Metric, PolicySummary, UnitRecord, Value};
use herdsim::scenario::{self, Scenario};
use herdsim::units::SimTime;
use herdsim::{engine, plan, sweep};
use statrs::distribution::{ContinuousCDF, StudentsT};

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

/// The record of each unit by itself, in the order of the plan.
pub fn records(scenario: &Scenario) -> Vec<UnitRecord> {
    plan::units(scenario).into_iter().map(|unit| sweep::play_unit(scenario, unit)).collect()
}

/// The mean wait of each replicate in seconds, where all who wait are served.
pub fn mean_waits(records: &[UnitRecord]) -> Vec<f64> {
    let wait = |record: &UnitRecord| record.counts.waited as f64 / record.counts.served as f64;
    records.iter().map(|record| wait(record) / 1e6).collect()
}

/// A metric in each replicate, where it must exist.
pub fn replicates(summary: &PolicySummary, metric: Metric) -> Vec<f64> {
    let column = Metric::ALL.iter().position(|&other| other == metric).expect("all are listed");
    let number = |row: &Vec<Value>| match row[column] {
        Value::Number(number) => number,
        value => panic!("{metric} is {value:?}"),
    };
    summary.replicates.iter().map(number).collect()
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
    told(scenario, policy).into_iter().map(|(now, event, _)| (now, event)).collect()
}

/// All that an observer of one unit is told, in order.
pub fn told(scenario: &Scenario, policy: usize) -> Vec<(SimTime, Event, Gauges)> {
    struct Log(Vec<(SimTime, Event, Gauges)>);
    impl Observer for Log {
        fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
            self.0.push((now, event, gauges));
        }
    }
    let mut log = Log(Vec::new());
    engine::play(scenario, policy, 0, &mut log);
    log.0
}

/// Asserts that independent replicates agree with theory: their mean's t interval at 99.9 % holds
/// `expected`, and is no wider than `precision` (a share) of it to either side.
#[track_caller]
pub fn assert_agree(what: &str, replicates: &[f64], expected: f64, precision: f64) {
    let n = replicates.len() as f64;
    let mean = replicates.iter().sum::<f64>() / n;
    let variance = replicates.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let law = StudentsT::new(0.0, 1.0, n - 1.0).expect("two replicates or more");
    let half = law.inverse_cdf(0.9995) * (variance / n).sqrt();
    assert!((mean - expected).abs() <= half, "{what}: {mean} ± {half}, not {expected}");
    assert!(half <= precision * expected, "{what}: {mean} ± {half} is too wide to tell");
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
