//! Guards and layers, seen from outside: what sets out, what is held back, what is denied.

use std::collections::BTreeMap;

use crate::watch::{estimate, events, only, play, shipped, written};
use herdsim::engine::observer::{Begins, Event, Outcome};
use herdsim::metrics::Metric;
use herdsim::scenario::Scenario;
use herdsim::units::{SimTime, Span};

/// A pooler that refuses everybody from 10 s on, for good.
fn outage(acquire: &str) -> Scenario {
    written(&format!(
        "title = 'outage'
         [run]
         duration = '300s'
         [fleet]
         clients = 200
         round_trip = '20ms'
         [pooler]
         pool_size = 20
         [database]
         claim = '10ms'
         [[disturbance]]
         at = '10s'
         outage = {{ over = '290s', failure = {{ refusing = '1ms' }} }}
         [policy.tested]
         poll = ['5s']
         {acquire}"
    ))
}

/// Attempts of each acquisition that ended in the outage, and how many there are of each number.
fn tries(scenario: &Scenario) -> BTreeMap<u32, u32> {
    let mut open = BTreeMap::new();
    let mut tries = BTreeMap::new();
    for (_, event) in events(scenario, 0) {
        match event {
            Event::Departed { client, begins, .. } => {
                let count: &mut u32 = open.entry(client).or_default();
                *count = if begins == Begins::Nothing { *count + 1 } else { 1 };
            }
            Event::PollEnded { client, outcome: Outcome::Error, .. } => {
                *tries.entry(open[&client]).or_default() += 1;
            }
            _ => {}
        }
    }
    tries
}

#[test]
fn the_tries_of_two_layers_multiply() {
    let scenario = outage(
        "[[policy.tested.acquire.layers]]
         name = 'sdk'
         retry = { delay = ['100ms'], stop = { attempts = 3 } }
         [[policy.tested.acquire.layers]]
         name = 'application'
         retry = { delay = ['1s'], stop = { attempts = 4 } }",
    );
    let tries = tries(&scenario);
    assert_eq!(tries.keys().collect::<Vec<_>>(), [&12], "{tries:?}");
    assert!(tries[&12] > 1_000);
}

#[test]
fn the_delays_of_an_inner_layer_nest_within_those_of_the_outer() {
    let scenario = outage(
        "[[policy.tested.acquire.layers]]
         retry = { delay = [{ exponential = { base = '100ms', factor = 2 } }], stop = { attempts = 3 } }
         [[policy.tested.acquire.layers]]
         retry = { delay = [{ exponential = { base = '1s', factor = 2 } }], stop = { attempts = 3 } }",
    );
    // A round trip of 20 ms, and the refusal's millisecond.
    let mut last: BTreeMap<u32, SimTime> = BTreeMap::new();
    let mut gaps: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (_, event) in events(&scenario, 0) {
        if let Event::Departed { client, at, begins } = event {
            if begins == Begins::Nothing {
                let gap = at.since(last[&client]).ticks() / 1_000 - 21;
                gaps.entry(client).or_default().push(gap);
            }
            last.insert(client, at);
        }
    }
    for gaps in gaps.values() {
        for acquisition in gaps.chunks_exact(8) {
            assert_eq!(acquisition, [100, 200, 1_000, 100, 200, 2_000, 100, 200]);
        }
    }
}

/// A total outage shows the product of the layers in `summary.csv` too.
#[test]
fn the_ledger_counts_the_tries_of_each_layer() {
    let scenario = outage(
        "[[policy.tested.acquire.layers]]
         retry = { delay = ['10ms'], stop = { attempts = 2 } }
         [[policy.tested.acquire.layers]]
         retry = { delay = ['10ms'], stop = { attempts = 3 } }
         [[policy.tested.acquire.layers]]
         retry = { delay = ['10ms'], stop = { attempts = 5 } }",
    );
    let mut scenario = scenario;
    scenario.run.warm_up = Span::from_secs(20);
    let results = play(&scenario);
    let of = |metric| estimate(&results[0], metric);
    let (attempts, acquisitions) = (of(Metric::Attempts), of(Metric::Acquisitions));
    let near = |ratio: f64, whole: f64| assert!((ratio / whole - 1.0).abs() < 0.01, "{ratio}");
    near(attempts / acquisitions, 30.0);
    near(attempts / of(Metric::Layer2Tries), 2.0);
    near(of(Metric::Layer2Tries) / of(Metric::Layer3Tries), 3.0);
}

#[test]
fn without_a_limit_in_effect_a_guard_changes_nothing_and_with_none_left_no_retry_is() {
    let played = |guards: &str| {
        let guards = format!("policy.baseline.guards=[{guards}]");
        let scenario =
            shipped("deriver-restart", &["run.duration=5m", "run.replicates=1", &guards]);
        let results = play(&only(scenario, &["baseline", "no-retry"]));
        let row = |number: usize| {
            let values = Metric::ALL.iter().zip(&results[number].replicates[0]);
            let others = values.filter(|(metric, _)| **metric != Metric::RetriesDenied);
            format!("{:?}", others.collect::<Vec<_>>())
        };
        (row(0), row(1))
    };
    let (baseline, no_retry) = played("");
    assert_ne!(baseline, no_retry);
    for unlimited in [
        "{ quota = { capacity = 4_000_000_000, cost = 1 } }",
        "{ in-flight = 12_000, scope = 'fleet' }",
    ] {
        assert_eq!(played(unlimited).0, baseline, "{unlimited}");
    }
    for none in ["{ quota = { capacity = 0, cost = 1 } }"] {
        assert_eq!(played(none).0, no_retry, "{none}");
    }
}
