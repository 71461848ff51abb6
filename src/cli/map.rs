//! `herdsim map`: a scenario over a grid of two keys.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::played::Played;
use super::{Console, Failure, points, whole};
use crate::report::map;
use crate::scenario::{self, Axis};

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
    /// Also draw the map
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A shaded grid for each policy
    Table,
    /// A row per cell, policy and metric, with intervals
    Csv,
}

impl Map {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let (x, y) = (Axis::parse(&self.x)?, Axis::parse(&self.y)?);
        let metric = scenario::metric_named(&self.metric)?;
        self.svg.as_deref().map_or(Ok(()), whole::check)?;
        let (points, duration) = points::play(&self.played, vec![x, y], self.force, console)?;
        if let Some(path) = &self.svg {
            whole::picture(path, &map::svg(&points, metric), console)?;
        }
        console.data(&match self.format {
            Format::Table => map::render(&points, metric, duration, &console.style()).into_bytes(),
            Format::Csv => points.summary(),
        })
    }
}
