//! What a connection URL says of a client: its timeouts, and which pooler it goes to.

use super::Starter;
use crate::units::Span;

/// The client of a `postgresql://` URL.
///
/// # Errors
///
/// If it is none, or a timeout is no number of seconds.
pub fn from_url(url: &str) -> Result<Starter, String> {
    let schemes = ["postgresql://", "postgres://"];
    let Some(rest) = schemes.iter().find_map(|scheme| url.strip_prefix(scheme)) else {
        // Not shown: it may hold a password.
        return Err("this URL does not begin with postgresql://".to_owned());
    };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let authority = place.split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let mut starter = Starter { preset: preset(host), ..Starter::default() };
    if authority.contains('@') {
        starter.ignored.push("user and password".to_owned());
    }
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (key, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let span = || {
            let seconds = value.parse::<u32>().ok();
            let wrong = format!("{key} is to be a whole number of seconds");
            seconds.map(|seconds| Span::from_secs(u64::from(seconds))).ok_or(wrong)
        };
        match key {
            "connect_timeout" => starter.limit("connect_timeout", span()?),
            "pool_timeout" => starter.limit("patience", span()?),
            "pgbouncer" if value == "true" => starter.preset = Some("pgbouncer@1.25"),
            _ => starter.ignored.push(key.to_owned()),
        }
    }
    Ok(starter)
}

impl Starter {
    /// A timeout of the client; 0 is none, as in libpq.
    fn limit(&mut self, key: &'static str, span: Span) {
        if span > Span::ZERO {
            self.policy.push((key, format!("\"{span}\"")));
        }
    }
}

/// The pooler that usually listens there.
fn preset(host: &str) -> Option<&'static str> {
    let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
    match port {
        _ if name.ends_with(".pooler.supabase.com") => Some("supavisor@2.9"),
        "6432" => Some("pgbouncer@1.25"),
        _ => None,
    }
}
