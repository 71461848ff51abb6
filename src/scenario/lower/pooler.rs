//! The pooler: its own keys over those of its preset.

use super::super::diagnostic::{Problems, alternatives};
use super::super::model::{
    CountFrom, DeadCost, DeadWaiters, Handshake, Logins, Mode, Orphans, Pooler, RateLimiter,
    Reserve,
};
use super::super::poolers::{POOLERS, PoolerPreset};
use super::super::reader::{
    Choice, Fields, count, number, or_never, positive_span, rate, rate_per_second, span, text,
};
use super::super::tree::{Node, Value};
use super::MOST_BACKENDS;
use super::demand::demand;
use crate::units::Span;

pub(super) fn pooler(node: &Node, problems: &mut Problems) -> Option<Pooler> {
    let preset = preset(node, problems)?.map(|preset| preset.tree());
    let mut fields = Fields::of("[pooler]", node, problems)?;
    fields.get("preset");
    if let Some(Value::Table(entries)) = preset.as_ref().map(|tree| &tree.value) {
        fields.inherit(&entries.iter().collect::<Vec<_>>());
    }
    let backends = || count(1..=MOST_BACKENDS);
    let pool_size = fields.required("pool_size", "pool_size = 20", problems, backends());
    let mode = fields.or("mode", Mode::Transaction, problems, mode);
    let reserve_size = fields.optional("reserve_pool_size", problems, backends());
    let reserve_timeout = fields.optional("reserve_pool_timeout", problems, positive_span);
    let max_client_conn = fields.optional("max_client_conn", problems, count(1..=u32::MAX));
    let refusal_delay = fields.optional("refusal_delay", problems, demand);
    let timeout = fields.or("query_wait_timeout", None, problems, or_never(positive_span));
    let timeout_grid = fields.optional("timeout_grid", problems, positive_span);
    let dead_waiters = fields.or("dead_waiters", DeadWaiters::Dropped, problems, dead_waiters);
    let orphans = fields.or("orphans", Orphans::Dropped, problems, orphans);
    let handshake = fields.optional("handshake", problems, handshake);
    let logins = fields.optional("logins", problems, logins);
    let limiter = fields.optional("limiter", problems, limiter);
    fields.finish(problems);
    let reserve = match (reserve_size?, reserve_timeout?) {
        (Some(size), Some(timeout)) => Some(Reserve { size, timeout }),
        (None, None) => None,
        (Some(_), None) => {
            let help = "add `reserve_pool_timeout = \"5s\"`, the wait after which it is used";
            problems.add("a reserve pool needs its timeout", node.place.clone(), help);
            return None;
        }
        (None, Some(_)) => {
            let help = "add `reserve_pool_size = 5`, or leave the timeout out";
            problems.add("there is a reserve timeout but no reserve", node.place.clone(), help);
            return None;
        }
    };
    let (max_client_conn, handshake) = (max_client_conn?, handshake?);
    if max_client_conn.is_none()
        && handshake.is_some_and(|handshake| handshake.count == CountFrom::Accept)
    {
        let message = "the handshake station counts clients at accept, but there is no limit";
        let help = "add `max_client_conn = 1_000`, or write count = \"authentication\"";
        problems.add(message, node.place.clone(), help);
    }
    Some(Pooler {
        pool_size: pool_size?,
        mode: mode?,
        reserve,
        max_client_conn,
        refusal_delay: refusal_delay?,
        query_wait_timeout: timeout?,
        timeout_grid: timeout_grid?,
        dead_waiters: dead_waiters?,
        orphans: orphans?,
        handshake,
        logins: logins?,
        limiter: limiter?,
    })
}

fn preset(node: &Node, problems: &mut Problems) -> Option<Option<&'static PoolerPreset>> {
    let Some(node) = Fields::of("[pooler]", node, problems)?.get("preset") else {
        return Some(None);
    };
    let wanted = text(node, problems)?;
    let found = POOLERS.iter().find(|preset| preset.name == wanted);
    if found.is_none() {
        let names = POOLERS.iter().map(|preset| preset.name);
        let help = alternatives(&wanted, "the presets", names);
        problems.add(format!("there is no pooler preset `{wanted}`"), node.place.clone(), help);
    }
    found.map(Some)
}

