//! Queues with a textbook answer.

use std::collections::BTreeMap;

use herdsim::engine::observer::{Event, Gauges, Observer};
use herdsim::metrics::{LatencyKind, Metric, UnitRecord};
use herdsim::report::{Glyphs, Ink, Style, terminal};
use herdsim::results::Results;
use herdsim::units::SimTime;
use herdsim::{engine, scenario};
use statrs::distribution::{DiscreteCDF, Poisson};

use crate::watch::{assert_agree, assert_near, estimate, mean_waits, play, records, written};

/// Polls a second of an open stream, and how many seconds it lasts.
const RATE: u32 = 20;
const SECONDS: u32 = 1_000;

/// A Poisson stream given its number: each client polls once, at an instant uniform over the run.
fn open(replicates: u32, servers: u32, claim: &str, more: &str) -> Vec<UnitRecord> {
    let interval = format!("'{SECONDS}s'");
    let station = station(RATE * SECONDS, &interval, servers, claim, more);
    records(&written(&format!(
        "{station}
         [run]
         duration = {interval}
         warm_up = '50s'
         replicates = {replicates}
         [policy.once]
         poll = [{interval}]"
    )))
}

/// A finite source: clients that sleep for a minute before they queue again.
fn closed(clients: u32, servers: u32, claim: &str, sleep: &str, more: &str) -> Vec<UnitRecord> {
    let station = station(clients, "'60s'", servers, claim, more);
    records(&written(&format!(
        "{station}
         [run]
         duration = '12h'
         warm_up = '20m'
         replicates = 24
         [policy.closed]
         poll = {sleep}"
    )))
}

fn station(clients: u32, interval: &str, servers: u32, claim: &str, more: &str) -> String {
    format!(
        "title = 'a station'
         [fleet]
         clients = {clients}
         initial = {{ warm = {{ interval = {interval} }} }}
         [pooler]
         pool_size = {servers}
         {more}
         [database]
         claim = {claim}"
    )
}

