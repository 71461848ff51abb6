//! `herdsim map`: a scenario over a grid of two keys.

use clap::{Args, ValueEnum};

use super::played::Played;
use super::{Console, Failure, memory};
use crate::explore;
use crate::plan;
use crate::report::map;
use crate::scenario::{self, Axis};
use crate::sweep;

/// Play a scenario at every pair of values of two keys, and show where it drains
///
/// Values are a list, key=a,b,c, or so many evenly apart, key=from..to:n. Every cell meets the same
/// random worlds.
#[derive(Debug, Args)]
pub(super) struct Map {
    #[command(flatten)]
    played: Played,
    /// The key that changes from column to column, with its values
    #[arg(value_name = "KEY=VALUES")]
    x: String,
    /// The key that changes from row to row, with its values
    #[arg(value_name = "KEY=VALUES")]
    y: String,
    /// What to show of each cell, by its name in summary.csv
    #[arg(long, value_name = "METRIC", default_value = "drained_share")]
    metric: String,
    /// Play it even if it takes more than 5000 simulations
    #[arg(long)]
    force: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A shaded grid for each policy
    Table,
    /// A row per cell, policy and metric, with intervals
    Csv,
}

/// Simulations beyond which a mistake is likelier than a wish.
const MOST_UNITS: usize = 5_000;

impl Map {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let (x, y) = (Axis::parse(&self.x)?, Axis::parse(&self.y)?);
        let metric = scenario::metric_named(&self.metric)?;
        let jobs = self.played.jobs();
        let points = explore::points(&x, &y, |more| self.played.scenario(more))?;
        let units: usize = points.iter().map(|point| plan::units(point).len()).sum();
        if units > MOST_UNITS && !self.force {
            return Err(Failure::Usage {
                what: format!("the map takes {units} simulations"),
                help: format!(
                    "ask for fewer values, policies or --replicates; above {MOST_UNITS} say --force"
                ),
            });
        }
        points.iter().try_for_each(|point| memory::check(point, jobs))?;
        let bar = console.progress(units);
        let outcomes = sweep::outcomes(&points, jobs, &|progress| bar.update(progress));
        bar.finish();
        let durations = points.iter().map(|point| point.run.duration).max().unwrap_or_default();
        let grid = explore::grid(x, y, metric, outcomes);
        console.data(&match self.format {
            Format::Table => map::render(&grid, durations, &console.style()).into_bytes(),
            Format::Csv => grid.to_csv(),
        })
    }
}
