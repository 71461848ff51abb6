//! What closed forms say of a scenario before anything is played: its load, and what about it may surprise.

use std::fmt::Write as _;

use super::paragraph;
use crate::policy::Policy;
use crate::scenario::{Candidate, DeadWaiters, Mode, Part, Scenario};
use crate::theory;

/// A statement, and the policies that it holds for.
pub(super) type Statement = (String, Vec<String>);

/// Columns of the text.
const WIDTH: usize = 80;

/// What there is to say of a scenario that is valid.
pub fn render(scenario: &Scenario) -> String {
    let mut text = format!("{} is valid.\n\n", scenario.name);
    let best = theory::best_throughput(scenario);
    let full = theory::throughput(scenario, scenario.pooler.pool_size);
    let _ = writeln!(text, "Completed with the pool full: {full:.0} claims/s.");
    if best > 1.01 * full {
        let _ = writeln!(text, "Completed at best: {best:.0} claims/s.");
    }
    let (mut loads, mut active) = (Vec::new(), Vec::new());
    for candidate in &scenario.policies {
        let load = theory::offered_load(scenario, candidate);
        state(&mut loads, &candidate.name, format!("{load:.0} claims/s"));
        if let Some(mean) = theory::active_at_rest(scenario, candidate) {
            state(&mut active, &candidate.name, format!("{mean:.1}"));
        }
    }
    for (what, figures) in [("Asked for at rest", &loads), ("Active backends at rest", &active)] {
        for (figure, names) in figures {
            let whose = match figures.len() {
                1 => String::new(),
                _ => format!(" ({})", names.join(", ")),
            };
            text.push_str(&paragraph("", &format!("{what}: {figure}{whose}."), WIDTH));
        }
    }
    let requests = theory::background_utilisation(scenario);
    if requests > 0.0 {
        let share = 100.0 * requests;
        let _ =
            writeln!(text, "The background load takes {share:.0} % of what is completed at best.");
    }
    let surprises = surprises(scenario);
    if surprises.is_empty() {
        text.push_str("\nNothing about it stands out.\n");
    }
    for (surprise, names) in surprises {
        text.push('\n');
        text.push_str(&paragraph("- ", &format!("{}: {surprise}", names.join(", ")), WIDTH));
    }
    text
}

/// What a user may not expect.
pub(super) fn surprises(scenario: &Scenario) -> Vec<Statement> {
    let mut found = Vec::new();
    for candidate in &scenario.policies {
        let about = [overload(scenario, candidate), sessions(scenario), backlog(scenario)];
        for surprise in about.into_iter().flatten() {
            state(&mut found, &candidate.name, surprise);
        }
        for part in &candidate.parts {
            let policy = &part.policy;
            let about = [
                ramp(scenario, policy),
                patience(scenario, policy),
                lock_in(scenario, policy),
                client_pool(scenario, part),
                kept_connections(scenario, part),
                idle_connect_timeout(scenario, policy),
                shared_by_all(candidate),
            ];
            for surprise in about.into_iter().flatten() {
                state(&mut found, &candidate.name, surprise);
            }
        }
    }
    found
}

/// Books a statement for one more policy.
pub(super) fn state(statements: &mut Vec<Statement>, name: &str, statement: String) {
    match statements.iter_mut().find(|(known, _)| *known == statement) {
        Some((_, names)) if names.iter().any(|known| known == name) => {}
        Some((_, names)) => names.push(name.to_owned()),
        None => statements.push((statement, vec![name.to_owned()])),
    }
}

fn shared_by_all(candidate: &Candidate) -> Option<String> {
    candidate.guards_the_fleet().then(|| {
        "one count for the whole fleet takes a proxy that all clients go through; for clients of their \
         own it is an oracle."
            .into()
    })
}

fn overload(scenario: &Scenario, candidate: &Candidate) -> Option<String> {
    let load = theory::offered_load(scenario, candidate);
    let best = theory::best_throughput(scenario);
    let full = theory::throughput(scenario, scenario.pooler.pool_size);
    let asked = load / best + theory::background_utilisation(scenario);
    if asked > 1.0 {
        return Some(format!(
            "{asked:.2} times as much is asked for as the database ever completes: saturated at rest."
        ));
    }
    (load > full).then(|| {
        "less is completed with a full pool than is asked for at rest: whatever fills the pool, the \
         fleet may not come back."
            .into()
    })
}

