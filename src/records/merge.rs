//! The shards of a run, together the whole of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::log::{self, Log};
use super::{LOG, Manifest, RecordsError};
use crate::metrics::UnitRecord;
use crate::plan::{self, Unit};
use crate::results::{self, Folding, FoldingPoints, Points, Results, Swept, TARGET, VERSION};
use crate::scenario::{Loaded, Scenario};

/// Names that are listed; the rest is counted.
const MOST_NAMED: usize = 5;

/// Why shards make no results.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A shard cannot be read.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// A shard is of another run than the first.
    #[error("{} does not belong to {}: {difference}", dir.display(), first.display())]
    Foreign {
        /// The shard.
        dir: PathBuf,
        /// The first one named.
        first: PathBuf,
        /// What is different about it.
        difference: String,
    },
    /// Another version or build played it.
    #[error("{} was played by herdsim {theirs}, and this is {ours}", dir.display())]
    Version {
        /// The shard.
        dir: PathBuf,
        /// By which version, for which target.
        theirs: String,
        /// Which this one is.
        ours: String,
    },
    /// What it says of its run does not agree with itself.
    #[error("{} is damaged: its scenario is not the one that was played", .0.display())]
    Scenario(PathBuf),
    /// Units are in no shard.
    #[error("{missing} of {planned} units {} missing: {named}", if *missing == 1 { "is" } else { "are" })]
    Missing {
        /// How many.
        missing: usize,
        /// Units of the run.
        planned: usize,
        /// The first of them in words.
        named: String,
        /// What to do.
        help: String,
    },
    /// Two shards have the same unit and do not agree.
    #[error("{} and {} do not agree about {unit}", a.display(), b.display())]
    Disagree {
        /// One shard.
        a: PathBuf,
        /// The other.
        b: PathBuf,
        /// The unit in words.
        unit: String,
    },
}

impl MergeError {
    /// What to do about it.
    pub fn help(&self) -> &str {
        match self {
            MergeError::Records(error) => error.help(),
            MergeError::Foreign { .. } => {
                "leave it out, or play it again as a shard of the same run"
            }
            MergeError::Version { .. } => {
                "merge with that one, or play the shard again with this one"
            }
            MergeError::Scenario(_) => "play the shard again",
            MergeError::Missing { help, .. } => help,
            MergeError::Disagree { .. } => {
                "one of them is not what this version plays: play both again with the same program"
            }
        }
    }
}

/// All shards of a run; every unit is in one of them.
#[derive(Debug)]
pub struct Shards {
    loaded: Loaded,
    /// The scenario at each point of its sweep; at the only one of a plain run.
    points: Vec<Scenario>,
    /// All units, in plan order.
    units: Vec<Unit>,
    shards: Vec<Shard>,
    /// Which shard has a unit.
    holders: BTreeMap<Unit, usize>,
}

/// What shards make together.
#[derive(Debug)]
pub enum Merged {
    /// The results of a run.
    Run(Results),
    /// Those of a sweep.
    Sweep(Swept),
}

#[derive(Debug)]
struct Shard {
    dir: PathBuf,
    log: Log,
}

impl Shards {
    /// Opens the shards in `dirs`, of which there is one at least.
    ///
    /// # Errors
    ///
    /// If they are not of one run and of this version, or are not all of it, or contradict each other.
    pub fn open(dirs: &[PathBuf]) -> Result<Shards, MergeError> {
        let manifests = dirs.iter().map(|dir| Manifest::read(dir));
        let manifests: Vec<Manifest> = manifests.collect::<Result<_, _>>()?;
        for (dir, manifest) in dirs.iter().zip(&manifests) {
            check_version(dir, manifest)?;
        }
        for (dir, manifest) in dirs.iter().zip(&manifests).skip(1) {
            if let Some(difference) = manifest.other_run(&manifests[0]) {
                let (dir, first) = (dir.clone(), dirs[0].clone());
                return Err(MergeError::Foreign { dir, first, difference });
            }
        }
        let digest = &manifests[0].digest;
        let changed = || MergeError::Scenario(dirs[0].clone());
        let mut loaded = manifests[0].load().map_err(|_| changed())?;
        if results::digest(&loaded) != *digest {
            return Err(changed());
        }
        let points = loaded.points(&loaded.scenario.sweep.clone()).map_err(|_| changed())?;
        let (units, shards, holders) = (plan::of_points(&points), Vec::new(), BTreeMap::new());
        let mut merged = Shards { loaded, points, units, shards, holders };
        for dir in dirs {
            merged.add(dir, digest)?;
        }
        merged.check_complete(&manifests)?;
        Ok(merged)
    }

