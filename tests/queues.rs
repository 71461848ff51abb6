//! Queues with a textbook answer.

use crate::watch::{assert_near, estimate, play, written};
use herdsim::metrics::{LatencyKind, Metric, PolicySummary};

/// A finite source: clients that think, exponentially if they may, before they queue for servers.
fn closed(clients: u32, servers: u32, claim: &str, sleep: &str, more: &str) -> PolicySummary {
    let mut summaries = play(&written(&format!(
        "title = 'closed'
         [run]
         duration = '4h'
         warm_up = '20m'
         replicates = 8
         [fleet]
         clients = {clients}
         initial = {{ warm = {{ interval = '60s' }} }}
         [pooler]
         pool_size = {servers}
         {more}
         [database]
         claim = {claim}
         [policy.closed]
         poll = {sleep}"
    )));
    summaries.remove(0)
}

fn mean_wait(summary: &PolicySummary) -> f64 {
    let waiting: u64 =
        summary.timeline.buckets.iter().skip(1_200 / 8).map(|b| b.cl_waiting_ticks).sum();
    let served: u64 = summary.timeline.buckets.iter().skip(1_200 / 8).map(|b| b.good).sum();
    // Little's law over the measured window.
    waiting as f64 / 1e6 / served as f64
}

/// 100 clients, 60 s of sleep, one backend, exponential service of 0.5 s: mean value analysis gives a wait of
/// 1.710 s, whatever the sleep's jitter; the sleep's law does not matter.
#[test]
fn with_exponential_service_the_wait_does_not_depend_on_jitter() {
    let claim = "{ exponential = { mean = '500ms' } }";
    for sleep in ["['60s']", "['60s', { scale = [0.5, 1.5] }]"] {
        assert_near(mean_wait(&closed(100, 1, claim, sleep, "")), 1.710, 0.05);
    }
}

/// Jitter has a price at rest: with constant service the unjittered fleet has been spaced out by its pool
/// and never waits again.
#[test]
fn with_constant_service_jitter_costs_a_wait_and_its_absence_none() {
    let wait = |sleep| mean_wait(&closed(100, 1, "'500ms'", sleep, ""));
    assert!(wait("['60s']") < 0.001);
    let jittered = wait("['60s', { scale = [0.5, 1.5] }]");
    assert!((0.85..0.94).contains(&jittered), "{jittered} s");
}

/// Erlang's loss formula for a finite source (Engset) as there is no queue: the client limit is the pool.
#[test]
fn without_a_queue_the_blocked_share_is_engsets() {
    let (clients, servers, service, think) = (200u32, 5u32, 0.5, 20.0);
    let claim = "{ exponential = { mean = '500ms' } }";
    // Think times are uniform, their mean is what counts: both laws are insensitive.
    let sleep = "['20s', { scale = [0.5, 1.5] }]";
    let summary = closed(clients, servers, claim, sleep, "max_client_conn = 5");
    let load: f64 = service / think;
    let weight = |k: u32, sources: u32| {
        (0..k).fold(1.0, |w, i| w * f64::from(sources - i) / f64::from(i + 1) * load)
    };
    let calls = clients - 1;
    let sum: f64 = (0..=servers).map(|k| weight(k, calls)).sum();
    let blocked = weight(servers, calls) / sum;
    let (refused, attempts) =
        (estimate(&summary, Metric::Refused), estimate(&summary, Metric::Attempts));
    assert_near(refused / attempts, blocked, 0.02);
}

/// Processor sharing is insensitive: the occupancy of a shared core depends on the demand's mean alone.
#[test]
fn under_processor_sharing_only_the_mean_of_the_demand_counts() {
    let play = |claim: &str| {
        let more = format!("[database]\ncontention = {{ cores = 1 }}\nclaim = {claim}");
        let text = format!(
            "title = 'shared'
             [run]
             duration = '3h'
             warm_up = '10m'
             replicates = 8
             [fleet]
             clients = 60
             initial = {{ warm = {{ interval = '30s' }} }}
             [pooler]
             pool_size = 60
             {more}
             [policy.shared]
             poll = ['30s', {{ scale = [0.5, 1.5] }}]"
        );
        let summary = play(&written(&text)).remove(0);
        (
            estimate(&summary, Metric::SvActiveMean),
            summary.latencies.quantile(LatencyKind::Wait, 1.0),
        )
    };
    // The machine-repairman's chain: 60 machines, one repairman, 0.4 s of 30 s.
    let load: f64 = 0.4 / 30.0;
    let weights: Vec<f64> = (0..=60)
        .scan(1.0, |weight, k| {
            let now = *weight;
            *weight *= f64::from(60 - k) * load;
            Some(now)
        })
        .collect();
    let sum: f64 = weights.iter().sum();
    let expected: f64 = weights.iter().zip(0..).map(|(w, k)| w * f64::from(k)).sum::<f64>() / sum;
    for claim in [
        "'400ms'",
        "{ exponential = { mean = '400ms' } }",
        "{ gamma = { mean = '400ms', shape = 0.5 } }",
        "{ log-normal = { mean = '400ms', sigma = 1 } }",
        "{ empirical = ['100ms', '100ms', '1s'] }",
    ] {
        let (mean, wait) = play(claim);
        assert_near(mean, expected, 0.04);
        assert!(wait.is_none_or(|wait| wait.ticks() == 0), "nobody queues");
    }
}
