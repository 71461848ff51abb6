//! Guards and layers, seen from outside: what sets out, what is held back, what is denied.

use std::collections::BTreeMap;

use crate::watch::{estimate, events, only, play, shipped, written, written_with};
use herdsim::engine::observer::{Begins, Event, Outcome};
use herdsim::metrics::Metric;
use herdsim::scenario::Scenario;
use herdsim::units::{SimTime, Span};

/// A pooler that refuses everybody from 10 s on, for good.
fn outage(acquire: &str) -> Scenario {
    outage_with(acquire, &[])
}

/// The same with overrides.
pub fn outage_with(acquire: &str, overrides: &[&str]) -> Scenario {
    let text = format!(
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
    );
    written_with(&text, overrides)
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
        "{ ratio = { ratio = 1_000 } }",
        "{ concurrency = { least = 4_000_000_000 }, scope = 'fleet' }",
        "{ bucket = { rate = '1000000/s', burst = 4_000_000_000 }, scope = 'fleet' }",
        "{ in-flight = 12_000, scope = 'fleet' }",
        "{ adaptive = { on = [] } }",
    ] {
        assert_eq!(played(unlimited).0, baseline, "{unlimited}");
    }
    for none in [
        "{ quota = { capacity = 0, cost = 1 } }",
        "{ ratio = { ratio = 0 } }",
        "{ concurrency = { least = 0 }, scope = 'fleet' }",
    ] {
        assert_eq!(played(none).0, no_retry, "{none}");
    }
}

/// Three failures in a row open it for 30 s; then one probe fails, and it is open again. Polls are 5 s
/// and a failure's round trip apart.
#[test]
fn a_breaker_of_each_client_lets_one_probe_through_every_half_minute() {
    let scenario = outage("guards = [{ breaker = { consecutive = 3, open = '30s' } }]");
    let (mut attempts, mut held) = (BTreeMap::new(), 0);
    for (now, event) in events(&scenario, 0) {
        match event {
            Event::Refused { client } => {
                attempts.entry(client).or_insert_with(Vec::new).push(now.as_secs_f64());
            }
            Event::Rejected { .. } => held += 1,
            _ => {}
        }
    }
    for times in attempts.values() {
        assert!(times[0] < 15.1 && times[2] - times[0] < 10.1, "{times:?}");
        let pauses = times[2..].windows(2).map(|pair| pair[1] - pair[0]);
        assert!(pauses.clone().count() >= 8, "{times:?}");
        for pause in pauses {
            assert!((30.0..35.1).contains(&pause), "{times:?}");
        }
    }
    assert_eq!(attempts.len(), 200);
    assert!(held > 200 * 5 * 8, "{held}");
}

/// Who shares a count: each client, each process of 20 clients, all.
#[test]
fn a_guard_counts_for_those_who_share_it() {
    let most_at_once = |scope: &str| {
        let scenario = written(&format!(
            "title = 'bulkheads'
             [run]
             duration = '60s'
             [fleet]
             clients = 200
             round_trip = '20ms'
             initial = 'cold'
             [pooler]
             pool_size = 200
             [database]
             claim = '300ms'
             [policy.tested]
             poll = ['1s']
             guards = [{{ in-flight = 3, scope = {scope} }}]"
        ));
        let (mut now, mut most) = (0i32, 0);
        for (_, event) in events(&scenario, 0) {
            match event {
                Event::Granted { .. } => now += 1,
                Event::Completed { .. } => now -= 1,
                _ => {}
            }
            most = most.max(now);
        }
        most
    };
    assert_eq!(most_at_once("'client'"), 200);
    assert_eq!(most_at_once("{ process = 20 }"), 30);
    assert_eq!(most_at_once("'fleet'"), 3);
}

#[test]
fn a_quota_denies_the_retries_that_it_has_no_tokens_for() {
    let scenario = outage(
        "acquire = { retry = { delay = ['100ms'], stop = { attempts = 3 } } }
         guards = [{ quota = { capacity = 50, cost = { other = 5, timed-out = 10 } } }]",
    );
    // Ten retries of 5 tokens: five acquisitions of three attempts, and then single ones.
    let tries = tries(&scenario);
    assert_eq!(tries[&3], 5 * 200);
    assert_eq!(tries.keys().collect::<Vec<_>>(), [&1, &3]);
    assert!(tries[&1] > 40 * 200, "{tries:?}");
}

