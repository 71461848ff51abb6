//! `herdsim report`: the page and pictures of a finished run, made again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use super::{Console, Failure};
use crate::report::{activity, page};
use crate::results::{Activity, Archive, ReadError, SweptArchive, folder};
use crate::scenario::Scenario;

/// Make the page and pictures of a results folder again
#[derive(Debug, Args)]
pub(super) struct Report {
    /// A results folder
    results: PathBuf,
    /// Lay what a monitor saw beside it: a CSV file with the columns active and perhaps waiting, clients
    /// and t_s or time
    #[arg(long, value_name = "FILE")]
    activity: Option<PathBuf>,
    /// Open the page
    #[arg(long)]
    open: bool,
}

impl Report {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let page = match Archive::open(&self.results) {
            Err(ReadError::Swept(_)) if self.activity.is_none() => write_swept(&self.results)?,
            archive => self.write_run(archive?, console)?,
        };
        console.say(&format!("wrote {}", page.display()));
        if self.open { open(&page) } else { Ok(()) }
    }

    fn write_run(&self, mut archive: Archive, console: &Console) -> Result<PathBuf, Failure> {
        if let Some(path) = &self.activity {
            archive.activity = Some(read_activity(path, &archive.loaded.scenario)?);
        }
        let page = write(&self.results, &archive)?;
        console.data(activity::terminal(&archive, &console.style()).as_bytes())?;
        Ok(page)
    }
}

/// Writes the page and the pictures into a results folder; where the page is.
pub(super) fn write(results: &Path, archive: &Archive) -> Result<PathBuf, Failure> {
    folder::put_views(results, &page::views(archive))?;
    Ok(results.join(folder::PAGE))
}

/// The same for a folder of swept results.
pub(super) fn write_swept(results: &Path) -> Result<PathBuf, Failure> {
    folder::put_views(results, &page::swept_views(&SweptArchive::open(results)?))?;
    Ok(results.join(folder::PAGE))
}

/// What a monitor saw, at least once in the measured window of `scenario`.
pub(super) fn read_activity(path: &Path, scenario: &Scenario) -> Result<Activity, Failure> {
    let file = path.display();
    let usage = |what: String, help: &str| Failure::Usage { what, help: help.to_owned() };
    let text = fs::read_to_string(path).map_err(|error| {
        usage(format!("cannot read {file}: {error}"), "name a readable CSV file")
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let activity = Activity::parse(&name, &text).map_err(|what| {
        let help = "write a row for each reading, with the columns active and perhaps waiting, clients \
                    and t_s or time";
        usage(format!("{file}: {what}"), help)
    })?;
    if activity.within(scenario).next().is_none() {
        let (from, to) = (scenario.run.warm_up, scenario.run.duration);
        let help = "its times count from the beginning of the run: without a column t_s or time a row \
                    is a second, the first at 0";
        return Err(usage(format!("no reading of {file} is from {from} to {to} of the run"), help));
    }
    Ok(activity)
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
