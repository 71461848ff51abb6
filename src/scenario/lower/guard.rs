//! Guards of retry rules.

use super::super::diagnostic::Problems;
use super::super::reader::{Choice, Fields, count, each};
use super::super::tree::{Node, Value};
use crate::policy::guard::{InFlight, Limit};
use crate::policy::{ByFailure, Failure, Guard, Scope};

/// A list of guards.
pub(super) fn guards(node: &Node, problems: &mut Problems) -> Option<Vec<Guard>> {
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
    let Some(payload) = choice.payload else {
        return choice.unknown(&CHOICES, problems);
    };
    match choice.name {
        "in-flight" => {
            Some(Limit::InFlight(InFlight { limit: count(1..=u32::MAX)(payload, problems)? }))
        }
        _ => choice.unknown(&CHOICES, problems),
    }
}

/// The guards there are, as examples.
const CHOICES: [&str; 1] = ["in-flight = 25"];
