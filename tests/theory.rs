//! Queues with a textbook answer, and the shapes of a restarted fleet that have a closed form.

use crate::watch::{assert_near, estimate, play, shipped, written};
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

/// The peak of a jittered restart under start-up windows of 60, 90, 120 and 300 s.
#[test]
fn the_start_up_window_sets_the_peak() {
    for summary in play(&shipped("start-up-window", &["run.replicates=20", "run.duration=8m"])) {
        let peak = match summary.policy.as_str() {
            "window-30s" => {
                assert_eq!(estimate(&summary, Metric::SvActiveMax), 368.0);
                continue;
            }
            "window-60s" => 251.0,
            "window-90s" => 197.0,
            "window-120s" => 173.0,
            "window-300s" => 124.0,
            _ => continue,
        };
        assert_near(estimate(&summary, Metric::SvActiveMax), peak, 0.03);
    }
}

/// A ramp that restarts within the spread offers a multiple of the load at rest: once all five polls within
/// 30 s have begun, 5·N/W starts a second.
#[test]
fn the_ramp_offers_five_times_the_load_at_rest() {
    let unjittered = "policy.window-30s.poll=[{ exponential = { base = '1s', factor = 2 } }, \
                      { clamp = '30s' }]";
    let summaries = play(&shipped("start-up-window", &[unjittered, "run.duration=3m"]));
    let ramp = &summaries[0];
    assert_eq!(ramp.policy, "window-30s");
    // The fifth poll comes after four sleeps, round trips and claims: 15.8 s.
    let starts: u64 = ramp.timeline.buckets[136..150].iter().map(|bucket| bucket.polls).sum();
    let rate = starts as f64 / (14.0 * ramp.replicates.len() as f64);
    assert_near(rate, 5.0 * 11_543.0 / 30.0, 0.03);
}

/// The cohort of 367 over 0.34 s, which polls after 0, 1, 3 and 7 s: the first four one-second maxima.
#[test]
fn the_cohort_peaks_at_each_step_of_its_ramp() {
    let summaries = play(&shipped("restart-cohort", &["run.replicates=20"]));
    let buckets = &summaries[0].timeline.buckets;
    let peaks = buckets[120..124].iter().map(|bucket| bucket.sv_active_max as f64 / 20.0);
    for (peak, expected) in peaks.zip([264.0, 266.0, 80.0, 262.0]) {
        assert_near(peak, expected, 0.05);
    }
}

/// A ticker stays in step for ever; a sleep after constant work dissolves the herd within a cycle.
#[test]
fn a_fixed_rate_stays_in_step_where_a_fixed_delay_dissolves() {
    let play = |cadence: &str| {
        play(&written(&format!(
            "title = 'tickers'
             [run]
             duration = '20m'
             warm_up = '1m'
             [fleet]
             clients = 1_000
             [pooler]
             pool_size = 10
             [database]
             claim = '100ms'
             [policy.tested]
             poll = ['30s']
             cadence = {cadence}"
        )))
        .remove(0)
    };
    for missed in ["skip", "fire"] {
        let ticking = play(&format!("{{ fixed-rate = '{missed}' }}"));
        assert_eq!(estimate(&ticking, Metric::PhaseCoherence), 1.0);
        assert_eq!(ticking.timeline.buckets[1_170].polls, 5 * 1_000);
    }
    // The pool serves 100 a second, so the herd comes back over ten seconds, without a wait.
    let sleeping = play("'fixed-delay'");
    assert!(estimate(&sleeping, Metric::PhaseCoherence) < 0.9);
    assert_eq!(estimate(&sleeping, Metric::WaitP99), 0.0);
}
