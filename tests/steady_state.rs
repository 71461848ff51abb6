//! The undisturbed fleet against theory.

use crate::watch::{assert_near, estimate, play, shipped, written};
use herdsim::metrics::Metric;

/// The binomial law by its recurrence.
fn binomial(n: u32, p: f64) -> impl Iterator<Item = f64> {
    let mut term = (f64::from(n) * (1.0 - p).ln()).exp();
    (0..=n).map(move |k| {
        let probability = term;
        term *= f64::from(n - k) / f64::from(k + 1) * p / (1.0 - p);
        probability
    })
}

/// Independent clients, each busy for 0.17 s of a cycle of 30 s sleep, 20 ms round trip and 0.17 s claim:
/// the occupancy is binomial, its mean 11,543 · 0.17 / 30.19 = 65.00.
#[test]
fn occupancy_is_binomial_when_nobody_waits() {
    let summaries = play(&shipped("steady-state", &[]));
    for summary in &summaries {
        assert_near(estimate(summary, Metric::SvActiveMean), 65.0, 0.01);
        assert_eq!(estimate(summary, Metric::Refused), 0.0);
    }
    let jittered = summaries.iter().find(|summary| summary.policy == "jittered").unwrap();
    let levels = &jittered.occupancy.all;
    let total = levels.total() as f64;
    let distance: f64 = binomial(11_543, 0.17 / 30.19)
        .zip(levels.held.iter().chain(std::iter::repeat(&0)))
        .map(|(p, &held)| (p - held as f64 / total).abs() / 2.0)
        .sum();
    assert!(distance < 0.02, "total variation {distance}");
    // A monitor that looks once a second sees the same mean.
    let sampled = jittered.occupancy.sampled[0].mean().unwrap();
    assert_near(sampled, 65.0, 0.02);
}

/// A closed loop on a saturated pool completes cores / demand claims a second, whatever the policy.
#[test]
fn a_saturated_database_completes_its_capacity() {
    for (contention, capacity) in [
        ("'none'", 20.0 / 0.17),
        ("{ cores = 10 }", 10.0 / 0.17),
        // 20 active at speed (10/20)^1.5 each.
        ("{ power = { knee = 10, gamma = 1.5 } }", 20.0 * 0.5f64.powf(1.5) / 0.17),
    ] {
        for claim in
            ["'170ms'", "{ exponential = { mean = '170ms' } }", "{ uniform = ['100ms', '240ms'] }"]
        {
            let summaries = play(&written(&format!(
                "title = 'saturated'
                 [run]
                 duration = '400s'
                 warm_up = '50s'
                 [fleet]
                 clients = 1_000
                 [pooler]
                 pool_size = 20
                 [database]
                 claim = {claim}
                 contention = {contention}
                 [policy.eager]
                 poll = ['1s', {{ scale = [0.5, 1.5] }}]"
            )));
            let good = estimate(&summaries[0], Metric::GoodClaims) / 350.0;
            assert_near(good, capacity, 0.015);
            assert_eq!(estimate(&summaries[0], Metric::SvActiveMean), 20.0);
            // Little's law for the closed cycle: clients = throughput × (sleep + wait + service).
            let wait = 1_000.0 / good - 1.0 - 20.0 / good;
            let median = estimate(&summaries[0], Metric::WaitP50) / 1_000.0;
            assert_near(median, wait, 0.05);
        }
    }
}
