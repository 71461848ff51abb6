//! `herdsim man`: manual pages.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_mangen::Man as Page;

use super::{Cli, Console, Failure};

/// Print the manual page, or write one for each command
#[derive(Debug, Args)]
pub(super) struct Man {
    /// A folder for a page of each command [default: the program's page on stdout]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Man {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let Some(folder) = self.folder else {
            let mut page = Vec::new();
            Page::new(Cli::command()).render(&mut page).map_err(Failure::stdout)?;
            return console.data(&page);
        };
        fs::create_dir_all(&folder).map_err(Failure::file(&folder))?;
        clap_mangen::generate_to(Cli::command(), &folder).map_err(Failure::file(&folder))?;
        console.say(&format!("wrote manual pages into {}", folder.display()));
        Ok(())
    }
}
