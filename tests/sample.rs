//! Results made by hand, with figures whose reports can be written down.

use herdsim::metrics::{
    Band, Drain, DrainRow, Latencies, LatencyKind, Levels, Metric, Occupancy, PolicySummary,
    Timeline, Value,
};
use herdsim::policy::{Pipeline, Policy};
use herdsim::results::Results;
use herdsim::scenario::{
    Action, Candidate, Contention, Database, Demand, Disturbance, DrainRule, Fleet, Initial,
    Loaded, Part, Pooler, Run, Scenario, Source, Variant, Waves,
};
use herdsim::units::{Ratio, SimTime, Span};

/// Two minutes of warm-up, then everybody restarts; thirty minutes remain.
pub const TRIGGER: SimTime = SimTime::from_ticks(120_000_000);

/// A run of `policies`: the name, and per replicate the time to drain in seconds, `None` if censored.
pub fn restarted(policies: &[(&str, &[Option<u64>])]) -> Results {
    let mut results = steady(&policies.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    results.loaded.scenario.title = "Everybody restarts".into();
    results.loaded.scenario.disturbances = vec![Disturbance {
        at: TRIGGER,
        action: Action::Restart {
            clients: Ratio::ONE,
            over: Span::from_millis(200),
            database: Some(Span::ZERO),
            waves: Waves::One,
            to: None,
        },
    }];
    results.loaded.scenario.run.replicates = policies[0].1.len() as u32;
    for (summary, (_, drains)) in results.policies.iter_mut().zip(policies) {
        let row = summary.replicates[0].clone();
        summary.replicates = drains.iter().map(|drain| with_drain(row.clone(), *drain)).collect();
        summary.drains = (0..)
            .zip(*drains)
            .map(|(replicate, drain)| DrainRow {
                replicate,
                trigger: 0,
                drain: Drain { at: TRIGGER, after: drain.map(Span::from_secs) },
            })
            .collect();
        let stuck = drains.iter().all(Option::is_none);
        // A tenth of the time full, or all but a tenth.
        let mut held = vec![0; 369];
        (held[40], held[368]) = if stuck { (1, 9) } else { (9, 1) };
        summary.occupancy.all = Levels { held };
        for (index, bucket) in summary.timeline.buckets.iter_mut().enumerate() {
            let active = match index {
                0..120 => 40,
                120..240 => 368,
                _ if stuck => 368,
                _ => 40,
            };
            bucket.sv_active_ticks = active * 1_000_000 * drains.len() as u64;
        }
    }
    results
}

/// A run of each policy in these variants, in which something is done at 10 minutes: the name, and
/// per replicate the time to drain.
pub fn in_variants(policies: &[&str], variants: &[(&str, &[Option<u64>])]) -> Results {
    let cases: Vec<_> = policies
        .iter()
        .flat_map(|policy| variants.iter().map(|(_, drains)| (*policy, *drains)))
        .collect();
    let mut results = restarted(&cases);
    for (summary, (variant, _)) in results.policies.iter_mut().zip(variants.iter().cycle()) {
        summary.variant = Some(variant.to_string());
    }
    let scenario = &mut results.loaded.scenario;
    scenario.policies.dedup_by(|a, b| a.name == b.name);
    scenario.variants = variants
        .iter()
        .map(|(name, _)| Variant {
            name: name.to_string(),
            replace: false,
            disturbances: match *name {
                "nothing" => Vec::new(),
                _ => vec![Disturbance {
                    at: SimTime::from_ticks(600_000_000),
                    action: Action::Pause { over: Span::from_secs(60) },
                }],
            },
        })
        .collect();
    results
}

/// A run of `policies` that nothing disturbs, one replicate each.
pub fn steady(policies: &[&str]) -> Results {
    let policy = Policy::polling(Pipeline::constant(Span::from_secs(30)));
    let scenario = Scenario {
        name: "sample".into(),
        title: "Nothing happens".into(),
        run: Run {
            duration: Span::from_secs(32 * 60),
            warm_up: Span::from_secs(120),
            replicates: 1,
            seed: 7,
        },
        fleet: Fleet {
            clients: 11_543,
            transactions_per_poll: 1,
            round_trip: Span::from_millis(20),
            initial: Initial::Cold,
        },
        pooler: Pooler { max_client_conn: Some(9_000), ..Pooler::plain(368) },
        database: Database {
            claims: vec![Demand::Exponential { mean: Span::from_millis(170) }],
            contention: Contention::None,
            attempt_cost: None,
        },
        work: None,
        background: None,
        disturbances: Vec::new(),
        responses: Vec::new(),
        variants: Vec::new(),
        drain: DrainRule::default(),
        sweep: Vec::new(),
        thresholds: Vec::new(),
        reference: None,
        policies: policies
            .iter()
            .map(|name| Candidate {
                name: name.to_string(),
                handling: None,
                parts: vec![Part { share: Ratio::ONE, policy: policy.clone() }],
            })
            .collect(),
    };
    let source = Source {
        origin: "/home/someone/sample.toml".into(),
        text: "title = \"Nothing happens\"\n".into(),
        overrides: vec!["run.seed=7".into()],
        ..Source::default()
    };
    Results {
        policies: policies.iter().map(|name| summary(name)).collect(),
        loaded: Loaded { scenario, source },
        partial: None,
    }
}

fn summary(name: &str) -> PolicySummary {
    let mut latencies = Latencies::default();
    latencies.record(LatencyKind::Wait, Span::from_millis(2));
    let mut timeline = Timeline::new(Span::from_secs(32 * 60));
    for bucket in &mut timeline.buckets {
        bucket.polls = 3;
        bucket.sv_active_ticks = 40_500_000;
    }
    let mut band = Band::default();
    band.add(&timeline);
    PolicySummary {
        policy: name.to_owned(),
        variant: None,
        replicates: vec![Metric::ALL.iter().map(|&metric| value(metric)).collect()],
        drains: Vec::new(),
        occupancy: Occupancy {
            all: Levels { held: vec![1, 0, 2] },
            good: Levels { held: vec![3, 0, 0] },
            wasted: Levels { held: vec![0, 0, 0] },
            sampled: [1, 0, 0].map(|held| Levels { held: vec![held, 0, held] }),
        },
        timeline,
        band,
        latencies,
        events: 1,
    }
}

fn value(metric: Metric) -> Value {
    match metric {
        Metric::Refused => Value::Number(2_366_000.0),
        Metric::Amplification => Value::Number(22.14),
        Metric::GoodClaims => Value::Number(1.0),
        Metric::WastedClaims => Value::Number(99.0),
        Metric::SvActiveMean => Value::Number(40.5),
        Metric::SvActiveMax | Metric::SvActiveP99 => Value::Number(368.0),
        Metric::ClientsMax => Value::Number(9_000.0),
        Metric::WaitMean => Value::Number(0.5),
        Metric::WaitP99 => Value::Number(2.0),
        Metric::TimeToDrain | Metric::DrainedShare | Metric::Served50 | Metric::Served99 => {
            Value::Absent
        }
        _ => Value::Number(0.0),
    }
}

fn with_drain(mut row: Vec<Value>, drain: Option<u64>) -> Vec<Value> {
    let time = drain.map_or(Value::Censored, |seconds| Value::Number(seconds as f64));
    row[Metric::TimeToDrain as usize] = time;
    row[Metric::Served99 as usize] = time;
    row[Metric::DrainedShare as usize] = Value::Number(f64::from(u8::from(drain.is_some())));
    row
}
