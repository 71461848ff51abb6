//! The undisturbed fleet against theory.

use crate::watch::{
    assert_agree, assert_near, estimate, mean_waits, play, records, replicates, shipped, written,
};
use herdsim::metrics::{Metric, UnitRecord};

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
        let means = replicates(summary, Metric::SvActiveMean);
        assert_agree(&summary.policy, &means, 11_543.0 * 0.17 / 30.19, 0.005);
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

/// A closed loop on a saturated pool of n completes n·v(n) / demand claims a second, whatever the demand's
/// law, and each waits for what is left of the cycle: clients / throughput − sleep − service.
#[test]
fn a_saturated_database_completes_its_capacity() {
    let (clients, pool, demand) = (3_000.0, 368.0f64, 0.17);
    for (contention, capacity) in [
        // 2,164.7, 588.2 and 306.6 claims a second.
        ("'none'", pool / demand),
        ("{ cores = 100 }", 100.0 / demand),
        ("{ power = { knee = 100, gamma = 1.5 } }", 100.0 / demand * (pool / 100.0).powf(-0.5)),
    ] {
        // 50,000 claims or a little more.
        let measured = (50_000.0 / capacity).ceil();
        for claim in
            ["'170ms'", "{ exponential = { mean = '170ms' } }", "{ uniform = ['100ms', '240ms'] }"]
        {
            let records = records(&written(&format!(
                "title = 'saturated'
                 [run]
                 duration = '{}s'
                 warm_up = '30s'
                 replicates = 8
                 [fleet]
                 clients = {clients}
                 [pooler]
                 pool_size = {pool}
                 [database]
                 claim = {claim}
                 contention = {contention}
                 [policy.eager]
                 poll = ['500ms', {{ scale = [0.5, 1.5] }}]",
                30.0 + measured
            )));
            let what = format!("{contention}, {claim}");
            let good = |record: &UnitRecord| record.counts.good_claims as f64 / measured;
            let rates: Vec<f64> = records.iter().map(good).collect();
            if claim == "'170ms'" {
                // Nothing is left to chance but the claims that the window cuts, one a backend.
                let off = |rate: &f64| (rate - capacity).abs() * measured;
                assert!(rates.iter().all(|rate| off(rate) <= pool), "{what}: {rates:?}");
            } else {
                assert_agree(&what, &rates, capacity, 0.01);
            }
            let wait = (clients - pool) / capacity - 0.5;
            assert_agree(&what, &mean_waits(&records), wait, 0.01);
            assert!(records.iter().all(|r| r.occupancy.all.held[..368] == [0; 368]), "always full");
        }
    }
}
