//! `herdsim backoff`: what a retry policy does at each attempt.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::completions::presets;
use super::values::{count, seed};
use super::{Console, Failure, whole};
use crate::policy::{Curve, Reach};
use crate::report::backoff::{self, Shown};
use crate::scenario;

/// Attempts that are shown of a rule that goes on so long.
const ATTEMPTS: u32 = 12;

/// Show what retry policies do, attempt by attempt, and what about them may surprise
#[derive(Debug, Args)]
pub(super) struct Backoff {
    /// Presets such as botocore-standard@1.34.107, or TOML files with retry rules or policies
    #[arg(required = true, value_name = "PRESET|FILE", add = presets())]
    policies: Vec<String>,
    /// Attempts to show, also beyond a rule's stop [default: until it stops, at most 12]
    #[arg(long, value_name = "N", value_parser = count(1..=2_000))]
    attempts: Option<u32>,
    /// Where the draws come from, where there is no closed form
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    seed: u64,
    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Also draw the delays
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Aligned text for people, policies side by side
    Table,
    /// A row per policy and attempt, with what may surprise
    Json,
    /// A row per policy and attempt
    Csv,
    /// For a pull request
    Markdown,
}

impl Backoff {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let reach = self.attempts.map_or(Reach::UntilStop(ATTEMPTS), Reach::BeyondStop);
        let mut shown = Vec::new();
        for wanted in &self.policies {
            for scenario::Backoff { name, preset, retry, guards } in scenario::backoffs(wanted)? {
                let curve = Curve::of(&retry, reach, self.seed);
                shown.push(Shown { name, preset, retry, guards, curve });
            }
        }
        if let Some(path) = &self.svg {
            whole::check(path)?;
            whole::picture(path, &backoff::svg(&shown), console)?;
        }
        console.data(&match self.format {
            Format::Table => backoff::render(&shown, &console.style()).into_bytes(),
            Format::Json => backoff::json(&shown).into_bytes(),
            Format::Csv => backoff::csv(&shown),
            Format::Markdown => backoff::markdown(&shown).into_bytes(),
        })
    }
}