fn sessions(scenario: &Scenario) -> Option<String> {
    let (clients, pool) = (scenario.fleet.clients, scenario.pooler.pool_size);
    let held = f64::from(scenario.fleet.transactions_per_poll)
        / (theory::throughput(scenario, 1) / 1_000.0);
    (scenario.pooler.mode == Mode::Session && clients > pool).then(|| {
        format!(
            "a session holds its backend for all transactions of a poll, {held:.0} ms at best, and {pool} \
             backends hold as many of {clients} clients; the others wait."
        )
    })
}

fn backlog(scenario: &Scenario) -> Option<String> {
    let busy = theory::worker_utilisation(scenario);
    (busy > 1.0).then(|| {
        format!(
            "items arrive {busy:.2} times as fast as all workers together process them: the backlog grows \
             for ever."
        )
    })
}

fn client_pool(scenario: &Scenario, part: &Part) -> Option<String> {
    let pool = part.policy.client_pool?;
    let connections = connections(scenario, part);
    let backends = scenario.pooler.pool_size;
    (pool.connections < pool.clients && connections < backends).then(|| {
        format!(
            "the pools of its processes have {connections} connections together, fewer than the pooler's \
             {backends} backends: the herd waits in its own processes."
        )
    })
}

fn kept_connections(scenario: &Scenario, part: &Part) -> Option<String> {
    let (limit, connections) = (scenario.pooler.max_client_conn?, connections(scenario, part));
    (part.policy.connection.is_some() && connections > limit).then(|| {
        format!(
            "its clients keep up to {connections} connections, and the pooler has {limit} client \
             slots: who comes too late is refused until another's connection ends."
        )
    })
}

/// The most connections that the clients of a part have at once.
fn connections(scenario: &Scenario, part: &Part) -> u32 {
    let clients = part.share.of(scenario.fleet.clients);
    match part.policy.client_pool {
        None => clients,
        Some(pool) => clients.div_ceil(pool.clients).saturating_mul(pool.connections),
    }
}

fn ramp(scenario: &Scenario, policy: &Policy) -> Option<String> {
    let courses = scenario.courses();
    let peak = courses.iter().find_map(|course| theory::ramp_peak(course, policy))?;
    let pool = scenario.pooler.pool_size;
    let spread = policy.start_up.longest();
    (peak > 0.8 * f64::from(pool)).then(|| {
        format!(
            "the schedule starts at its base interval within the start-up spread of {spread}: about \
             {peak:.0} claims at once after a restart, of {pool} backends. Widen the spread, or start at \
             a longer interval."
        )
    })
}

fn patience(scenario: &Scenario, policy: &Policy) -> Option<String> {
    if matches!(scenario.pooler.dead_waiters, DeadWaiters::Dropped) {
        return None;
    }
    let (queue, patience) = (theory::longest_queue(scenario), policy.patience?);
    (queue > patience.as_secs_f64()).then(|| {
        format!(
            "the last in a full queue would wait {queue:.1} s, longer than the patience of {patience}: \
             places die before they are served, and dead ones are kept."
        )
    })
}

fn lock_in(scenario: &Scenario, policy: &Policy) -> Option<String> {
    let window = theory::lock_in(scenario, policy)?;
    let full = theory::throughput(scenario, scenario.pooler.pool_size);
    let asked = window.failing;
    if full >= asked {
        return None;
    }
    Some(match full < window.single {
        true => format!(
            "once all time out they ask {:.0} times a second, a single attempt each, and a full pool \
             completes {full:.0}: nothing it completes is for anybody, and it does not come back.",
            window.single
        ),
        false => format!(
            "once all time out they ask {asked:.0} times a second with their retries, and a full pool \
             completes {full:.0}: it is locked in. With a single attempt they would ask {:.0} times.",
            window.single
        ),
    })
}

fn idle_connect_timeout(scenario: &Scenario, policy: &Policy) -> Option<String> {
    let instant = scenario.pooler.handshake.is_none() && scenario.database.attempt_cost.is_none();
    (policy.connect_timeout.is_some() && instant).then(|| {
        "the connect timeout has nothing to bound: without a handshake station or an attempt cost \
         everybody is admitted at once."
            .into()
    })
}
