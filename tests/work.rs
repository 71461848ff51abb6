//! Items of work: nothing is lost, and each step takes the time that it says.

use crate::watch::{assert_near, estimate, events, play, shipped, written};
use herdsim::engine::observer::Event;
use herdsim::metrics::Metric;
use herdsim::scenario::Scenario;

/// One client that polls each ten seconds and needs 100 ms for a claim; items come by a trace.
fn traced(times: &[f64], work: &str, more: &str) -> Scenario {
    let rows: Vec<String> = times.iter().map(|time| format!("[0, '{time}s']")).collect();
    written(&format!(
        "title = 'traced'
         [run]
         duration = '2m'
         [fleet]
         clients = 1
         [pooler]
         pool_size = 1
         [database]
         claim = '100ms'
         [work]
         arrivals = {{ trace = [{}] }}
         {work}
         {more}
         [policy.tested]
         poll = ['10s']",
        rows.join(", ")
    ))
}

/// What happens to items, as (milliseconds, a letter): arrived, taken, returned, done.
fn course(scenario: &Scenario) -> Vec<(u64, char)> {
    let letter = |event| match event {
        Event::ItemArrived { .. } => Some('a'),
        Event::ItemTaken { .. } => Some('t'),
        Event::ItemReturned { .. } => Some('r'),
        Event::ItemDone { .. } => Some('d'),
        _ => None,
    };
    let events = events(scenario, 0).into_iter();
    events.filter_map(|(now, event)| Some((now.ticks() / 1_000, letter(event)?))).collect()
}

/// Claims end at 0.1, 10.2, 20.3 s while nothing comes. A client that took an item polls again at once unless
/// all its workers are busy: then it looks again after its base interval.
#[test]
fn a_claim_takes_as_many_items_as_there_are_free_workers() {
    let one = traced(&[5.0, 6.0], "processing = '1s'", "");
    assert_eq!(
        course(&one),
        [(5_000, 'a'), (6_000, 'a'), (10_200, 't'), (11_200, 'd'), (20_300, 't'), (21_300, 'd')]
    );
    let two = traced(&[5.0, 6.0, 7.0], "processing = '3s'\nworkers = 2", "");
    let arrivals = [(5_000, 'a'), (6_000, 'a'), (7_000, 'a')];
    let taken = [(10_200, 't'), (10_200, 't'), (13_200, 'd'), (13_200, 'd'), (20_300, 't')];
    assert_eq!(course(&two), [&arrivals[..], &taken[..], &[(23_300, 'd')]].concat());
    // With a worker left it polls again at once.
    let again = traced(&[5.0, 10.25], "processing = '1s'\nworkers = 2", "");
    assert_eq!(
        course(&again),
        [(5_000, 'a'), (10_200, 't'), (10_250, 'a'), (10_300, 't'), (11_200, 'd'), (11_300, 'd')]
    );
}

#[test]
fn after_its_processing_an_item_may_need_the_pool_again() {
    let scenario = traced(&[5.0], "processing = '1s'\ntransactions = ['300ms', '200ms']", "");
    assert_eq!(course(&scenario), [(5_000, 'a'), (10_200, 't'), (11_700, 'd')]);
    let summary = play(&scenario).remove(0);
    let acquisitions = estimate(&summary, Metric::Acquisitions);
    assert_eq!(acquisitions, estimate(&summary, Metric::Polls) + 2.0);
}

/// The database refuses everybody from 11.3 to 16 s: a worker gives its item back, or knocks each 100 ms.
#[test]
fn a_worker_in_a_hot_loop_keeps_its_item_and_knocks_until_it_is_let_in() {
    let outage = "[[disturbance]]\nat = '11300ms'\noutage = { over = '4700ms', failure = { refusing = \
                  '0s' } }";
    let work = "processing = '2s'\ntransactions = ['500ms']";
    let mut scenario = traced(&[5.0], work, outage);
    assert_eq!(course(&scenario)[..3], [(5_000, 'a'), (10_200, 't'), (12_200, 'r')]);
    let policy = &mut scenario.policies[0].parts[0].policy;
    let pause = herdsim::units::Span::from_millis(100);
    policy.hot_loop = Some(herdsim::policy::HotLoop { clients: 1, pause });
    assert_eq!(course(&scenario), [(5_000, 'a'), (10_200, 't'), (16_500, 'd')]);
    let summary = play(&scenario).remove(0);
    assert_eq!(estimate(&summary, Metric::Refused), 38.0);
}

#[test]
fn the_item_of_a_client_that_dies_is_reclaimed_and_done_by_another_start() {
    let restart = "[[disturbance]]\nat = '10500ms'\nrestart = {}";
    let scenario = traced(&[5.0], "processing = '1s'\nreclaim = '20s'", restart);
    // The claims of the new start end at 10.6, 20.7, 30.8 and 40.9 s.
    assert_eq!(
        course(&scenario),
        [(5_000, 'a'), (10_200, 't'), (30_500, 'r'), (30_800, 't'), (31_800, 'd')]
    );
    let summary = play(&scenario).remove(0);
    assert_eq!(estimate(&summary, Metric::ItemsReturned), 1.0);
    assert_eq!(estimate(&summary, Metric::ItemsOpen), 0.0);
    assert_near(estimate(&summary, Metric::PickupMean), 5.2, 1e-6);
    assert_near(estimate(&summary, Metric::OldestMax), 25.8, 1e-6);
}

#[test]
fn a_worker_that_dies_at_the_pool_gives_its_item_back_too() {
    let restart = "[[disturbance]]\nat = '11500ms'\nrestart = {}";
    let work = "processing = '1s'\ntransactions = ['2s']\nreclaim = '1s'";
    let scenario = traced(&[5.0], work, restart);
    assert_eq!(
        course(&scenario),
        [(5_000, 'a'), (10_200, 't'), (12_500, 'r'), (21_700, 't'), (24_700, 'd')]
    );
}

