//! `herdsim run`: plays a scenario, writes its results, shows them.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::completions::policies;
use super::played::Played;
use super::points::{self, Limit};
use super::precise::Asked;
use super::sitting::{self, Habits, Sat};
use super::values::count;
use super::{Console, Failure, memory, report, trace};
use crate::explore::Precision;
use crate::metrics::Judgement;
use crate::plan::{self, Shard};
use crate::report::{activity, json, markdown, sweep as sweep_report, terminal};
use crate::results::{self, Activity, Archive, Judged, Points, Results, Swept, folder, tables};
use crate::scenario::{Loaded, Scenario};
use crate::sweep::{self, Sitting};

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
    /// Write no page and no pictures
    #[arg(long)]
    no_report: bool,
    /// Open the page
    #[arg(long, conflicts_with = "no_report")]
    open: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Also show how the other policies differ from this one in the same random worlds
    #[arg(long, value_name = "POLICY", add = policies())]
    reference: Option<String>,
    /// Play every combination of values, key=a,b,c or key=from..to:n, and keep the metrics; may be repeated
    #[arg(long = "sweep", value_name = "KEY=VALUES", conflicts_with_all = ["reference", "trace"])]
    sweep: Vec<String>,
    /// Play as many replicates as it takes to know a metric so well, as in sv_active_mean=5%
    #[arg(long, value_name = "METRIC=SHARE", conflicts_with_all = ["sweep", "keep_units"])]
    precision: Option<String>,
    /// The most replicates to play for it
    #[arg(
        long,
        value_name = "N",
        default_value_t = 200,
        requires = "precision",
        value_parser = count(1..=1_000_000)
    )]
    max_replicates: u32,
    /// Also write every event of the first replicate of one policy and variant
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Lay what a monitor saw beside it: a CSV file with the columns active and perhaps waiting, clients
    /// and t_s or time
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sweep", "shard"])]
    activity: Option<PathBuf>,
    /// Play every N-th unit from the K-th on, counted from 0, and leave records for `herdsim merge`
    #[arg(long, value_name = "K/N", requires = "out", conflicts_with_all = ["trace", "keep_units", "precision"])]
    shard: Option<Shard>,
    /// Leave the records of all units beside the results, in <DIR>.units
    #[arg(long)]
    keep_units: bool,
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
        let mut loaded = self.load(&self.played)?;
        points::sweep_over(&mut loaded, &self.sweep)?;
        let out =
            self.out.clone().unwrap_or_else(|| Path::new("results").join(&loaded.scenario.name));
        let jobs = self.played.jobs();
        let habits = Habits { jobs, force: self.force, keep_units: self.keep_units };
        let swept = !loaded.scenario.sweep.is_empty();
        if swept {
            self.check_sweep()?;
        }
        if swept || self.shard.is_some() {
            let limit = Limit::of(self.shard.map_or(1, Shard::count), self.force);
            let axes = loaded.scenario.sweep.clone();
            let points = points::of(&mut loaded, &axes, limit)?;
            points.iter().try_for_each(|point| memory::check(point, jobs))?;
            return match self.shard {
                Some(shard) => sitting::play_shard(&loaded, &points, shard, &out, habits, console),
                None => self.sweep(loaded, &points, &out, habits, console),
            };
        }
        let activity = self.activity.as_ref();
        let activity =
            activity.map(|path| report::read_activity(path, &loaded.scenario)).transpose()?;
        memory::check(&loaded.scenario, jobs)?;
        if let Some(path) = &self.trace {
            trace::check(&loaded.scenario, path)?;
        }
        if let Some(precision) = &self.precision {
            let precision = Precision::parse(precision)?;
            let asked = Asked { precision, most: self.max_replicates };
            let with = |replicates| self.load(&self.played.with_replicates(replicates));
            let first = with(asked.first(loaded.scenario.run.replicates))?;
            asked.check(&first, with, &out, self.force)?;
            let (loaded, policies, seconds) = asked.play(first, with, jobs, console)?;
            let results = Results { loaded, policies, partial: None };
            return self.finish(&results, activity, &out, seconds, console);
        }
        folder::check(&out, &results::digest(&loaded), self.force)?;
        let planned = plan::units(&loaded.scenario).len();
        let play = |sitting: Sitting<'_>| sweep::resume(&loaded.scenario, sitting);
        let Sat { folded: policies, partial, records, seconds } =
            sitting::play(&loaded, planned, &out, habits, console, play)?;
        let results = Results { loaded, policies, partial };
        if let Some(partial) = partial {
            write_partial(&results, &out, self.force, self.format, console)?;
            return Err(sitting::interrupted(partial, records, console));
        }
        let finished = self.finish(&results, activity, &out, seconds, console);
        sitting::end(records, &finished, habits, console);
        finished
    }

    /// Writes whole results and whatever else was asked for, and shows them.
    fn finish(
        &self,
        results: &Results,
        activity: Option<Activity>,
        out: &Path,
        seconds: f64,
        console: &Console,
    ) -> Result<(), Failure> {
        results.write(out, self.force)?;
        console.say(&format!("wrote {} in {seconds:.1} s", out.display()));
        if let Some(path) = &self.trace {
            trace::write(&results.loaded.scenario, path)?;
            console.say(&format!("wrote {}", path.display()));
        }
        let (mut page, mut beside) = (None, None);
        if !self.no_report || activity.is_some() {
            let archive = Archive { activity, ..Archive::open(out)? };
            if !self.no_report {
                page = Some(report::write(out, &archive)?);
            }
            beside = archive.activity.is_some().then_some(archive);
        }
        let printed =
            print(results, self.format, console).and_then(|()| match (beside, self.format) {
                (Some(archive), Format::Table) => {
                    let text = activity::terminal(&archive, &console.style());
                    console.data(format!("\n{text}").as_bytes())
                }
                (Some(archive), Format::Markdown) => {
                    console.data(format!("\n{}", activity::markdown(&archive)).as_bytes())
                }
                _ => Ok(()),
            });
        self.opened(page, hold(&results.judged(), out, printed))
    }

    fn load(&self, played: &Played) -> Result<Loaded, Failure> {
        let mut loaded = played.load(&[])?;
        if let Some(reference) = &self.reference {
            loaded.scenario.compare_with(reference)?;
        }
        Ok(loaded)
    }

    /// Refuses what a sweep does not give.
    fn check_sweep(&self) -> Result<(), Failure> {
        let more = self.reference.is_some() || self.trace.is_some() || self.precision.is_some();
        if !more && self.activity.is_none() {
            return Ok(());
        }
        let help = "run the scenario at one point: without its [sweep], with --set for the values";
        let what = "a sweep keeps the metrics of its points alone".to_owned();
        Err(Failure::Usage { what, help: help.to_owned() })
    }

    /// Plays the scenario at these points, all combinations of values of its swept keys.
    fn sweep(
        &self,
        loaded: Loaded,
        points: &[Scenario],
        out: &Path,
        habits: Habits,
        console: &Console,
    ) -> Result<(), Failure> {
        folder::check(out, &results::digest(&loaded), self.force)?;
        let planned = plan::of_points(points).len();
        let play = |sitting: Sitting<'_>| sweep::resume_points(points, sitting);
        let Sat { folded: outcomes, partial, records, seconds } =
            sitting::play(&loaded, planned, out, habits, console, play)?;
        if let Some(partial) = partial {
            return Err(sitting::interrupted(partial, records, console));
        }
        console.say(&points::told(planned, points.len(), seconds));
        let axes = loaded.scenario.sweep.clone();
        let swept = Swept { loaded, points: Points { axes, outcomes } };
        let finished = self.finish_sweep(&swept, out, console);
        sitting::end(records, &finished, habits, console);
        finished
    }

    fn finish_sweep(&self, swept: &Swept, out: &Path, console: &Console) -> Result<(), Failure> {
        swept.write(out, self.force)?;
        console.say(&format!("wrote {}", out.display()));
        let page = if self.no_report { None } else { Some(report::write_swept(out)?) };
        self.opened(page, show_sweep(swept, out, self.format, console))
    }

    /// Opens the page if that was asked for and all is `shown`.
    fn opened(&self, page: Option<PathBuf>, shown: Result<(), Failure>) -> Result<(), Failure> {
        match (page, &shown) {
            (Some(page), Ok(()) | Err(Failure::Thresholds { .. })) if self.open => {
                report::open(&page).and(shown)
            }
            _ => shown,
        }
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
    hold(&results.judged(), out, print(results, format, console))
}

/// The same of a sweep.
pub(super) fn show_sweep(
    swept: &Swept,
    out: &Path,
    format: Format,
    console: &Console,
) -> Result<(), Failure> {
    let printed = console.data(&match format {
        Format::Table => sweep_report::render(swept, &console.style()).into_bytes(),
        Format::Json => sweep_report::json(swept).into_bytes(),
        Format::Csv => swept.points.summary(),
        Format::Markdown => sweep_report::markdown(swept).into_bytes(),
    });
    hold(&swept.judged(), out, printed)
}

fn print(results: &Results, format: Format, console: &Console) -> Result<(), Failure> {
    console.data(&match format {
        Format::Table => terminal::render(results, &console.style()).into_bytes(),
        Format::Json => json::render(results).into_bytes(),
        Format::Csv => tables::summary(results),
        Format::Markdown => markdown::render(results).into_bytes(),
    })
}
