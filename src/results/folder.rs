//! A results folder on disk: written whole or not at all, and never over what is not ours.
//!
//! Files go into a fresh folder beside the final one, which then takes its name. Where results stood
//! before, they are moved aside first and deleted last, so that a failure at any point leaves the old
//! ones or the new ones complete. Views of the results are put in beside them, file by file.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tempfile::TempDir;

use super::File;
use super::manifest::{NAME, TOOL};

/// Why a results folder cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is something, and it is no folder.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder is the current one, holds it, or has no name.
    #[error("{} cannot be replaced: it is the current folder or holds it", .0.display())]
    InUse(PathBuf),
    /// The folder holds something, but no manifest.
    #[error("{} is not empty and holds no finished results of herdsim", .0.display())]
    Foreign(PathBuf),
    /// The folder holds results, and something else.
    #[error("{} holds `{}`, which is no part of its results", .dir.display(), .entry.display())]
    Mixed {
        /// The folder.
        dir: PathBuf,
        /// What else is in it.
        entry: OsString,
    },
    /// The folder holds the results of another run.
    #[error("{} holds the results of another run", .0.display())]
    OtherDigest(PathBuf),
    /// New results could not take the place of the old ones, nor could these be put back.
    #[error("cannot replace {}: {source}; its old results are in {}", dir.display(), aside.display())]
    Aside {
        /// The folder.
        dir: PathBuf,
        /// Where its old results are now.
        aside: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl ResultsError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            ResultsError::OtherDigest(_) => {
                "replace them with `--force`, or choose another folder with `--out`"
            }
            ResultsError::Mixed { .. } => {
                "move it elsewhere, or choose another folder with `--out`"
            }
            ResultsError::Foreign(_) => {
                "choose another folder with `--out`, or empty this one yourself"
            }
            ResultsError::Io { .. } => {
                "see that there is room and that it may be written to, or choose another folder with \
                 `--out`"
            }
            ResultsError::NotAFolder(_) | ResultsError::InUse(_) => {
                "choose another folder with `--out`"
            }
            ResultsError::Aside { .. } => "see what is in its way, then move them back",
        }
    }

    fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ResultsError {
        let path = path.to_owned();
        move |source| ResultsError::Io { doing, path, source }
    }
}

/// Whether results with `digest` may be written to `dir`, before anything is run; creates nothing.
///
/// They may where there is nothing, an empty folder, or finished results of the same digest (the bytes
/// will be the same); with `force` also finished results of another. Whatever else a folder holds is
/// not ours to delete, forced or not.
pub fn check(dir: &Path, digest: &str, force: bool) -> Result<(), ResultsError> {
    let place = Place::of(dir)?;
    if place.occupied {
        check_replaceable(dir, digest, force)?;
    }
    let nearest = nearest_existing(&place.parent);
    // An unnamed file: it is the only sure way to learn whether a folder may be written to.
    tempfile::tempfile_in(nearest).map_err(ResultsError::io("write to", nearest))?;
    Ok(())
}

/// Whether `dir` holds the whole results with `digest`, which partial ones must not replace.
pub fn holds(dir: &Path, digest: &str) -> bool {
    let manifest = fs::read(dir.join(NAME)).ok();
    let ours = manifest.and_then(|bytes| serde_json::from_slice::<Ours>(&bytes).ok());
    ours.is_some_and(|ours| ours.tool == TOOL && ours.digest == digest && !ours.partial)
}

/// Writes `files` as the folder `dir`, after another [`check`].
pub(super) fn write(
    dir: &Path,
    digest: &str,
    force: bool,
    files: &[File],
) -> Result<(), ResultsError> {
    check(dir, digest, force)?;
    let place = Place::of(dir)?;
    let parent = &place.parent;
    fs::create_dir_all(parent).map_err(ResultsError::io("create", parent))?;
    let fresh = fresh_folder(parent).map_err(ResultsError::io("create a folder in", parent))?;
    for file in files {
        let path = fresh.path().join(file.name);
        write_file(&path, &file.bytes).map_err(ResultsError::io("write", &path))?;
    }
    if place.occupied { replace(&place, fresh) } else { settle(&place.folder, fresh) }
}

/// The page among the views.
pub const PAGE: &str = "report.html";

/// What a report leaves in a results folder beside its data: made from them at any time, so that no
/// manifest lists them.
const VIEWS: [&str; 9] = [
    PAGE,
    "timeline.svg",
    "concurrency.svg",
    "drain.svg",
    "clients.svg",
    "attempts.svg",
    "activity.svg",
    "sweep.svg",
    "map.svg",
];

