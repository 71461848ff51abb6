//! `herdsim list`: what is inside the program.

use clap::{Args, ValueEnum};
use unicode_width::UnicodeWidthStr;

use super::{Console, Failure};
use crate::scenario;

/// List what is inside the program
#[derive(Debug, Args)]
pub(super) struct List {
    /// What to list
    #[arg(value_enum, default_value_t = Kind::Scenarios)]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Scenarios,
}

impl List {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let lines: Vec<(String, String)> = match self.kind {
            Kind::Scenarios => scenario::builtins()
                .map(|builtin| (builtin.name.to_string(), builtin.title()))
                .collect(),
        };
        let width = lines.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
        let text: String =
            lines.iter().map(|(name, title)| format!("{name:width$}  {title}\n")).collect();
        console.data(text.as_bytes())
    }
}
