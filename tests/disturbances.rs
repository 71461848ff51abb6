//! What can happen to a running system, one behaviour each, and courses of events held side by
//! side.

use crate::watch::{assert_near, estimate, events, only, play, told, written, written_with};
use herdsim::engine::observer::{Begins, Event};
use herdsim::metrics::{Metric, PolicySummary};
use herdsim::scenario::Scenario;
use herdsim::units::SimTime;

/// Ten clients with room for all, polling every 7 s, and a policy to change over to.
fn ten_clients(disturbance: &str) -> Scenario {
    written(&format!(
        "title = 'ten clients'
         [run]
         duration = '100s'
         [fleet]
         clients = 10
         initial = {{ warm = {{ interval = '7s' }} }}
         [pooler]
         pool_size = 10
         [database]
         claim = '100ms'
         [[disturbance]]
         {disturbance}
         [policy.old]
         poll = ['7s']
         [policy.new]
         poll = ['3s']
         start_up = '1s'"
    ))
}

/// A pool of five that many more want, 100 ms a claim; a refused or abandoned attempt is tried
/// again.
fn saturated(happening: &str) -> Scenario {
    written(&format!(
        "title = 'saturated'
         [run]
         duration = '100s'
         [fleet]
         clients = 1_000
         round_trip = '20ms'
         [pooler]
         pool_size = 5
         max_client_conn = 100
         [database]
         claim = '100ms'
         [[disturbance]]
         {happening}
         [policy.retry]
         poll = ['5s', {{ scale = [0.5, 1.5] }}]
         patience = '1s'
         acquire = {{ retry = {{ delay = ['500ms'], stop = 'never' }} }}
         [policy.once]
         extends = 'retry'
         acquire = 'once'"
    ))
}

fn seconds(time: SimTime) -> f64 {
    time.as_secs_f64()
}

/// (whole second, client) of every restart under the first policy.
fn restarts(scenario: &Scenario) -> Vec<(u64, u32)> {
    let restarted = |(now, event)| match event {
        Event::Restarted { client, .. } => Some((seconds(now) as u64, client)),
        _ => None,
    };
    events(scenario, 0).into_iter().filter_map(restarted).collect()
}

/// When each attempt set out under the first policy, with its client.
fn departures(scenario: &Scenario) -> Vec<(f64, u32, Begins)> {
    let departed = |(_, event)| match event {
        Event::Departed { client, at, begins } => Some((seconds(at), client, begins)),
        _ => None,
    };
    events(scenario, 0).into_iter().filter_map(departed).collect()
}

/// How often something happened within a span of seconds under the first policy.
fn count(scenario: &Scenario, from: f64, to: f64, is: fn(&Event) -> bool) -> usize {
    let within = |now: SimTime| (from..to).contains(&seconds(now));
    events(scenario, 0).iter().filter(|(now, event)| within(*now) && is(event)).count()
}

fn completed(event: &Event) -> bool {
    matches!(event, Event::Completed { .. })
}

fn refused(event: &Event) -> bool {
    matches!(event, Event::Refused { .. })
}

#[test]
fn a_rolling_upgrade_restarts_batch_by_batch_into_the_new_policy() {
    let scenario = ten_clients(
        "at = '20s'
         restart = { clients = 0.9, batch = 4, every = '10s', to = 'new' }",
    );
    let expected = (0..9u32).map(|client| (20 + 10 * u64::from(client / 4), client));
    assert_eq!(restarts(&scenario), expected.collect::<Vec<_>>());
    // A client of the new policy polls a second after its restart, then each 3.1 s.
    let of = |client: u32| {
        let times = departures(&scenario).into_iter().filter(move |&(_, who, _)| who == client);
        times.map(|(at, ..)| at).filter(|&at| at >= 40.0).collect::<Vec<_>>()
    };
    assert_eq!(of(8)[0], 41.0);
    for client in [0, 8] {
        assert!(of(client).windows(2).all(|pair| (pair[1] - pair[0] - 3.1).abs() < 1e-6));
    }
    assert!(of(9).windows(2).all(|pair| (pair[1] - pair[0] - 7.1).abs() < 1e-6));
}

