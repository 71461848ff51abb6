//! The outcome table of the incident's independent prototype: which mechanism locks a restarted fleet in,
//! and which lets it drain.
//!
//! The prototype called a fleet drained after the last second with more than 50 waiters or a failed
//! attempt; here the longest wait that counts as drained is what 50 waiters wait at the database's
//! throughput, 85 ms at 588 claims/s.

use crate::watch::{estimate, final_rate, only, play, shipped, written_with as written};
use herdsim::metrics::{Bucket, Metric, PolicySummary};
use herdsim::policy::{Failure, Past};
use herdsim::random::{Moment, Purpose, World};
use herdsim::units::Span;

/// What the prototype found.
#[derive(Clone, Copy, Debug)]
enum Expected {
    /// Drained after so many seconds: within 15 % or 10 s.
    Drains(f64),
    /// Drained within so many seconds, give or take 15 %.
    Within(f64),
    /// Not drained by the end of the run.
    Stuck,
    /// At the edge: some worlds drain, some do not.
    Either,
}
use Expected::{Drains, Either, Stuck, Within};

const POLICIES: [&str; 4] = ["baseline", "jittered", "no-retry", "jittered-no-retry"];

/// The fleet, and its clients' sleep in seconds.
const CLIENTS: f64 = 11_543.0;
const SLEEP: f64 = 30.0;

/// Nobody loses patience, so no place dies.
const PATIENT: &str = "policy.baseline.patience=never";

const COMMON: [&str; 3] = ["drain.wait=85ms", "run.duration=22m", "run.replicates=2"];

fn run(overrides: &[&str], policies: &[&str]) -> Vec<PolicySummary> {
    play(&only(shipped("deriver-restart", &[&COMMON, overrides].concat()), policies))
}

/// The main scenario with other policies beside its own.
fn run_with(more: &str, policies: &[&str]) -> Vec<PolicySummary> {
    let main = include_str!("../scenarios/deriver-restart.toml");
    play(&only(written(&format!("{main}\n{more}"), &COMMON), policies))
}

#[track_caller]
fn assert_outcome(row: &str, summary: &PolicySummary, expected: Expected) {
    let drained = estimate(summary, Metric::DrainedShare);
    let after = summary.estimate(Metric::TimeToDrain).estimate;
    let fits = match (expected, after) {
        (Stuck, _) => drained == 0.0,
        (Either, _) => drained > 0.0 && drained < 1.0,
        (Within(limit), Some(after)) => drained == 1.0 && after <= 1.15 * limit,
        (Drains(time), Some(after)) => {
            drained == 1.0 && (after - time).abs() <= (0.15 * time).max(10.0)
        }
        _ => false,
    };
    let policy = &summary.policy;
    assert!(fits, "{row}, {policy}: {drained} drained after {after:?}, not {expected:?}");
}

/// Asserts the outcomes of retry, retry with jitter, single attempts and those with jitter.
#[track_caller]
fn assert_row(row: &str, overrides: &[&str], expected: [Expected; 4]) {
    for (summary, expected) in run(overrides, &POLICIES).iter().zip(expected) {
        assert_outcome(row, summary, expected);
    }
}

/// Asserts what a closed form says of retry and of single attempts, with and without jitter: stuck where
/// `left` is less than `right`, and else these drains.
#[track_caller]
fn assert_law(law: &str, left: f64, right: [f64; 2], overrides: &[&str], drains: [Expected; 4]) {
    let [retry, single] = right;
    let rights = [retry, retry, single, single];
    for ((summary, right), drains) in run(overrides, &POLICIES).iter().zip(rights).zip(drains) {
        let expected = if left < right { Stuck } else { drains };
        assert_outcome(&format!("{law}, {left:.1} : {right:.1}"), summary, expected);
    }
}

/// Attempts a second of the retrying fleet when each fails after `each`: those of an acquisition, mean of
/// 10,000 draws, over its length and the sleep.
fn failing_attempts(clients: f64, each: Span) -> f64 {
    let main = shipped("deriver-restart", &[]);
    let acquire = &main.policies[0].parts[0].policy.acquire;
    let retry = acquire.retries().next().expect("the first policy retries");
    let world = World::new(main.run.seed, 0);
    let (mut attempts, mut length) = (0, 0.0);
    for client in 0..10_000 {
        let (mut failed, mut elapsed) = (1, each);
        let site = |attempt| {
            let moment = Moment { attempt, ..Moment::default() };
            world.site(Purpose::RetryJitter, client, moment)
        };
        let past = |elapsed| Past { previous: None, elapsed };
        let next = |failed, elapsed| {
            retry.next(failed, Failure::TimedOut, past(elapsed), None, site(failed))
        };
        while let Some(delay) = next(failed, elapsed) {
            failed += 1;
            elapsed += delay + each;
        }
        attempts += failed;
        length += elapsed.as_secs_f64();
    }
    clients * f64::from(attempts) / (1e4 * SLEEP + length)
}

