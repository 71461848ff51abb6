//! `herdsim plan`: the units that a run consists of, and the shards that they fall to.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};

use super::played::Played;
use super::points::{self, Limit};
use super::values::some;
use super::{Console, Failure};
use crate::plan as units;
use crate::report::plan;

/// List the units of a run, in order, and how shards divide them
#[derive(Debug, Args)]
pub(super) struct Plan {
    #[command(flatten)]
    played: Played,
    /// Play every combination of values, key=a,b,c or key=from..to:n; may be repeated
    #[arg(long = "sweep", value_name = "KEY=VALUES")]
    sweep: Vec<String>,
    /// Also show what each of N shards plays
    #[arg(long, value_name = "N", value_parser = some)]
    shards: Option<NonZeroUsize>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Aligned text for people
    Table,
    /// A row per unit
    Csv,
    /// All of it
    Json,
}

impl Plan {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let mut loaded = self.played.load(&[])?;
        points::sweep_over(&mut loaded, &self.sweep)?;
        let axes = loaded.scenario.sweep.clone();
        let points = points::of(&mut loaded, &axes, Limit::Force)?;
        let units = units::of_points(&points);
        let plan = plan::Plan { scenario: &loaded.scenario, units: &units, shards: self.shards };
        console.data(&match self.format {
            Format::Table => plan.to_text(&console.style()).into_bytes(),
            Format::Csv => plan.to_csv(),
            Format::Json => plan.to_json().into_bytes(),
        })
    }
}
