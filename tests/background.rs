//! Traffic that comes whether it is answered or not.

use crate::queues::{levels, wait_at};
use crate::watch::{assert_near, estimate, events, play, shipped, written};
use herdsim::engine::observer::Event;
use herdsim::metrics::{Metric, PolicySummary};
use herdsim::scenario::Scenario;

/// A fleet of one that hardly polls, and requests.
fn requests(more: &str) -> Scenario {
    written(&format!(
        "title = 'requests'
         [run]
         duration = '2h'
         warm_up = '10m'
         replicates = 8
         [fleet]
         clients = 1
         [pooler]
         pool_size = 5
         [database]
         claim = '1ms'
         [policy.idle]
         poll = ['1h']
         {more}"
    ))
}

/// The mean wait in seconds, by Little's law over the whole run.
fn mean_wait(summary: &PolicySummary) -> f64 {
    let buckets = &summary.timeline.buckets;
    let waited: u64 = buckets.iter().map(|bucket| bucket.cl_waiting_ticks).sum();
    let served: u64 = buckets.iter().map(|bucket| bucket.requests_served).sum();
    waited as f64 / 1e6 / served as f64
}

/// Requests to a database that refuses everybody.
fn refused(background: &str) -> Scenario {
    requests(&format!(
        "[background]
         claim = '10ms'
         {background}
         [[disturbance]]
         at = '0s'
         outage = {{ over = '3h', failure = {{ refusing = '0s' }} }}"
    ))
}

/// The open M/M/c queue: the mean wait of Erlang's C formula.
#[test]
fn alone_it_is_an_open_queue_with_erlangs_wait() {
    let (servers, service) = (5u32, 0.1);
    for rate in [30.0, 40.0, 45.0] {
        let scenario = requests(&format!(
            "[background]
             rate = '{rate}/s'
             claim = {{ exponential = {{ mean = '100ms' }} }}"
        ));
        let summary = play(&scenario).remove(0);
        let load: f64 = rate * service;
        // More than a thousand at once are not worth counting.
        let wait = wait_at(&levels(|_| load, servers, 1_000), servers) * service;
        assert_near(mean_wait(&summary), wait, 0.04);
        assert_near(estimate(&summary, Metric::Requests) / 6_600.0, rate, 0.01);
        assert_near(estimate(&summary, Metric::SvActiveMean), load, 0.01);
        assert_near(estimate(&summary, Metric::RequestsServed), 1.0, 0.001);
        assert_near(estimate(&summary, Metric::RequestAmplification), 1.0, 0.001);
    }
}

/// With constant service on one server the mean wait is half as long: Pollaczek and Khinchine's formula.
#[test]
fn with_constant_service_the_wait_is_pollaczek_and_khinchines() {
    let mut scenario = requests("[background]\nrate = '8/s'\nclaim = '100ms'");
    scenario.pooler.pool_size = 1;
    let summary = play(&scenario).remove(0);
    assert_near(mean_wait(&summary), 0.8 * 0.1 / (2.0 * 0.2), 0.04);
}

/// A server that tries three times and a client that asks four times: twelve attempts, none of them served.
#[test]
fn under_a_full_outage_two_layers_of_retry_multiply() {
    let scenario = refused(
        "rate = '2/s'
         server = { acquire = { retry = { delay = ['100ms'], stop = { attempts = 3 } } } }
         client = { retry = { delay = ['1s'], stop = { attempts = 4 } } }",
    );
    let summary = play(&scenario).remove(0);
    let requests = estimate(&summary, Metric::Requests);
    assert_eq!(estimate(&summary, Metric::RequestsServed), 0.0);
    assert_near(estimate(&summary, Metric::RequestAmplification), 12.0, 0.001);
    assert!(requests > 13_000.0);
}

/// How long clients of a database that refuses everybody wait who would ask again after a second and are
/// told to wait for five: the shortest wait and the longest, in seconds.
fn waits_of_who_is_told(client: &str) -> (f64, f64) {
    let scenario = refused(&format!("rate = '1/s'\nretry_after = '5s'\nclient = {{ {client} }}"));
    let mut came = std::collections::BTreeMap::new();
    let mut waits = Vec::new();
    for (now, event) in events(&scenario, 0) {
        match event {
            Event::RequestCame { client } => drop(came.insert(client, now)),
            Event::RequestEnded { client, came: at, good } => {
                assert!(!good && came[&client] == at);
                waits.push(now.since(at).as_secs_f64());
            }
            _ => {}
        }
    }
    assert!(waits.len() > 6_000);
    waits.into_iter().fold((f64::MAX, 0.0), |(least, most), wait| (wait.min(least), wait.max(most)))
}

