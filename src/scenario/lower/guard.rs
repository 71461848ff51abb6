//! Guards of retry rules.

use super::super::diagnostic::Problems;
use super::super::reader::{Choice, Fields, count, each, number, positive_span, rate_per_second};
use super::super::tree::{Node, Value};
use crate::policy::guard::{
    Adaptive, Breaker, Bucket, Concurrency, InFlight, Late, Limit, Quota, Ratio, Throttle, Trip,
    Window,
};
use crate::policy::{ByFailure, Failure, Guard, Scope};
use crate::units::Span;

/// A list of guards.
pub(in super::super) fn guards(node: &Node, problems: &mut Problems) -> Option<Vec<Guard>> {
    if matches!(&node.value, Value::List(guards) if guards.is_empty()) {
        return Some(Vec::new());
    }
    each(node, problems, guard)
}

fn guard(node: &Node, problems: &mut Problems) -> Option<Guard> {
    let Value::Table(entries) = &node.value else {
        Fields::of("a guard", node, problems)?;
        return None;
    };
    let scope = entries.iter().find(|entry| entry.key == "scope");
    let scope = match scope {
        Some(entry) => scope_of(&entry.node, problems),
        None => Some(Scope::Client),
    };
    let rest = entries.iter().filter(|entry| entry.key != "scope").cloned().collect();
    let rest = Node { place: node.place.clone(), value: Value::Table(rest) };
    let limit = limit(&rest, problems);
    Some(Guard { limit: limit?, scope: scope? })
}

fn scope_of(node: &Node, problems: &mut Problems) -> Option<Scope> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("call", None) => Some(Scope::Call),
        ("client", None) => Some(Scope::Client),
        ("process", Some(clients)) => Some(Scope::Process(count(1..=u32::MAX)(clients, problems)?)),
        ("fleet", None) => Some(Scope::Fleet),
        _ => choice.unknown(&["call", "client", "process = 8", "fleet"], problems),
    }
}

/// Something for each class of failures that is given, and `other` for the rest.
pub(super) fn by_failure<T: Copy>(
    fields: &mut Fields<'_>,
    other: T,
    problems: &mut Problems,
    read: impl Fn(&Node, &mut Problems) -> Option<T>,
) -> Option<ByFailure<T>> {
    let mut all = Some(ByFailure::all(other));
    for failure in Failure::ALL {
        let value = fields.or(failure.name(), other, problems, &read);
        all = all.zip(value).map(|(all, value)| all.with(failure, value));
    }
    all
}

fn limit(node: &Node, problems: &mut Problems) -> Option<Limit> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("quota", Some(node)) => quota(node, problems).map(Limit::Quota),
        ("throttle", Some(node)) => throttle(node, problems).map(Limit::Throttle),
        ("ratio", Some(node)) => ratio(node, problems).map(Limit::Ratio),
        ("concurrency", Some(node)) => concurrency(node, problems).map(Limit::Concurrency),
        ("bucket", Some(node)) => bucket(node, problems).map(Limit::Bucket),
        ("breaker", Some(node)) => breaker(node, problems).map(Limit::Breaker),
        ("in-flight", Some(limit)) => {
            Some(Limit::InFlight(InFlight { limit: count(1..=u32::MAX)(limit, problems)? }))
        }
        ("adaptive", Some(node)) => adaptive(node, problems).map(Limit::Adaptive),
        _ => choice.unknown(
            &[
                "quota = { capacity = 500, cost = 5 }",
                "throttle = { tokens = 10, ratio = 0.1 }",
                "ratio = { ratio = 0.2, reserve = \"10/s\" }",
                "concurrency = { share = 0.2, least = 3 }",
                "bucket = { rate = \"10/s\", burst = 100 }",
                "breaker = { consecutive = 5, open = \"30s\" }",
                "in-flight = 25",
                "adaptive = { on = [\"throttled\"] }",
            ],
            problems,
        ),
    }
}

fn quota(node: &Node, problems: &mut Problems) -> Option<Quota> {
    let mut fields = Fields::of("`quota`", node, problems)?;
    let tokens = || count(0..=u32::MAX);
    let capacity = fields.required("capacity", "capacity = 500", problems, tokens());
    let cost = fields.required("cost", "cost = 5", problems, |node, problems| {
        if !matches!(node.value, Value::Table(_)) {
            return tokens()(node, problems).map(ByFailure::all);
        }
        let mut fields = Fields::of("`cost`", node, problems)?;
        let other = fields.required("other", "other = 5", problems, tokens());
        let costs =
            by_failure(&mut fields, other.unwrap_or_default(), problems, |node, problems| {
                tokens()(node, problems)
            });
        fields.finish(problems);
        other.and(costs)
    });
    let reward = fields.or("reward", 1, problems, tokens());
    fields.finish(problems);
    Some(Quota { capacity: capacity?, cost: cost?, reward: reward? })
}