fn mode(node: &Node, problems: &mut Problems) -> Option<Mode> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("transaction", None) => Some(Mode::Transaction),
        ("session", None) => Some(Mode::Session),
        _ => choice.unknown(&["transaction", "session"], problems),
    }
}

fn dead_waiters(node: &Node, problems: &mut Problems) -> Option<DeadWaiters> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("dropped", None) => Some(DeadWaiters::Dropped),
        ("by-leave", None) => Some(DeadWaiters::ByLeave),
        ("kept", Some(kept)) => {
            let choice = Choice::of(kept, problems)?;
            let cost = match (choice.name, choice.payload) {
                ("free", None) => DeadCost::Free,
                ("login", None) => DeadCost::Login,
                ("demand", Some(law)) => DeadCost::Demand(demand(law, problems)?),
                _ => {
                    return choice.unknown(&["demand = \"170ms\"", "login", "free"], problems);
                }
            };
            Some(DeadWaiters::Kept(cost))
        }
        _ => choice.unknown(&["dropped", "by-leave", "kept = { demand = \"170ms\" }"], problems),
    }
}

fn orphans(node: &Node, problems: &mut Problems) -> Option<Orphans> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("dropped", None) => Some(Orphans::Dropped),
        ("run", None) => Some(Orphans::Run),
        _ => choice.unknown(&["dropped", "run"], problems),
    }
}

fn handshake(node: &Node, problems: &mut Problems) -> Option<Handshake> {
    let mut fields = Fields::of("`handshake`", node, problems)?;
    let service = fields.required("rate", "rate = \"900/s\"", problems, rate);
    let share = number("a share from 0 to 1", |x| (0.0..=1.0).contains(&x));
    let refused_cost = fields.or("refused_cost", 1.0, problems, share);
    let count = fields.required("count", "count = \"accept\"", problems, |node, problems| {
        let choice = Choice::of(node, problems)?;
        match (choice.name, choice.payload) {
            ("accept", None) => Some(CountFrom::Accept),
            ("authentication", None) => Some(CountFrom::Authentication),
            _ => choice.unknown(&["accept", "authentication"], problems),
        }
    });
    fields.finish(problems);
    Some(Handshake { service: service?, refused_cost: refused_cost?, count: count? })
}

fn limiter(node: &Node, problems: &mut Problems) -> Option<RateLimiter> {
    let mut fields = Fields::of("[pooler.limiter]", node, problems)?;
    let per_second = fields.required("rate", "rate = \"500/s\"", problems, rate_per_second);
    let burst = fields.or("burst", 1, problems, count(1..=u32::MAX));
    let wait = fields.or("wait", Span::ZERO, problems, span);
    let ramp = fields.optional("ramp", problems, positive_span);
    let retry_after = fields.optional("retry_after", problems, positive_span);
    fields.finish(problems);
    Some(RateLimiter {
        rate: per_second?,
        burst: burst?,
        wait: wait?,
        ramp: ramp?,
        retry_after: retry_after?,
    })
}

fn logins(node: &Node, problems: &mut Problems) -> Option<Logins> {
    let mut fields = Fields::of("[pooler.logins]", node, problems)?;
    let time = fields.required("time", "time = \"2ms\"", problems, demand);
    let at_once = fields.optional("at_once", problems, count(1..=MOST_BACKENDS));
    let retry = fields.or("server_login_retry", Span::from_secs(15), problems, positive_span);
    let most = fields.optional("limit", problems, count(1..=MOST_BACKENDS));
    let limit = || or_never(positive_span);
    let idle_timeout = fields.or("server_idle_timeout", None, problems, limit());
    let lifetime = fields.or("server_lifetime", None, problems, limit());
    fields.finish(problems);
    Some(Logins {
        time: time?,
        at_once: at_once?,
        retry: retry?,
        limit: most?,
        idle_timeout: idle_timeout?,
        lifetime: lifetime?,
    })
}
