//! What a command plays: a scenario with some of it chosen or changed.

use std::num::NonZeroUsize;
use std::thread;

use clap::Args;

use super::Failure;
use super::completions::{policies, scenarios, variants};
use super::values::{count, seed, some};
use crate::scenario::{self, Loaded, Scenario};

/// A scenario, and what of it is played.
#[derive(Clone, Debug, Args)]
pub(super) struct Played {
    /// A scenario file, or the name of a scenario inside the program
    #[arg(add = scenarios())]
    scenario: String,
    /// Play this policy only; may be repeated
    #[arg(long = "policy", value_name = "NAME", add = policies())]
    policies: Vec<String>,
    /// Play this variant only; may be repeated
    #[arg(long = "variant", value_name = "NAME", add = variants())]
    variants: Vec<String>,
    /// Random worlds that every policy meets
    #[arg(long, value_name = "N", value_parser = count(1..=1_000_000))]
    replicates: Option<u32>,
    /// Where the random worlds come from
    #[arg(long, value_name = "N", value_parser = seed)]
    seed: Option<u64>,
    /// Change one value of the scenario; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Units run at once [default: one per processor]
    #[arg(long, short, env = "HERDSIM_JOBS", value_name = "N", value_parser = some)]
    jobs: Option<NonZeroUsize>,
}

impl Played {
    /// The scenario with `more` overrides, in the order that a manifest keeps: flags of their own come
    /// after `--set`, and `more` last, so that they hold.
    pub fn load(&self, more: &[String]) -> Result<Loaded, Failure> {
        let replicates = self.replicates.map(|n| format!("run.replicates={n}"));
        let seed = self.seed.map(|n| format!("run.seed={n}"));
        let own = self.set.iter().cloned().chain(replicates).chain(seed);
        let overrides: Vec<String> = own.chain(more.iter().cloned()).collect();
        let mut loaded = scenario::load(&self.scenario, &overrides)?;
        if !self.policies.is_empty() {
            loaded.scenario.select(&self.policies)?;
        }
        if !self.variants.is_empty() {
            loaded.scenario.select_variants(&self.variants)?;
        }
        Ok(loaded)
    }

    /// The scenario itself.
    pub fn scenario(&self, more: &[String]) -> Result<Scenario, Failure> {
        Ok(self.load(more)?.scenario)
    }

    /// The same with so many random worlds.
    pub fn with_replicates(&self, replicates: u32) -> Played {
        Played { replicates: Some(replicates), ..self.clone() }
    }

    /// Whether it was said how many random worlds there shall be.
    pub fn gives_replicates(&self) -> bool {
        self.replicates.is_some()
    }

    /// Units run at once.
    pub fn jobs(&self) -> usize {
        let processors = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.jobs.unwrap_or_else(processors).get()
    }
}
