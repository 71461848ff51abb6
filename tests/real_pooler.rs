//! The same fleets as on a real PgBouncer with PostgreSQL: simulated beside measured.
//!
//! A figure fits within 10 %, or three standard deviations between 20 simulated worlds (one real run is one
//! world), or 1.5. A fleet ends as the real one did if every world does.

use std::fmt::Write as _;

use crate::measured::{self, FIGURES, Run};
use crate::watch::{estimate, play};
use herdsim::metrics::{Bucket, Levels, Metric, UnitRecord};
use herdsim::units::Span;

/// Figures that do not fit, and why.
const KNOWN: [(&str, &str); 3] = [
    // A client that leaves within the round trips of its BEGIN has its backend closed: 2 % of the grants
    // while everybody is served just before patience ends. The model has no such gap.
    ("dw_fin_slow50_retry 40–50 wasted", "left between grant and claim"),
    ("dw_fin_slow50_retry 60–100 wasted", "left between grant and claim"),
    // 145 refusals/s against 127. A dead place holds its slot until a backend comes free. Logins of 2.2 ms
    // let ten claims begin together, and claims of exactly 170.6 ms keep them in step, so the dead are
    // cleared once a claim and not ten times. With claims of ± 10 ms there are 128, with logins of 15 ms
    // 127; what put the real backends out of step was not measured.
    ("dw_fin_fast_retry 40–50 refused", "backends in step"),
];

#[test]
fn a_restarted_fleet_with_patience_fails_and_ends_as_the_real_one_did() {
    compare(&measured::patient_runs());
}

#[test]
fn a_restarted_fleet_without_patience_queues_as_the_real_one_did() {
    compare(&measured::RESTARTED_RUNS);
}

#[test]
fn a_steady_fleet_works_as_the_real_one_did() {
    compare(&measured::STEADY_RUNS);
}

#[test]
fn a_backend_held_for_round_trips_serves_as_the_real_one_did() {
    compare(&measured::SATURATED_RUNS);
}

/// Holds every figure of every window, and how each run ends, to what was measured.
#[track_caller]
fn compare(runs: &[Run]) {
    let mut report = String::new();
    let mut wrong = Vec::new();
    for run in runs {
        let real = measured::series(run.name);
        let worlds: Vec<_> = records(run).iter().map(|record| series(run, record)).collect();
        let like_real = |world: &&Vec<[f64; 7]>| has_drained(world) == has_drained(&real);
        let alike = worlds.iter().filter(like_real).count();
        if alike < worlds.len() {
            wrong.push(format!("{} ends as measured in {alike} worlds only", run.name));
        }
        for &(from, to) in run.windows {
            let real = means(&real[from..to]);
            let worlds: Vec<_> = worlds.iter().map(|world| means(&world[from..to])).collect();
            let _ = write!(report, "| {} {from}–{to} |", run.name);
            for (index, figure) in FIGURES.iter().enumerate() {
                let real = real[index];
                let (mean, deviation) = spread(worlds.iter().map(|world| world[index]));
                let fits = (mean - real).abs() <= (0.1 * real).max(3.0 * deviation).max(1.5);
                let _ = write!(report, " {mean:.1} : {real:.1}{} |", if fits { "" } else { " *" });
                let figure = format!("{} {from}–{to} {figure}", run.name);
                let known = KNOWN.iter().any(|(name, _)| *name == figure);
                if fits == known {
                    let which = if fits { "fits, though known not to" } else { "does not fit" };
                    wrong.push(format!("{figure} {which}: {mean:.1} ± {deviation:.1}, {real:.1}"));
                }
            }
            report.push('\n');
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_shown(&report);
}

/// Share of the time at each number of active backends, exact on both sides, over 115 s. Theory lies 0.02
/// in total variation from the measurement, and the binomial law 0.26 from the busier of the two.
#[test]
fn backends_are_busy_together_as_often_as_the_real_ones_were() {
    let mut report = String::new();
    for run in &measured::STEADY_RUNS {
        let real = measured::occupancy(run.name);
        let mut levels = Levels::default();
        for record in records(run) {
            levels.add(&record.occupancy.all);
        }
        let total = levels.total() as f64;
        let simulated = levels.held.iter().map(|&held| held as f64 / total);
        assert_eq!(simulated.len(), real.len(), "both count from no backend to the whole pool");
        let distance: f64 = simulated.zip(&real).map(|(s, r)| (s - r).abs() / 2.0).sum();
        let [mean, expected] = [
            levels.mean().expect("some time"),
            real.iter().enumerate().map(|(n, share)| n as f64 * share).sum(),
        ];
        assert!(distance < 0.03, "{}: total variation {distance}", run.name);
        assert!((mean / expected - 1.0).abs() < 0.01, "{}: {mean}, not {expected}", run.name);
        let _ = writeln!(report, "| {} | {mean:.2} : {expected:.2} | {distance:.3} |", run.name);
    }
    assert_shown(&report);
}

/// Drain of an unjittered ramp restart: (1 + #{k : i_k < W})·W with W = N·S/pool. Measured: 49.3 s.
#[test]
fn an_unjittered_ramp_drains_after_as_many_waves_as_sleeps_are_shorter_than_one() {
    let wave: f64 = 1_154.0 * 0.170_9 / 20.0;
    let shorter = [1.0, 2.0, 4.0, 8.0, 16.0, 30.0].iter().filter(|&&sleep| sleep < wave).count();
    let mut scenario = measured::scenario(&measured::RESTARTED_RUNS[0]);
    scenario.drain.wait = Span::from_millis(100);
    let drain = estimate(&play(&scenario)[0], Metric::TimeToDrain);
    let expected = (1 + shorter) as f64 * wave;
    assert!((drain / expected - 1.0).abs() < 0.02, "{drain} s, not {expected} s");
}

/// The document shows what a test has just found.
#[track_caller]
fn assert_shown(report: &str) {
    let document = include_str!("../docs/model.md");
    assert!(document.contains(report), "docs/model.md should show:\n{report}");
}

fn records(run: &Run) -> Vec<UnitRecord> {
    let scenario = measured::scenario(run);
    let units = herdsim::plan::units(&scenario).into_iter();
    units.map(|unit| herdsim::sweep::play_unit(&scenario, unit)).collect()
}

/// The figures of every second of a simulated run.
fn series(run: &Run, record: &UnitRecord) -> Vec<[f64; 7]> {
    let figures = |bucket: &Bucket| {
        // A client that stays tells that it gave up when it has been served, and loses its backend then.
        let told = if run.leave == "stays" { bucket.backends_lost } else { bucket.abandoned };
        [
            bucket.sv_active_ticks as f64 / 1e6,
            bucket.cl_waiting_ticks as f64 / 1e6,
            bucket.attempts as f64,
            bucket.refused as f64,
            told as f64,
            bucket.good as f64,
            bucket.backends_lost as f64,
        ]
    };
    record.timeline.buckets.iter().map(figures).collect()
}

/// Whether no attempt was refused or abandoned in the last 30 seconds.
fn has_drained(series: &[[f64; 7]]) -> bool {
    series.iter().rev().take(30).all(|second| second[3] + second[4] == 0.0)
}

/// The mean of each figure.
fn means(seconds: &[[f64; 7]]) -> [f64; 7] {
    let sum = |figure| seconds.iter().map(|second| second[figure]).sum::<f64>();
    std::array::from_fn(|figure| sum(figure) / seconds.len() as f64)
}

/// Mean and standard deviation.
fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}
