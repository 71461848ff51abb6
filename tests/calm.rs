//! Windows and single events leave the same records.

use proptest::prelude::*;

use crate::watch::{shipped, written, written_with};
use herdsim::engine;
use herdsim::engine::observer::{Event, Gauges, Observer, Window};
use herdsim::metrics::{Recorder, UnitRecord};
use herdsim::scenario::{self, Scenario};
use herdsim::units::SimTime;

/// Has a recorder hear of each event.
struct OneByOne(Recorder);

impl Observer for OneByOne {
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        self.0.on(now, event, gauges);
    }
}

/// Counts the polls that are told in windows.
struct Counting<'a>(&'a mut Recorder, usize);

impl Observer for Counting<'_> {
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        self.0.on(now, event, gauges);
    }

    fn calm_until(&mut self, now: SimTime) -> SimTime {
        self.0.calm_until(now)
    }

    fn on_window(&mut self, window: Window<'_>) {
        self.1 += window.services.len();
        self.0.on_window(window);
    }
}

fn one_by_one(scenario: &Scenario, policy: usize) -> UnitRecord {
    let mut observer = OneByOne(Recorder::new(scenario, policy));
    let end = engine::play(scenario, policy, 0, &mut observer);
    observer.0.finish(&end)
}

/// Compares the records, and returns the share of polls told in windows.
fn share_in_windows(scenario: &Scenario, policy: usize) -> f64 {
    let mut recorder = Recorder::new(scenario, policy);
    let mut counting = Counting(&mut recorder, 0);
    let end = engine::play(scenario, policy, 0, &mut counting);
    let in_windows = counting.1 as f64;
    let record = recorder.finish(&end);
    let expected = one_by_one(scenario, policy);
    let name = &scenario.policies[policy].name;
    assert!(record == expected, "{name}: {:?}\n{:?}", record.counts, expected.counts);
    let polls: u64 = record.timeline.buckets.iter().map(|bucket| bucket.polls).sum();
    in_windows / polls.max(1) as f64
}

fn polling(clients: u32, more: &[&str]) -> Scenario {
    let text = r#"
        title = "Plain polling"
        run = { duration = "5m", warm_up = "30.5s", seed = 42 }
        fleet = { clients = 1000, round_trip = "20ms", initial = { warm = { interval = "30s" } } }
        pooler = { pool_size = 100 }
        database = { claim = { exponential = { mean = "170ms" } } }
        disturbance = [{ at = "1m", restart = { clients = 1.0, over = "10s" } }]
        [policy.polling]
        poll = [ "30s", { scale = [0.5, 1.5] } ]
    "#;
    let clients = format!("fleet.clients={clients}");
    written_with(text, &[&[&*clients], more].concat())
}

#[test]
fn a_fleet_that_never_waits_is_played_in_windows() {
    let share = share_in_windows(&polling(1_000, &[]), 0);
    assert!(share > 0.9, "{share}");
    // A handful of clients leaves the database idle again and again.
    let share = share_in_windows(&polling(7, &[]), 0);
    assert!(share > 0.9, "{share}");
}

#[test]
fn a_fleet_that_fills_its_pool_now_and_then_is_played_both_ways() {
    for (pool, cores) in [(40, 100), (100, 25), (100, 8), (12, 12), (9, 9), (7, 3)] {
        let pool = format!("pooler.pool_size={pool}");
        let cores = format!("database.contention.cores={cores}");
        let limit = "pooler.max_client_conn=60";
        let scenario = polling(3_000, &[&pool, &cores, limit, "pooler.query_wait_timeout=1s"]);
        let share = share_in_windows(&scenario, 0);
        assert!(share < 0.999, "{pool} {cores}: {share}");
    }
}

#[test]
fn a_claim_that_takes_no_time_is_done_before_the_next_of_its_instant() {
    let together = |claim: &str, more: &str| {
        written(&format!(
            r#"
            title = "Together"
            run = {{ duration = "5m", seed = 42 }}
            fleet = {{ clients = 1000, round_trip = "20ms", initial = "cold" }}
            pooler = {{ pool_size = 1000 }}
            database = {{ claim = {claim} }}
            [policy.polling]
            poll = [ "3s" ]
            {more}
        "#
        ))
    };
    let few_ticks = r#"{ exponential = { mean = "1us" } }"#;
    let share = share_in_windows(&together(few_ticks, ""), 0);
    assert!(share > 0.9, "{share}");
    // Disturbances end the calm, and it begins anew amid clients of one instant.
    let change =
        "[[disturbance]]\nat = '10s'\nevery = '3s'\nchange = { pool_size = 900, over = '1s' }";
    for claim in [few_ticks, r#""0s""#, r#""1us""#] {
        share_in_windows(&together(claim, change), 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_fleet_leaves_the_same_record_either_way(
        clients in 1u32..1_500,
        (pool_size, limit, cores) in (1u32..60, 1u32..200, 1u32..60),
        (round_trip, over) in (0u32..200, 0u32..40_000),
        // Some so short that many take no time at all.
        claim in prop_oneof![4 => 1_000u32..900_000, 1 => 1u32..50],
        (patience, base) in (1u32..2_000, 200u32..30_000),
        acquire in prop_oneof![
            Just(r#""once""#),
            Just(r#"{ retry = { delay = ["300ms"], stop = { attempts = 3 } } }"#),
        ],
        seed in any::<u32>(),
    ) {
        let scenario = polling(clients, &[
            &format!("pooler.pool_size={pool_size}"),
            &format!("pooler.max_client_conn={limit}"),
            &format!("database.contention.cores={cores}"),
            &format!("database.claim.exponential.mean={claim}us"),
            &format!("fleet.round_trip={round_trip}ms"),
            &format!("run.seed={seed}"),
            &format!("policy.polling.patience={patience}ms"),
            &format!("policy.polling.acquire={acquire}"),
            &format!(
                "policy.polling.poll=[{{ exponential = {{ base = \"{base}ms\", factor = 2 }} }}, \
                 {{ clamp = \"30s\" }}, {{ scale = [0.5, 1.5] }}]"
            ),
            &format!("policy.polling.start_up={{ uniform = [\"0s\", \"{over}ms\"] }}"),
        ]);
        share_in_windows(&scenario, 0);
    }
}

#[test]
fn shipped_scenarios_leave_the_same_records_either_way() {
    for builtin in scenario::builtins() {
        let scenario = shipped(builtin.name, &["fleet.clients=600"]);
        for policy in 0..scenario.policies.len() {
            for course in scenario.courses() {
                share_in_windows(&course, policy);
            }
        }
    }
}
