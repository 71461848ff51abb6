//! `herdsim list`: what is inside the program.

use clap::{Args, ValueEnum};
use unicode_width::UnicodeWidthStr;

use super::{Console, Failure};
use crate::report::{Glyphs, guards};
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
    /// Built-in scenarios, a line each
    Scenarios,
    /// Presets of poolers: every default and where it comes from
    Poolers,
    /// Presets of retry policies: formula, defaults, source and how far each was checked
    Policies,
}

impl List {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let text = match self.kind {
            Kind::Scenarios => scenarios(),
            Kind::Poolers => poolers(),
            Kind::Policies => policies(console.style().glyphs),
        };
        console.data(text.as_bytes())
    }
}

fn scenarios() -> String {
    let lines: Vec<(String, String)> =
        scenario::builtins().map(|builtin| (builtin.name.to_string(), builtin.title())).collect();
    let width = lines.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    lines.iter().map(|(name, title)| format!("{name:width$}  {title}\n")).collect()
}

/// Each preset as it would be written under `[pooler]`.
fn poolers() -> String {
    let written = scenario::POOLERS.iter().map(|preset| {
        let text = preset.text.replace("[logins]", "[pooler.logins]");
        format!("[pooler]\npreset = \"{}\"\n\n{text}", preset.name)
    });
    written.collect::<Vec<_>>().join("\n\n")
}

/// Each preset with the delay before its k-th retry, and what holds it back.
fn policies(glyphs: Glyphs) -> String {
    let written = scenario::presets().iter().map(|preset| {
        let mut lines = vec![
            format!("{} ({})", preset.name, preset.versions),
            format!("    {}", glyphs.formula(&preset.formula)),
            format!("    {}", preset.defaults()),
            format!("    {}: {}", preset.evidence, preset.source),
        ];
        lines.extend(guards::lines(&preset.guards()).map(|line| format!("    {line}")));
        lines.extend(preset.lacks.iter().map(|lacks| format!("    left out: {lacks}")));
        lines.join("\n") + "\n"
    });
    written.collect::<Vec<_>>().join("\n")
}
