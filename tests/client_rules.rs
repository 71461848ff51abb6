//! What a client does, seen from outside: every departure, every sleep, every failure.

use std::collections::{BTreeMap, BTreeSet};

use crate::watch::{estimate, events, only, play, shipped, written};
use herdsim::engine::observer::{Begins, Event};
use herdsim::metrics::Metric;
use herdsim::scenario::Scenario;
use herdsim::units::{SimTime, Span};

/// A pool that is full for good: 2,000 clients, one backend, ten seconds a claim.
fn saturated(policy: &str) -> Scenario {
    written(&format!(
        "title = 'saturated'
         [run]
         duration = '300s'
         [fleet]
         clients = 2_000
         round_trip = '20ms'
         [pooler]
         pool_size = 1
         max_client_conn = 500
         dead_waiters = {{ kept = {{ demand = '10s' }} }}
         [database]
         claim = '10s'
         [policy.tested]
         patience = '2s'
         poll = [{{ exponential = {{ base = '1s', factor = 2 }} }}, {{ clamp = '30s' }}]
         {policy}"
    ))
}

/// The guard against re-introducing retry.
#[test]
fn once_makes_exactly_one_attempt_per_acquisition() {
    let (mut departures, mut failures) = (0, 0);
    for (_, event) in events(&saturated("acquire = 'once'"), 0) {
        match event {
            Event::Departed { begins, .. } => {
                assert_eq!(begins, Begins::Poll, "an attempt that begins no poll is a retry");
                departures += 1;
            }
            Event::Refused { .. } | Event::Abandoned { .. } => failures += 1,
            _ => {}
        }
    }
    assert!(departures > 10_000 && failures > 10_000, "{departures} attempts, {failures} failures");
}

#[test]
fn against_a_full_pooler_an_attempt_fails_within_its_bound() {
    let mut abandoned = 0;
    for (now, event) in events(&saturated("acquire = 'once'"), 0) {
        match event {
            Event::Abandoned { waited, .. } => {
                assert_eq!(waited, Span::from_secs(2));
                abandoned += 1;
            }
            // One round trip and the patience: never the ten seconds of a retry budget.
            Event::PollEnded { began, outcome: herdsim::policy::Outcome::Error, .. } => {
                assert!(now.since(began) <= Span::from_millis(2_020), "{}", now.since(began));
            }
            _ => {}
        }
    }
    assert!(abandoned > 100);
}

/// With tenacity's rule (10 s, tested after a failed attempt) a refused acquisition makes 8 to 10
/// attempts and takes 10 to 12 s.
#[test]
fn a_bounded_retry_gives_up_after_its_time_and_not_within_a_delay() {
    let scenario = saturated(
        "acquire = { retry = { delay = [{ exponential = { base = '100ms', factor = 2 } }, { add = \
         ['0s', '1s'] }, { clamp = '2s' }], stop = { elapsed = '10s' } } }",
    );
    let mut scenario = scenario;
    scenario.policies[0].parts[0].policy.patience = None;
    scenario.fleet.round_trip = Span::ZERO;
    let mut tries: BTreeMap<u32, u32> = BTreeMap::new();
    let (mut polls, mut attempts, mut taken) = (0, 0, 0.0);
    for (now, event) in events(&scenario, 0) {
        match event {
            Event::Refused { client } => *tries.entry(client).or_default() += 1,
            Event::PollEnded { client, began, outcome: herdsim::policy::Outcome::Error } => {
                let tries = tries.remove(&client).expect("a failed poll was refused");
                let took = now.since(began).as_secs_f64();
                assert!((8..=10).contains(&tries), "{tries} attempts");
                assert!((10.0..=12.0).contains(&took), "{took} s");
                polls += 1;
                attempts += tries;
                taken += took;
            }
            _ => {}
        }
    }
    assert!(polls > 1_000);
    let (attempts, taken) = (f64::from(attempts) / f64::from(polls), taken / f64::from(polls));
    assert!((attempts - 8.8).abs() < 0.1, "{attempts} attempts on average");
    assert!((taken - 11.1).abs() < 0.1, "{taken} s on average");
}

