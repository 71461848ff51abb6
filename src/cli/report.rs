//! `herdsim report`: the page and pictures of a finished run, made again.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use super::{Console, Failure};
use crate::report::page;
use crate::results::{Archive, ReadError, SweptArchive, folder};

/// Make the page and pictures of a results folder again
#[derive(Debug, Args)]
pub(super) struct Report {
    /// A results folder
    results: PathBuf,
    /// Open the page
    #[arg(long)]
    open: bool,
}

impl Report {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let page = write(&self.results)?;
        console.say(&format!("wrote {}", page.display()));
        if self.open { open(&page) } else { Ok(()) }
    }
}

/// Writes the page and the pictures into a results folder; where the page is.
pub(super) fn write(results: &Path) -> Result<PathBuf, Failure> {
    let views = match Archive::open(results) {
        Err(ReadError::Swept(_)) => page::swept_views(&SweptArchive::open(results)?),
        archive => page::views(&archive?),
    };
    folder::put_views(results, &views)?;
    Ok(results.join(folder::PAGE))
}

/// Shows a page with what the platform opens pages with.
pub(super) fn open(page: &Path) -> Result<(), Failure> {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let started = Command::new(program)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.map(drop).map_err(|error| Failure::Usage {
        what: format!("cannot open {} with `{program}`: {error}", page.display()),
        help: "open it in a browser yourself".to_owned(),
    })
}