/// 200 clients for as many tenants that together get 20 items a second.
fn steady(work: &str) -> Scenario {
    let claim = "{ exponential = { mean = '100ms' } }";
    let work = format!("[work]\narrivals = '20/s'\nworkers = 4\n{work}");
    fleet_of_200(4, claim, &work)
}

fn fleet_of_200(replicates: u32, claim: &str, more: &str) -> Scenario {
    written(&format!(
        "title = 'fleet'
         [run]
         duration = '1h'
         warm_up = '5m'
         replicates = {replicates}
         [fleet]
         clients = 200
         initial = {{ warm = {{ interval = '10s' }} }}
         [pooler]
         pool_size = 50
         [database]
         claim = {claim}
         {more}
         [policy.tested]
         poll = ['10s', {{ scale = [0.5, 1.5] }}]"
    ))
}

#[test]
fn what_arrives_is_done_and_waits_for_about_half_an_interval() {
    let summary = play(&steady("processing = { exponential = { mean = '200ms' } }")).remove(0);
    let items = estimate(&summary, Metric::Items);
    assert_near(items / 3_600.0, 20.0, 0.01);
    assert_near(estimate(&summary, Metric::ItemsDone), items, 0.003);
    // What is left of a jittered sleep, seen from outside: (1 + variation²) / 2 of its mean.
    let (sleep, variation) = (10.0, 1.0 / 12.0);
    let wait = sleep * (1.0 + variation) / 2.0 + 0.1;
    let pickup = estimate(&summary, Metric::PickupMean);
    assert!((0.9 * wait..1.1 * wait).contains(&pickup), "{pickup} s, not {wait} s");
}

/// An item fails with probability f at each try: it is taken 1 / (1 − f) times on average.
#[test]
fn a_processing_that_fails_is_tried_again_until_it_succeeds() {
    let summary = play(&steady("failure = 0.25")).remove(0);
    let (items, done) = (estimate(&summary, Metric::Items), estimate(&summary, Metric::ItemsDone));
    assert_near(estimate(&summary, Metric::ItemsReturned) / done, 1.0 / 3.0, 0.02);
    assert!(items - done < 200.0, "{items} items, {done} done");
}

#[test]
fn tenants_differ_by_zipfs_law_and_rates_go_up_and_down_with_the_day() {
    let mut scenario = steady("skew = 1.0\ndaily = { amplitude = 0.5, peak = '12h' }");
    scenario.run.duration = herdsim::units::Span::from_secs(86_400);
    let (mut of_tenant, mut by_hour) = ([0.0; 200], [0.0; 24]);
    for (now, event) in events(&scenario, 0) {
        if let Event::ItemArrived { tenant } = event {
            of_tenant[tenant as usize] += 1.0;
            by_hour[(now.as_secs_f64() / 3_600.0) as usize] += 1.0;
        }
    }
    let all: f64 = of_tenant.iter().sum();
    assert_near(all, 20.0 * 86_400.0, 0.01);
    of_tenant.sort_by(f64::total_cmp);
    let harmonic: f64 = (1..=200).map(|k| 1.0 / f64::from(k)).sum();
    assert_near(of_tenant[199] / all, 1.0 / harmonic, 0.02);
    assert_near(of_tenant[190] / all, 0.1 / harmonic, 0.04);
    assert_near(by_hour[11] / all, 1.5 / 24.0, 0.02);
    assert_near(by_hour[0] / all, 0.5 / 24.0, 0.04);
}

#[test]
fn the_fleet_has_not_drained_while_more_waits_than_is_usual() {
    let outage = "[[disturbance]]\nat = '20m'\noutage = { over = '5m', failure = 'hanging' }";
    let drain = |work: &str| {
        let scenario = fleet_of_200(5, "'100ms'", &format!("{work}\n{outage}"));
        estimate(&play(&scenario).remove(0), Metric::TimeToDrain)
    };
    let empty = drain("");
    // A busy client looks each ten seconds, twice as often as it gets an item: what has piled up in the
    // five minutes takes as long to go.
    let worked = drain("[work]\narrivals = '10/s'\nprocessing = '1s'");
    assert!(empty < 320.0 && (500.0..800.0).contains(&worked), "{empty} s, {worked} s");
}

/// What could not be claimed during the saturation is done afterwards; a wider spread costs pickup delay; and
/// where the fleet is locked in the backlog only grows.
#[test]
fn items_survive_the_outage_of_the_incident() {
    let summaries = play(&shipped("items-survive", &["run.replicates=2"]));
    let figure = |name: &str, metric| {
        let summary = summaries.iter().find(|summary| summary.policy == name);
        estimate(summary.expect("a policy of the scenario"), metric)
    };
    for name in ["no-spread", "spread-30s", "spread-120s"] {
        assert_eq!(figure(name, Metric::DrainedShare), 1.0, "{name}");
        assert!(figure(name, Metric::BacklogMax) > 1_000.0, "{name}");
        // At rest ten a second wait for about twenty seconds.
        assert!(figure(name, Metric::ItemsOpen) < 300.0, "{name}");
    }
    let delay = |name| figure(name, Metric::PickupMean);
    assert!(delay("no-spread") < delay("spread-30s") && delay("spread-30s") < delay("spread-120s"));
    assert_eq!(figure("retry", Metric::DrainedShare), 0.0);
    assert_eq!(figure("retry", Metric::ItemsOpen), figure("retry", Metric::BacklogMax));
}