fn throttle(node: &Node, problems: &mut Problems) -> Option<Throttle> {
    let mut fields = Fields::of("`throttle`", node, problems)?;
    let max = fields.required("tokens", "tokens = 10", problems, count(1..=1_000));
    let some = number("a number from 0.001 to 1000", |x| (0.001..=1e3).contains(&x));
    let ratio = fields.required("ratio", "ratio = 0.1", problems, some);
    fields.finish(problems);
    Some(Throttle { max: max?, ratio: ratio? })
}

fn ratio(node: &Node, problems: &mut Problems) -> Option<Ratio> {
    let mut fields = Fields::of("`ratio`", node, problems)?;
    let some = number("a number from 0 to 1000", |x| (0.0..=1e3).contains(&x));
    let ratio = fields.required("ratio", "ratio = 0.2", problems, some);
    let reserve = fields.or("reserve", 0.0, problems, rate_per_second);
    let ttl = fields.or("ttl", Span::from_secs(10), problems, positive_span);
    fields.finish(problems);
    Some(Ratio { ratio: ratio?, reserve: reserve?, ttl: ttl? })
}

fn concurrency(node: &Node, problems: &mut Problems) -> Option<Concurrency> {
    let mut fields = Fields::of("`concurrency`", node, problems)?;
    let some = number("a number from 0 to 1000", |x| (0.0..=1e3).contains(&x));
    let share = fields.or("share", 0.0, problems, some);
    let least = fields.required("least", "least = 3", problems, count(0..=u32::MAX));
    fields.finish(problems);
    Some(Concurrency { share: share?, least: least? })
}

fn bucket(node: &Node, problems: &mut Problems) -> Option<Bucket> {
    let mut fields = Fields::of("`bucket`", node, problems)?;
    let rate = fields.required("rate", "rate = \"10/s\"", problems, rate_per_second);
    let burst = fields.or("burst", 1, problems, count(1..=u32::MAX));
    fields.finish(problems);
    Some(Bucket { rate: rate?, burst: burst? })
}

fn breaker(node: &Node, problems: &mut Problems) -> Option<Breaker> {
    let mut fields = Fields::of("`breaker`", node, problems)?;
    let some = || count(1..=1_000_000);
    let consecutive = fields.optional("consecutive", problems, some());
    let share = number("a share above 0, up to 1", |x| x > 0.0 && x <= 1.0);
    let failed = fields.optional("failed", problems, share);
    let calls = fields.optional("calls", problems, some());
    let seconds = fields.optional("seconds", problems, count(1..=3_600));
    let sampled = fields.optional("sampled", problems, positive_span);
    let least = fields.optional("least", problems, some());
    let open = fields.required("open", "open = \"60s\"", problems, positive_span);
    let probes = fields.or("probes", 1, problems, some());
    let late = fields.or("late", Late::Count, problems, |node, problems| {
        let choice = Choice::of(node, problems)?;
        match (choice.name, choice.payload) {
            ("count", None) => Some(Late::Count),
            ("ignore", None) => Some(Late::Ignore),
            _ => choice.unknown(&["count", "ignore"], problems),
        }
    });
    fields.finish(problems);
    let windows =
        [calls?.map(Window::Calls), seconds?.map(Window::Seconds), sampled?.map(Window::Sampled)];
    let windows: Vec<Window> = windows.into_iter().flatten().collect();
    let trip = match (consecutive?, failed?, &windows[..], least?) {
        (Some(failures), None, [], None) => Trip::Consecutive(failures),
        (None, Some(failed), &[of], least) => {
            let all = if let Window::Calls(calls) = of { calls } else { 1 };
            Trip::Share { failed, of, least: least.unwrap_or(all) }
        }
        _ => {
            let help = "write `consecutive = 5`, or `failed = 0.5` with one of `calls = 100`, \
                        `seconds = 10` or `sampled = \"30s\"`, and perhaps `least = 20`";
            problems.add("a breaker needs one rule when it opens", node.place.clone(), help);
            return None;
        }
    };
    Some(Breaker { trip, open: open?, probes: probes?, late: late? })
}

fn adaptive(node: &Node, problems: &mut Problems) -> Option<Adaptive> {
    let mut fields = Fields::of("`adaptive`", node, problems)?;
    let on = fields.required("on", "on = [\"throttled\"]", problems, |node, problems| {
        each(node, problems, |node, problems| {
            let choice = Choice::of(node, problems)?;
            let known = Failure::ALL.into_iter().find(|failure| failure.name() == choice.name);
            known.or_else(|| choice.unknown(&Failure::ALL.map(Failure::name), problems))
        })
    });
    fields.finish(problems);
    let set = |on: ByFailure<bool>, failure: Failure| on.with(failure, true);
    Some(Adaptive { on: on?.into_iter().fold(ByFailure::all(false), set) })
}
