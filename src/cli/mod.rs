//! The command line: what may be typed, one file per subcommand, and the terminal.
//!
//! Data goes to stdout, everything else to stderr. Flags are turned into plain values here; no other
//! room sees them.

mod backoff;
mod check;
mod compare;
mod completions;
mod console;
mod explain;
mod failure;
mod help;
mod interrupt;
mod list;
mod man;
mod map;
mod memory;
mod merge;
mod new;
mod plan;
mod played;
mod points;
mod precise;
mod report;
mod run;
mod schema;
mod sitting;
mod trace;
mod tune;
mod values;
mod whole;

use std::process;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand, ValueEnum};

pub use console::Console;
pub use failure::Failure;

/// Will a mass restart be a 30-second herd or a 4-hour outage? Plays fleets of polling clients on a
/// capped database pool and compares their policies.
#[derive(Debug, Parser)]
#[command(
    name = "herdsim",
    version,
    help_template = help::template(),
    after_help = help::AFTER,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    global: Global,
}

/// What goes with every subcommand.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// When to use colours; NO_COLOR is honoured
    #[arg(
        long,
        global = true,
        env = "HERDSIM_COLOR",
        value_name = "WHEN",
        value_enum,
        default_value_t = Color::Auto
    )]
    color: Color,
    /// Show no progress bar
    #[arg(
        long,
        global = true,
        env = "HERDSIM_NO_PROGRESS",
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    no_progress: bool,
    /// Say nothing on stderr but errors
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(new::New),
    Explain(explain::Explain),
    Run(run::Run),
    Plan(plan::Plan),
    Merge(merge::Merge),
    Map(map::Map),
    Tune(tune::Tune),
    Check(check::Check),
    Compare(compare::Compare),
    Report(report::Report),
    Backoff(backoff::Backoff),
    List(list::List),
    Schema(schema::Schema),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Cli {
    /// The command line as typed. Wrong usage ends the process with exit code 2, `--help` with 0, and a
    /// shell that asks for completions is answered.
    pub fn from_args() -> Cli {
        completions::answer();
        // Help and refusals are coloured as anything else is.
        if console::is_dumb() {
            anstream::ColorChoice::Never.write_global();
        }
        Cli::try_parse().unwrap_or_else(|error| match error.kind() {
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                console::to_stderr(help::FIRST);
                process::exit(2);
            }
            _ => error.exit(),
        })
    }

    /// How it wants to be spoken to.
    pub fn console(&self) -> Console {
        match self.global.color {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::Always.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
        Console::new(self.global.quiet, self.global.no_progress)
    }

    /// Does what was asked for.
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        match self.command {
            Command::New(new) => new.run(console),
            Command::Explain(explain) => explain.run(console),
            Command::Run(run) => run.run(console),
            Command::Plan(plan) => plan.run(console),
            Command::Merge(merge) => merge.run(console),
            Command::Map(map) => map.run(console),
            Command::Tune(tune) => tune.run(console),
            Command::Check(check) => check.run(console),
            Command::Compare(compare) => compare.run(console),
            Command::Report(report) => report.run(console),
            Command::Backoff(backoff) => backoff.run(console),
            Command::List(list) => list.run(console),
            Command::Schema(schema) => schema.run(console),
            Command::Completions(completions) => completions.run(console),
            Command::Man(man) => man.run(console),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_declarations_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let mut grouped: Vec<&str> =
            help::GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = Cli::command();
        let mut all: Vec<&str> =
            command.get_subcommands().map(|command| command.get_name()).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }
}
