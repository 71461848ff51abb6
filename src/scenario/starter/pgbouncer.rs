//! What a `pgbouncer.ini` says of a pool: caps and timeouts. Files that it includes are not read.

use super::Starter;
use crate::units::Span;

/// The pool of a `pgbouncer.ini`.
///
/// # Errors
///
/// The line that is no setting, or whose value is none.
pub fn from_pgbouncer(text: &str) -> Result<Starter, String> {
    let mut starter = Starter { preset: Some("pgbouncer@1.25"), ..Starter::default() };
    let mut section = "";
    let mut database_cap = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with([';', '#']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim();
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            if line.starts_with("%include") {
                starter.ignored.push(line.to_owned());
                continue;
            }
            return Err(format!("line {number}: `{line}` is no `key = value`"));
        };
        let (key, value) = (key.trim(), value.trim());
        if section != "pgbouncer" {
            starter.ignored.push(format!("{key} of [{section}]"));
            continue;
        }
        let wrong = |what: &str| format!("line {number}: `{value}` is no {what} for {key}");
        let count = || value.parse::<u32>().map_err(|_| wrong("whole number"));
        let span = || seconds(value).ok_or_else(|| wrong("number of seconds"));
        match key {
            "default_pool_size" => starter.pool = Some(count()?),
            "max_db_connections" => database_cap = Some(count()?).filter(|cap| *cap > 0),
            "max_client_conn" => starter.pooler.push(("max_client_conn", count()?.to_string())),
            "reserve_pool_size" => {
                if count()? > 0 {
                    starter.pooler.push(("reserve_pool_size", value.to_owned()));
                }
            }
            "reserve_pool_timeout" => {
                starter.pooler.push(("reserve_pool_timeout", written(span()?)));
            }
            "query_wait_timeout" => {
                starter.pooler.push(("query_wait_timeout", or_never(span()?)));
            }
            "pool_mode" if matches!(value, "session" | "transaction") => {
                starter.pooler.push(("mode", format!("\"{value}\"")));
            }
            "server_login_retry" => starter.logins.push(("server_login_retry", written(span()?))),
            "server_idle_timeout" => {
                starter.logins.push(("server_idle_timeout", or_never(span()?)))
            }
            "server_lifetime" => starter.logins.push(("server_lifetime", or_never(span()?))),
            _ => starter.ignored.push(key.to_owned()),
        }
    }
    starter.complete(database_cap);
    Ok(starter)
}

impl Starter {
    /// Adds what PgBouncer says by default where herdsim wants it said.
    fn complete(&mut self, database_cap: Option<u32>) {
        if let Some(cap) = database_cap {
            self.pool = Some(self.pool.unwrap_or(20).min(cap));
        }
        let has = |key| self.pooler.iter().any(|(own, _)| *own == key);
        match (has("reserve_pool_size"), has("reserve_pool_timeout")) {
            (true, false) => self.pooler.push(("reserve_pool_timeout", "\"5s\"".to_owned())),
            (false, true) => self.pooler.retain(|(key, _)| *key != "reserve_pool_timeout"),
            _ => {}
        }
        if !self.logins.is_empty() {
            let logins = [("time", "\"2ms\"".to_owned()), ("at_once", "1".to_owned())];
            self.logins.splice(0..0, logins);
        }
    }
}

/// A number of seconds, perhaps with decimals.
fn seconds(value: &str) -> Option<Span> {
    let seconds: f64 = value.parse().ok().filter(|seconds| (0.0..=1e9).contains(seconds))?;
    Some(Span::from_ticks_f64(seconds * 1e6))
}

fn written(span: Span) -> String {
    format!("\"{span}\"")
}

/// As PgBouncer writes no limit: as 0.
fn or_never(span: Span) -> String {
    if span == Span::ZERO { "\"never\"".to_owned() } else { written(span) }
}
