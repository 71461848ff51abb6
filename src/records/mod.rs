//! Unit records on disk: what is kept of a long run while it goes on, and what a shard leaves.
//!
//! A folder with two files. `units.json`, the [`Manifest`], says of which run they are and has all that it
//! takes to read the scenario again. `units.bin`, the log, has a checked frame for each unit, in the
//! order in which they finished. A unit whose frame is torn or damaged counts as not played. What was
//! recorded equals what would be played again, bit for bit, so results made from both are the same
//! bytes as those of a run in one go.

mod error;
mod log;
mod manifest;
mod merge;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

pub use error::RecordsError;
pub use manifest::Manifest;
pub use merge::{MergeError, Merged, Shards};

use crate::metrics::UnitRecord;
use crate::plan::Unit;
use log::Log;

/// The manifest's name.
const MANIFEST: &str = "units.json";
/// What the manifest is called until it is whole.
const FRESH: &str = "units.json.new";
/// The log's name.
const LOG: &str = "units.bin";

/// The records of one run, or of one shard of it, from any thread.
#[derive(Debug)]
pub struct Records {
    dir: PathBuf,
    manifest: Manifest,
    found: usize,
    damaged: usize,
    state: Mutex<State>,
}

/// Where records go.
#[derive(Debug)]
enum State {
    /// Nowhere yet: a run that is soon over needs none.
    Waiting,
    Open(Log),
    /// Nowhere any more.
    Failed(RecordsError),
}

impl Records {
    /// The records in `dir` of the run that `manifest` describes; creates nothing. With `force`, those
    /// of another run are deleted.
    ///
    /// # Errors
    ///
    /// If the folder holds anything else, or is in use, or cannot be read.
    pub fn open(dir: &Path, manifest: Manifest, force: bool) -> Result<Records, RecordsError> {
        let earlier = earlier(dir)?;
        if let Some(difference) = earlier.and_then(|earlier| earlier.difference(&manifest)) {
            if !force {
                return Err(RecordsError::OtherRun { dir: dir.to_owned(), difference });
            }
            remove(dir)?;
        }
        let path = dir.join(LOG);
        let mut records = Records {
            dir: dir.to_owned(),
            manifest,
            found: 0,
            damaged: 0,
            state: Mutex::new(State::Waiting),
        };
        if path.exists() {
            let log = Log::open(&path, &records.manifest.digest)?;
            (records.found, records.damaged) = (log.count(), log.damaged);
            records.state = Mutex::new(State::Open(log));
        }
        Ok(records)
    }

    /// Keeps records from now on. If that fails, no more are kept: see [`Records::have_failed`].
    pub fn begin(&self) {
        let mut state = self.state();
        if matches!(*state, State::Waiting) {
            *state = match self.create() {
                Ok(log) => State::Open(log),
                Err(error) => State::Failed(error),
            };
        }
    }

    fn create(&self) -> Result<Log, RecordsError> {
        fs::create_dir_all(&self.dir).map_err(RecordsError::io("create", &self.dir))?;
        let fresh = self.dir.join(FRESH);
        fs::write(&fresh, self.manifest.to_json())
            .and_then(|()| fs::rename(&fresh, self.dir.join(MANIFEST)))
            .map_err(RecordsError::io("write", &fresh))?;
        Log::open(&self.dir.join(LOG), &self.manifest.digest)
    }

    /// Where they are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// How many records earlier sittings have left.
    pub fn found(&self) -> usize {
        self.found
    }

    /// How many places of the log could not be read when it was opened.
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    /// How many records there are by now.
    pub fn count(&self) -> usize {
        match &*self.state() {
            State::Open(log) => log.count(),
            State::Waiting => 0,
            State::Failed(_) => self.found,
        }
    }

    /// Whether there is a record of `unit`.
    pub fn has(&self, unit: Unit) -> bool {
        matches!(&*self.state(), State::Open(log) if log.has(unit))
    }

    /// The record of `unit`; `None` if there is none, or it cannot be read.
    pub fn load(&self, unit: Unit) -> Option<UnitRecord> {
        let payload = match &mut *self.state() {
            State::Open(log) => log.payload(unit).ok()??,
            State::Waiting | State::Failed(_) => return None,
        };
        log::record(&payload)
    }

    /// Keeps the record of `unit`, if records are kept.
    pub fn keep(&self, unit: Unit, record: &UnitRecord) {
        if !matches!(*self.state(), State::Open(_)) {
            return;
        }
        let frame = log::frame(unit, record);
        let mut state = self.state();
        if let State::Open(log) = &mut *state
            && let Err(error) = log.append(unit, &frame)
        {
            *state = State::Failed(error);
        }
    }

    /// Whether records can no longer be kept.
    pub fn have_failed(&self) -> bool {
        matches!(*self.state(), State::Failed(_))
    }

    /// Ends the sitting with all records on disk.
    ///
    /// # Errors
    ///
    /// Why records could not be kept.
    pub fn close(self) -> Result<(), RecordsError> {
        match self.state.into_inner().expect(UNBROKEN) {
            State::Waiting => Ok(()),
            State::Open(log) => log.sync(),
            State::Failed(error) => Err(error),
        }
    }

    /// Deletes the records, which the results have made superfluous.
    ///
    /// # Errors
    ///
    /// If they cannot be deleted, or could not be kept.
    pub fn remove(self) -> Result<(), RecordsError> {
        match self.state.into_inner().expect(UNBROKEN) {
            State::Waiting => Ok(()),
            State::Open(_) => remove(&self.dir),
            State::Failed(error) => remove(&self.dir).and(Err(error)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(UNBROKEN)
    }
}

const UNBROKEN: &str = "nothing panics while it holds the records";

/// The manifest in `dir`; `None` where there is none, nor anything that is not ours.
fn earlier(dir: &Path) -> Result<Option<Manifest>, RecordsError> {
    match Manifest::read(dir) {
        Ok(manifest) => Ok(Some(manifest)),
        Err(error @ RecordsError::None(_)) => {
            let ours = match fs::read_dir(dir) {
                // A kill may have left a manifest that was not yet whole.
                Ok(mut entries) => {
                    entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == FRESH))
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => true,
                Err(source) => return Err(RecordsError::io("read", dir)(source)),
            };
            if ours { Ok(None) } else { Err(error) }
        }
        Err(error) => Err(error),
    }
}

/// Deletes the records in `dir`, and the folder unless it holds something else. The manifest goes last, so
/// that what is left by a kill in between is still known as ours.
fn remove(dir: &Path) -> Result<(), RecordsError> {
    for name in [LOG, MANIFEST] {
        let path = dir.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(RecordsError::io("delete", &path)(error));
            }
            _ => {}
        }
    }
    // What else somebody put there stays.
    let _ = fs::remove_dir(dir);
    Ok(())
}