#[test]
fn first_polls_after_a_restart_spread_uniformly_over_the_start_up_window() {
    let scenario = only(shipped("deriver-restart", &[]), &["jittered-no-retry"]);
    let trigger = scenario.first_trigger().unwrap();
    let mut waiting_for: Vec<bool> = vec![false; scenario.fleet.clients as usize];
    let mut first_polls = Vec::new();
    for (_, event) in events(&scenario, 0) {
        match event {
            Event::Restarted { client, .. } => waiting_for[client as usize] = true,
            Event::Departed { client, at, .. }
                if at >= trigger && std::mem::take(&mut waiting_for[client as usize]) =>
            {
                first_polls.push(at.since(trigger).as_secs_f64());
            }
            _ => {}
        }
    }
    let n = first_polls.len() as f64;
    assert_eq!(first_polls.len(), 11_543);
    first_polls.sort_by(f64::total_cmp);
    // Kolmogorov–Smirnov; the 0.2 s skew of the restart itself moves the law by at most 0.7 %.
    let distance = first_polls
        .iter()
        .enumerate()
        .map(|(i, t)| ((t / 30.0).min(1.0) - (i as f64 + 0.5) / n).abs())
        .fold(0.0, f64::max);
    assert!(distance < 1.95 / n.sqrt() + 0.007, "distance {distance}");
    assert!(first_polls[0] < 0.1 && first_polls[first_polls.len() - 1] < 30.2);
}

#[test]
fn jitter_goes_into_the_sleep_and_never_into_the_schedule() {
    let mut scenario =
        only(shipped("deriver-restart", &["run.duration=5m"]), &["jittered-no-retry"]);
    scenario.fleet.clients = 500;
    let trigger = scenario.first_trigger().unwrap();
    let mut slept_since: BTreeMap<u32, SimTime> = BTreeMap::new();
    let mut sleeps: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (now, event) in events(&scenario, 0) {
        match event {
            Event::Restarted { client, .. } => {
                slept_since.remove(&client);
                sleeps.insert(client, Vec::new());
            }
            Event::PollEnded { client, .. } if now > trigger => {
                slept_since.insert(client, now);
            }
            Event::Departed { client, at, .. } => {
                if let Some(since) = slept_since.remove(&client) {
                    sleeps.get_mut(&client).unwrap().push(at.since(since).as_secs_f64());
                }
            }
            _ => {}
        }
    }
    assert_eq!(sleeps.len(), 500);
    let schedule = [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0];
    let mut factors = Vec::new();
    for sleeps in sleeps.values() {
        assert!(sleeps.len() >= 7, "{sleeps:?}");
        for (sleep, nominal) in sleeps.iter().zip(schedule) {
            assert!((0.499_999..1.500_001).contains(&(sleep / nominal)), "{sleep} of {nominal}");
            factors.push(sleep / nominal);
        }
    }
    let mean = factors.iter().sum::<f64>() / factors.len() as f64;
    assert!((mean - 1.0).abs() < 0.02, "mean factor {mean}");
    assert!(factors.iter().any(|&f| f < 0.51) && factors.iter().any(|&f| f > 1.49));
}

/// An orphan holds the one connection that the database allows.
#[test]
fn whoever_waits_when_no_backend_is_left_and_none_can_log_in_fails_at_once() {
    let events = events(
        &written(
            "title = 'limit'
             [run]
             duration = '2s'
             [fleet]
             clients = 100
             [pooler]
             preset = 'pgbouncer@1.25'
             pool_size = 1
             dead_waiters = { kept = 'login' }
             [pooler.logins]
             time = '2ms'
             limit = 1
             [database]
             claim = '1s'
             [policy.tested]
             patience = '500ms'
             leave = 'close'
             start_up = { uniform = ['0s', '1s'] }
             poll = ['1m']",
        ),
        0,
    );
    let failed = events.iter().position(|(_, event)| *event == Event::LoginFailed).unwrap();
    let (at, Event::PlacesForgotten { places, .. }) = events[failed + 1] else {
        panic!("not {:?}", events[failed + 1]);
    };
    let mut waiting = BTreeSet::new();
    for (_, event) in &events[..failed] {
        match event {
            Event::Admitted { client, .. } => waiting.insert(*client),
            Event::Granted { client, .. } | Event::Abandoned { client, .. } => {
                waiting.remove(client)
            }
            _ => false,
        };
    }
    let dropped: BTreeSet<u32> = events[failed..]
        .iter()
        .filter_map(|&(now, event)| match event {
            Event::Dropped { client, .. } if now == at => Some(client),
            _ => None,
        })
        .collect();
    assert_eq!(dropped, waiting);
    assert!(!waiting.is_empty() && waiting.len() < places as usize, "the living and the dead");
}

