//! What the program says of itself: the first minute, and `--help`.

use std::fmt::Write;

use clap::{Command, Subcommand};

use super::Command as Commands;

/// What `herdsim` alone prints.
pub(super) const FIRST: &str = "\
Will a mass restart be a 30-second herd or a 4-hour outage?

  herdsim run deriver-restart                       a real outage under seven policies
  herdsim new mine --clients 5000 --pool 100 --poll 30s --service 40ms
                                                    a scenario of your own, mine.toml
  herdsim run mine.toml                             play it

Usage: herdsim <COMMAND>; `herdsim --help` shows them all.
";

/// Commands by what they are for.
pub(super) const GROUPS: [(&str, &[&str]); 5] = [
    ("Begin", &["new", "explain", "list", "check"]),
    ("Play", &["run", "map", "tune", "compare", "report"]),
    ("Retry policies", &["backoff"]),
    ("Many machines", &["plan", "merge"]),
    ("Editor and shell", &["schema", "completions", "man"]),
];

/// What `--help` leads with.
const EXAMPLES: &str = "\
Examples:
  herdsim new mine --clients 5000 --pool 100        a scenario of your own, mine.toml
  herdsim check mine.toml                           what about it may surprise
  herdsim run mine.toml --set pooler.pool_size=500  play it, with one value changed
  herdsim report results/mine --open                its page and pictures again
  herdsim compare results/before results/after      what a change has changed
  herdsim map mine.toml fleet.clients=1000..8000:8 pooler.pool_size=20,50,100
                                                    where it drains and where not
  herdsim tune mine.toml --policy spread --maximize fleet.clients --such-that 'time_to_drain_s < 60'
                                                    how far that is from the cliff
  herdsim backoff botocore-standard@1.34.107        what a library's retries do
";

/// What `--help` ends with.
pub(super) const AFTER: &str = "\
Exit codes:
  0    done
  1    a threshold fails; all is written and printed
  2    bad scenario, wrong usage, or a file cannot be read or written
  130  interrupted
  101  a bug of this program

Environment:
  HERDSIM_JOBS, HERDSIM_COLOR, HERDSIM_NO_PROGRESS  as the flags of these names, which win
  NO_COLOR                                          no colours";

/// The template of `--help`: commands under the headings of [`GROUPS`].
pub(super) fn template() -> String {
    let all = Commands::augment_subcommands(Command::new("herdsim"));
    let mut text = format!("{{about}}\n\n{EXAMPLES}\n{{usage-heading}} {{usage}}\n");
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "\n{heading}:");
        for command in names.iter().filter_map(|name| all.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {:<12} {about}", command.get_name());
        }
    }
    text + "\nOptions:\n{options}{after-help}"
}
