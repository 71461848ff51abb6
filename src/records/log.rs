//! `units.bin`: a line that says of which run, then one frame per finished unit.
//!
//! A frame is the length of its payload and a CRC-32 of it, four bytes each with the least first; the
//! payload is (unit, record) in postcard's format. A frame is appended in one piece; where a kill or a full
//! disk leaves half of one, it is at the end and cut off when the log is opened the next time.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::RecordsError;
use crate::metrics::UnitRecord;
use crate::plan::Unit;

/// What the format is called; a change of it, or of what a record holds, takes another number.
const FORMAT: &str = "herdsim unit records 3";
/// Length and checksum before a payload.
const HEAD: u64 = 8;

/// Where a payload is.
#[derive(Clone, Copy, Debug)]
struct Place {
    offset: u64,
    length: usize,
}

/// An open log.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Behind the last whole frame.
    end: u64,
    places: BTreeMap<Unit, Place>,
    /// Frames that could not be read when it was opened.
    pub damaged: usize,
}

impl Log {
    /// Opens the log of the run with `digest` to add to it, and creates it where there is none; whoever
    /// opens it a second time is refused.
    pub fn open(path: &Path, digest: &str) -> Result<Log, RecordsError> {
        let failed = |error| RecordsError::io("open", path)(error);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(path).map_err(failed)?;
        // Where a file system has no locks, nobody is kept out.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(RecordsError::InUse(path.parent().unwrap_or(path).to_owned()));
        }
        let mut log = Log::scan(path, file, digest)?;
        log.file.set_len(log.end).map_err(failed)?;
        if log.end == 0 {
            log.write(header(digest).as_bytes())?;
        }
        Ok(log)
    }

    /// Opens the log of the run with `digest` as it is.
    pub fn read(path: &Path, digest: &str) -> Result<Log, RecordsError> {
        let file = File::open(path).map_err(RecordsError::io("open", path))?;
        Log::scan(path, file, digest)
    }

    /// Finds all whole frames whose checksum is right.
    fn scan(path: &Path, file: File, digest: &str) -> Result<Log, RecordsError> {
        let (path_buf, places) = (path.to_owned(), BTreeMap::new());
        let mut log = Log { path: path_buf, file, end: 0, places, damaged: 0 };
        log.find(digest).map_err(RecordsError::io("read", path))?;
        Ok(log)
    }

    fn find(&mut self, digest: &str) -> io::Result<()> {
        let size = self.file.metadata()?.len();
        let mut reader = BufReader::with_capacity(1 << 16, &self.file);
        let (header, mut first) = (header(digest), Vec::new());
        reader.by_ref().take(header.len() as u64).read_to_end(&mut first)?;
        if first != header.as_bytes() {
            self.damaged = usize::from(size > 0);
            return Ok(());
        }
        self.end = header.len() as u64;
        let mut payload = Vec::new();
        while size - self.end >= HEAD {
            let (mut length, mut sum) = ([0; 4], [0; 4]);
            reader.read_exact(&mut length)?;
            reader.read_exact(&mut sum)?;
            let length = u32::from_le_bytes(length);
            let behind = self.end + HEAD + u64::from(length);
            if behind > size {
                break;
            }
            payload.resize(length as usize, 0);
            reader.read_exact(&mut payload)?;
            let whole = crc32fast::hash(&payload) == u32::from_le_bytes(sum);
            match postcard::take_from_bytes::<Unit>(&payload) {
                Ok((unit, _)) if whole => {
                    let place = Place { offset: self.end + HEAD, length: payload.len() };
                    self.places.insert(unit, place);
                }
                _ => self.damaged += 1,
            }
            self.end = behind;
        }
        self.damaged += usize::from(self.end < size);
        Ok(())
    }

    /// How many units are on record.
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Whether `unit` is on record.
    pub fn has(&self, unit: Unit) -> bool {
        self.places.contains_key(&unit)
    }

    /// The payload of `unit`; `None` if it is not on record.
    pub fn payload(&mut self, unit: Unit) -> Result<Option<Vec<u8>>, RecordsError> {
        let Some(place) = self.places.get(&unit) else { return Ok(None) };
        let mut payload = vec![0; place.length];
        let sought = self.file.seek(SeekFrom::Start(place.offset));
        let read = sought.and_then(|_| self.file.read_exact(&mut payload));
        read.map_err(RecordsError::io("read", &self.path))?;
        Ok(Some(payload))
    }

    /// Adds the frame of `unit`.
    pub fn append(&mut self, unit: Unit, frame: &[u8]) -> Result<(), RecordsError> {
        let place = Place { offset: self.end + HEAD, length: frame.len() - HEAD as usize };
        self.write(frame)?;
        self.places.insert(unit, place);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RecordsError> {
        let sought = self.file.seek(SeekFrom::Start(self.end));
        let written = sought.and_then(|_| self.file.write_all(bytes));
        written.map_err(RecordsError::io("write", &self.path))?;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Waits until all of it is on disk.
    pub fn sync(&self) -> Result<(), RecordsError> {
        self.file.sync_all().map_err(RecordsError::io("write", &self.path))
    }
}

impl Drop for Log {
    /// Lets go of the lock. A process that is just being started has a copy of the open file for a moment,
    /// and with it the lock, which the end of this one alone would not end.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

fn header(digest: &str) -> String {
    format!("{FORMAT} {digest}\n")
}

/// The frame of a unit's record.
pub(super) fn frame(unit: Unit, record: &UnitRecord) -> Vec<u8> {
    let space = vec![0; HEAD as usize];
    let mut frame =
        postcard::to_extend(&(unit, record), space).expect("a vector takes every record");
    let (head, payload) = frame.split_at_mut(HEAD as usize);
    let length = u32::try_from(payload.len()).expect("a record takes some hundred kilobytes");
    head[..4].copy_from_slice(&length.to_le_bytes());
    head[4..].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
    frame
}

/// The record in a payload.
pub(super) fn record(payload: &[u8]) -> Option<UnitRecord> {
    postcard::from_bytes::<(Unit, UnitRecord)>(payload).ok().map(|(_, record)| record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_open_file_does_not_keep_the_lock() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("units.bin");
        let log = Log::open(&path, "digest").unwrap();
        let copy = log.file.try_clone().unwrap();
        assert!(matches!(Log::open(&path, "digest"), Err(RecordsError::InUse(_))));
        drop(log);
        assert!(Log::open(&path, "digest").is_ok());
        drop(copy);
    }
}
