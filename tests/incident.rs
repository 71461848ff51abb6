//! The outage of 2 June 2026 as a scenario, against the outcomes of an independent prototype.
//!
//! The prototype counted a fleet as drained when at most 50 places waited; here no living client may
//! have waited longer than a second, which comes up to 28 s earlier.

use crate::watch::{assert_near, estimate, final_rate, only, play, shipped};
use herdsim::metrics::{Bucket, Metric, PolicySummary};

fn restart(policies: &[&str], overrides: &[&str]) -> Vec<PolicySummary> {
    play(&only(shipped("deriver-restart", overrides), policies))
}

/// The state of the lock-in: no goodput, a database busy for nobody, clients at the limit.
fn assert_locked_in(summary: &PolicySummary) {
    let drain = summary.estimate(Metric::TimeToDrain);
    assert_eq!(drain.censored, drain.replicates, "{} never drains", summary.policy);
    assert_eq!(final_rate(summary, 120, |b: &Bucket| b.good), 0.0);
    // Cores / demand = 100 / 0.17 s = 588.2 claims/s.
    assert_near(final_rate(summary, 120, |b| b.wasted), 588.2, 0.01);
    assert_eq!(estimate(summary, Metric::ClientsMax), 9_000.0);
    assert_eq!(estimate(summary, Metric::DrainedShare), 0.0);
}

#[test]
fn a_retrying_fleet_is_locked_in_with_and_without_jitter() {
    for summary in restart(&["baseline", "jittered"], &["run.replicates=3"]) {
        assert_locked_in(&summary);
        assert_near(final_rate(&summary, 300, |b| b.refused), 1_317.0, 0.03);
        assert_near(final_rate(&summary, 300, |b| b.attempts), 1_906.0, 0.02);
    }
}

#[test]
fn single_attempts_drain_and_jitter_halves_the_time() {
    let summaries = restart(&["no-retry", "jittered-no-retry"], &[]);
    assert_near(estimate(&summaries[0], Metric::TimeToDrain), 203.0, 0.05);
    assert_near(estimate(&summaries[1], Metric::TimeToDrain), 90.0, 0.05);
    for summary in &summaries {
        assert_eq!(estimate(summary, Metric::DrainedShare), 1.0);
        assert_eq!(estimate(summary, Metric::Amplification), 1.0);
        // The published fix still touches the ceiling: the schedule restarts at 1 s.
        assert_eq!(estimate(summary, Metric::SvActiveMax), 368.0);
        assert_eq!(estimate(summary, Metric::ClientsMax), 9_000.0);
    }
}

#[test]
fn the_order_of_clamp_and_jitter_decides_a_never_ending_retry() {
    let summaries = restart(&["botocore", "full-jitter", "deadline"], &[]);
    let drained = |summary| {
        assert_eq!(estimate(summary, Metric::DrainedShare), 1.0);
        estimate(summary, Metric::TimeToDrain)
    };
    // Jitter, then clamp: 901–1,004 s by the prototype.
    assert_near(drained(&summaries[0]), 952.0, 0.10);
    // Clamp, then jitter: not within the run, about 100 refusals/s.
    assert_locked_in(&summaries[1]);
    assert_near(final_rate(&summaries[1], 300, |b| b.refused), 100.0, 0.15);
    // Two regimes, the first jitter then clamp: 773–820 s.
    assert_near(drained(&summaries[2]), 796.0, 0.10);
}

#[test]
fn the_two_regime_rule_with_clamp_first_takes_over_a_thousand_seconds() {
    let clamp_first = "policy.deadline.acquire.retry.delay=[{ exponential = { base = '1s', \
                       factor = 2 } }, { clamp = '30s' }, { scale = [0, 1] }, { after = { retries = \
                       10, then = [{ uniform = ['24s', '30s'] }] } }]";
    let summaries = restart(&["deadline"], &[clamp_first]);
    // 1,207–1,362 s by the prototype.
    assert_near(estimate(&summaries[0], Metric::TimeToDrain), 1_285.0, 0.10);
}

#[test]
fn the_restart_alone_is_not_the_outage() {
    let harmless = [
        "database.claim=170ms",
        "database.contention=none",
        "policy.baseline.patience=never",
        "run.replicates=2",
    ];
    let summaries = restart(&["baseline"], &harmless);
    let baseline = &summaries[0];
    assert_near(estimate(baseline, Metric::TimeToDrain), 21.3, 0.05);
    assert_eq!(estimate(baseline, Metric::WastedClaims), 0.0);

    // But the herd comes back: each 30.19 s cycle (sleep, round trip, claim) is a burst that fills the
    // pool, then silence, to the end of the run.
    let active: Vec<f64> =
        baseline.timeline.buckets.iter().map(|b| b.sv_active_ticks as f64 / 2e6).collect();
    for cycle in active[200..].chunks_exact(31) {
        assert!(cycle.iter().any(|&mean| mean > 367.0), "a burst fills the pool: {cycle:?}");
        assert!(cycle.iter().filter(|&&mean| mean < 0.5).count() > 20, "then silence: {cycle:?}");
    }
}