/// How likely 0, 1, 2, … `room` are at a station, by birth and death: in a mean service time `births(k)`
/// come where k are, and min(k, servers) go.
pub fn levels(births: impl Fn(u32) -> f64, servers: u32, room: u32) -> Vec<f64> {
    let weights: Vec<f64> = (0..=room)
        .scan(1.0, |weight, k| {
            let now = *weight;
            *weight *= births(k) / f64::from(servers.min(k + 1));
            Some(now)
        })
        .collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

fn mean(levels: &[f64], of: impl Fn(u32) -> u32) -> f64 {
    levels.iter().zip(0..).map(|(p, k)| p * f64::from(of(k))).sum()
}

/// The mean wait in mean service times: those who wait over those who are served, by Little's law.
pub fn wait_at(levels: &[f64], servers: u32) -> f64 {
    mean(levels, |k| k.saturating_sub(servers)) / mean(levels, |k| k.min(servers))
}

fn blocked_shares(records: &[UnitRecord]) -> Vec<f64> {
    let share = |record: &UnitRecord| record.counts.refused as f64 / record.counts.attempts as f64;
    records.iter().map(share).collect()
}

fn mean_active(records: &[UnitRecord]) -> Vec<f64> {
    records.iter().map(|record| record.occupancy.all.mean().expect("time passes")).collect()
}

/// M/G/1 by Pollaczek and Khinchine: the wait is λ·E[S²] / 2(1 − ρ), so the service's variance costs.
#[test]
fn one_server_waits_as_pollaczek_and_khinchine_say() {
    let (rate, service) = (f64::from(RATE), 0.025);
    for (claim, variation) in [
        ("'25ms'", 0.0),
        ("{ uniform = ['0ms', '50ms'] }", 1.0 / 3.0),
        ("{ exponential = { mean = '25ms' } }", 1.0),
        ("{ gamma = { mean = '25ms', shape = 0.5 } }", 2.0),
    ] {
        let square = service * service * (1.0 + variation);
        let wait = rate * square / 2.0 / (1.0 - rate * service);
        assert_agree(claim, &mean_waits(&open(60, 1, claim, "")), wait, 0.02);
    }
}

/// M/M/c by Erlang: c servers are all busy for a share C of the time, a wait is then exponential of rate
/// cμ − λ.
#[test]
fn several_servers_wait_as_erlang_says() {
    let (servers, service) = (8, 0.280);
    let load = service * f64::from(RATE);
    let records = open(100, servers, "{ exponential = { mean = '280ms' } }", "");
    let levels = levels(|_| load, servers, 1_000);
    assert_agree("mean", &mean_waits(&records), wait_at(&levels, servers) * service, 0.04);
    let waiting: f64 = levels[servers as usize..].iter().sum();
    let tail = (waiting / 0.01).ln() * service / (f64::from(servers) - load);
    let quantile = |record: &UnitRecord| {
        record.latencies.quantile(LatencyKind::Wait, 0.99).expect("some waited").as_secs_f64()
    };
    let quantiles: Vec<f64> = records.iter().map(quantile).collect();
    assert_agree("99 % quantile", &quantiles, tail, 0.05);
}

/// M/D/c by Crommelin: each of c servers takes every c-th arrival, and Spitzer's identity gives the wait as
/// D · Σ P(Nᵢ ≥ ic) − P(Nᵢ > ic)/ρ, with Nᵢ Poisson of mean icρ.
#[test]
fn several_servers_of_constant_service_wait_as_crommelin_says() {
    for (servers, claim, service) in [(2, "'60ms'", 0.060), (8, "'280ms'", 0.280)] {
        let load = service * f64::from(RATE);
        let term = |i: u32| {
            let arrivals = Poisson::new(f64::from(i) * load).expect("a positive mean");
            let served = u64::from(i * servers);
            arrivals.sf(served - 1) - arrivals.sf(served) * f64::from(servers) / load
        };
        let wait = service * (1..1_000).map(term).sum::<f64>();
        assert_agree(claim, &mean_waits(&open(100, servers, claim, "")), wait, 0.03);
    }
}

/// M/M/c//N, the machine repairman: with exponential service the wait does not depend on the sleep's law,
/// jittered or not. 100 clients at one server of 0.5 s wait for 1.710 s.
#[test]
fn with_exponential_service_the_wait_does_not_depend_on_jitter() {
    for (clients, servers, claim, service) in [
        (100, 1, "{ exponential = { mean = '500ms' } }", 0.5),
        (60, 4, "{ exponential = { mean = '3s' } }", 3.0),
    ] {
        let births = |k| f64::from(clients - k) * service / 60.0;
        let wait = wait_at(&levels(births, servers, clients), servers) * service;
        for sleep in ["['60s']", "['60s', { scale = [0.5, 1.5] }]"] {
            let records = closed(clients, servers, claim, sleep, "");
            assert_agree(sleep, &mean_waits(&records), wait, 0.04);
        }
    }
}

/// Jitter has a price at rest: with constant service the unjittered fleet has been spaced out by its pool
/// and never waits again. Reports show it.
#[test]
fn with_constant_service_jitter_costs_a_wait_and_its_absence_none() {
    let station = station(100, "'60s'", 1, "'500ms'", "");
    let text = format!(
        "{station}
         [run]
         duration = '4h'
         warm_up = '20m'
         replicates = 8
         [policy.unjittered]
         poll = ['60s']
         [policy.jittered]
         poll = ['60s', {{ scale = [0.5, 1.5] }}]"
    );
    let loaded = scenario::parse("price", "price.toml", &text, &[]).expect("a sound scenario");
    let policies = play(&loaded.scenario);
    let [mean, most] = [Metric::WaitMean, Metric::WaitP99].map(|metric| {
        assert_eq!(estimate(&policies[0], metric), 0.0);
        estimate(&policies[1], metric) / 1e3
    });
    assert!((0.85..0.94).contains(&mean), "{mean} s");
    let style = Style { width: 80, ink: Ink::Plain, glyphs: Glyphs::Unicode };
    let report = terminal::render(&Results { loaded, policies, partial: None }, &style);
    let row = |policy| report.lines().find(|line| line.starts_with(policy)).expect("a row each");
    let shown: Vec<&str> = row("jittered").split_whitespace().rev().take(4).collect();
    assert_eq!(
        shown,
        ["s", &format!("{most:.1}"), "ms", &format!("{:.0}", 1e3 * mean)],
        "{report}"
    );
    let shown: Vec<&str> = row("unjittered").split_whitespace().rev().take(4).collect();
    assert_eq!(shown, ["s", "0", "s", "0"], "{report}");
}

/// Engset: without a queue, as the client limit is the pool, an arrival meets what the others leave free.
#[test]
fn without_a_queue_the_blocked_share_of_a_finite_source_is_engsets() {
    let (clients, servers) = (200, 5);
    let sleep = "['60s', { scale = [0.5, 1.5] }]";
    for claim in ["'1500ms'", "{ exponential = { mean = '1500ms' } }"] {
        let records = closed(clients, servers, claim, sleep, "max_client_conn = 5");
        let others = levels(|k| f64::from(clients - 1 - k) * 1.5 / 60.0, servers, servers);
        assert_agree(claim, &blocked_shares(&records), others[servers as usize], 0.01);
    }
}

/// Erlang's loss formula, which Engset's becomes for a large fleet: M/G/c/c is insensitive, so the blocked
/// share and the occupancy depend on the service's mean alone.
#[test]
fn without_a_queue_the_blocked_share_of_an_open_stream_is_erlangs() {
    let (servers, load) = (10, 0.4 * f64::from(RATE));
    let sources = f64::from(RATE * SECONDS);
    let engset = levels(|k| (sources - 1.0 - f64::from(k)) * load / sources, servers, servers);
    let levels = levels(|_| load, servers, servers);
    let blocked = levels[servers as usize];
    assert_near(engset[servers as usize], blocked, 0.002);
    for claim in [
        "'400ms'",
        "{ exponential = { mean = '400ms' } }",
        "{ gamma = { mean = '400ms', shape = 0.5 } }",
        "{ log-normal = { mean = '400ms', sigma = 1 } }",
    ] {
        let records = open(60, servers, claim, "max_client_conn = 10");
        assert_agree(claim, &blocked_shares(&records), blocked, 0.02);
        assert_agree(claim, &mean_active(&records), mean(&levels, |k| k), 0.01);
    }
}

/// Processor sharing is insensitive: the occupancy of a shared core depends on the demand's mean alone.
#[test]
fn under_processor_sharing_only_the_mean_of_the_demand_counts() {
    // The machine repairman: 60 machines, one repairman, 0.5 s of 60 s.
    let expected = mean(&levels(|k| f64::from(60 - k) * 0.5 / 60.0, 1, 60), |k| k);
    for claim in [
        "'500ms'",
        "{ exponential = { mean = '500ms' } }",
        "{ gamma = { mean = '500ms', shape = 0.5 } }",
        "{ log-normal = { mean = '500ms', sigma = 1 } }",
        "{ empirical = ['100ms', '100ms', '1300ms'] }",
    ] {
        let shared = format!("{claim}\ncontention = {{ cores = 1 }}");
        let records = closed(60, 60, &shared, "['60s', { scale = [0.5, 1.5] }]", "");
        assert_agree(claim, &mean_active(&records), expected, 0.02);
        assert!(records.iter().all(|record| record.counts.waited == 0), "nobody queues");
    }
}

/// A level integrated over time, and the stays that it is made of, in ticks.
#[derive(Debug, Default)]
struct Little {
    area: u64,
    stays: u64,
    level: u32,
    since: SimTime,
    inside: BTreeMap<u32, SimTime>,
}

impl Little {
    fn hold(&mut self, now: SimTime, level: u32) {
        self.area += u64::from(self.level) * now.since(self.since).ticks();
        (self.level, self.since) = (level, now);
    }

    fn leave(&mut self, now: SimTime, client: u32) {
        let entered = self.inside.remove(&client).expect("who leaves has entered");
        self.stays += now.since(entered).ticks();
    }
}

/// The handshake station, which refuses those whom the limit leaves no place, and the queue behind it.
#[derive(Debug, Default)]
struct Stations {
    handshake: Little,
    queue: Little,
}

impl Observer for Stations {
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        self.handshake.hold(now, gauges.connecting);
        self.queue.hold(now, gauges.waiting);
        match event {
            Event::Departed { client, .. } => {
                self.handshake.inside.insert(client, now);
            }
            Event::Refused { client } => self.handshake.leave(now, client),
            Event::Admitted { client, .. } => {
                self.handshake.leave(now, client);
                self.queue.inside.insert(client, now);
            }
            Event::Granted { client, .. } | Event::TimedOut { client, .. } => {
                self.queue.leave(now, client);
            }
            _ => {}
        }
    }
}

