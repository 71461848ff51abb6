//! Who holds a connection, and for how long: pools of sessions, pools on the clients' side, and
//! clients that keep theirs.

use crate::watch::{assert_near, estimate, events, play, shipped, written};
use herdsim::engine::observer::Event;
use herdsim::metrics::Metric;
use herdsim::policy::{Lifetime, Outcome, Pipeline, Spread};
use herdsim::scenario::{Initial, Scenario};
use herdsim::units::Span;

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
    scenario.run.duration = Span::from_secs(200);
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
fn a_process_keeps_its_connections_and_its_clients_share_them() {
    let mut scenario = one_process("150ms");
    assert_eq!(admitted(&scenario), [(0, 0, true), (0, 1, true), (100, 2, true), (100, 3, true)]);
    scenario.policies[0].parts[0].policy.connection = Some(Lifetime::Never);
    assert_eq!(admitted(&scenario), [(0, 0, true), (0, 1, true), (100, 2, false), (100, 3, false)]);
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
            Event::Admitted { client, .. } => (client, 1),
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

/// Clients with a claim of 100 ms and a sleep of 10 s.
fn keeping(clients: u32, more: &str, policy: &str) -> Scenario {
    written(&format!(
        "title = 'keeping'
         [run]
         duration = '46s'
         [fleet]
         clients = {clients}
         [pooler]
         pool_size = 1
         {more}
         [database]
         claim = '100ms'
         [policy.tested]
         poll = ['10s']
         {policy}"
    ))
}

/// (milliseconds, client, whether it opened a connection) of each admitted attempt.
fn admitted(scenario: &Scenario) -> Vec<(u64, u32, bool)> {
    let events = events(scenario, 0).into_iter();
    let admitted = events.filter_map(|(now, event)| match event {
        Event::Admitted { client, connects } => Some((now.ticks() / 1_000, client, connects)),
        _ => None,
    });
    admitted.collect()
}

/// (milliseconds, connections) of each closing.
fn closed(scenario: &Scenario) -> Vec<(u64, u32)> {
    times(scenario, |event| match event {
        Event::ConnectionsClosed { connections } => Some(*connections),
        _ => None,
    })
}

/// Opened at 0.1 and 20.4 s, each is used once more, and is too old for the use after that.
#[test]
fn a_kept_connection_spares_a_poll_its_handshake_until_it_is_too_old() {
    let station = "handshake = { rate = '10/s', count = 'authentication' }";
    let scenario = keeping(1, station, "connection = { lifetime = '15s' }");
    let opened = |at| (at, 0, true);
    let kept = |at| (at, 0, false);
    assert_eq!(
        admitted(&scenario),
        [opened(100), kept(10_200), opened(20_400), kept(30_500), opened(40_700)]
    );
    assert_eq!(closed(&scenario), [(20_300, 1), (40_600, 1)]);
    let never = keeping(1, station, "connection = { lifetime = 'never' }");
    assert_eq!(admitted(&never)[1..], [kept(10_200), kept(20_300), kept(30_400), kept(40_500)]);
    let summary = play(&scenario).remove(0);
    assert_eq!(estimate(&summary, Metric::ClientConnects), 3.0);
}

#[test]
fn an_idle_connection_holds_a_client_slot_and_its_owner_is_not_refused() {
    let limit = "max_client_conn = 1";
    let refused = |policy| {
        times(&keeping(2, limit, policy), |event| match event {
            Event::Refused { client } => Some(*client),
            _ => None,
        })
    };
    let kept = "connection = { lifetime = '1h' }";
    assert_eq!(refused(kept), [(0, 1), (10_000, 1), (20_000, 1), (30_000, 1), (40_000, 1)]);
    assert_eq!(refused(""), [(0, 1)]);
}

#[test]
fn an_attempt_that_fails_takes_its_connection_with_it() {
    let mut scenario = keeping(2, "", "patience = '1s'\nconnection = { lifetime = 'never' }");
    scenario.disturbances = disturbed("outage = { over = '20s', failure = 'hanging' }");
    // Client 1 loses patience behind client 0's hanging claim at 11.2 s, and without a connection
    // at 22.2 s.
    let of_1: Vec<_> =
        admitted(&scenario).into_iter().filter(|&(_, client, _)| client == 1).collect();
    assert_eq!(
        of_1,
        [
            (0, 1, true),
            (10_200, 1, false),
            (21_200, 1, true),
            (32_200, 1, true),
            (42_300, 1, false)
        ]
    );
}

/// What happens at 5 s.
fn disturbed(action: &str) -> Vec<herdsim::scenario::Disturbance> {
    keeping(1, "", &format!("[[disturbance]]\nat = '5s'\n{action}")).disturbances
}

#[test]
fn a_restart_closes_its_clients_connections_and_a_database_that_goes_down_all() {
    let kept = "connection = { lifetime = 'never' }";
    let shared = format!("{kept}\nclient_pool = {{ clients = 2, connections = 2 }}");
    let second_polls_of = |policy: &str, action: &str| {
        let mut scenario = keeping(2, "", policy);
        scenario.disturbances = disturbed(action);
        (closed(&scenario), admitted(&scenario)[2..4].to_vec())
    };
    let second_polls = |action| second_polls_of(kept, action);
    assert_eq!(
        second_polls("restart = { clients = 0.5 }"),
        (vec![(5_000, 1)], vec![(5_000, 0, true), (10_200, 1, false)])
    );
    assert_eq!(
        second_polls("restart = { clients = 0.5, database = true }"),
        (vec![(5_000, 1), (5_000, 1)], vec![(5_000, 0, true), (10_200, 1, true)])
    );
    // A process loses those that it has free with any of its clients; then client 1 uses client
    // 0's.
    assert_eq!(
        second_polls_of(&shared, "restart = { clients = 0.5 }"),
        (vec![(5_000, 2)], vec![(5_000, 0, true), (10_200, 1, false)])
    );
    assert_eq!(
        second_polls("outage = { over = '1s', failure = { refusing = '0s' } }"),
        (vec![(5_000, 2)], vec![(10_100, 0, true), (10_200, 1, true)])
    );
}

/// Connections used each second end at the first whole second at which their lifetime, uniform from
/// 10 to 110 s, is over: drawn once, after 60.5 s on average; drawn anew each time, a connection of
/// k seconds survives with the chance 1 − (k − 10)/100, which makes it 22.2 s.
#[test]
fn a_lifetime_drawn_anew_at_each_use_hardly_spreads_connections_out() {
    let mut scenario = keeping(1_000, "", "");
    scenario.run.duration = Span::from_secs(600);
    scenario.run.warm_up = Span::from_secs(300);
    scenario.run.replicates = 2;
    scenario.pooler.pool_size = 1_000;
    let spread = Spread::Uniform(Span::from_secs(10), Span::from_secs(110));
    let mut mean_age = |lifetime| {
        let policy = &mut scenario.policies[0].parts[0].policy;
        policy.poll = Pipeline::constant(Span::from_millis(900));
        policy.connection = Some(lifetime);
        let summary = play(&scenario).remove(0);
        1_000.0 * 300.0 / estimate(&summary, Metric::ClientConnects)
    };
    assert_near(mean_age(Lifetime::AtBirth(spread)), 60.5, 0.02);
    let (mut alive, mut expected) = (1.0, 0.0);
    for second in 0..=110 {
        alive *= 1.0 - (f64::from(second - 10) / 100.0).max(0.0);
        expected += alive;
    }
    assert_near(expected, 22.2, 0.005);
    assert_near(mean_age(Lifetime::AtUse(spread)), expected, 0.02);
}

#[test]
fn who_has_done_its_job_leaves_for_good_and_only_a_restart_brings_it_back() {
    let once = "loop = { empty = { interval = 'keep', sleep = 'for-good' } }
                connection = { lifetime = 'never' }";
    let mut scenario = keeping(3, "max_client_conn = 2", once);
    scenario.disturbances = disturbed("restart = { clients = 0.34 }");
    // The third is refused at first, and polls until it is served; nobody else comes back but
    // client 0.
    assert_eq!(times(&scenario, completed), [(100, 0), (200, 1), (5_100, 0), (10_100, 2)]);
    assert_eq!(closed(&scenario), [(100, 1), (200, 1), (5_100, 1), (10_100, 1)]);
    let summary = play(&scenario).remove(0);
    assert_near(estimate(&summary, Metric::Served50), 0.1, 1e-9);
    assert_near(estimate(&summary, Metric::Served99), 5.1, 1e-9);
}

/// Lifetimes of 100 s that are anywhere in their course: one in ten ends within the first ten
/// seconds.
#[test]
fn a_warm_world_begins_with_connections_of_all_ages_as_many_as_there_are_slots() {
    let closed_within_10_s = |limit: u32, policy: &str| {
        let mut scenario = keeping(1_000, &format!("max_client_conn = {limit}"), policy);
        scenario.pooler.pool_size = 1_000;
        scenario.fleet.initial = Initial::Warm { interval: Span::from_secs(1) };
        scenario.policies[0].parts[0].policy.poll = Pipeline::constant(Span::from_millis(900));
        let kept = events(&scenario, 0);
        let kept =
            kept.iter().take_while(|(_, event)| matches!(event, Event::ConnectionKept { .. }));
        let closed = closed(&scenario);
        let closed = closed.iter().filter(|(at, _)| *at < 10_000);
        (kept.count(), f64::from(closed.map(|(_, connections)| connections).sum::<u32>()))
    };
    let (open, closed) = closed_within_10_s(1_000, "connection = { lifetime = '100s' }");
    assert_eq!(open, 1_000);
    // Looked at a second later at most, half a second on average.
    assert_near(closed, 95.0, 0.25);
    let shared = "connection = { lifetime = '100s' }
                  client_pool = { clients = 10, connections = 5 }";
    assert_eq!(closed_within_10_s(1_000, shared).0, 500);
    assert_eq!(closed_within_10_s(300, shared).0, 300);
}

/// 4,000 clients and 250 handshakes a second.
#[test]
fn a_deploy_comes_back_unless_lifetimes_are_drawn_at_birth() {
    let summaries = play(&shipped("deploy-reconnect-storm", &["run.replicates=1"]));
    let [unjittered, narrow, at_birth, redrawn, never] =
        [0, 1, 2, 3, 4].map(|policy| estimate(&summaries[policy], Metric::LaterConnects));
    assert_eq!(unjittered, 250.0);
    assert!(narrow > 200.0, "{narrow}");
    // 4,000 over 300 s, in the fullest second.
    assert!((13.3..35.0).contains(&at_birth), "{at_birth}");
    assert!((2.0 * at_birth..120.0).contains(&redrawn), "{redrawn}");
    assert_eq!(never, 0.0);
}