    fn add(&mut self, dir: &Path, digest: &str) -> Result<(), MergeError> {
        let log = Log::read(&dir.join(LOG), digest)?;
        let index = self.shards.len();
        let units: Vec<Unit> = self.units.iter().copied().filter(|&unit| log.has(unit)).collect();
        self.shards.push(Shard { dir: dir.to_owned(), log });
        for unit in units {
            let holder = *self.holders.entry(unit).or_insert(index);
            if holder != index
                && self.shards[holder].log.payload(unit)? != self.shards[index].log.payload(unit)?
            {
                let (a, b) = (self.shards[holder].dir.clone(), dir.to_owned());
                let unit = unit.in_words(&self.loaded.scenario);
                return Err(MergeError::Disagree { a, b, unit });
            }
        }
        Ok(())
    }

    fn check_complete(&self, manifests: &[Manifest]) -> Result<(), MergeError> {
        let planned = self.units.len();
        let missing: Vec<(usize, Unit)> = self
            .units
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, unit)| !self.holders.contains_key(unit))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let scenario = &self.loaded.scenario;
        let named = some_of(
            missing
                .iter()
                .map(|(number, unit)| format!("number {number} ({})", unit.in_words(scenario))),
        );
        let help = match manifests[0].shard {
            Some(shard) => {
                let shards: BTreeSet<String> =
                    missing.iter().map(|&(number, _)| shard.sibling(number).to_string()).collect();
                format!(
                    "play shard {} to its end, and name its folder too: one that was interrupted goes \
                     on from there",
                    some_of(shards.into_iter())
                )
            }
            None => "finish the run: the same command goes on from there".to_owned(),
        };
        Err(MergeError::Missing { missing: missing.len(), planned, named, help })
    }

    /// The folders in which something could not be read, all of which another one has.
    pub fn damaged(&self) -> impl Iterator<Item = &Path> {
        self.shards.iter().filter(|shard| shard.log.damaged > 0).map(|shard| &*shard.dir)
    }

    /// The scenario that was played.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// The results of the whole run: those that it would have given on one machine.
    ///
    /// # Errors
    ///
    /// If a record can no longer be read.
    pub fn merge(mut self) -> Result<Merged, MergeError> {
        let units = std::mem::take(&mut self.units);
        if self.loaded.scenario.sweep.is_empty() {
            let scenario = self.loaded.scenario.clone();
            let mut folding = Folding::new(&scenario);
            for unit in units {
                folding.add(unit, self.record(unit)?);
            }
            let policies = folding.finish();
            return Ok(Merged::Run(Results { loaded: self.loaded, policies, partial: None }));
        }
        let points = std::mem::take(&mut self.points);
        let mut folding = FoldingPoints::new(&points);
        for unit in units {
            folding.add(unit, self.record(unit)?.values());
        }
        let (axes, outcomes) = (self.loaded.scenario.sweep.clone(), folding.finish());
        Ok(Merged::Sweep(Swept { loaded: self.loaded, points: Points { axes, outcomes } }))
    }

    fn record(&mut self, unit: Unit) -> Result<UnitRecord, MergeError> {
        let Shard { dir, log } = &mut self.shards[self.holders[&unit]];
        let record = log.payload(unit)?.and_then(|payload| log::record(&payload));
        record.ok_or_else(|| {
            let what = format!("{} cannot be read", unit.in_words(&self.loaded.scenario));
            RecordsError::Damaged { path: dir.join(LOG), what }.into()
        })
    }
}

/// The first of some names, and how many more there are.
fn some_of(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let mut named = names.take(MOST_NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        named.push_str(&format!(" and {more} more"));
    }
    named
}

/// Whether this very version and target played a shard.
fn check_version(dir: &Path, manifest: &Manifest) -> Result<(), MergeError> {
    let said = |version: &str, target: &str| format!("{version} for {target}");
    let (theirs, ours) = (said(&manifest.version, &manifest.target), said(VERSION, TARGET));
    if theirs == ours {
        return Ok(());
    }
    Err(MergeError::Version { dir: dir.to_owned(), theirs, ours })
}