/// Little's law holds of each run exactly: a level integrated over time is the sum of the stays.
#[test]
fn littles_law_holds_at_the_handshake_and_in_the_queue() {
    let scenario = written(
        "title = 'both stations'
         [run]
         duration = '10m'
         warm_up = '1m'
         replicates = 5
         [fleet]
         clients = 400
         [pooler]
         pool_size = 5
         max_client_conn = 40
         query_wait_timeout = '2s'
         handshake = { rate = '60/s', refused_cost = 0.5, count = 'accept' }
         [database]
         claim = { exponential = { mean = '500ms' } }
         [policy.eager]
         poll = ['8s', { scale = [0.5, 1.5] }]
         acquire = { retry = { delay = ['1s', { scale = [0, 1] }], stop = { attempts = 3 } } }",
    );
    for replicate in 0..scenario.run.replicates {
        let mut stations = Stations::default();
        let end = engine::play(&scenario, 0, replicate, &mut stations);
        for (name, station, level) in [
            ("handshake", &mut stations.handshake, end.gauges.connecting),
            ("queue", &mut stations.queue, end.gauges.waiting),
        ] {
            station.hold(end.at, level);
            assert_eq!(station.inside.len(), level as usize, "{name}");
            let pending = station.inside.values().map(|&entered| end.at.since(entered).ticks());
            let stays = station.stays + pending.sum::<u64>();
            assert_eq!(station.area, stays, "{name}, replicate {replicate}");
        }
    }
}

/// Of ten who arrive at once at a station whose limit is one place, all ten have a connection.
#[test]
fn whoever_shakes_hands_counts_as_a_client() {
    let scenario = written(
        "title = 'ten at once'
         [run]
         duration = '30s'
         warm_up = '0s'
         replicates = 1
         [fleet]
         clients = 10
         initial = 'cold'
         [pooler]
         pool_size = 1
         max_client_conn = 1
         handshake = { rate = '10/s', count = 'accept' }
         [database]
         claim = '100ms'
         [policy.only]
         poll = ['60s']",
    );
    assert_eq!(estimate(&play(&scenario)[0], Metric::ClientsMax), 10.0);
}
