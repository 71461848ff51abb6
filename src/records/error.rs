//! Why unit records cannot be read or kept.

use std::io;
use std::path::{Path, PathBuf};

/// Why unit records cannot be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
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
    /// There is no manifest, and there may be something else.
    #[error("{} holds no unit records of herdsim", .0.display())]
    None(PathBuf),
    /// The manifest is not as this version or another writes it.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// How.
        what: String,
    },
    /// They are those of another run.
    #[error("{} holds unit records of another run: {difference}", dir.display())]
    OtherRun {
        /// The folder.
        dir: PathBuf,
        /// What is different about it.
        difference: String,
    },
    /// Somebody is adding to them.
    #[error("another herdsim is at work on {}", .0.display())]
    InUse(PathBuf),
}

impl RecordsError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            RecordsError::Io { .. } => {
                "see that it is there and may be read and written, and that there is room"
            }
            RecordsError::None(_) => {
                "name a folder that `herdsim run --shard K/N` has written, or an empty one to write to"
            }
            RecordsError::Damaged { .. } => {
                "delete the folder; what it held is played again, to the same bytes"
            }
            RecordsError::OtherRun { .. } => {
                "finish that run first, give it up with `--force`, or choose another folder with `--out`"
            }
            RecordsError::InUse(_) => "wait for it, or choose another folder with `--out`",
        }
    }

    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RecordsError {
        let path = path.to_owned();
        move |source| RecordsError::Io { doing, path, source }
    }
}
