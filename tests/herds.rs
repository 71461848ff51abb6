//! The shapes of a restarted fleet that have a closed form.

use crate::watch::{assert_near, estimate, play, shipped, written};
use herdsim::metrics::Metric;

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