/// The handshake takes 25 ms for each of the two, so the second one's patience and connect timeout both end
/// at 550 ms.
#[test]
fn a_client_that_stays_gives_up_once_even_when_its_connect_timeout_falls_on_the_same_instant() {
    let events = events(
        &written(
            "title = 'same instant'
             [run]
             duration = '5s'
             [fleet]
             clients = 2
             [pooler]
             pool_size = 1
             handshake = { rate = '40/s', count = 'authentication' }
             [database]
             claim = '1m'
             [policy.tested]
             connect_timeout = '550ms'
             patience = '500ms'
             leave = 'stays'
             poll = ['1m']",
        ),
        0,
    );
    let abandoned: Vec<SimTime> = events
        .iter()
        .filter(|(_, event)| matches!(event, Event::Abandoned { .. }))
        .map(|&(now, _)| now)
        .collect();
    assert_eq!(abandoned, [SimTime::from_ticks(550_000)]);
}

/// 3,000 jobs of 2 s are 120 s of work for 50 backends; 1,000 fit into the pooler.
#[test]
fn hourly_jobs_are_refused_unless_they_are_spread_over_more_than_their_work() {
    let summaries = play(&shipped("cron-top-of-hour", &["run.replicates=2"]));
    let figure = |name: &str, metric| {
        let summary = summaries.iter().find(|summary| summary.policy == name);
        estimate(summary.expect("a policy of the scenario"), metric)
    };
    // Three hours are measured.
    assert_eq!(figure("on-the-hour", Metric::Refused), 3.0 * 2_000.0);
    assert_eq!(figure("on-the-hour", Metric::GoodClaims), 3.0 * 1_000.0);
    assert!(figure("splay-1m", Metric::Refused) > 1_000.0);
    for name in ["sleeping", "splay-5m", "hashed", "drawn-anew"] {
        assert_eq!(figure(name, Metric::Refused), 0.0, "{name}");
    }
    let retried = figure("retry", Metric::GoodClaims);
    assert_eq!(retried, 3.0 * 3_000.0);
    // An even stream: 3,000 an hour of 2 s each, and Poisson.
    let (busy, dispersion) = (figure("hashed", Metric::SvActiveMean), Metric::Dispersion);
    assert!((busy / (3_000.0 * 2.0 / 3_600.0) - 1.0).abs() < 0.05, "{busy}");
    assert!((figure("hashed", dispersion) - 1.0).abs() < 0.1);
}

/// 1e300² is no double: the code raises when it is asked for the delay after the third attempt.
#[test]
fn where_the_code_raises_the_acquisition_has_failed() {
    let raising = "[policy.tested.acquire.retry]
         delay = [
           { exponential = { base = '1us', factor = 1e300, overflow = 'raises' } },
           { clamp = '1s' },
         ]
         stop = 'never'";
    let (mut attempts, mut failed) = (BTreeMap::new(), 0);
    for (_, event) in events(&saturated(raising), 0) {
        match event {
            Event::Departed { client, begins, .. } => {
                let begun = attempts.entry(client).or_insert(0);
                *begun = if begins == Begins::Poll { 1 } else { *begun + 1 };
                assert!(*begun <= 3, "client {client} tries again");
            }
            Event::PollEnded { client, outcome: herdsim::policy::Outcome::Error, .. } => {
                assert_eq!(attempts[&client], 3);
                failed += 1;
            }
            _ => {}
        }
    }
    assert!(failed > 1_000, "{failed} polls failed");
}
