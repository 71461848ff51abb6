//! `herdsim new`: a first scenario of one's own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::values::{count, positive};
use super::whole::{self, Earlier};
use super::{Console, Failure};
use crate::scenario::starter::{Starter, between, from_pgbouncer, from_stats, from_url};
use crate::units::Span;

/// Write a first scenario of your own, which runs at once
#[derive(Debug, Args)]
pub(super) struct New {
    /// What it is called; its file is NAME.toml
    name: String,
    /// Clients that poll [default: 1000]
    #[arg(long, value_name = "N", value_parser = count(1..=u32::MAX))]
    clients: Option<u32>,
    /// Connections to the database [default: 20]
    #[arg(long, value_name = "N", value_parser = count(1..=1_000_000))]
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
    /// Take rate and time of transactions from PgBouncer's SHOW STATS or from pg_stat_statements, as psql
    /// --csv prints them; twice for two of them, --apart from each other
    #[arg(long, value_name = "FILE")]
    stats: Vec<PathBuf>,
    /// The time between the two
    #[arg(long, value_name = "DURATION", value_parser = positive, requires = "stats")]
    apart: Option<Span>,
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
        let starter = self.under_load(self.found()?.but(own), console)?;
        let path = self.path()?;
        let earlier = if self.force { Earlier::IsReplaced } else { Earlier::Stays };
        whole::write(&path, earlier, |file| file.write_all(starter.text().as_bytes()))?;
        if !starter.taken.is_empty() {
            console.say(&format!("taken: {}", starter.taken.join(", ")));
        }
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
                let text = text(path, "name a readable pgbouncer.ini")?;
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

    /// The same with the load that the counters of a database tell of.
    fn under_load(&self, starter: Starter, console: &Console) -> Result<Starter, Failure> {
        let readable = "name a readable file that psql --csv has printed";
        let usage = |what: String, help: &str| Failure::Usage { what, help: help.to_owned() };
        let (stats, file) = match (&self.stats[..], self.apart) {
            ([], _) => return Ok(starter),
            ([path], None) => {
                let stats = from_stats(&text(path, readable)?);
                (stats, path.display().to_string())
            }
            ([first, second], Some(apart)) => {
                let stats = between(&text(first, readable)?, &text(second, readable)?, apart);
                (stats, format!("{} and {}", first.display(), second.display()))
            }
            _ => {
                let what = "--apart goes with two --stats, and these with it".to_owned();
                let help = "write --stats FILE, or --stats FIRST --stats SECOND --apart 60s";
                return Err(usage(what, help));
            }
        };
        let stats = stats.map_err(|what| {
            let help = "write it as in: psql --csv -p 6432 pgbouncer -c 'SHOW STATS' > stats.csv";
            usage(format!("{file}: {what}"), help)
        })?;
        if stats.rate.is_none() && (self.clients.is_none() || self.poll.is_none()) {
            console.say(&format!(
                "no rate: {file} counts from a beginning that it does not tell; write it twice and \
                 name both, --stats FIRST --stats SECOND --apart 60s, or say --clients and --poll"
            ));
        }
        let more = "say more --clients, or a shorter --service";
        starter.under(&stats, &file).map_err(|what| usage(format!("{file}: {what}"), more))
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

fn text(path: &Path, help: &str) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::Usage {
        what: format!("cannot read {}: {error}", path.display()),
        help: help.to_owned(),
    })
}
