//! `herdsim tune`: how far a key can go until a condition no longer holds.

use clap::Args;

use super::played::Played;
use super::{Console, Failure, memory};
use crate::explore::{self, Question};
use crate::report::edge;
use crate::results::Aim;
use crate::scenario::{Axis, Condition, Scenario};
use crate::sweep;

/// Find the largest or the smallest value of a key for which a condition holds
///
/// A value holds if the whole 95 % interval of the metric does. The search doubles or halves from the
/// value in the file, then bisects; the value found is played again in fresh random worlds, and that
/// is what is reported.
#[derive(Debug, Args)]
pub(super) struct Tune {
    #[command(flatten)]
    played: Played,
    /// Find the largest value of this key
    #[arg(
        long,
        value_name = "KEY",
        required_unless_present = "minimize",
        conflicts_with = "minimize"
    )]
    maximize: Option<String>,
    /// Find the smallest value of this key
    #[arg(long, value_name = "KEY")]
    minimize: Option<String>,
    /// What must hold, as in 'time_to_drain_s < 120'
    #[arg(long, value_name = "CONDITION")]
    such_that: String,
    /// How close the edge is to be found, as a share of the value
    #[arg(long, value_name = "SHARE", default_value_t = 0.02)]
    tolerance: f64,
}

/// Replicates where none are given and the scenario has fewer.
const REPLICATES: u32 = 12;

impl Tune {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let usage = |what: String, help: &str| Failure::Usage { what, help: help.to_owned() };
        let (aim, key) = match (&self.maximize, &self.minimize) {
            (Some(key), _) => (Aim::Largest, key),
            (None, Some(key)) => (Aim::Smallest, key),
            (None, None) => unreachable!("one of them is required"),
        };
        if !(1e-4..=0.5).contains(&self.tolerance) {
            let what = format!("a tolerance of {} makes no sense", self.tolerance);
            return Err(usage(what, "write a share from 0.0001 to 0.5"));
        }
        let condition = Condition::parse(&self.such_that)?;
        let loaded = self.played.load(&[])?;
        let scenario = &loaded.scenario;
        if scenario.policies.len() > 1 || scenario.variants.len() > 1 {
            let what = "the edge lies elsewhere under each policy and variant".to_owned();
            return Err(usage(what, "choose one with --policy NAME, and with --variant NAME"));
        }
        let written = loaded.written(key).ok_or_else(|| {
            let what = format!("nothing is written at `{key}`");
            usage(what, "name a key of the file that has a number, or --set it first")
        })?;
        let Some((start, unit)) = Axis::number(&written).filter(|(number, _)| *number > 0.0) else {
            let what = format!("`{written}` at `{key}` is no number above zero");
            return Err(usage(what, "name a key that has one, or --set it first"));
        };
        let whole = unit.is_empty() && start.fract() == 0.0;
        let shown = |value: f64| format!("{}{unit}", Axis::written(value));
        let replicates = scenario.run.replicates;
        let replicates = match self.played.gives_replicates() {
            true => replicates,
            false => replicates.max(REPLICATES),
        };
        let seed = scenario.run.seed;
        let at = |value: f64, fresh: bool| {
            let seed = if fresh { seed.wrapping_add(1) } else { seed };
            self.played.scenario(&[
                format!("run.replicates={replicates}"),
                format!("run.seed={seed}"),
                format!("{key}={}", shown(value)),
            ])
        };
        let jobs = self.played.jobs();
        memory::check(scenario, jobs)?;
        let bar = console.progress(replicates as usize);
        let play = |scenario: &Scenario| {
            let played = std::slice::from_ref(scenario);
            let mut outcomes = sweep::outcomes(played, jobs, &|progress| bar.update(progress));
            outcomes.remove(0).remove(0)
        };
        let question = Question { aim, condition, start, whole, tolerance: self.tolerance };
        let answer = explore::tune(question, at, play)?;
        let seconds = bar.finish();
        console
            .say(&format!("{} values in {seconds:.0} s", answer.steps.len() + answer.checks.len()));
        let asked = edge::Asked { aim, key, such_that: &self.such_that, value: &shown };
        console.data(edge::render(&answer, &asked, &console.style()).as_bytes())
    }
}
