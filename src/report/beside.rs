//! Theory beside simulation: closed forms next to the figures that they are about.

use super::check::{Statement, state};
use super::numbers::figure;
use super::rows::Rows;
use super::thresholds::measured;
use crate::metrics::{Estimate, Metric, PolicySummary};
use crate::results::Results;
use crate::scenario::{Candidate, Scenario};
use crate::theory;

/// A closed form and the figure that it is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside<'a> {
    /// Whose figure it is.
    pub summary: &'a PolicySummary,
    /// What both are.
    pub what: &'static str,
    /// By the closed form.
    pub theory: f64,
    /// By the simulation.
    pub simulated: Estimate,
    /// Where theory lies outside the interval: what it assumes that is not so here.
    pub assumption: Option<&'static str>,
}

/// All that theory has to say of the figures of a run.
pub(super) fn all(results: &Results) -> Vec<Beside<'_>> {
    let scenario = &results.loaded.scenario;
    let mut all = Vec::new();
    for summary in &results.policies {
        let course = scenario.course(summary.variant.as_deref());
        let Some(candidate) = course.candidate(&summary.policy) else { continue };
        all.extend(at_rest(&course, candidate, summary));
        all.extend(after_restart(&course, candidate, summary));
    }
    all
}

/// One statement for all whose figures read the same.
pub(super) fn lines(results: &Results) -> Vec<String> {
    let rows = Rows::of(&results.loaded.scenario);
    let mut statements: Vec<Statement> = Vec::new();
    for beside in all(results) {
        let Beside { summary, what, theory, simulated, assumption } = beside;
        let mut text =
            format!("{what} {} in theory, {} simulated", figure(theory), measured(&simulated));
        if let Some(assumption) = assumption {
            text.push_str(&format!(": {assumption}"));
        }
        state(&mut statements, &rows.name(summary), text);
    }
    statements.into_iter().map(|(text, names)| format!("{}: {text}", names.join(", "))).collect()
}

fn at_rest<'a>(
    course: &Scenario,
    candidate: &Candidate,
    summary: &'a PolicySummary,
) -> Option<Beside<'a>> {
    if course.happenings().next().is_some() {
        return None;
    }
    let theory = theory::active_at_rest(course, candidate)?;
    let happened = |metric| summary.estimate(metric).estimate > Some(0.0);
    let failed = [Metric::Refused, Metric::TimedOut, Metric::Abandoned].into_iter().any(happened);
    let assumption = match failed {
        true => "some are turned away or give up and ask again, which theory leaves out",
        false => "theory takes sleeps and claims to be independent, and the fleet to be at rest",
    };
    let simulated = summary.estimate(Metric::SvActiveMean);
    Some(Beside::new(summary, "mean active backends", theory, simulated, assumption))
}

fn after_restart<'a>(
    course: &Scenario,
    candidate: &Candidate,
    summary: &'a PolicySummary,
) -> Option<Beside<'a>> {
    let [part] = &candidate.parts[..] else { return None };
    let peak = theory::ramp_peak(course, &part.policy)?.min(f64::from(course.pooler.pool_size));
    let simulated = summary.estimate(Metric::SvActiveMax);
    let assumption = if simulated.estimate < Some(peak) {
        "theory takes all to come through, and here they are held back or find no backend"
    } else if course.database.contention.speed(peak as u32) < 1.0 {
        "theory takes each claim alone, and here they slow each other down"
    } else {
        "theory is the mean at the worst moment, a peak its highest value"
    };
    Some(Beside::new(summary, "peak active backends", peak, simulated, assumption))
}

impl<'a> Beside<'a> {
    /// `assumption` is kept where theory lies outside the interval.
    fn new(
        summary: &'a PolicySummary,
        what: &'static str,
        theory: f64,
        simulated: Estimate,
        assumption: &'static str,
    ) -> Beside<'a> {
        let outside = simulated.bounds().is_some_and(|(low, high)| theory < low || theory > high);
        Beside { summary, what, theory, simulated, assumption: outside.then_some(assumption) }
    }
}
