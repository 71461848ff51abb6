//! The command line: what may be typed, one file per subcommand, and the terminal.
//!
//! Data goes to stdout, everything else to stderr. Flags are turned into plain values here; no other
//! room sees them.

mod backoff;
mod check;
mod compare;
mod console;
mod failure;
mod interrupt;
mod list;
mod map;
mod memory;
mod merge;
mod plan;
mod played;
mod points;
mod precise;
mod report;
mod run;
mod sitting;
mod trace;
mod tune;

use clap::{Parser, Subcommand, ValueEnum};

pub use console::Console;
pub use failure::Failure;

const HELP: &str = "\
{about}

Examples:
  herdsim list                                      the scenarios inside the program
  herdsim check my.toml                             what about it may surprise
  herdsim run deriver-restart                       play one, write results/deriver-restart
  herdsim run my.toml --set pooler.pool_size=500    your own, with one value changed
  herdsim report results/deriver-restart            its page and pictures again
  herdsim compare results/before results/after      what a change has changed
  herdsim map my.toml fleet.clients=1000..8000:8 pooler.pool_size=20,50,100
                                                    where it drains and where not
  herdsim tune my.toml --policy mine --maximize fleet.clients --such-that 'time_to_drain_s < 60'
                                                    how far that is from the cliff
  herdsim merge shards/* --out results/my           the results of a run on many machines
  herdsim backoff botocore-standard@1.34.107        what a library's retries do

{usage-heading} {usage}

{all-args}
";

/// Will a mass restart be a 30-second herd or a 4-hour outage? Plays fleets of polling clients on a
/// capped database pool and compares their policies.
#[derive(Debug, Parser)]
#[command(name = "herdsim", version, help_template = HELP)]
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
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
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
}

impl Cli {
    /// The command line as typed. Wrong usage ends the process with exit code 2, `--help` with 0.
    pub fn from_args() -> Cli {
        Cli::parse()
    }

    /// How it wants to be spoken to.
    pub fn console(&self) -> Console {
        match self.global.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
        .write_global();
        Console::new(self.global.quiet, self.global.no_progress)
    }

    /// Does what was asked for.
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        match self.command {
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
}
