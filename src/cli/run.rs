//! `herdsim run`: plays a scenario, writes its results, shows them.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::played::Played;
use super::sitting::{self, Habits, Sat};
use super::{Console, Failure, memory, trace};
use crate::metrics::Judgement;
use crate::plan::Shard;
use crate::report::{json, markdown, terminal};
use crate::results::{self, Results, folder, tables};

const EXIT_CODES: &str = "\
Exit codes:
  0    done: every threshold of the scenario passes or is undecided
  1    a threshold fails; everything was written and printed all the same
  2    bad scenario, usage or I/O
  130  interrupted: the same command goes on from there
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
    /// Play every N-th unit from the K-th on, counted from 0, and leave records for `herdsim merge`
    #[arg(long, value_name = "K/N", requires = "out", conflicts_with_all = ["trace", "keep_units"])]
    shard: Option<Shard>,
    /// Leave the records of all units beside the results, in <DIR>.units
    #[arg(long)]
    keep_units: bool,
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

/// What a run prints.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
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
        let habits = Habits { jobs, force: self.force, keep_units: self.keep_units };
        memory::check(&loaded.scenario, jobs)?;
        if let Some(shard) = self.shard {
            return sitting::play_shard(&loaded, shard, &out, habits, console);
        }

        folder::check(&out, &results::digest(&loaded), self.force)?;
        if let Some(path) = &self.trace {
            trace::check(&loaded.scenario, path)?;
        }

        let Sat { policies, partial, records, seconds } =
            sitting::play(&loaded, &out, habits, console)?;
        let results = Results { loaded, policies, partial };
        if let Some(partial) = partial {
            write_partial(&results, &out, self.force, self.format, console)?;
            return Err(sitting::interrupted(partial, records, console));
        }
        results.write(&out, self.force)?;
        sitting::end(records, habits, console);
        console.say(&format!("wrote {} in {seconds:.1} s", out.display()));
        if let Some(path) = &self.trace {
            trace::write(&results.loaded.scenario, path)?;
            console.say(&format!("wrote {}", path.display()));
        }
        show(&results, &out, self.format, console)
    }
}

/// Writes and prints what an interrupted run is good for, if anything; whole results stay.
fn write_partial(
    results: &Results,
    out: &Path,
    force: bool,
    format: Format,
    console: &Console,
) -> Result<(), Failure> {
    if results.policies.is_empty() {
        return Ok(());
    }
    if folder::holds(out, &results::digest(&results.loaded)) {
        console.say(&format!("left the whole results in {} as they are", out.display()));
    } else {
        results.write(out, force)?;
        console.say(&format!("wrote partial results to {}", out.display()));
    }
    print(results, format, console)
}

/// Prints results that were written to `out`, and holds them against their thresholds.
pub(super) fn show(
    results: &Results,
    out: &Path,
    format: Format,
    console: &Console,
) -> Result<(), Failure> {
    match print(results, format, console) {
        // Whoever has seen enough of the report still wants to know how it ends.
        printed @ (Ok(()) | Err(Failure::ClosedPipe)) => hold(results, out).and(printed),
        Err(failure) => Err(failure),
    }
}

fn print(results: &Results, format: Format, console: &Console) -> Result<(), Failure> {
    console.data(&match format {
        Format::Table => terminal::render(results, &console.style()).into_bytes(),
        Format::Json => json::render(results).into_bytes(),
        Format::Csv => tables::summary(results),
        Format::Markdown => markdown::render(results).into_bytes(),
    })
}
