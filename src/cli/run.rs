//! `herdsim run`: plays a scenario, writes its results, shows them.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::played::Played;
use super::{Console, Failure, memory, report, trace};
use crate::report::{json, markdown, terminal};
use crate::results::{self, Results, folder, tables};
use crate::{plan, sweep};

/// Play every policy and variant of a scenario against the same random worlds
#[derive(Debug, Args)]
pub(super) struct Run {
    #[command(flatten)]
    played: Played,
    /// Folder of the results [default: results/<scenario>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the results of another run
    #[arg(long)]
    force: bool,
    /// Write no page and no pictures
    #[arg(long)]
    no_report: bool,
    /// Open the page
    #[arg(long, conflicts_with = "no_report")]
    open: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
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
        let loaded = self.played.load(&[])?;
        let out = self.out.unwrap_or_else(|| Path::new("results").join(&loaded.scenario.name));
        let jobs = self.played.jobs();

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
        let page = if self.no_report { None } else { Some(report::write(&out)?) };
        console.data(&match self.format {
            Format::Table => terminal::render(&results, &console.style()).into_bytes(),
            Format::Json => json::render(&results).into_bytes(),
            Format::Csv => tables::summary(&results),
            Format::Markdown => markdown::render(&results).into_bytes(),
        })?;
        match page {
            Some(page) if self.open => report::open(&page),
            _ => Ok(()),
        }
    }
}