/// Puts `views` into the results folder `dir`, each whole or not at all, in the place of earlier ones.
///
/// # Errors
///
/// If one of them cannot be written, or an earlier one not be removed.
pub fn put_views(dir: &Path, views: &[File]) -> Result<(), ResultsError> {
    let folder = fs::canonicalize(dir).map_err(ResultsError::io("look at", dir))?;
    let parent = folder.parent().unwrap_or(&folder);
    let fresh = fresh_folder(parent).map_err(ResultsError::io("create a folder in", parent))?;
    for name in VIEWS {
        let path = folder.join(name);
        let failed = ResultsError::io("write", &path);
        let done = match views.iter().find(|view| view.name == name) {
            Some(view) => {
                let whole = fresh.path().join(name);
                write_file(&whole, &view.bytes).and_then(|()| fs::rename(&whole, &path))
            }
            None if path.exists() => fs::remove_file(&path),
            None => Ok(()),
        };
        done.map_err(failed)?;
    }
    Ok(())
}

/// Where a folder goes, links resolved.
struct Place {
    folder: PathBuf,
    parent: PathBuf,
    occupied: bool,
}

impl Place {
    fn of(dir: &Path) -> Result<Place, ResultsError> {
        let occupied = match fs::metadata(dir) {
            Ok(metadata) if !metadata.is_dir() => {
                return Err(ResultsError::NotAFolder(dir.to_owned()));
            }
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(source) => return Err(ResultsError::io("look at", dir)(source)),
        };
        let folder = if occupied { fs::canonicalize(dir) } else { std::path::absolute(dir) }
            .map_err(ResultsError::io("look at", dir))?;
        let holds_us = std::env::current_dir().is_ok_and(|current| current.starts_with(&folder));
        match folder.parent() {
            Some(parent) if !holds_us && folder.file_name().is_some() => {
                Ok(Place { parent: parent.to_owned(), folder, occupied })
            }
            _ => Err(ResultsError::InUse(dir.to_owned())),
        }
    }
}

/// The part of a manifest that says whether its folder may be replaced.
#[derive(Deserialize)]
struct Ours {
    tool: String,
    digest: String,
    #[serde(default)]
    partial: bool,
    files: Vec<String>,
}

fn check_replaceable(dir: &Path, digest: &str, force: bool) -> Result<(), ResultsError> {
    let entries: Vec<OsString> = fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect())
        .map_err(ResultsError::io("read", dir))?;
    if entries.is_empty() {
        return Ok(());
    }
    let manifest = match fs::read(dir.join(NAME)) {
        Ok(bytes) => serde_json::from_slice::<Ours>(&bytes).ok(),
        Err(_) => None,
    };
    let Some(ours) = manifest.filter(|manifest| manifest.tool == TOOL) else {
        return Err(ResultsError::Foreign(dir.to_owned()));
    };
    let known = |entry: &OsString| {
        let mut ours = ours.files.iter().map(String::as_str).chain(VIEWS);
        entry == NAME || ours.any(|file| entry == file)
    };
    if let Some(entry) = entries.into_iter().find(|entry| !known(entry)) {
        return Err(ResultsError::Mixed { dir: dir.to_owned(), entry });
    }
    if ours.digest != digest && !force {
        return Err(ResultsError::OtherDigest(dir.to_owned()));
    }
    Ok(())
}

fn nearest_existing(path: &Path) -> &Path {
    path.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(path)
}

fn fresh_folder(parent: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".herdsim-");
    // Temporary folders are private by default; this one becomes an ordinary folder.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    builder.tempdir_in(parent)
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(bytes)?;
    // On disk before the folder gets its name, so that not even a power cut leaves half a file.
    file.sync_all()
}

/// Gives the fresh folder its name, where nothing stands.
fn settle(folder: &Path, fresh: TempDir) -> Result<(), ResultsError> {
    fs::rename(fresh.path(), folder).map_err(ResultsError::io("create", folder))?;
    // It is no longer where it would be deleted from.
    let _ = fresh.keep();
    Ok(())
}

/// Puts the fresh folder in the place of the old one.
fn replace(place: &Place, fresh: TempDir) -> Result<(), ResultsError> {
    let folder = &place.folder;
    let failed = ResultsError::io("replace", folder);
    let holder = match fresh_folder(&place.parent) {
        Ok(holder) => holder,
        Err(source) => return Err(failed(source)),
    };
    let aside = holder.path().join("old");
    if let Err(source) = fs::rename(folder, &aside) {
        return Err(failed(source));
    }
    let settled = settle(folder, fresh);
    if settled.is_err()
        && let Err(source) = fs::rename(&aside, folder)
    {
        // Dropping the holder would delete the old results.
        let aside = holder.keep().join("old");
        return Err(ResultsError::Aside { dir: folder.clone(), aside, source });
    }
    settled
}