#[test]
fn a_database_that_keeps_its_throughput_drains_whatever_the_policy() {
    for (cores, expected) in [
        ("100", [Drains(116.0), Drains(116.0), Drains(103.0), Drains(110.0)]),
        ("80", [Drains(142.0), Drains(154.0), Drains(129.0), Drains(143.0)]),
    ] {
        let cores = format!("database.contention.cores={cores}");
        assert_row(&cores, &[PATIENT, &cores], expected);
    }
}

/// The counter-example: where the full pool completes less than the fleet asks for at rest, no policy helps,
/// the published fix neither. X(368) = n₀/s₀ · (368/n₀)^(1 − γ) against N/Z = 384.8/s.
#[test]
fn a_retrograde_database_is_lost_to_any_policy() {
    // 306.6, 359.6 and 352.9 lock in, 453.3 and 639.4 drain.
    for (knee, gamma) in [(100, 1.5), (150, 2.0), (60, 1.0), (100, 1.2), (200, 2.0)] {
        let contention =
            format!("database.contention={{ power = {{ knee = {knee}, gamma = {gamma} }} }}");
        let full = f64::from(knee) / 0.17 * (368.0 / f64::from(knee)).powf(1.0 - gamma);
        let asked = CLIENTS / SLEEP;
        let overrides = [PATIENT, &contention];
        assert_law("X(368) < N/Z", full, [asked; 2], &overrides, [Within(300.0); 4]);
    }
    // It is the ramp that takes it there: a fleet that starts again at its 30 s need not enter. (The prototype
    // never did; of five worlds of the shipped scenario two do, by chance. These two do not.)
    let retrograde = "database.contention={ power = { knee = 100, gamma = 1.5 } }";
    let no_ramp = "policy.jittered.poll=[{ constant = '30s' }, { scale = [0.5, 1.5] }]";
    let summaries = run(&[PATIENT, retrograde, no_ramp], &["jittered-no-retry"]);
    assert_outcome("no ramp", &summaries[0], Within(40.0));
}

/// With hardly a place to be had, n₀ cores are lost to the attempts alone where n₀ < cₐ · attempts a second:
/// (N − M) · 8.75 / 41.1 s = 2,246/s under retry, N / 30 s = 385/s under single attempts.
#[test]
fn attempts_that_cost_the_database_lock_a_small_limit_in() {
    let cost = |ms: u32| format!("database.attempt_cost={{ exponential = {{ mean = '{ms}ms' }} }}");
    let attempts = [failing_attempts(CLIENTS - 1_000.0, Span::from_millis(20)), CLIENTS / SLEEP];
    for (ms, drains) in [
        // 100 cores against 89.8 and 15.4; 179.6 and 30.8; 673.4 and 115.4.
        (40, [Within(290.0); 4]),
        (80, [Within(290.0), Within(290.0), Drains(104.0), Drains(88.0)]),
        (300, [Within(290.0); 4]),
    ] {
        let busy = attempts.map(|attempts| attempts * f64::from(ms) / 1e3);
        let overrides = [PATIENT, "pooler.max_client_conn=1000", &cost(ms)];
        assert_law("n₀ < cₐ · attempts", 100.0, busy, &overrides, drains);
    }
    // The prototype saw all four drain at 60 ms. That is above what the closed form allows a retrying fleet,
    // 45 ms: the unjittered herd's lulls let it out, the jittered one has none and stays.
    let row = [PATIENT, "pooler.max_client_conn=1000", &cost(60)];
    assert_row("60 ms", &row, [Within(290.0), Stuck, Within(290.0), Within(290.0)]);
    let row = [PATIENT, "pooler.max_client_conn=3000", &cost(80)];
    assert_row("limit 3000", &row, [Within(290.0); 4]);
}

#[test]
fn a_handshake_station_near_its_limit_locks_a_small_limit_in() {
    let row = |rate: &str, limit: &str| {
        [
            PATIENT.to_owned(),
            "fleet.transactions_per_poll=2".to_owned(),
            "database.claim=170ms".to_owned(),
            "database.contention=none".to_owned(),
            format!("pooler.max_client_conn={limit}"),
            format!("pooler.handshake={{ rate = '{rate}', count = 'accept' }}"),
        ]
    };
    let play = |rate, limit, policies: &[&str]| {
        let row = row(rate, limit);
        let overrides: Vec<&str> = row.iter().map(String::as_str).collect();
        let mut scenario =
            only(shipped("deriver-restart", &[&COMMON, &overrides[..]].concat()), policies);
        let claim = scenario.database.claims[0].clone();
        let first = herdsim::scenario::Demand::Exponential { mean: Span::from_millis(10) };
        scenario.database.claims = vec![first, claim];
        play(&scenario)
    };
    for (rate, limit, expected) in [
        ("900/s", "1000", [Stuck, Stuck, Drains(260.0), Drains(89.0)]),
        // At 1,000/s the prototype's unjittered retry had not drained either; here one world in two has.
        ("1000/s", "1000", [Either, Stuck, Drains(253.0), Drains(69.0)]),
        ("1600/s", "1000", [Within(300.0), Within(300.0), Within(255.0), Within(100.0)]),
        ("1200/s", "9000", [Within(1_565.0), Within(147.0), Within(84.0), Within(79.0)]),
    ] {
        for (summary, expected) in play(rate, limit, &POLICIES).iter().zip(expected) {
            assert_outcome(&format!("{rate}, limit {limit}"), summary, expected);
        }
    }
}

