//! A finished sweep: what is written of it, and read back to be shown.

use std::path::Path;

use super::archive::{self, Provenance};
use super::read::{self, Case, ReadError};
use super::{File, Judged, Points, ResultsError, digest, folder, manifest, tables};
use crate::metrics::{Outcome, Value};
use crate::scenario::{Axis, Loaded};

/// A finished sweep.
#[derive(Clone, Debug)]
pub struct Swept {
    /// The scenario as written and as understood.
    pub loaded: Loaded,
    /// What came of it.
    pub points: Points,
}

/// A finished sweep as its folder tells it.
#[derive(Clone, Debug)]
pub struct SweptArchive {
    /// How it was played.
    pub provenance: Provenance,
    /// What came of it.
    pub swept: Swept,
}

impl Swept {
    /// Every threshold at every point.
    pub fn judged(&self) -> Vec<Judged<'_>> {
        self.points.outcomes.iter().flatten().flat_map(|outcome| self.judged_of(outcome)).collect()
    }

    /// What is asked of one policy at one point.
    pub fn judged_of<'a>(&'a self, outcome: &'a Outcome) -> impl Iterator<Item = Judged<'a>> {
        Judged::of(&self.loaded.scenario, outcome)
    }

    /// Writes the results folder `dir`: whole, or not at all, as [`Results::write`](super::Results::write)
    /// does.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn write(&self, dir: &Path, force: bool) -> Result<(), ResultsError> {
        folder::write(dir, &digest(&self.loaded), force, &self.files())
    }

    /// The files of its folder, the manifest last.
    pub fn files(&self) -> Vec<File> {
        let mut files = vec![
            File { name: "summary.csv", bytes: self.points.summary() },
            File { name: "replicates.csv", bytes: self.points.replicates() },
        ];
        if !self.loaded.scenario.thresholds.is_empty() {
            files.push(File { name: "thresholds.csv", bytes: self.thresholds() });
        }
        manifest::add(&self.loaded, None, &mut files);
        files
    }

    /// A row per point, policy and threshold.
    fn thresholds(&self) -> Vec<u8> {
        let mut table = self.points.table(tables::JUDGED);
        for (keys, outcome) in self.points.rows() {
            for judged in self.judged_of(outcome) {
                table.row(keys.iter().cloned().chain(tables::judged(&judged)));
            }
        }
        table.bytes()
    }
}

impl SweptArchive {
    /// Opens the sweep in `dir`.
    ///
    /// # Errors
    ///
    /// If there is none, or it is not as this version writes it.
    pub fn open(dir: &Path) -> Result<SweptArchive, ReadError> {
        let manifest = read::manifest(dir)?;
        let axes = archive::axes(&manifest.json);
        if axes.is_empty() {
            return Err(manifest.damaged("it is not of a sweep".to_owned()));
        }
        let outcomes = outcomes(&dir.join(read::REPLICATES), &axes)?;
        let cases: Vec<Case> = outcomes.first().into_iter().flatten().map(case).collect();
        let (loaded, provenance) = archive::reload(&manifest, &cases)?;
        let points = Points { axes, outcomes };
        Ok(SweptArchive { provenance, swept: Swept { loaded, points } })
    }
}

fn case(outcome: &Outcome) -> Case {
    Case { policy: outcome.policy.clone(), variant: outcome.variant.clone() }
}

/// What came of each point, in the order of all combinations of values.
fn outcomes(path: &Path, axes: &[Axis]) -> Result<Vec<Vec<Outcome>>, ReadError> {
    let keys: Vec<&str> = axes.iter().map(|axis| &*axis.key).collect();
    let mut points: Vec<(Vec<String>, Vec<Outcome>)> = Vec::new();
    for row in read::rows(path, &keys)? {
        if points.last().is_none_or(|(values, _)| *values != row.keys) {
            points.push((row.keys, Vec::new()));
        }
        let outcomes = &mut points.last_mut().expect("one was just added").1;
        if outcomes.last().is_none_or(|last| case(last) != row.case) {
            let Case { policy, variant } = row.case;
            outcomes.push(Outcome { policy, variant, replicates: Vec::new() });
        }
        let values = row.values.into_iter().map(|value| value.unwrap_or(Value::Absent)).collect();
        outcomes.last_mut().expect("one was just added").replicates.push(values);
    }
    let value = |(axis, index): (&Axis, usize)| axis.values[index].clone();
    let expected = Axis::combinations(axes).into_iter();
    let expected = expected.map(|point| axes.iter().zip(point).map(value).collect::<Vec<_>>());
    let cases = |outcomes: &[Outcome]| outcomes.iter().map(case).collect::<Vec<_>>();
    let first = points.first().map(|(_, outcomes)| cases(outcomes));
    let alike = points.iter().all(|(_, outcomes)| Some(cases(outcomes)) == first);
    match alike && expected.eq(points.iter().map(|(values, _)| values.clone())) {
        true => Ok(points.into_iter().map(|(_, outcomes)| outcomes).collect()),
        false => Err(ReadError::Damaged {
            path: path.to_owned(),
            what: "it has not one row for each policy and replicate at each point".to_owned(),
        }),
    }
}