#[test]
fn cohorts_restart_one_after_the_other_and_the_database_with_the_first() {
    let scenario = ten_clients(
        "at = '20s'
         restart = { cohorts = [0.1, 0.4, 0.5], every = '5s', database = true }",
    );
    let cohort = |client| {
        if client < 1 {
            20
        } else if client < 5 {
            25
        } else {
            30
        }
    };
    assert_eq!(restarts(&scenario), (0..10).map(|c| (cohort(c), c)).collect::<Vec<_>>());
    let forgotten = |event: &Event| matches!(event, Event::PlacesForgotten { .. });
    assert_eq!(count(&scenario, 0.0, 100.0, forgotten), 1);
    // It has run its course when the last cohort has polled: all at once, 10 s after the first.
    let drained = estimate(&play(&scenario)[0], Metric::TimeToDrain);
    assert_near(drained, 10.1, 1e-6);
}

#[test]
fn a_switch_of_policy_lets_the_attempt_under_way_go_on() {
    let scenario = saturated("at = '50s'\nswitch = { to = 'once' }");
    let retries = |from: f64, to: f64| {
        let departures = departures(&scenario).into_iter();
        departures.filter(|&(at, _, b)| b == Begins::Nothing && (from..to).contains(&at)).count()
    };
    assert!(retries(0.0, 50.0) > 10_000);
    // Who was about to try again does so; after that nobody decides for it any more.
    assert!(retries(50.0, 50.5) > 100);
    assert_eq!(retries(50.5, 100.0), 0);
    assert_eq!(restarts(&scenario), []);
    let dropped = |event: &Event| matches!(event, Event::Dropped { .. });
    assert_eq!(count(&scenario, 0.0, 100.0, dropped), 0);
}

#[test]
fn a_client_that_switches_keeps_the_interval_it_has_reached() {
    let scenario = written(
        "title = 'ramps'
         [run]
         duration = '200s'
         [fleet]
         clients = 10
         initial = { warm = { interval = '16s' } }
         [pooler]
         pool_size = 10
         [database]
         claim = '0s'
         [[disturbance]]
         at = '1s'
         switch = { to = 'ramp', clients = 0.5 }
         [policy.fixed]
         poll = ['16s']
         [policy.ramp]
         poll = [{ exponential = { base = '1s', factor = 2 } }, { clamp = '30s' }]",
    );
    let gaps = |client: u32| {
        let of = departures(&scenario).into_iter().filter(move |&(_, who, _)| who == client);
        let times: Vec<f64> = of.map(|(at, ..)| at).filter(|&at| at > 1.0).collect();
        times.windows(2).map(|pair| (pair[1] - pair[0]).round()).collect::<Vec<_>>()
    };
    assert_eq!(gaps(0)[..3], [16.0, 30.0, 30.0]);
    assert_eq!(gaps(9)[..3], [16.0, 16.0, 16.0]);
}

#[test]
fn a_changed_pool_serves_more_or_fewer_until_the_change_is_over() {
    for (size, rate) in [(10, 100), (2, 20)] {
        let change = format!("at = '40s'\nchange = {{ pool_size = {size}, over = '20s' }}");
        let scenario = saturated(&change);
        assert_eq!(count(&scenario, 20.0, 40.0, completed), 1_000);
        assert_eq!(count(&scenario, 41.0, 60.0, completed), 19 * rate);
        assert_eq!(count(&scenario, 61.0, 81.0, completed), 1_000);
    }
}