#[test]
fn a_client_waits_at_least_as_long_as_it_is_told() {
    let waits = waits_of_who_is_told("retry = { delay = ['1s'], stop = { attempts = 2 } }");
    assert_eq!(waits, (5.0, 5.0));
}

#[test]
fn a_library_makes_of_what_it_is_told_what_it_does_unless_the_scenario_says_otherwise() {
    let constant = "preset = 'polly-constant@173d6d1', delay = '1s', stop = { attempts = 2 }";
    let told = |more: &str| waits_of_who_is_told(&format!("{constant}{more}"));
    assert_eq!(told(""), (1.0, 1.0));
    assert_eq!(told(", hint = 'at-least'"), (5.0, 5.0));
    let got = "preset = 'got@14.6.6', stop = { attempts = 2 }";
    assert_eq!(waits_of_who_is_told(got), (5.0, 5.0));
    let (least, most) = waits_of_who_is_told(&format!("{got}, hint = 'ignore'"));
    assert!((1.0..1.01).contains(&least) && (1.09..=1.1).contains(&most), "{least} {most}");
}

/// All policies meet the same requests, and a burst multiplies them while it lasts.
#[test]
fn requests_come_when_they_come_whatever_the_policy() {
    let scenario = requests(
        "[background]
         rate = '40/s'
         claim = { exponential = { mean = '100ms' } }
         [[disturbance]]
         at = '1h'
         burst = { factor = 5, over = '2m' }
         [policy.impatient]
         poll = ['1h']
         background = { server = { patience = '50ms' }, client = { retry = { delay = ['1s', { scale \
         = [0, 1] }], stop = { attempts = 3 } } } }",
    );
    let arrivals = |policy| -> Vec<_> {
        let came =
            |event: &Event| matches!(event, Event::RequestCame { .. } | Event::RequestTurnedAway);
        let events = events(&scenario, policy).into_iter();
        events.filter(|(_, event)| came(event)).map(|(now, _)| now).collect()
    };
    let patient = arrivals(0);
    assert_eq!(patient, arrivals(1));
    let during = |from: f64, to: f64| {
        patient.iter().filter(|at| (from..to).contains(&at.as_secs_f64())).count() as f64
    };
    assert_near(during(0.0, 3_600.0) / 3_600.0, 40.0, 0.02);
    assert_near(during(3_600.0, 3_720.0) / 120.0, 200.0, 0.02);
    assert_near(during(3_720.0, 7_200.0) / 3_480.0, 40.0, 0.02);
    let (patient, impatient) = {
        let summaries = play(&scenario);
        (summaries[0].clone(), summaries[1].clone())
    };
    assert!(estimate(&impatient, Metric::RequestAmplification) > 1.1);
    assert_near(estimate(&patient, Metric::RequestAmplification), 1.0, 0.001);
}

#[test]
fn beyond_its_room_a_request_is_turned_away() {
    let scenario = requests("[background]\nrate = '100/s'\nclaim = '100ms'\nat_once = 20");
    let summary = play(&scenario).remove(0);
    // Five of 100 ms: 50 a second of 100.
    assert_near(estimate(&summary, Metric::RequestsServed), 0.5, 0.01);
    assert!(estimate(&summary, Metric::ClientsMax) <= 21.0);
}

/// Where dead waiters are kept, whoever asks again keeps the outage, and two layers ask the most.
#[test]
fn a_burst_ends_only_where_nobody_asks_again() {
    let summaries = play(&shipped("api-burst", &["run.replicates=1"]));
    let mut amplifications = Vec::new();
    for summary in &summaries {
        let drains = summary.policy == "nobody-retries";
        assert_eq!(
            estimate(summary, Metric::DrainedShare),
            f64::from(drains),
            "{}",
            summary.policy
        );
        amplifications
            .push((summary.policy.as_str(), estimate(summary, Metric::RequestAmplification)));
    }
    amplifications.sort_by(|a, b| b.1.total_cmp(&a.1));
    let order: Vec<&str> = amplifications.iter().map(|(policy, _)| *policy).collect();
    let expected =
        ["both-retry", "server-retries", "client-retries", "one-retry", "nobody-retries"];
    assert_eq!(order, expected);
    let harmless =
        play(&shipped("api-burst", &["run.replicates=1", "disturbance.0.burst.factor=4"]));
    assert!(harmless.iter().all(|summary| estimate(summary, Metric::Refused) == 0.0));
}
