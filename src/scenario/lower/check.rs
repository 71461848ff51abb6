//! What must fit together once each value is right by itself.

use super::super::diagnostic::{Place, Problems};
use super::super::disturbance::Action;
use super::super::model::{
    Candidate, DeadCost, DeadWaiters, Fleet, Mode, Pooler, Run, Scenario, longest_run,
};
use super::super::tree::{Node, Value};
use super::disturbance::Placed;
use crate::policy::{Policy, Sleep};
use crate::units::Span;

/// Something is measured.
pub(super) fn times(run: &Run, root: &Node, problems: &mut Problems) {
    if run.warm_up >= run.duration {
        problems.add(
            "nothing would be measured: the warm-up lasts as long as the run",
            place(root, &["run", "warm_up"]),
            format!("make it shorter than the run's {}", run.duration),
        );
    }
}

/// The run's instants fit the engine's keys.
pub(super) fn length(scenario: &Scenario, root: &Node, problems: &mut Problems) {
    let (duration, places) = (scenario.run.duration, scenario.places());
    let longest = longest_run(places);
    if duration + scenario.fleet.round_trip > longest {
        problems.add(
            format!("a run of {duration} is too long for {places} clients"),
            place(root, &["run", "duration"]),
            format!("time and client share 64 bits: at most {longest} here"),
        );
    }
}

/// Time passes in the loop of every client.
pub(super) fn progress(
    fleet: &Fleet,
    policies: &[Candidate],
    root: &Node,
    problems: &mut Problems,
) {
    for (name, policy) in plain(policies) {
        // What a guard rejects does not even take a round trip.
        if fleet.round_trip > Span::ZERO && !policy.acquire.may_reject() {
            continue;
        }
        for (key, reason) in standing_still(policy) {
            problems.add(
                format!("policy `{name}` may act without any time passing: {reason}"),
                place(root, &["policy", name, key]),
                "give it a delay, or give the fleet a round_trip and leave out guards that reject",
            );
        }
    }
}

/// A connection that is kept holds no backend while it is idle: in a pool of sessions it would.
pub(super) fn connections(
    pooler: &Pooler,
    policies: &[Candidate],
    root: &Node,
    problems: &mut Problems,
) {
    if pooler.mode == Mode::Transaction {
        return;
    }
    for (name, _) in plain(policies) {
        let policy = child(root, "policy").and_then(|policies| child(policies, name));
        // Heirs are not told again.
        if let Some(connection) = policy.and_then(|policy| child(policy, "connection")) {
            problems.add(
                format!("policy `{name}` would keep a backend with its connection"),
                connection.place.clone(),
                "leave `connection` out: a session then ends with its poll; or write mode = \
                 \"transaction\"",
            );
        }
    }
}

/// The policies by name; the parts of a mixed fleet are policies of their own.
fn plain(policies: &[Candidate]) -> impl Iterator<Item = (&str, &Policy)> {
    policies.iter().filter_map(|candidate| match &candidate.parts[..] {
        [part] => Some((candidate.name.as_str(), &part.policy)),
        _ => None,
    })
}

/// Keys of a policy whose client would go on for ever at one instant.
fn standing_still(policy: &Policy) -> impl Iterator<Item = (&'static str, &'static str)> {
    let sleeps = [policy.rules.empty.sleep, policy.rules.error.sleep];
    let endless = policy
        .acquire
        .retries()
        .any(|retry| retry.stop.attempts.is_none() && !retry.delay.passes_time_at_last());
    [
        (!policy.poll.can_pass_time(), "poll", "its poll delay is always zero"),
        (sleeps.contains(&Sleep::None), "loop", "its loop polls again without a sleep"),
        (endless, "acquire", "its retry delay is always zero"),
    ]
    .into_iter()
    .filter_map(|(stands, key, reason)| stands.then_some((key, reason)))
}

/// What takes a login to make good needs logins.
pub(super) fn logins<'a>(
    pooler: &Pooler,
    disturbances: impl Iterator<Item = &'a Placed>,
    root: &Node,
    problems: &mut Problems,
) {
    if pooler.logins.is_some() {
        return;
    }
    let help = "add [pooler.logins] with time = \"2ms\", or a preset such as \"pgbouncer@1.25\"";
    if matches!(pooler.dead_waiters, DeadWaiters::ByLeave | DeadWaiters::Kept(DeadCost::Login)) {
        let message = "dead waiters cost a backend its login, but logins take no time here";
        problems.add(message, place(root, &["pooler", "dead_waiters"]), help);
    }
    for Placed { disturbance, place } in disturbances {
        if let Action::Restart { database: Some(back), .. } = disturbance.action
            && back > Span::ZERO
        {
            let message =
                "the database takes logins again after a while, but logins take no time here";
            problems.add(message, place.clone(), help);
        }
    }
}

/// The place of what stands at the end of a path, or of the last part of it that is there.
fn place(root: &Node, path: &[&str]) -> Place {
    let mut node = root;
    for key in path {
        match child(node, key) {
            Some(next) => node = next,
            None => break,
        }
    }
    node.place.clone()
}

fn child<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    match &node.value {
        Value::Table(entries) => {
            entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
        }
        _ => None,
    }
}