#[test]
fn a_smaller_pool_closes_idle_backends_at_once_and_busy_ones_when_they_are_free() {
    let scenario = written(
        "title = 'shrinking'
         [run]
         duration = '30s'
         [fleet]
         clients = 6
         initial = 'cold'
         [pooler]
         pool_size = 10
         [pooler.logins]
         time = '1ms'
         [database]
         claim = '5s'
         [[disturbance]]
         at = '2s'
         change = { pool_size = 4 }
         [[disturbance]]
         at = '20s'
         change = { pool_size = 8 }
         [policy.tested]
         poll = ['1s']",
    );
    let seen: Vec<(f64, u32, u32)> = told(&scenario, 0)
        .into_iter()
        .map(|(now, _, gauges)| (seconds(now), gauges.connected, gauges.active()))
        .collect();
    let at = |time: f64| *seen.iter().rfind(|(now, ..)| *now <= time).unwrap();
    assert_eq!(at(1.9), (at(1.9).0, 6, 6), "as many as were needed");
    assert_eq!(at(3.0).1, 6, "all are busy");
    assert_eq!(at(5.5).1, 4);
    let mut shrunk = seen.iter().filter(|(now, ..)| (5.1..20.0).contains(now));
    assert!(shrunk.all(|&(_, connected, _)| connected == 4));
    assert_eq!(at(29.0).1, 6);
}

#[test]
fn a_database_that_goes_down_closes_a_backend_with_each_claim_it_drops() {
    let down = |logins: &str| {
        let scenario = written(&format!(
            "title = 'down'
             [run]
             duration = '30s'
             [fleet]
             clients = 20
             initial = 'cold'
             [pooler]
             pool_size = 2
             reserve_pool_size = 2
             reserve_pool_timeout = '1s'
             {logins}
             [database]
             claim = '9s'
             [[disturbance]]
             at = '5s'
             restart = {{ clients = 0, database = true }}
             [policy.tested]
             poll = ['1s']"
        ));
        told(&scenario, 0)
            .into_iter()
            .filter(|(_, event, _)| matches!(event, Event::ClaimDropped { .. }))
            .map(|(_, _, gauges)| (gauges.connected, gauges.active()))
            .collect::<Vec<_>>()
    };
    assert_eq!(down(""), [(3, 3), (2, 2), (2, 1), (2, 0)], "the pool itself is there always");
    assert_eq!(down("logins = { time = '1ms' }"), [(3, 3), (2, 2), (1, 1), (0, 0)]);
}

#[test]
fn a_changed_limit_and_a_changed_database_hold_for_their_time() {
    let limit = saturated("at = '40s'\nchange = { max_client_conn = 1_000, over = '20s' }");
    assert!(count(&limit, 20.0, 40.0, refused) > 1_000);
    assert_eq!(count(&limit, 40.0, 60.0, refused), 0);
    assert!(count(&limit, 62.0, 80.0, refused) > 1_000);

    let slower = saturated("at = '40s'\nchange = { contention = { cores = 1 }, over = '20s' }");
    assert_eq!(count(&slower, 20.0, 40.0, completed), 1_000);
    // Five on one core: 10 a second.
    assert_eq!(count(&slower, 41.0, 60.0, completed), 190);
    assert_eq!(count(&slower, 61.0, 81.0, completed), 1_000);
}

#[test]
fn paused_admissions_refuse_everybody_and_serve_those_who_wait() {
    let scenario = saturated("at = '40s'\npause = { over = '20s' }");
    let admitted = |event: &Event| matches!(event, Event::Admitted { .. });
    assert!(count(&scenario, 30.0, 40.0, admitted) > 400);
    assert_eq!(count(&scenario, 40.0, 60.0, admitted), 0);
    assert!(count(&scenario, 40.0, 60.0, refused) > 10_000);
    // Those who wait have patience for a second: ten rounds of five.
    let served = count(&scenario, 40.0, 60.0, completed);
    assert!((50..=60).contains(&served), "{served}");
    assert!(count(&scenario, 60.0, 61.0, admitted) > 100);
}

