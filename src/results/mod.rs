//! A run's results, and the folder that keeps them.
//!
//! [`Results`] is what a run produced; [`tables`] and the [`Manifest`] turn it into the bytes of files,
//! and [`folder`] puts those on disk, all or nothing; [`mod@read`] gets the figures of replicates back,
//! [`archive`] everything that a picture shows, and a [`Comparison`] sets two runs side by side. The bytes depend on the scenario, the seed, the
//! version and the target alone: no wall-clock time, no path of this machine, one format of numbers.

mod activity;
pub mod archive;
pub mod comparison;
mod differences;
mod edge;
pub mod folder;
mod folding;
mod judged;
mod manifest;
mod points;
pub mod read;
mod swept;
pub mod tables;

use std::path::Path;

use serde::Serialize;

pub use activity::{Activity, Reading};
pub use archive::Archive;
pub use comparison::{Comparison, Mismatch};
pub use differences::AgainstReference;
pub use edge::{Aim, Edge, Step};
pub use folder::ResultsError;
pub use folding::{Folding, FoldingPoints};
pub use judged::Judged;
pub use manifest::{Manifest, digest};
pub(crate) use manifest::{TARGET, TOOL, VERSION};
pub use points::Points;
pub use read::{Finished, ReadError};
pub use swept::{Swept, SweptArchive};

use crate::metrics::PolicySummary;
use crate::scenario::Loaded;

/// All that a run produced: what every report is a view of.
#[derive(Clone, Debug)]
pub struct Results {
    /// The scenario as written and as understood.
    pub loaded: Loaded,
    /// One summary per policy that was played, or per policy and variant, in the scenario's order.
    pub policies: Vec<PolicySummary>,
    /// How far a run got that was interrupted; `None` of a whole one.
    pub partial: Option<Partial>,
}

/// How far an interrupted run got: the units done are the first of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Partial {
    /// Units done, which the results are of.
    pub done: usize,
    /// Units of the whole plan.
    pub planned: usize,
}

/// One file of a results folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name within the folder.
    pub name: &'static str,
    /// All of it.
    pub bytes: Vec<u8>,
}

impl Results {
    /// Writes the results folder `dir`: whole, or not at all. [`folder::check`] says what may be
    /// replaced; `force` allows results of another digest too.
    pub fn write(&self, dir: &Path, force: bool) -> Result<(), ResultsError> {
        folder::write(dir, &digest(&self.loaded), force, &self.files())
    }

    /// The files of the folder, the manifest last.
    pub fn files(&self) -> Vec<File> {
        let mut files = vec![
            File { name: "summary.csv", bytes: tables::summary(self) },
            File { name: "replicates.csv", bytes: tables::replicates(self) },
            File { name: "drain.csv", bytes: tables::drain(self) },
            File { name: "concurrency.csv", bytes: tables::concurrency(self) },
            File { name: "timeline.csv", bytes: tables::timeline(self) },
            File { name: "band.csv", bytes: tables::band(self) },
            File { name: "latency.csv", bytes: tables::latency(self) },
        ];
        if !self.loaded.scenario.thresholds.is_empty() {
            files.push(File { name: "thresholds.csv", bytes: tables::thresholds(self) });
        }
        if self.loaded.scenario.reference.is_some() {
            files.push(File { name: "differences.csv", bytes: tables::differences(self) });
        }
        manifest::add(&self.loaded, self.partial, &mut files);
        files
    }
}
