//! Laws that hold for any scenario: conservation, repetition, a clock that only moves forward.
//!
//! Playing a unit already checks its ledger; the scenarios here are small and mean.

use proptest::prelude::*;

use herdsim::engine::observer::{Event, Gauges, Observer};
use herdsim::policy::{
    Acquire, After, Growth, Interval, LoopRule, LoopRules, Pipeline, Policy, Retry, Sleep, Stage,
    StartUp, Stop,
};
use herdsim::scenario::{
    Action, Candidate, Contention, Database, DeadWaiters, Demand, Disturbance, DrainRule, Fleet,
    Initial, Pooler, Run, Scenario,
};
use herdsim::units::{Ratio, SimTime, Span};
use herdsim::{engine, sweep};

fn span(longest_ms: u64) -> impl Strategy<Value = Span> {
    (1..=longest_ms).prop_map(Span::from_millis)
}

fn demand() -> impl Strategy<Value = Demand> {
    prop_oneof![
        span(500).prop_map(Demand::Constant),
        span(500).prop_map(|mean| Demand::Exponential { mean }),
        (span(200), span(300)).prop_map(|(low, more)| Demand::Uniform(low, low + more)),
        (span(200), span(300)).prop_map(|(mean, std_dev)| Demand::Normal { mean, std_dev }),
        Just(Demand::Constant(Span::ZERO)),
    ]
}

fn pipeline() -> impl Strategy<Value = Pipeline> {
    let growth = prop_oneof![
        span(3_000).prop_map(Growth::Constant),
        (span(1_000), 1.0..3.0f64).prop_map(|(base, factor)| Growth::Exponential { base, factor }),
        (span(1_000), span(1_000)).prop_map(|(low, more)| Growth::Uniform(low, low + more)),
    ];
    let stage = prop_oneof![
        span(10_000).prop_map(Stage::Clamp),
        (0.0..1.0f64, 0.1..1.0f64).prop_map(|(low, more)| Stage::Scale(low, low + more)),
        (span(500), span(500)).prop_map(|(low, more)| Stage::Add(low, low + more)),
    ];
    let after = prop::option::of((0..5u32, span(2_000)).prop_map(|(retries, constant)| After {
        retries,
        then: Box::new(Pipeline::constant(constant)),
    }));
    (growth, prop::collection::vec(stage, 0..4), after)
        .prop_map(|(growth, stages, after)| Pipeline::new(growth, stages, after))
}

fn rule() -> impl Strategy<Value = LoopRule> {
    let interval =
        prop_oneof![Just(Interval::Reset), Just(Interval::Advance), Just(Interval::Keep)];
    let sleep = prop_oneof![Just(Sleep::Base), Just(Sleep::Current), Just(Sleep::TwiceCurrent)];
    (interval, sleep).prop_map(|(interval, sleep)| LoopRule { interval, sleep })
}

fn policy() -> impl Strategy<Value = Policy> {
    let start_up = prop_oneof![
        Just(StartUp::Constant(Span::ZERO)),
        (span(1_000), span(5_000)).prop_map(|(low, more)| StartUp::Uniform(low, low + more)),
    ];
    let stop = (prop::option::of(1..6u32), prop::option::of(span(5_000)))
        .prop_map(|(attempts, elapsed)| Stop { attempts, elapsed });
    let acquire = prop_oneof![
        Just(Acquire::Once),
        (pipeline(), stop).prop_map(|(delay, stop)| Acquire::Retry(Retry { delay, stop })),
    ];
    (start_up, prop::option::of(span(3_000)), pipeline(), acquire, rule(), rule()).prop_map(
        |(start_up, patience, poll, acquire, empty, error)| Policy {
            start_up,
            patience,
            poll,
            acquire,
            rules: LoopRules { claimed: LoopRules::HONCHO.claimed, empty, error },
        },
    )
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    (1..40_000u64, 0.0..=1.0f64, 0..3_000u64, any::<bool>()).prop_map(
        |(at, share, over, database)| Disturbance {
            at: SimTime::ZERO + Span::from_millis(at),
            action: Action::Restart {
                clients: Ratio::new(share).unwrap(),
                over: Span::from_millis(over),
                database,
            },
        },
    )
}

