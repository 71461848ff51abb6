//! Why a command failed, in words for people.

use std::io;
use std::path::{Path, PathBuf};

use super::interrupt;
use crate::records::{MergeError, RecordsError};
use crate::results::{Mismatch, Partial, ReadError, ResultsError};
use crate::scenario::ScenarioError;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The scenario cannot be played.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The results folder cannot be written.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A results folder cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Two results folders cannot be compared.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// Unit records cannot be read or kept.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// Shards cannot be merged.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A signal ended it before all units were played.
    #[error(
        "interrupted after {} of {} units, {on_record} of them on record in {}",
        partial.done, partial.planned, dir.display()
    )]
    Interrupted {
        /// How far it got.
        partial: Partial,
        /// How many units need not be played again.
        on_record: usize,
        /// Where they are.
        dir: PathBuf,
    },
    /// What was asked for does not go together, or does not fit.
    #[error("{what}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What to do.
        help: String,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The results are not what the scenario asks for: everything was done, nothing went wrong.
    #[error(
        "{failed} of {asked} thresholds {}: {} says which",
        if *failed == 1 { "fails" } else { "fail" },
        file.display()
    )]
    Thresholds {
        /// How many fail.
        failed: usize,
        /// How many there are.
        asked: usize,
        /// Where it says which.
        file: PathBuf,
    },
    /// Stdout could not be written.
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
    /// Who read stdout has gone: no failure of ours.
    #[error("stdout was closed")]
    ClosedPipe,
}

impl Failure {
    /// A file that could not be written.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Failure {
        let path = path.to_owned();
        move |source| Failure::File { path, source }
    }

    /// Stdout that could not be written.
    pub(super) fn stdout(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Stdout(error),
        }
    }

    /// What the program ends with: 0 done, 1 a threshold fails, 2 bad scenario, usage or I/O, 130
    /// interrupted.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::ClosedPipe => 0,
            Failure::Thresholds { .. } => 1,
            Failure::Interrupted { .. } => interrupt::EXIT_CODE,
            _ => 2,
        }
    }

    /// What to do about it.
    pub(super) fn help(&self) -> Option<&str> {
        match self {
            Failure::Results(error) => Some(error.help()),
            Failure::Read(error) => Some(error.help()),
            Failure::Mismatch(error) => Some(error.help()),
            Failure::Records(error) => Some(error.help()),
            Failure::Merge(error) => Some(error.help()),
            Failure::Interrupted { .. } => Some("the same command goes on from there"),
            Failure::Usage { help, .. } => Some(help),
            Failure::File { .. } => Some(
                "see that there is room and that its folder may be written to, or name another",
            ),
            Failure::Stdout(_) => Some("see that where it goes to has room and may be written to"),
            _ => None,
        }
    }
}
