//! A first scenario of one's own: a restart of everything, and three ways to meet it.
//!
//! It is written from a few numbers, or from what an operator has: a `pgbouncer.ini`, a connection URL, the
//! counters of a database.

mod pgbouncer;
mod stats;
mod url;

use std::fmt::Write;

use crate::units::Span;

pub use pgbouncer::from_pgbouncer;
pub use stats::{Stats, between, from_stats};
pub use url::from_url;

/// From a client to the pooler and back, in a first scenario.
const ROUND_TRIP: Span = Span::from_millis(1);

/// What a first scenario is written from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Starter {
    /// Clients that poll.
    pub clients: Option<u32>,
    /// Backends of the pool.
    pub pool: Option<u32>,
    /// Between two polls of a client.
    pub poll: Option<Span>,
    /// What a transaction takes in the database.
    pub service: Option<Span>,
    /// The pooler whose defaults hold.
    pub preset: Option<&'static str>,
    /// Further keys of `[pooler]`, as they are written.
    pub pooler: Vec<(&'static str, String)>,
    /// Keys of `[pooler.logins]`, as they are written.
    pub logins: Vec<(&'static str, String)>,
    /// Further keys of the policies, as they are written.
    pub policy: Vec<(&'static str, String)>,
    /// What the load was taken from, as a comment.
    pub rate_note: String,
    /// What the time of a transaction was taken from, as a comment.
    pub service_note: String,
    /// What of the load was taken.
    pub taken: Vec<String>,
    /// What was there to be taken and was not, by name.
    pub ignored: Vec<String>,
}

impl Starter {
    /// The same with what `said` says in place of its own.
    pub fn but(self, said: Starter) -> Starter {
        Starter {
            clients: said.clients.or(self.clients),
            pool: said.pool.or(self.pool),
            poll: said.poll.or(self.poll),
            service: said.service.or(self.service),
            ..self
        }
    }

    /// The scenario, with comments that say what to change.
    pub fn text(&self) -> String {
        let clients = self.clients.unwrap_or(1_000);
        let poll = self.poll_or_default();
        let service = self.service_or_default();
        let (rate_note, service_note) = (&self.rate_note, &self.service_note);
        let warm_up = Span::from_secs(120).max(poll + poll);
        let duration =
            warm_up + Span::from_secs(600).max(Span::from_ticks(poll.ticks().saturating_mul(10)));
        let pooler = self.pooler();
        let logins = section("[pooler.logins]", &self.logins);
        let policy = lines(&self.policy);
        format!(
            "\
title = \"A restart of {clients} clients\"

# What happens to the fleet when all of it restarts at once, and does a spread of the start or of the
# polls help? `herdsim explain KEY` tells of any key, and what else could stand there.

[run]
duration = \"{duration}\"
warm_up = \"{warm_up}\"        # not measured
replicates = 10          # random worlds that every policy meets
seed = 1

[fleet]
{rate_note}clients = {clients}
round_trip = \"{ROUND_TRIP}\"       # from a client to the pooler and back
initial = {{ warm = {{ interval = \"{poll}\" }} }}

{pooler}{logins}[database]
{service_note}claim = {{ exponential = {{ mean = \"{service}\" }} }}
contention = \"none\"      # {{ cores = 16 }} if more than so many at once slow each other down

[[disturbance]]
at = \"{warm_up}\"
restart = {{ clients = 1.0, over = \"1s\", database = true }}

# All clients poll at a fixed interval and start as soon as they can.
[policy.as-it-is]
poll = [\"{poll}\"]
{policy}
# The first poll comes at a random time within one interval.
[policy.spread]
extends = \"as-it-is\"
start_up = {{ uniform = [\"0s\", \"{poll}\"] }}

# So does every other.
[policy.spread-and-jitter]
extends = \"spread\"
poll = [\"{poll}\", {{ scale = [0.5, 1.5] }}]

# What the results shall be: then `herdsim run` ends with exit code 1 where they are not.
# [thresholds]
# time_to_drain_s = \"< 120\"
",
        )
    }

    fn poll_or_default(&self) -> Span {
        self.poll.unwrap_or(Span::from_secs(30))
    }

    fn service_or_default(&self) -> Span {
        self.service.unwrap_or(Span::from_millis(50))
    }

    fn pooler(&self) -> String {
        let pool = match (self.pool, self.preset) {
            (Some(pool), _) => Some(pool),
            (None, Some(_)) => None,
            (None, None) => Some(20),
        };
        let preset = self.preset.map(|preset| ("preset", format!("\"{preset}\"")));
        let pool = pool.map(|pool| ("pool_size", pool.to_string()));
        let first: Vec<_> = preset.into_iter().chain(pool).collect();
        section("[pooler]", &[&first[..], &self.pooler].concat())
    }
}

/// A table with these keys; nothing without any.
fn section(header: &str, keys: &[(&str, String)]) -> String {
    if keys.is_empty() { String::new() } else { format!("{header}\n{}\n", lines(keys)) }
}

fn lines(keys: &[(&str, String)]) -> String {
    keys.iter().fold(String::new(), |mut text, (key, value)| {
        let _ = writeln!(text, "{key} = {value}");
        text
    })
}