#[test]
fn stopped_clients_finish_their_poll_and_come_back_over_their_span() {
    let scenario =
        saturated("at = '40s'\nstop = { clients = 0.9, over = '20s', back_over = '10s' }");
    let stopped = |&(_, client, _): &(f64, u32, Begins)| client < 900;
    let departures: Vec<_> = departures(&scenario).into_iter().filter(stopped).collect();
    let polls = |from: f64, to: f64| {
        let polls = departures.iter().filter(|(at, _, b)| *b == Begins::Poll && *at >= from);
        polls.filter(|(at, ..)| *at < to).count()
    };
    assert_eq!(polls(40.0, 60.0), 0, "nobody begins a poll");
    let retries = departures.iter().filter(|(at, ..)| (41.0..60.0).contains(at)).count();
    assert!(retries > 1_000, "polls under way go on");
    let told = |event: &Event| matches!(event, Event::Stopped { .. });
    let away = count(&scenario, 40.0, 60.0, told);
    assert!((600..=900).contains(&away), "{away}");
    // Uniform over 10 s; who has polled again may do so once more.
    let back = polls(60.0, 62.0) as f64;
    assert_near(back, away as f64 / 5.0, 0.2);
}

#[test]
fn what_recurs_is_a_trigger_each_time() {
    let scenario = ten_clients("at = '20s'\nevery = '25s'\nrestart = { clients = 0.2 }");
    let times: Vec<u64> = restarts(&scenario).into_iter().map(|(time, _)| time).collect();
    assert_eq!(times, [20, 20, 45, 45, 70, 70, 95, 95]);
    let summary = play(&scenario).remove(0);
    let triggers: Vec<f64> = summary.drains[..4].iter().map(|row| seconds(row.drain.at)).collect();
    assert_eq!(triggers, [20.0, 45.0, 70.0, 95.0]);
}

/// Eight minutes of the main scenario in two courses of events, under two policies.
fn courses(variants: &str) -> Vec<PolicySummary> {
    let main = include_str!("../scenarios/deriver-restart.toml");
    let text = format!("{main}\n{variants}");
    let overrides = ["run.duration=8m", "run.replicates=2"];
    play(&only(written_with(&text, &overrides), &["baseline", "no-retry"]))
}

#[test]
fn variants_meet_the_same_worlds_and_differ_by_what_is_done() {
    let summaries = courses(
        "[variant.nothing]
         disturbance = []
         [[variant.no-retry.disturbance]]
         at = '4m'
         switch = { to = 'no-retry' }",
    );
    let names = |summary: &PolicySummary| (summary.policy.clone(), summary.variant.clone());
    let pair = |policy: &str, variant: &str| (policy.to_owned(), Some(variant.to_owned()));
    let [stuck, switched, single, same] = &summaries[..] else { panic!("four of them") };
    assert_eq!(names(stuck), pair("baseline", "nothing"));
    assert_eq!(names(switched), pair("baseline", "no-retry"));
    assert_eq!(names(same), pair("no-retry", "no-retry"));
    // Until it is done nothing tells them apart, and one trigger counts in both.
    let before = |summary: &PolicySummary| summary.timeline.buckets[..240].to_vec();
    assert_eq!(before(stuck), before(switched));
    assert!(stuck.drains.iter().all(|row| row.drain.after.is_none()));
    assert!(switched.drains.iter().all(|row| row.drain.after.unwrap().as_secs_f64() > 120.0));
    assert_eq!(switched.drains.len(), 2, "the switch is no trigger");
    // Who makes single attempts anyway does not notice.
    assert_eq!(single.replicates, same.replicates);
}

#[test]
fn a_fleet_that_was_sent_away_has_not_recovered() {
    let summaries = courses(
        "[[variant.stop.disturbance]]
         at = '4m'
         stop = { over = '2m', back_over = '1s' }
         [variant.calm]
         replace = true",
    );
    // Nobody is there from 4 to 6 minutes; then the herd is back and locked in again.
    let stopped = &summaries[0];
    assert!(stopped.drains.iter().all(|row| row.drain.after.is_none()), "{:?}", stopped.drains);
    let calm = &summaries[1];
    assert!(calm.drains.is_empty(), "without a trigger there is no drain");
    assert_eq!(calm.estimate(Metric::TimeToDrain).estimate, None);
}
