//! Playing as many replicates as a figure takes.

use std::path::Path;

use super::{Console, Failure};
use crate::explore::{Precision, precision};
use crate::metrics::PolicySummary;
use crate::results::{self, folder};
use crate::scenario::{Axis, Loaded};
use crate::sweep::{self, Sitting};

/// What is asked, and how far to go for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub precision: Precision,
    /// The most replicates.
    pub most: u32,
}

impl Asked {
    /// How many replicates to begin with where the scenario has `given`.
    pub fn first(self, given: u32) -> u32 {
        given.max(precision::FEWEST).min(self.most)
    }

    /// Whether results may be written to `out`, however many replicates it takes: those of an earlier run
    /// that was asked the same are replaced.
    pub fn check(
        self,
        first: &Loaded,
        load: impl Fn(u32) -> Result<Loaded, Failure>,
        out: &Path,
        force: bool,
    ) -> Result<(), Failure> {
        let Err(failure) = folder::check(out, &results::digest(first), force) else {
            return Ok(());
        };
        for replicates in first.scenario.run.replicates + 1..=self.most {
            if folder::check(out, &results::digest(&load(replicates)?), force).is_ok() {
                return Ok(());
            }
        }
        Err(failure.into())
    }

    /// Plays `first`, and more replicates of it as long as the figure is not known well enough; also says
    /// how many seconds it took.
    pub fn play(
        self,
        first: Loaded,
        load: impl Fn(u32) -> Result<Loaded, Failure>,
        jobs: usize,
        console: &Console,
    ) -> Result<(Loaded, Vec<PolicySummary>, f64), Failure> {
        let Asked { precision, most } = self;
        let mut loaded = first;
        let (mut summaries, mut seconds) = (Vec::<PolicySummary>::new(), 0.0);
        loop {
            let had = summaries.first().map_or(0, |summary| summary.replicates.len());
            let n = loaded.scenario.run.replicates;
            let cases = loaded.scenario.policies.len() * loaded.scenario.variants.len().max(1);
            let bar = console.progress((n as usize - had) * cases);
            let show = |progress| bar.update(progress);
            let sitting = Sitting::alone(jobs, &show);
            (summaries, _) = sweep::extend(summaries, &loaded.scenario, sitting);
            seconds += bar.finish();
            let estimates: Vec<_> =
                summaries.iter().map(|summary| summary.estimate(precision.metric)).collect();
            match precision.next(n, most, &estimates) {
                Some(more) => loaded = load(more)?,
                None => {
                    let widest = estimates.iter().map(|of| precision.width(of)).fold(0.0, f64::max);
                    console.say(&told(precision, n, widest));
                    return Ok((loaded, summaries, seconds));
                }
            }
        }
    }
}

fn told(precision: Precision, replicates: u32, widest: f64) -> String {
    let Precision { metric, half } = precision;
    let percent = |half: f64| format!("± {} %", Axis::written((half * 1e4).round() / 1e2));
    match widest <= half {
        true => format!("{metric} is known to {} after {replicates} replicates", percent(half)),
        false if widest.is_finite() => format!(
            "{metric} is known to {} only after {replicates} replicates: allow more with --max-replicates",
            percent(widest)
        ),
        false => format!(
            "{metric} has no interval after {replicates} replicates: allow more with --max-replicates, \
             or a longer run.duration"
        ),
    }
}
