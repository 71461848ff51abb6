//! `herdsim compare`: what differs between two finished runs?

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Console, Failure};
use crate::report::compare::{self, Extent};
use crate::results::comparison::{Comparison, Scenarios};
use crate::results::read;

/// Compare two results folders, before and after a change: what differs, and how surely
#[derive(Debug, Args)]
pub(super) struct Compare {
    /// The results folder to compare with
    a: PathBuf,
    /// The results folder in question
    b: PathBuf,
    /// Show every metric, also those that are the same (CSV and JSON always do)
    #[arg(long)]
    all: bool,
    /// Compare results of scenarios of different names
    #[arg(long)]
    any_scenario: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Aligned text for people
    Table,
    /// A row per policy and metric
    Csv,
    /// The same as CSV, and what differs between the scenarios
    Json,
}

impl Compare {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let scenarios = if self.any_scenario { Scenarios::Any } else { Scenarios::Same };
        let comparison = Comparison::of(read::read(&self.a)?, read::read(&self.b)?, scenarios)?;
        let extent = if self.all { Extent::All } else { Extent::WhatMayDiffer };
        console.data(&match self.format {
            Format::Table => compare::render(&comparison, extent, &console.style()).into_bytes(),
            Format::Csv => compare::csv(&comparison),
            Format::Json => compare::json(&comparison).into_bytes(),
        })
    }
}
