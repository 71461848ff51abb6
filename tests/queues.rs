//! Queues with a textbook answer.

use std::collections::BTreeMap;

use herdsim::engine;
use herdsim::engine::observer::{Event, Gauges, Observer};
use herdsim::metrics::{LatencyKind, Metric, PolicySummary};
use herdsim::units::SimTime;

use crate::watch::{assert_near, estimate, play, written};

/// A finite source: clients that think, exponentially if they may, before they queue for servers.
fn closed(clients: u32, servers: u32, claim: &str, sleep: &str, more: &str) -> PolicySummary {
    let mut summaries = play(&written(&format!(
        "title = 'closed'
         [run]
         duration = '4h'
         warm_up = '20m'
         replicates = 8
         [fleet]
         clients = {clients}
         initial = {{ warm = {{ interval = '60s' }} }}
         [pooler]
         pool_size = {servers}
         {more}
         [database]
         claim = {claim}
         [policy.closed]
         poll = {sleep}"
    )));
    summaries.remove(0)
}

fn mean_wait(summary: &PolicySummary) -> f64 {
    let waiting: u64 =
        summary.timeline.buckets.iter().skip(1_200 / 8).map(|b| b.cl_waiting_ticks).sum();
    let served: u64 = summary.timeline.buckets.iter().skip(1_200 / 8).map(|b| b.good).sum();
    // Little's law over the measured window.
    waiting as f64 / 1e6 / served as f64
}

/// 100 clients, 60 s of sleep, one backend, exponential service of 0.5 s: mean value analysis gives a wait of
/// 1.710 s, whatever the sleep's jitter; the sleep's law does not matter.
#[test]
fn with_exponential_service_the_wait_does_not_depend_on_jitter() {
    let claim = "{ exponential = { mean = '500ms' } }";
    for sleep in ["['60s']", "['60s', { scale = [0.5, 1.5] }]"] {
        assert_near(mean_wait(&closed(100, 1, claim, sleep, "")), 1.710, 0.05);
    }
}

/// Jitter has a price at rest: with constant service the unjittered fleet has been spaced out by its pool
/// and never waits again.
#[test]
fn with_constant_service_jitter_costs_a_wait_and_its_absence_none() {
    let wait = |sleep| mean_wait(&closed(100, 1, "'500ms'", sleep, ""));
    assert!(wait("['60s']") < 0.001);
    let jittered = wait("['60s', { scale = [0.5, 1.5] }]");
    assert!((0.85..0.94).contains(&jittered), "{jittered} s");
}

/// Erlang's loss formula for a finite source (Engset) as there is no queue: the client limit is the pool.
#[test]
fn without_a_queue_the_blocked_share_is_engsets() {
    let (clients, servers, service, think) = (200u32, 5u32, 0.5, 20.0);
    let claim = "{ exponential = { mean = '500ms' } }";
    // Think times are uniform, their mean is what counts: both laws are insensitive.
    let sleep = "['20s', { scale = [0.5, 1.5] }]";
    let summary = closed(clients, servers, claim, sleep, "max_client_conn = 5");
    let load: f64 = service / think;
    let weight = |k: u32, sources: u32| {
        (0..k).fold(1.0, |w, i| w * f64::from(sources - i) / f64::from(i + 1) * load)
    };
    let calls = clients - 1;
    let sum: f64 = (0..=servers).map(|k| weight(k, calls)).sum();
    let blocked = weight(servers, calls) / sum;
    let (refused, attempts) =
        (estimate(&summary, Metric::Refused), estimate(&summary, Metric::Attempts));
    assert_near(refused / attempts, blocked, 0.02);
}

/// Processor sharing is insensitive: the occupancy of a shared core depends on the demand's mean alone.
#[test]
fn under_processor_sharing_only_the_mean_of_the_demand_counts() {
    let play = |claim: &str| {
        let more = format!("[database]\ncontention = {{ cores = 1 }}\nclaim = {claim}");
        let text = format!(
            "title = 'shared'
             [run]
             duration = '3h'
             warm_up = '10m'
             replicates = 8
             [fleet]
             clients = 60
             initial = {{ warm = {{ interval = '30s' }} }}
             [pooler]
             pool_size = 60
             {more}
             [policy.shared]
             poll = ['30s', {{ scale = [0.5, 1.5] }}]"
        );
        let summary = play(&written(&text)).remove(0);
        (
            estimate(&summary, Metric::SvActiveMean),
            summary.latencies.quantile(LatencyKind::Wait, 1.0),
        )
    };
    // The machine-repairman's chain: 60 machines, one repairman, 0.4 s of 30 s.
    let load: f64 = 0.4 / 30.0;
    let weights: Vec<f64> = (0..=60)
        .scan(1.0, |weight, k| {
            let now = *weight;
            *weight *= f64::from(60 - k) * load;
            Some(now)
        })
        .collect();
    let sum: f64 = weights.iter().sum();
    let expected: f64 = weights.iter().zip(0..).map(|(w, k)| w * f64::from(k)).sum::<f64>() / sum;
    for claim in [
        "'400ms'",
        "{ exponential = { mean = '400ms' } }",
        "{ gamma = { mean = '400ms', shape = 0.5 } }",
        "{ log-normal = { mean = '400ms', sigma = 1 } }",
        "{ empirical = ['100ms', '100ms', '1s'] }",
    ] {
        let (mean, wait) = play(claim);
        assert_near(mean, expected, 0.04);
        assert!(wait.is_none_or(|wait| wait.ticks() == 0), "nobody queues");
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
            Event::Admitted { client } => {
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
