//! Who holds a connection, and for how long: pools of sessions, and pools on the clients' side.

use crate::watch::{assert_near, estimate, events, play, written};
use herdsim::engine::observer::Event;
use herdsim::metrics::Metric;
use herdsim::policy::Outcome;
use herdsim::scenario::Scenario;

/// Two clients on one backend, with three transactions a poll of 100 ms each, 20 ms away.
fn two_clients(mode: &str) -> Scenario {
    written(&format!(
        "title = 'two clients'
         [run]
         duration = '2s'
         [fleet]
         clients = 2
         transactions_per_poll = 3
         round_trip = '20ms'
         [pooler]
         pool_size = 1
         mode = '{mode}'
         [database]
         claim = '100ms'
         [policy.tested]
         poll = ['10s']"
    ))
}

/// (milliseconds, client) of what `pick` picks.
fn times(scenario: &Scenario, pick: fn(&Event) -> Option<u32>) -> Vec<(u64, u32)> {
    let events = events(scenario, 0).into_iter();
    events.filter_map(|(now, event)| Some((now.ticks() / 1_000, pick(&event)?))).collect()
}

fn completed(event: &Event) -> Option<u32> {
    match event {
        Event::Completed { client, .. } => Some(*client),
        _ => None,
    }
}

#[test]
fn a_session_keeps_its_backend_between_transactions_and_a_transaction_pool_does_not() {
    let session = times(&two_clients("session"), completed);
    assert_eq!(session, [(120, 0), (240, 0), (360, 0), (460, 1), (580, 1), (700, 1)]);
    let transaction = times(&two_clients("transaction"), completed);
    assert_eq!(transaction, [(120, 0), (220, 1), (320, 0), (420, 1), (520, 0), (620, 1)]);
}

/// A backend completes K claims in K·service + (K − 1)·round trip.
#[test]
fn a_saturated_session_pool_loses_its_round_trips() {
    let mut scenario = two_clients("session");
    scenario.fleet.clients = 1_000;
    scenario.pooler.pool_size = 5;
    scenario.run.duration = herdsim::units::Span::from_secs(200);
    let summary = play(&scenario).remove(0);
    let rate = estimate(&summary, Metric::GoodClaims) / 200.0;
    assert_near(rate, 5.0 * 3.0 / 0.34, 0.005);
    let acquisitions = estimate(&summary, Metric::Acquisitions);
    assert_eq!(acquisitions, estimate(&summary, Metric::Polls), "a session is acquired once");
}

/// Four clients of one process with two connections, 100 ms a claim.
fn one_process(timeout: &str) -> Scenario {
    written(&format!(
        "title = 'one process'
         [run]
         duration = '2s'
         [fleet]
         clients = 4
         [pooler]
         pool_size = 10
         [database]
         claim = '100ms'
         [policy.tested]
         poll = ['10s']
         client_pool = {{ clients = 4, connections = 2, timeout = '{timeout}' }}"
    ))
}

#[test]
fn who_finds_no_connection_of_its_process_waits_in_line() {
    let granted = times(&one_process("150ms"), |event| match event {
        Event::Granted { client, .. } => Some(*client),
        _ => None,
    });
    assert_eq!(granted, [(0, 0), (0, 1), (100, 2), (100, 3)]);
}

#[test]
fn who_waits_too_long_for_one_has_failed_without_reaching_the_pooler() {
    let scenario = one_process("60ms");
    let failed = times(&scenario, |event| match event {
        Event::PoolTimedOut { client, .. } => Some(*client),
        Event::PollEnded { client, outcome: Outcome::Error, .. } => Some(10 + client),
        _ => None,
    });
    assert_eq!(failed, [(60, 2), (60, 12), (60, 3), (60, 13)]);
    let summary = play(&scenario).remove(0);
    assert_eq!(estimate(&summary, Metric::Attempts), 4.0);
    assert_eq!(estimate(&summary, Metric::PoolTimedOut), 2.0);
    assert_eq!(estimate(&summary, Metric::GoodClaims), 2.0);
}

/// A herd of processes through refusals, retries, lost patience and a restart of half of them.
#[test]
fn a_process_never_has_more_attempts_under_way_than_connections() {
    let scenario = written(
        "title = 'processes'
         [run]
         duration = '5m'
         [fleet]
         clients = 1_000
         round_trip = '20ms'
         [pooler]
         pool_size = 20
         max_client_conn = 60
         refusal_delay = '10ms'
         [database]
         claim = '170ms'
         [[disturbance]]
         at = '2m'
         restart = { clients = 0.5, over = '1s' }
         [policy.tested]
         patience = '300ms'
         poll = ['3s', { scale = [0.5, 1.5] }]
         client_pool = { clients = 10, connections = 3, timeout = '500ms' }
         acquire = { retry = { delay = ['100ms'], stop = { attempts = 3 } } }",
    );
    let mut under_way = [0i32; 100];
    let mut seen = [0; 4];
    for (_, event) in events(&scenario, 0) {
        let (client, change) = match event {
            Event::Admitted { client } => (client, 1),
            Event::Completed { client, .. }
            | Event::Abandoned { client, .. }
            | Event::ClaimDropped { client, .. } => (client, -1),
            Event::Dropped { client, waited: Some(_) } => (client, -1),
            Event::PoolTimedOut { .. } => {
                seen[0] += 1;
                continue;
            }
            Event::Refused { .. } => {
                seen[1] += 1;
                continue;
            }
            _ => continue,
        };
        let holding = &mut under_way[client as usize / 10];
        *holding += change;
        assert!((0..=3).contains(holding), "{holding} attempts of one process");
        seen[2] += i32::from(*holding == 3);
        seen[3] += i32::from(change < 0);
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}