/// A restarted process has a full bucket; the others have not.
#[test]
fn a_restart_fills_the_buckets_of_those_who_restart() {
    let scenario = outage(
        "acquire = { retry = { delay = ['100ms'], stop = { attempts = 3 } } }
         guards = [{ quota = { capacity = 50, cost = 5 }, scope = { process = 10 } }]
         [[disturbance]]
         at = '150s'
         restart = { clients = 0.5, over = '1s' }",
    );
    let (mut before, mut after) = ([0; 2], [0; 2]);
    for (now, event) in events(&scenario, 0) {
        if let Event::Departed { client, begins: Begins::Nothing, .. } = event {
            let counts = if now.as_secs_f64() < 150.0 { &mut before } else { &mut after };
            counts[usize::from(client >= 100)] += 1;
        }
    }
    assert_eq!(before, [100, 100], "ten retries for each of 20 processes");
    assert_eq!(after, [100, 0], "ten for each of the ten that restarted");
}

#[test]
fn a_rate_limiter_lets_its_rate_through_and_tells_the_others_when_to_come_back() {
    let scenario = written(
        "title = 'limited'
         [run]
         duration = '60s'
         warm_up = '10s'
         [fleet]
         clients = 500
         round_trip = '20ms'
         initial = { warm = { interval = '1s' } }
         [pooler]
         pool_size = 100
         limiter = { rate = '100/s', burst = 10, retry_after = '2s' }
         [database]
         claim = '1ms'
         [policy.once]
         poll = ['1s']
         [policy.told]
         extends = 'once'
         acquire = { retry = { delay = ['100ms'], stop = 'never', hint = 'replace' } }",
    );
    let results = play(&scenario);
    let of = |policy: usize, metric| estimate(&results[policy], metric);
    for policy in 0..2 {
        assert!((of(policy, Metric::GoodClaims) / 50.0 - 100.0).abs() < 1.0);
        assert_eq!(of(policy, Metric::Throttled), of(policy, Metric::Refused));
    }
    // 500 clients ask every 1.02 s, or every 2.02 s.
    assert!((of(0, Metric::Attempts) / 50.0 / (500.0 / 1.021) - 1.0).abs() < 0.03);
    assert!((of(1, Metric::Attempts) / 50.0 / (500.0 / 1.8) - 1.0).abs() < 0.1);
}

/// Who turns retries off with `max_attempts = 1` makes two requests a call.
#[test]
fn the_agent_that_wants_one_request_a_call_makes_two() {
    let scenario = only(shipped("layered-boto", &[]), &["as-run"]);
    let (mut calls, mut requests): (BTreeMap<u32, u32>, _) = (BTreeMap::new(), Vec::new());
    for (now, event) in events(&scenario, 0) {
        let during = (125.0..415.0).contains(&now.as_secs_f64());
        match event {
            Event::OuterTry { client, .. } => {
                requests.extend(calls.remove(&client));
                if during {
                    calls.insert(client, 0);
                }
            }
            Event::Departed { client, .. } => {
                calls.entry(client).and_modify(|count| *count += 1);
            }
            _ => {}
        }
    }
    assert!(requests.len() > 50_000, "{}", requests.len());
    assert!(requests.iter().all(|&count| count == 2));
}

/// Guards and layers are of a policy: who takes up another policy leaves them behind.
#[test]
fn a_switch_takes_the_guards_away() {
    let scenario = outage(
        "acquire = { retry = { delay = ['100ms'], stop = { attempts = 3 } } }
         [policy.guarded]
         extends = 'tested'
         guards = [{ quota = { capacity = 0, cost = 5 } }]
         [[disturbance]]
         at = '150s'
         switch = { clients = 1.0, to = 'tested' }",
    );
    let scenario = only(scenario, &["guarded"]);
    let mut retries = [0; 2];
    for (now, event) in events(&scenario, 0) {
        if let Event::Departed { begins: Begins::Nothing, .. } = event {
            retries[usize::from(now.as_secs_f64() >= 150.0)] += 1;
        }
    }
    assert_eq!(retries[0], 0);
    assert!(retries[1] > 200 * 2 * 25, "{retries:?}");
}
