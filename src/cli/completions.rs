//! `herdsim completions`: what a shell needs to complete commands, flags, scenarios and keys.
//!
//! The shell asks the program itself at each Tab, so that names are those of the version installed.

use std::env;
use std::ffi::OsStr;
use std::path::Path;

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};

use super::{Cli, Console, Failure};
use crate::scenario::{self, Scenario};

/// What tells the program that a shell asks.
const VARIABLE: &str = "HERDSIM_COMPLETE";

/// Print what a shell needs to complete commands and scenarios
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    /// In ~/.bashrc: source <(herdsim completions bash)
    Bash,
    /// In ~/.zshrc, after compinit: source <(herdsim completions zsh)
    Zsh,
    /// herdsim completions fish > ~/.config/fish/completions/herdsim.fish
    Fish,
}

impl Completions {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let completer: &dyn EnvCompleter = match self.shell {
            Shell::Bash => &Bash,
            Shell::Zsh => &Zsh,
            Shell::Fish => &Fish,
        };
        let mut script = Vec::new();
        completer
            .write_registration(VARIABLE, "herdsim", "herdsim", "herdsim", &mut script)
            .map_err(Failure::stdout)?;
        console.data(&script)
    }
}

/// Answers a shell that asks, and ends the process then.
pub(super) fn answer() {
    CompleteEnv::with_factory(Cli::command).var(VARIABLE).complete();
}

/// Files, and the scenarios inside the program, each with its title.
pub(super) fn scenarios() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let typed_name = typed.to_string_lossy();
        let builtins =
            scenario::builtins().filter(|builtin| builtin.name.starts_with(&*typed_name));
        let mut candidates: Vec<CompletionCandidate> = builtins
            .map(|builtin| {
                CompletionCandidate::new(builtin.name).help(Some(builtin.title().into()))
            })
            .collect();
        candidates.extend(PathCompleter::file().complete(typed));
        candidates
    })
}

/// The policies of the scenario that was typed already.
pub(super) fn policies() -> ArgValueCandidates {
    names(|scenario| scenario.policies.into_iter().map(|policy| policy.name).collect())
}

/// Its variants.
pub(super) fn variants() -> ArgValueCandidates {
    names(|scenario| scenario.variants.into_iter().map(|variant| variant.name).collect())
}

fn names(of: impl Fn(Scenario) -> Vec<String> + Send + Sync + 'static) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let names = typed_scenario().map(&of).unwrap_or_default();
        names.into_iter().map(CompletionCandidate::new).collect()
    })
}

/// The first of the words typed that is a scenario. What is no valid one has nothing to offer.
fn typed_scenario() -> Option<Scenario> {
    let words = env::args_os().skip(3).filter_map(|word| word.into_string().ok());
    words
        .filter(|word| {
            scenario::builtins().any(|builtin| builtin.name == word) || Path::new(word).is_file()
        })
        .find_map(|word| scenario::load(&word, &[]).ok())
        .map(|loaded| loaded.scenario)
}

/// Presets of what real libraries do, and files.
pub(super) fn presets() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let typed_name = typed.to_string_lossy();
        let references = scenario::presets().iter().map(|preset| preset.reference());
        let matching = references.filter(|reference| reference.starts_with(&*typed_name));
        let mut candidates: Vec<CompletionCandidate> =
            matching.map(CompletionCandidate::new).collect();
        candidates.extend(PathCompleter::file().complete(typed));
        candidates
    })
}