prop_compose! {
    fn scenario()(
        clients in 1..80u32,
        transactions_per_poll in 1..4u8,
        round_trip in prop_oneof![Just(Span::ZERO), span(300)],
        initial in prop_oneof![
            Just(Initial::Cold),
            span(10_000).prop_map(|interval| Initial::Warm { interval }),
        ],
        pool_size in 1..12u32,
        max_client_conn in prop::option::of(1..60u32),
        query_wait_timeout in prop::option::of(span(4_000)),
        dead_waiters in prop_oneof![
            Just(DeadWaiters::Dropped),
            demand().prop_map(|demand| DeadWaiters::Kept { demand }),
        ],
        claim in demand(),
        contention in prop_oneof![
            Just(Contention::None),
            (1..8u32).prop_map(Contention::Cores),
            (1..8u32, 0.5..2.5f64).prop_map(|(knee, gamma)| Contention::Power { knee, gamma }),
        ],
        mut disturbances in prop::collection::vec(disturbance(), 0..4),
        policy in policy(),
        seed in any::<u64>(),
    ) -> Scenario {
        disturbances.sort_by_key(|disturbance| disturbance.at);
        Scenario {
            name: "random".to_owned(),
            title: "random".to_owned(),
            run: Run {
                duration: Span::from_millis(45_250),
                warm_up: Span::from_millis(1_500),
                replicates: 1,
                seed,
            },
            fleet: Fleet { clients, transactions_per_poll, round_trip, initial },
            pooler: Pooler { pool_size, max_client_conn, query_wait_timeout, dead_waiters },
            database: Database { claim, contention },
            disturbances,
            drain: DrainRule { wait: Span::from_millis(500), hold: Span::from_secs(5) },
            policies: vec![Candidate { name: "random".to_owned(), policy }],
        }
    }
}

/// Checks every event as it comes.
struct Laws<'a> {
    scenario: &'a Scenario,
    last: SimTime,
}

impl Observer for Laws<'_> {
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        let Pooler { pool_size, max_client_conn, query_wait_timeout, .. } = self.scenario.pooler;
        assert!(now >= self.last, "the clock went back from {} to {now}", self.last);
        self.last = now;
        assert!(gauges.active() <= pool_size);
        assert!(gauges.clients() <= max_client_conn.unwrap_or(u32::MAX));
        assert!(gauges.waiting == 0 || gauges.active() == pool_size || between_steps(&event));
        let patience = self.scenario.policies[0].policy.patience.unwrap_or(Span::MAX);
        match event {
            Event::Departed { at, .. } => assert!(at <= now),
            Event::Granted { waited, .. } => {
                assert!(waited <= patience.min(query_wait_timeout.unwrap_or(Span::MAX)));
            }
            Event::Abandoned { waited, .. } => assert_eq!(waited, patience),
            Event::TimedOut { waited, .. } => assert_eq!(Some(waited), query_wait_timeout),
            _ => {}
        }
    }
}

/// A backend is idle beside a waiting place only while one event is being worked through.
fn between_steps(event: &Event) -> bool {
    use Event::*;
    matches!(
        event,
        Completed { .. }
            | ClaimDropped { .. }
            | PollEnded { .. }
            | Dropped { .. }
            | Departed { .. }
            | Restarted { .. }
            | Granted { .. }
            | DeadServed { .. }
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn every_ledger_closes_and_repetition_gives_the_same_record(scenario in scenario()) {
        engine::play(&scenario, 0, 0, Laws { scenario: &scenario, last: SimTime::ZERO });
        let unit = herdsim::plan::units(&scenario)[0];
        let record = sweep::play_unit(&scenario, unit);
        let counts = &record.counts;
        prop_assert!(counts.attempts >= counts.acquisitions);
        prop_assert!(counts.acquisitions >= counts.polls);
        let total: u64 = record.timeline.buckets.iter().map(|bucket| bucket.good).sum();
        prop_assert!(total >= counts.good_claims, "the timeline covers the whole run");
        prop_assert_eq!(record, sweep::play_unit(&scenario, unit));
    }
}
