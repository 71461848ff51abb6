//! `herdsim run`: plays a scenario, writes its results, shows them.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::played::Played;
use super::{Console, Failure, memory, trace};
use crate::metrics::Judgement;
use crate::report::{json, markdown, terminal};
use crate::results::{self, Results, folder, tables};
use crate::{plan, sweep};

const EXIT_CODES: &str = "\
Exit codes:
  0    done: every threshold of the scenario passes or is undecided
  1    a threshold fails; everything was written and printed all the same
  2    bad scenario, usage or I/O
  101  a bug in herdsim";

/// Play every policy and variant of a scenario against the same random worlds
#[derive(Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub(super) struct Run {
    #[command(flatten)]
    played: Played,
    /// Folder of the results [default: results/<scenario>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the results of another run
    #[arg(long)]
    force: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Also show how the other policies differ from this one in the same random worlds
    #[arg(long, value_name = "POLICY")]
    reference: Option<String>,
    /// Also write every event of the first replicate of one policy and variant
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// Whether no threshold fails; `out` is where the results are.
fn hold(results: &Results, out: &Path) -> Result<(), Failure> {
    let judged = results.judged();
    match judged.iter().filter(|judged| judged.judgement == Judgement::Fail).count() {
        0 => Ok(()),
        failed => {
            let file = out.join("thresholds.csv");
            Err(Failure::Thresholds { failed, asked: judged.len(), file })
        }
    }
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
        let mut loaded = self.played.load(&[])?;
        if let Some(reference) = &self.reference {
            loaded.scenario.compare_with(reference)?;
        }
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
        let printed = console.data(&match self.format {
            Format::Table => terminal::render(&results, &console.style()).into_bytes(),
            Format::Json => json::render(&results).into_bytes(),
            Format::Csv => tables::summary(&results),
            Format::Markdown => markdown::render(&results).into_bytes(),
        });
        match printed {
            // Whoever has seen enough of the report still wants to know how it ends.
            Ok(()) | Err(Failure::ClosedPipe) => hold(&results, &out).and(printed),
            Err(failure) => Err(failure),
        }
    }
}