/// The window of the lock-in: a plateau n₀/s₀ below the attempts a second that time out keeps every place
/// dead. Under retry those are N · 4.3 / 41.2 s = 1,201/s, under single attempts N / (30 s + P) = 361/s.
#[test]
fn dead_waiters_that_cost_a_claim_lock_a_retrying_fleet_in() {
    let timed_out = [
        failing_attempts(CLIENTS, Span::from_millis(20) + Span::from_secs(2)),
        CLIENTS / (SLEEP + 2.0),
    ];
    // 323.5, 588.2 and 1,764.7 claims a second: below the window, in it, above it.
    for (cores, drains) in [
        (55, [Within(600.0); 4]),
        (100, [Within(600.0), Within(600.0), Drains(203.0), Drains(90.0)]),
        (300, [Within(600.0); 4]),
    ] {
        let plateau = f64::from(cores) / 0.17;
        let cores = format!("database.contention.cores={cores}");
        assert_law("n₀/s₀ < attempts", plateau, timed_out, &[&cores], drains);
    }
    let dropped = ["pooler.dead_waiters=dropped"];
    assert_row("dropped", &dropped, [Drains(82.0), Drains(88.0), Drains(143.0), Drains(62.0)]);
    let cheap = ["pooler.dead_waiters.kept.demand={ exponential = { mean = '50ms' } }"];
    assert_row("50 ms", &cheap, [Within(600.0); 4]);
    let dear = ["pooler.dead_waiters.kept.demand={ exponential = { mean = '300ms' } }"];
    assert_row("300 ms", &dear, [Stuck; 4]);
}

#[test]
fn a_small_client_limit_and_a_long_patience_protect() {
    for overrides in [["pooler.max_client_conn=1500"], ["policy.baseline.patience=5s"]] {
        for summary in run(&overrides, &["baseline", "jittered"]) {
            assert_outcome(overrides[0], &summary, Within(600.0));
        }
    }
    // At a limit of 2,000 or a patience of 3 s one world in two drains: the edge of the prototype's ranges.
    for overrides in [["pooler.max_client_conn=3000"], ["policy.baseline.patience=1s"]] {
        for summary in run(&overrides, &["baseline", "jittered"]) {
            assert_outcome(overrides[0], &summary, Stuck);
        }
    }
}

#[test]
fn a_retry_on_three_percent_of_the_fleet_drains() {
    for (others, expected) in [("no-retry", 228.0), ("jittered-no-retry", 104.0)] {
        let retrying = if others == "no-retry" { "baseline" } else { "jittered" };
        let mix = format!("[policy.mixed]\nmix = {{ {others} = 0.968, {retrying} = 0.032 }}");
        let summaries = run_with(&mix, &["mixed"]);
        assert_outcome(others, &summaries[0], Drains(expected));
    }
}

/// What the fleet really ran: an error is slept half as long as an empty queue, and N / 17 s = 679
/// attempts a second are more than the database completes. No retry is needed.
#[test]
fn the_old_versions_error_interval_locks_in_by_itself() {
    let versions = "
        [policy.old]
        poll = ['15s']
        patience = '2s'
        loop = 'honcho@3.0.7'
        [policy.real]
        mix = { old = 0.968, baseline = 0.032 }";
    let summaries = run_with(versions, &["old", "real"]);
    for summary in &summaries {
        assert_outcome("3.0.7", summary, Stuck);
        assert_eq!(final_rate(summary, 120, |b: &Bucket| b.good), 0.0);
    }
    let refused = final_rate(&summaries[1], 300, |b| b.refused);
    assert!((100.0..200.0).contains(&refused), "{refused} refusals/s");
}

#[test]
fn a_slow_database_recovers_after_three_seconds_and_not_after_five() {
    let slow = |seconds: u32, policies: &[&str]| {
        let slow = format!("disturbance.0.slow={{ factor = 10, over = '{seconds}s' }}");
        let mut scenario = only(shipped("deriver-restart", &COMMON), policies);
        scenario.disturbances[0].action = herdsim::scenario::Action::Slow {
            factor: 10.0,
            over: Span::from_secs(u64::from(seconds)),
        };
        (slow, play(&scenario))
    };
    for (seconds, policies, expected) in [
        (3, &["baseline", "jittered"][..], Within(120.0)),
        (5, &["baseline", "jittered"][..], Stuck),
        // Single attempts are clean 38 s after a minute of it.
        (60, &["jittered-no-retry"][..], Drains(98.0)),
    ] {
        let (row, summaries) = slow(seconds, policies);
        for summary in &summaries {
            assert_outcome(&row, summary, expected);
        }
    }
}
