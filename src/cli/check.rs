//! `herdsim check`: is a scenario valid, and what about it will surprise?

use clap::Args;

use super::completions::scenarios;
use super::{Console, Failure};
use crate::report;
use crate::scenario;

/// Check a scenario without playing it, and say what about it may surprise
#[derive(Debug, Args)]
pub(super) struct Check {
    /// A scenario file, or the name of a scenario inside the program
    #[arg(add = scenarios())]
    scenario: String,
    /// Change one value of the scenario; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl Check {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let scenario = scenario::load(&self.scenario, &self.set)?.scenario;
        console.data(report::check::render(&scenario).as_bytes())
    }
}
