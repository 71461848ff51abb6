//! `herdsim new`: a first scenario of one's own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use tempfile::NamedTempFile;

use super::{Console, Failure};
use crate::scenario::starter::{Starter, from_pgbouncer, from_url};
use crate::units::Span;

/// Write a first scenario of your own, which runs at once
#[derive(Debug, Args)]
pub(super) struct New {
    /// What it is called; its file is NAME.toml
    name: String,
    /// Clients that poll [default: 1000]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    clients: Option<u32>,
    /// Connections to the database [default: 20]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=1_000_000))]
    pool: Option<u32>,
    /// Between two polls of a client [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = positive)]
    poll: Option<Span>,
    /// What a transaction takes in the database [default: 50ms]
    #[arg(long, value_name = "DURATION", value_parser = positive)]
    service: Option<Span>,
    /// Take caps and timeouts from a pgbouncer.ini
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Take timeouts from a connection URL, postgresql://…
    #[arg(long, value_name = "URL", conflicts_with = "from")]
    from_url: Option<String>,
    /// Where to write it [default: NAME.toml]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

impl New {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let own = Starter {
            clients: self.clients,
            pool: self.pool,
            poll: self.poll,
            service: self.service,
            ..Starter::default()
        };
        let starter = self.found()?.but(own);
        let path = self.path()?;
        write(&path, &starter.text(), self.force)?;
        if !starter.ignored.is_empty() {
            console.say(&format!("not taken: {}", starter.ignored.join(", ")));
        }
        let path = path.display();
        console.say(&format!("wrote {path}; now: herdsim check {path}, herdsim run {path}"));
        Ok(())
    }

    /// What the user has already.
    fn found(&self) -> Result<Starter, Failure> {
        let (read, help) = match (&self.from, &self.from_url) {
            (Some(path), _) => {
                let text = fs::read_to_string(path).map_err(|error| Failure::Usage {
                    what: format!("cannot read {}: {error}", path.display()),
                    help: "name a readable pgbouncer.ini".to_owned(),
                })?;
                let named = |error| format!("{}: {error}", path.display());
                (from_pgbouncer(&text).map_err(named), "correct it, or take the line out of a copy")
            }
            (None, Some(url)) => {
                (from_url(url), "write it as in 'postgresql://host:6432/db?connect_timeout=10'")
            }
            (None, None) => (Ok(Starter::default()), ""),
        };
        read.map_err(|what| Failure::Usage { what, help: help.to_owned() })
    }

    fn path(&self) -> Result<PathBuf, Failure> {
        if let Some(out) = &self.out {
            return Ok(out.clone());
        }
        let plain = Path::new(&self.name).file_name().is_some_and(|name| *name == *self.name);
        if !plain || self.name.ends_with(".toml") {
            return Err(Failure::Usage {
                what: format!("`{}` is no name for a scenario", self.name),
                help: "write a plain name, as in `herdsim new mine`, and the file with --out"
                    .to_owned(),
            });
        }
        Ok(format!("{}.toml", self.name).into())
    }
}

/// Writes a file whole or not at all.
fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file =
        NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(Failure::file(path))?;
    file.write_all(text.as_bytes()).map_err(Failure::file(path))?;
    let done = if force { file.persist(path) } else { file.persist_noclobber(path) };
    match done {
        Ok(_) => Ok(()),
        Err(refused) if !force && path.exists() => {
            drop(refused);
            Err(Failure::Usage {
                what: format!("{} is there already", path.display()),
                help: "choose another name, or replace it with --force".to_owned(),
            })
        }
        Err(error) => Err(Failure::file(path)(error.error)),
    }
}

/// A duration longer than none.
fn positive(written: &str) -> Result<Span, String> {
    match written.parse::<Span>() {
        Ok(Span::ZERO) => Err("it must be longer than zero".to_owned()),
        Ok(span) => Ok(span),
        Err(error) => Err(format!("{error}; write it with its unit, as in 30s or 40ms")),
    }
}
