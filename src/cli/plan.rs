//! `herdsim plan`: the units that a run consists of, and the shards that they fall to.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};

use super::played::Played;
use super::values::some;
use super::{Console, Failure};
use crate::report::plan;

/// List the units of a run, in order, and how shards divide them
#[derive(Debug, Args)]
pub(super) struct Plan {
    #[command(flatten)]
    played: Played,
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
        let scenario = self.played.scenario(&[])?;
        let plan = plan::Plan { scenario: &scenario, shards: self.shards };
        console.data(&match self.format {
            Format::Table => plan.to_text(&console.style()).into_bytes(),
            Format::Csv => plan.to_csv(),
            Format::Json => plan.to_json().into_bytes(),
        })
    }
}
