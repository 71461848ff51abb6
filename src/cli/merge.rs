//! `herdsim merge`: the results of a run whose shards were played apart.

use std::path::PathBuf;

use clap::Args;

use super::run::{Format, show, show_sweep};
use super::{Console, Failure, report};
use crate::records::{Merged, Shards};
use crate::results::{self, Archive, folder};

/// Make the results of a run from its shards
///
/// They are the bytes that the run would have written on one machine. Each folder is one that
/// `herdsim run --shard K/N` has written; shards that do not belong together, or are not all of the run,
/// are refused.
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// Folders of the shards
    #[arg(value_name = "DIR", required = true)]
    shards: Vec<PathBuf>,
    /// Folder of the results
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace the results of another run
    #[arg(long)]
    force: bool,
    /// Write no page and no pictures
    #[arg(long)]
    no_report: bool,
    /// What to print on stdout
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

impl Merge {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let shards = Shards::open(&self.shards)?;
        folder::check(&self.out, &results::digest(shards.loaded()), self.force)?;
        for dir in shards.damaged() {
            let dir = dir.display();
            console
                .say(&format!("warning: a part of {dir} is damaged: another shard has its units"));
        }
        match shards.merge()? {
            Merged::Run(results) => {
                results.write(&self.out, self.force)?;
                if !self.no_report {
                    report::write(&self.out, &Archive::open(&self.out)?)?;
                }
                console.say(&format!("wrote {}", self.out.display()));
                show(&results, &self.out, self.format, console)
            }
            Merged::Sweep(swept) => {
                swept.write(&self.out, self.force)?;
                if !self.no_report {
                    report::write_swept(&self.out)?;
                }
                console.say(&format!("wrote {}", self.out.display()));
                show_sweep(&swept, &self.out, self.format, console)
            }
        }
    }
}
