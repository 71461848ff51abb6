//! What a reader of a run should know before relying on it, each with its remedy.

use super::columns::trigger_to_end;
use super::numbers::{grouped, percent, span};
use super::rows::Rows;
use crate::metrics::{Estimate, Metric, PolicySummary, replicates_for_median_interval};
use crate::results::Results;
use crate::scenario::Scenario;
use crate::units::SimTime;

/// Half an interval beyond this share of its estimate is wide.
const WIDE: f64 = 0.2;

/// What one would have it at.
const NARROW: f64 = 0.1;

/// Polls in the halves of a warm-up may differ by so many standard deviations, and by such a share.
const RESTLESS: (f64, f64) = (4.0, 0.1);

/// All warnings of a run.
pub(super) fn all(results: &Results) -> Vec<String> {
    let about = [too_few(results), wide(results), undrained(results), restless(results)];
    about.into_iter().flatten().collect()
}

fn too_few(results: &Results) -> Option<String> {
    let enough = replicates_for_median_interval();
    let short = |policy: &&PolicySummary| {
        let estimate = policy.estimate(Metric::TimeToDrain);
        estimate.replicates > estimate.censored && estimate.replicates < enough
    };
    let policy = results.policies.iter().find(short)?;
    let replicates = policy.replicates.len();
    let noun = if replicates == 1 { "replicate" } else { "replicates" };
    Some(format!(
        "with {replicates} {noun} a median has no 95 % interval: use --replicates {enough} or more"
    ))
}

/// The figure that a run is first read for.
fn headline(results: &Results) -> Metric {
    let disturbed = results.policies.iter().any(|policy| !policy.drains.is_empty());
    if disturbed { Metric::TimeToDrain } else { Metric::SvActiveMean }
}

fn wide(results: &Results) -> Option<String> {
    let metric = headline(results);
    let half = |estimate: &Estimate| {
        let (low, high) = estimate.bounds()?;
        let half = (high - low) / 2.0 / estimate.estimate?;
        half.is_finite().then_some(half)
    };
    let halves = results.policies.iter().filter_map(|policy| {
        let estimate = policy.estimate(metric);
        Some((policy, half(&estimate)?, estimate.replicates))
    });
    let (policy, half, replicates) = halves.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let needed = (replicates as f64 * (half / NARROW).powi(2)).ceil();
    (half > WIDE).then(|| {
        format!(
            "{metric} of {} is known to ± {} only: use --replicates {} or --precision {metric}={}",
            Rows::of(&results.loaded.scenario).name(policy),
            percent(half),
            grouped(needed as u64),
            percent(NARROW).replace(' ', ""),
        )
    })
}

fn undrained(results: &Results) -> Option<String> {
    let undrained = |policy: &&PolicySummary| policy.estimate(Metric::TimeToDrain).censored > 0;
    let rest = results.policies.iter().find(undrained).and_then(|p| trigger_to_end(results, p))?;
    let longer = 4.0 * results.loaded.scenario.run.duration.as_secs_f64();
    Some(format!(
        "the run ended {} after the trigger, before all had drained: see whether they ever do with \
         --set run.duration={}",
        span(rest.as_secs_f64()),
        span(longer).replace(' ', ""),
    ))
}

/// A warm-up whose halves differ did not end at rest.
fn restless(results: &Results) -> Option<String> {
    let scenario = &results.loaded.scenario;
    let calm = scenario.courses().iter().filter_map(Scenario::first_trigger).min();
    let end = calm.unwrap_or(SimTime::NEVER).min(SimTime::ZERO + scenario.run.warm_up);
    let differs = |policy: &&PolicySummary| {
        let width = policy.timeline.width.ticks().max(1);
        let buckets = (end.ticks() / width) as usize / 2;
        let polls = |from: usize| -> f64 {
            policy.timeline.buckets.iter().skip(from).take(buckets).map(|b| b.polls as f64).sum()
        };
        let (first, second) = (polls(0), polls(buckets));
        let difference = (second - first).abs();
        difference > RESTLESS.0 * (first + second).sqrt()
            && difference > RESTLESS.1 * first.max(second)
    };
    let policy = results.policies.iter().find(differs)?;
    Some(format!(
        "the warm-up of {} does not end at rest: use --set run.warm_up with more than {}, or begin warm \
         (`fleet.initial`)",
        Rows::of(scenario).name(policy),
        span(scenario.run.warm_up.as_secs_f64()),
    ))
}
