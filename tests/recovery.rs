//! Which action ends an outage that is there: the shipped comparison, with fewer replicates.

use crate::watch::{estimate, play, shipped};
use herdsim::metrics::{Metric, PolicySummary};

/// Seconds from the restart to the action.
const ACTION: f64 = 240.0;

/// Seconds that the fleet took to drain after the action, in the fastest and the slowest replicate;
/// `None` if it stayed locked in to the end in each.
fn after_action(summary: &PolicySummary) -> Option<(f64, f64)> {
    let drains: Vec<f64> = summary
        .drains
        .iter()
        .filter_map(|row| Some(row.drain.after?.as_secs_f64() - ACTION))
        .collect();
    let share = estimate(summary, Metric::DrainedShare);
    assert!(share == 0.0 || share == 1.0, "{:?} drains in some worlds only", summary.variant);
    let fastest = drains.iter().copied().reduce(f64::min)?;
    Some((fastest, drains.iter().copied().fold(fastest, f64::max)))
}

#[test]
fn switching_the_retry_off_ends_the_lock_in_and_a_full_restart_does_not() {
    let summaries = play(&shipped("recovery-actions", &["run.replicates=4"]));
    let outcome = |variant: &str| {
        let named = |summary: &&PolicySummary| summary.variant.as_deref() == Some(variant);
        after_action(summaries.iter().find(named).unwrap())
    };
    for stuck in ["nothing", "full-restart", "staggered-restart", "raise-pool", "pause"] {
        assert_eq!(outcome(stuck), None, "{stuck}");
    }
    let within = |variant, low: f64, high: f64| {
        let (fastest, slowest) = outcome(variant).unwrap_or_else(|| panic!("{variant} drains"));
        assert!(fastest >= low && slowest <= high, "{variant}: {fastest} – {slowest} s");
    };
    within("no-retry", 30.0, 50.0);
    within("lower-limit", 15.0, 60.0);
    // The same pause, but it ends while the herd sleeps.
    within("pause-15s-later", 60.0, 90.0);
}

/// At any moment of the herd's cycle of 41 s, and not only at the one that is shipped.
#[test]
fn the_verdict_holds_whenever_somebody_acts_but_for_a_pause() {
    let mut paused = Vec::new();
    for moment in ["4m 10s", "4m 20s", "4m 40s", "4m 50s"] {
        let mut scenario = shipped("recovery-actions", &["run.replicates=1", "run.duration=8m"]);
        let at = moment.parse::<herdsim::units::Span>().unwrap();
        for variant in &mut scenario.variants {
            for disturbance in &mut variant.disturbances {
                disturbance.at = herdsim::units::SimTime::ZERO + at;
            }
        }
        for summary in play(&scenario) {
            let drained = estimate(&summary, Metric::DrainedShare) == 1.0;
            match summary.variant.as_deref().unwrap() {
                "no-retry" | "lower-limit" => assert!(drained, "{moment}: {:?}", summary.variant),
                "pause" => paused.push(drained),
                "pause-15s-later" => {}
                stuck => assert!(!drained, "{moment}: {stuck}"),
            }
        }
    }
    assert!(paused.contains(&true) && paused.contains(&false), "{paused:?}");
}

#[test]
fn a_full_restart_over_five_minutes_drains() {
    let mut scenario = shipped(
        "recovery-actions",
        &[
            "run.replicates=2",
            "run.duration=12m",
            "variant.full-restart.disturbance.0.restart.over=5m",
        ],
    );
    scenario.select_variants(&["full-restart".to_owned()]).unwrap();
    let (fastest, slowest) = after_action(&play(&scenario)[0]).expect("it drains");
    assert!(fastest > 295.0 && slowest < 320.0, "{fastest} – {slowest} s");
}

#[test]
fn cohorts_save_a_retrying_fleet_only_if_they_are_small() {
    for summary in play(&shipped("staggered-restart", &["run.replicates=1"])) {
        let variant = summary.variant.as_deref().unwrap();
        let drained = estimate(&summary, Metric::DrainedShare) == 1.0;
        match (summary.policy.as_str(), variant) {
            ("retry", "at-once" | "three-cohorts") => assert!(!drained, "{variant}"),
            ("retry", "ten-cohorts") => {}
            _ => assert!(drained, "{} {variant}", summary.policy),
        }
    }
}
