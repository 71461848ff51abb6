//! `herdsim run`: plays a scenario, writes its results, shows them.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::played::Played;
use super::precise::Asked;
use super::{Console, Failure, memory, points, trace};
use crate::explore::Precision;
use crate::metrics::Judgement;
use crate::report::{json, markdown, sweep as sweep_report, terminal};
use crate::results::{self, Judged, Results, Swept, folder, tables};
use crate::scenario::{Axis, Loaded};
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
    /// Play every combination of values, key=a,b,c or key=from..to:n, and keep the metrics; may be repeated
    #[arg(long = "sweep", value_name = "KEY=VALUES", conflicts_with_all = ["reference", "trace"])]
    sweep: Vec<String>,
    /// Play as many replicates as it takes to know a metric so well, as in sv_active_mean=5%
    #[arg(long, value_name = "METRIC=SHARE", conflicts_with = "sweep")]
    precision: Option<String>,
    /// The most replicates to play for it
    #[arg(long, value_name = "N", default_value_t = 200, requires = "precision")]
    max_replicates: u32,
    /// Also write every event of the first replicate of one policy and variant
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// How a run ends whose results are in `out` and whose report was `printed`: whoever has seen enough of
/// it still wants to know whether a threshold fails.
fn hold(judged: &[Judged<'_>], out: &Path, printed: Result<(), Failure>) -> Result<(), Failure> {
    if !matches!(printed, Ok(()) | Err(Failure::ClosedPipe)) {
        return printed;
    }
    match judged.iter().filter(|judged| judged.judgement == Judgement::Fail).count() {
        0 => printed,
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
        let mut loaded = self.load(&self.played)?;
        for axis in &self.sweep {
            loaded.scenario.sweep_over(Axis::parse(axis)?);
        }
        let out =
            self.out.clone().unwrap_or_else(|| Path::new("results").join(&loaded.scenario.name));
        if !loaded.scenario.sweep.is_empty() {
            return self.sweep(loaded, &out, console);
        }
        let with = |replicates| self.load(&self.played.with_replicates(replicates));
        let asked = self.precision.as_deref().map(Precision::parse).transpose()?;
        let asked = asked.map(|precision| Asked { precision, most: self.max_replicates.max(1) });
        match asked {
            Some(asked) => {
                loaded = with(asked.first(loaded.scenario.run.replicates))?;
                asked.check(&loaded, with, &out, self.force)?;
            }
            None => folder::check(&out, &results::digest(&loaded), self.force)?,
        }
        let jobs = self.played.jobs();
        if let Some(path) = &self.trace {
            trace::check(&loaded.scenario, path)?;
        }
        memory::check(&loaded.scenario, jobs)?;

        let (loaded, policies, seconds) = match asked {
            Some(asked) => asked.play(loaded, with, jobs, console)?,
            None => {
                let bar = console.progress(plan::units(&loaded.scenario).len());
                let show = |progress| bar.update(progress);
                let policies = sweep::play(&loaded.scenario, jobs, &show);
                (loaded, policies, bar.finish())
            }
        };
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
        hold(&results.judged(), &out, printed)
    }

    fn load(&self, played: &Played) -> Result<Loaded, Failure> {
        let mut loaded = played.load(&[])?;
        if let Some(reference) = &self.reference {
            loaded.scenario.compare_with(reference)?;
        }
        Ok(loaded)
    }

    /// Plays the scenario at every combination of values of its swept keys.
    fn sweep(&self, loaded: Loaded, out: &Path, console: &Console) -> Result<(), Failure> {
        folder::check(out, &results::digest(&loaded), self.force)?;
        if self.reference.is_some() || self.trace.is_some() || self.precision.is_some() {
            let help =
                "run the scenario at one point: without its [sweep], with --set for the values";
            let what = "a sweep keeps the metrics of its points alone".to_owned();
            return Err(Failure::Usage { what, help: help.to_owned() });
        }
        let axes = loaded.scenario.sweep.clone();
        let (points, _) = points::play(&self.played, axes, self.force, console)?;
        let swept = Swept { loaded, points };
        swept.write(out, self.force)?;
        console.say(&format!("wrote {}", out.display()));
        let printed = console.data(&match self.format {
            Format::Table => sweep_report::render(&swept, &console.style()).into_bytes(),
            Format::Json => sweep_report::json(&swept).into_bytes(),
            Format::Csv => swept.points.summary(),
            Format::Markdown => sweep_report::markdown(&swept).into_bytes(),
        });
        let judged: Vec<Judged<'_>> =
            swept.judged().into_iter().map(|(_, judged)| judged).collect();
        hold(&judged, out, printed)
    }
}
