//! `herdsim run`: plays a scenario, writes its results, shows them.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use clap::{Args, ValueEnum};

use super::{Console, Failure, memory, trace};
use crate::report::{json, markdown, terminal};
use crate::results::{self, Results, folder, tables};
use crate::{plan, scenario, sweep};

/// Play every policy and variant of a scenario against the same random worlds
#[derive(Debug, Args)]
pub(super) struct Run {
    /// A scenario file, or the name of a scenario inside the program
    scenario: String,
    /// Folder of the results [default: results/<scenario>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the results of another run
    #[arg(long)]
    force: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Play this policy only; may be repeated
    #[arg(long = "policy", value_name = "NAME")]
    policies: Vec<String>,
    /// Play this variant only; may be repeated
    #[arg(long = "variant", value_name = "NAME")]
    variants: Vec<String>,
    /// Random worlds that every policy meets
    #[arg(long, value_name = "N")]
    replicates: Option<u32>,
    /// Where the random worlds come from
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Change one value of the scenario; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Units run at once [default: one per processor]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Also write every event of the first replicate of one policy and variant
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Aligned text for people
    Table,
    /// All estimates
    Json,
    /// The content of summary.csv
    Csv,
    /// For a pull request
    Markdown,
}

impl Run {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let mut loaded = scenario::load(&self.scenario, &self.overrides())?;
        if !self.policies.is_empty() {
            loaded.scenario.select(&self.policies)?;
        }
        if !self.variants.is_empty() {
            loaded.scenario.select_variants(&self.variants)?;
        }
        let out = self.out.unwrap_or_else(|| Path::new("results").join(&loaded.scenario.name));
        let processors = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let jobs = self.jobs.unwrap_or_else(processors).get();

        folder::check(&out, &results::digest(&loaded), self.force)?;
        if let Some(path) = &self.trace {
            trace::check(&loaded.scenario, path)?;
        }
        memory::check(&loaded.scenario, jobs)?;

        let bar = console.progress(plan::units(&loaded.scenario).len());
        let policies = sweep::play(&loaded.scenario, jobs, &|progress| bar.update(progress));
        let seconds = bar.finish();

        let results = Results { loaded, policies };
        results.write(&out, self.force)?;
        console.say(&format!("wrote {} in {seconds:.1} s", out.display()));
        if let Some(path) = &self.trace {
            trace::write(&results.loaded.scenario, path)?;
            console.say(&format!("wrote {}", path.display()));
        }
        console.data(&match self.format {
            Format::Table => terminal::render(&results, &console.style()).into_bytes(),
            Format::Json => json::render(&results).into_bytes(),
            Format::Csv => tables::summary(&results),
            Format::Markdown => markdown::render(&results).into_bytes(),
        })
    }

    /// What changes the scenario, in the order that the manifest keeps: flags of their own come last,
    /// so that they hold.
    fn overrides(&self) -> Vec<String> {
        let replicates = self.replicates.map(|n| format!("run.replicates={n}"));
        let seed = self.seed.map(|n| format!("run.seed={n}"));
        self.set.iter().cloned().chain(replicates).chain(seed).collect()
    }
}
