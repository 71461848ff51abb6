//! Laws that hold for any scenario: conservation, repetition, a clock that only moves forward.
//!
//! Playing a unit already checks its ledger; the scenarios here are small and mean.

use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};

use proptest::prelude::*;

use herdsim::engine::observer::{Event, Gauges, Observer};
use herdsim::policy::guard::{
    self, Adaptive, Breaker, Bucket, Concurrency, InFlight, Late, Limit, Quota, Throttle, Trip,
    Window,
};
use herdsim::policy::{
    Acquire, After, BootCheck, ByFailure, Cadence, ClientPool, Failure as HowFailed, Growth, Guard,
    Handling, HotLoop, Interval, Layer, Leave, Lifetime, LoopRule, LoopRules, MOST_LAYERS,
    MissedTick, Pipeline, Policy, Retry, Scope, Sleep, Spread, Stage, Stop, Supervisor,
};
use herdsim::scenario::{
    Action, Arrivals, Background, Candidate, Contention, CountFrom, Daily, Database, DeadCost,
    DeadWaiters, Demand, Disturbance, DrainRule, Failure, Fleet, Handshake, Initial, Logins, Mode,
    NamedPolicy, Orphans, Part, Pooler, RateLimiter, Reserve, Run, Scenario, Waves, Work,
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
        (span(500), 0.0..2.0f64).prop_map(|(mean, sigma)| Demand::LogNormal { mean, sigma }),
        (span(500), 0.2..5.0f64).prop_map(|(mean, shape)| Demand::Gamma { mean, shape }),
        (span(500), 0.3..5.0f64).prop_map(|(scale, shape)| Demand::Weibull { scale, shape }),
        prop::collection::vec(span(500), 1..5).prop_map(Demand::Empirical),
        Just(Demand::Constant(Span::ZERO)),
    ]
}

fn pipeline() -> impl Strategy<Value = Pipeline> {
    let growth = prop_oneof![
        span(3_000).prop_map(Growth::Constant),
        (span(1_000), 1.0..3.0f64).prop_map(|(base, factor)| Growth::exponential(base, factor)),
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
    let sleep = prop_oneof![
        4 => Just(Sleep::Base),
        4 => Just(Sleep::Current),
        4 => Just(Sleep::TwiceCurrent),
        1 => Just(Sleep::ForGood),
    ];
    (interval, sleep).prop_map(|(interval, sleep)| LoopRule { interval, sleep })
}

fn spread() -> impl Strategy<Value = Spread> {
    prop_oneof![
        Just(Spread::Constant(Span::ZERO)),
        (span(1_000), span(5_000)).prop_map(|(low, more)| Spread::Uniform(low, low + more)),
    ]
}

fn lifetime() -> impl Strategy<Value = Lifetime> {
    prop_oneof![
        Just(Lifetime::Never),
        spread().prop_map(Lifetime::AtBirth),
        spread().prop_map(Lifetime::AtUse),
    ]
}

fn retry() -> impl Strategy<Value = Retry> {
    let stop = (prop::option::of(1..6u32), prop::option::of(span(5_000)))
        .prop_map(|(attempts, elapsed)| Stop { attempts, elapsed, ..Stop::default() });
    (pipeline(), stop).prop_map(|(delay, stop)| Retry::new(delay, stop))
}

fn layer() -> impl Strategy<Value = Layer> {
    (prop::option::of(retry()), prop::collection::vec(guard(), 0..3))
        .prop_map(|(retry, guards)| Layer { name: "layer".to_owned(), retry, guards })
}

fn guard() -> impl Strategy<Value = Guard> {
    let costs = (0..5u32, 0..5u32)
        .prop_map(|(timed_out, other)| ByFailure::all(other).with(HowFailed::TimedOut, timed_out));
    let window = prop_oneof![
        (1..30u32).prop_map(Window::Calls),
        (1..10u32).prop_map(Window::Seconds),
        span(9_000).prop_map(Window::Sampled),
    ];
    let trip = prop_oneof![
        (1..8u32).prop_map(Trip::Consecutive),
        (0.01..1.0f64, window, 1..20u32).prop_map(|(failed, of, least)| Trip::Share {
            failed,
            of,
            least
        }),
    ];
    let late = prop_oneof![Just(Late::Count), Just(Late::Ignore)];
    let limit = prop_oneof![
        (0..50u32, costs, 0..3u32)
            .prop_map(|(capacity, cost, reward)| Quota { capacity, cost, reward })
            .prop_map(Limit::Quota),
        (1..20u32, 0.001..2.0f64).prop_map(|(max, ratio)| Limit::Throttle(Throttle { max, ratio })),
        (0.0..2.0f64, 0.0..5.0f64, span(9_000))
            .prop_map(|(ratio, reserve, ttl)| Limit::Ratio(guard::Ratio { ratio, reserve, ttl })),
        (0.0..1.0f64, 0..5u32)
            .prop_map(|(share, least)| Limit::Concurrency(Concurrency { share, least })),
        (0.1..20.0f64, 1..9u32).prop_map(|(rate, burst)| Limit::Bucket(Bucket { rate, burst })),
        (trip, span(9_000), 1..5u32, late)
            .prop_map(|(trip, open, probes, late)| Breaker { trip, open, probes, late })
            .prop_map(Limit::Breaker),
        (1..20u32).prop_map(|limit| Limit::InFlight(InFlight { limit })),
        any::<bool>().prop_map(|on| Limit::Adaptive(Adaptive { on: ByFailure::all(on) })),
    ];
    let scope = prop_oneof![
        Just(Scope::Call),
        Just(Scope::Client),
        (1..9u32).prop_map(Scope::Process),
        Just(Scope::Fleet),
    ];
    (limit, scope).prop_map(|(limit, scope)| Guard { limit, scope })
}

fn policy() -> impl Strategy<Value = Policy> {
    let acquire = prop_oneof![
        Just(Acquire::Once),
        retry().prop_map(Acquire::Retry),
        prop::collection::vec(layer(), 1..=MOST_LAYERS).prop_map(Acquire::Layers),
    ];
    let leave = prop_oneof![Just(Leave::Close), Just(Leave::Terminate), Just(Leave::Stays)];
    let cadence = prop_oneof![
        2 => Just(Cadence::FixedDelay),
        1 => Just(Cadence::FixedRate(MissedTick::Skip)),
        1 => Just(Cadence::FixedRate(MissedTick::Fire)),
    ];
    let hot_loop = (0..5u32, 10..50u64)
        .prop_map(|(clients, pause)| HotLoop { clients, pause: Span::from_millis(pause) });
    let supervisor = (1..4u32, span(2_000)).prop_map(|(after, delay)| Supervisor { after, delay });
    let boot_check =
        (1..4u32, span(1_000)).prop_map(|(attempts, delay)| BootCheck { attempts, delay });
    let boot = prop::option::of((supervisor, prop::option::of(boot_check)));
    let client_pool = (1..8u32, 1..4u32, span(3_000))
        .prop_map(|(clients, connections, timeout)| ClientPool { clients, connections, timeout });
    let waits = (prop::option::of(span(3_000)), prop::option::of(span(1_000)));
    let first = (spread(), prop::option::of(lifetime()), waits, leave);
    let loops = (prop::option::of(hot_loop), prop::option::of(client_pool));
    let rules = (rule(), rule(), cadence, boot, loops);
    (first, pipeline(), acquire, rules).prop_map(
        |((start_up, connection, (patience, connect_timeout), leave), poll, acquire, rules)| {
            let (empty, error, cadence, boot, (hot_loop, client_pool)) = rules;
            Policy {
                start_up,
                connection,
                client_pool,
                connect_timeout,
                patience,
                leave,
                poll,
                acquire,
                rules: LoopRules { claimed: LoopRules::HONCHO.claimed, empty, error },
                cadence,
                supervisor: boot.map(|(supervisor, _)| supervisor),
                boot_check: boot.and_then(|(_, check)| check),
                hot_loop,
            }
        },
    )
}

fn named_policy() -> impl Strategy<Value = Box<NamedPolicy>> {
    policy().prop_map(|policy| Box::new(NamedPolicy { name: "other".to_owned(), policy }))
}

fn contention() -> impl Strategy<Value = Contention> {
    prop_oneof![
        Just(Contention::None),
        (1..8u32).prop_map(Contention::Cores),
        (1..8u32, 0.5..2.5f64).prop_map(|(knee, gamma)| Contention::Power { knee, gamma }),
        (0.0..0.5f64, 0.0..0.1f64).prop_map(|(sigma, kappa)| Contention::Usl { sigma, kappa }),
        Just(Contention::Table(vec![(2, 3.0), (5, 6.0), (9, 4.0)])),
    ]
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    let share = || (0.0..=1.0f64).prop_map(|share| Ratio::new(share).unwrap());
    let waves = prop_oneof![
        2 => Just(Waves::One),
        1 => (1..9u32, span(3_000)).prop_map(|(size, every)| Waves::Batches { size, every }),
        1 => (share(), span(9_000)).prop_map(|(first, every)| {
            let rest = Ratio::new(1.0 - first.as_f64()).unwrap();
            Waves::Cohorts { shares: vec![first, rest], every }
        }),
    ];
    let to = prop::option::of(named_policy());
    let database = prop::option::of(0..2_000u64);
    let restart = (share(), 0..3_000u64, database, waves, to).prop_map(
        |(clients, over, database, waves, to)| Action::Restart {
            clients,
            over: Span::from_millis(over),
            database: database.map(Span::from_millis),
            waves,
            to,
        },
    );
    let failure = prop_oneof![
        Just(Failure::Hanging),
        (0..500u64).prop_map(|after| Failure::Refusing { after: Span::from_millis(after) }),
    ];
    let limits = (prop::option::of(1..20u32), prop::option::of(1..80u32));
    let change = (limits, prop::option::of(contention()), prop::option::of(span(9_000))).prop_map(
        |((pool_size, max_client_conn), contention, over)| Action::Change {
            pool_size,
            max_client_conn,
            contention,
            over,
        },
    );
    let switch = (share(), named_policy()).prop_map(|(clients, to)| Action::Switch { clients, to });
    let stop = (share(), span(9_000), 0..3_000u64).prop_map(|(clients, over, back_over)| {
        Action::Stop { clients, over, back_over: Span::from_millis(back_over) }
    });
    let action = prop_oneof![
        3 => restart,
        1 => (1.0..20.0f64, span(8_000)).prop_map(|(factor, over)| Action::Slow { factor, over }),
        1 => (0.2..20.0f64, span(8_000)).prop_map(|(factor, over)| Action::Burst { factor, over }),
        1 => (span(5_000), failure).prop_map(|(over, failure)| Action::Outage { over, failure }),
        2 => change,
        1 => span(5_000).prop_map(|over| Action::Pause { over }),
        2 => switch,
        2 => stop,
    ];
    (1..40_000u64, action)
        .prop_map(|(at, action)| Disturbance { at: SimTime::ZERO + Span::from_millis(at), action })
}

fn pooler() -> impl Strategy<Value = Pooler> {
    let reserve = (1..4u32, span(2_000)).prop_map(|(size, timeout)| Reserve { size, timeout });
    let cost = prop_oneof![
        Just(DeadCost::Free),
        Just(DeadCost::Login),
        demand().prop_map(DeadCost::Demand),
    ];
    let dead_waiters = prop_oneof![
        Just(DeadWaiters::Dropped),
        Just(DeadWaiters::ByLeave),
        cost.prop_map(DeadWaiters::Kept),
    ];
    let handshake =
        (span(60), 0.0..=1.0f64, any::<bool>()).prop_map(|(service, refused_cost, accept)| {
            Handshake {
                service,
                refused_cost,
                count: if accept { CountFrom::Accept } else { CountFrom::Authentication },
            }
        });
    let logins = (
        demand(),
        prop::option::of(1..4u32),
        span(5_000),
        prop::option::of(1..12u32),
        prop::option::of(span(5_000)),
        prop::option::of(span(9_000)),
    )
        .prop_map(|(time, at_once, retry, limit, idle_timeout, lifetime)| Logins {
            time,
            at_once,
            retry,
            limit,
            idle_timeout,
            lifetime,
        });
    let sizes = (1..12u32, prop::option::of(reserve), prop::option::of(1..60u32));
    let waits =
        (prop::option::of(demand()), prop::option::of(span(4_000)), prop::option::of(span(700)));
    let mode = prop_oneof![Just(Mode::Transaction), Just(Mode::Session)];
    let orphans = prop_oneof![Just(Orphans::Dropped), Just(Orphans::Run)];
    let kinds = (mode, dead_waiters, orphans);
    let limiter = (1.0..200.0f64, 1..20u32, 0..1_000u64, prop::option::of(span(9_000))).prop_map(
        |(rate, burst, wait, ramp)| RateLimiter {
            rate,
            burst,
            wait: Span::from_millis(wait),
            ramp,
            retry_after: ramp,
        },
    );
    let stations =
        (prop::option::of(handshake), prop::option::of(logins), prop::option::of(limiter));
    (sizes, waits, kinds, stations).prop_map(
        |((pool_size, reserve, max_client_conn), waits, kinds, stations)| {
            let (refusal_delay, query_wait_timeout, timeout_grid) = waits;
            let (mode, dead_waiters, orphans) = kinds;
            let (handshake, logins, limiter) = stations;
            Pooler {
                pool_size,
                mode,
                reserve,
                max_client_conn,
                refusal_delay,
                query_wait_timeout,
                timeout_grid,
                dead_waiters,
                orphans,
                handshake,
                logins,
                limiter,
            }
        },
    )
}

fn handling() -> impl Strategy<Value = Handling> {
    let client = prop_oneof![
        Just(Acquire::Once),
        (pipeline(), 1..4u32).prop_map(|(delay, attempts)| {
            let stop = Stop { attempts: Some(attempts), ..Stop::default() };
            Acquire::Retry(Retry::new(delay, stop))
        }),
    ];
    let server = policy().prop_map(|policy| Policy { client_pool: None, ..policy });
    (server, prop::option::of(span(2_000)), client)
        .prop_map(|(server, retry_after, client)| Handling { server, retry_after, client })
}

fn background() -> impl Strategy<Value = Background> {
    (0.5..60.0f64, prop::collection::vec(demand(), 1..3), 1..200u32)
        .prop_map(|(rate, claims, at_once)| Background { rate, claims, at_once })
}

fn work() -> impl Strategy<Value = Work> {
    let arrivals = prop_oneof![
        3 => (500..60_000u64, 0.3..3.0f64).prop_map(|(mean, shape)| {
            Arrivals::Renewal(Demand::Gamma { mean: Span::from_millis(mean), shape })
        }),
        1 => prop::collection::vec(0..40_000u64, 0..100).prop_map(|mut times| {
            times.sort_unstable();
            let at = |time| SimTime::ZERO + Span::from_millis(time);
            Arrivals::Trace(times.into_iter().map(|time| (0, at(time))).collect())
        }),
    ];
    let daily = prop::option::of(
        (0.0..0.9f64, 0..86_400u64)
            .prop_map(|(amplitude, peak)| Daily { amplitude, peak: Span::from_secs(peak) }),
    );
    let claims = prop::collection::vec(demand(), 0..3);
    let shape = (1..80u32, 0.0..1.5f64, daily, 1..4u16);
    let course = (demand(), claims, 0.0..=1.0f64, 0..4_000u64);
    (arrivals, shape, course).prop_map(|(arrivals, shape, course)| {
        let (tenants, skew, daily, workers) = shape;
        let (processing, transactions, failure, reclaim) = course;
        let failure = Ratio::new(failure).unwrap();
        let reclaim = Span::from_millis(reclaim);
        Work { arrivals, tenants, skew, daily, workers, processing, transactions, failure, reclaim }
    })
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
        pooler in pooler(),
        claims in prop::collection::vec(demand(), 1..3),
        attempt_cost in prop::option::of(demand()),
        contention in contention(),
        mut disturbances in prop::collection::vec(disturbance(), 0..5),
        triggers in 0..5usize,
        mut policies in prop::collection::vec(policy(), 1..3),
        background in prop::option::of((background(), handling())),
        work in prop::option::of(work()),
        seed in any::<u64>(),
    ) -> Scenario {
        let mut responses = disturbances.split_off(triggers.min(disturbances.len()));
        disturbances.sort_by_key(|disturbance| disturbance.at);
        let (background, handling) = background.unzip();
        if pooler.mode == Mode::Session {
            policies.iter_mut().for_each(|policy| policy.connection = None);
        }
        responses.sort_by_key(|response| response.at);
        let share = Ratio::new(1.0 / policies.len() as f64).unwrap();
        let parts = policies.into_iter().map(|policy| Part { share, policy }).collect();
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
            pooler,
            database: Database { claims, contention, attempt_cost },
            work: work.map(|work| Work { tenants: work.tenants.min(clients), ..work }),
            background,
            disturbances,
            responses,
            variants: Vec::new(),
            drain: DrainRule { wait: Span::from_millis(500), hold: Span::from_secs(5) },
            sweep: Vec::new(),
            thresholds: Vec::new(),
reference: None,
            policies: vec![Candidate { name: "random".to_owned(), parts, handling }],
        }
    }
}

/// Checks every event as it comes.
struct Laws<'a> {
    scenario: &'a Scenario,
    last: SimTime,
}

impl Laws<'_> {
    /// The largest client limit of the run.
    fn largest_limit(&self) -> u32 {
        let changed = self.scenario.happenings().filter_map(|happening| match happening.action {
            Action::Change { max_client_conn, .. } => max_client_conn,
            _ => None,
        });
        changed.fold(self.scenario.pooler.max_client_conn.unwrap_or(u32::MAX), u32::max)
    }
}

impl Observer for Laws<'_> {
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        let pooler = &self.scenario.pooler;
        assert!(now >= self.last, "the clock went back from {} to {now}", self.last);
        self.last = now;
        assert!(gauges.active() <= gauges.connected);
        assert!(gauges.connected + gauges.logging_in <= self.scenario.most_backends());
        let at_once = pooler.logins.as_ref().and_then(|logins| logins.at_once);
        assert!(gauges.logging_in <= at_once.unwrap_or(u32::MAX));
        let accepted = gauges.active() + gauges.waiting + gauges.idle;
        assert!(accepted <= self.largest_limit());
        match event {
            Event::Departed { at, .. } => assert!(at <= now),
            Event::TimedOut { waited, .. } => {
                let limit = pooler.query_wait_timeout.expect("only a limit times out");
                let grid = pooler.timeout_grid.unwrap_or(Span::from_ticks(1));
                assert!(waited >= limit && waited < limit + grid);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn every_ledger_closes_and_repetition_gives_the_same_record(scenario in scenario()) {
        engine::play(&scenario, 0, 0, Laws { scenario: &scenario, last: SimTime::ZERO });
        let unit = herdsim::plan::units(&scenario)[0];
        let record = sweep::play_unit(&scenario, unit);
        let counts = &record.counts;
        prop_assert!(counts.attempts + counts.rejected >= counts.acquisitions);
        prop_assert!(counts.acquisitions >= counts.polls);
        let total: u64 = record.timeline.buckets.iter().map(|bucket| bucket.good).sum();
        prop_assert!(total >= counts.good_claims, "the timeline covers the whole run");
        for bucket in &record.timeline.buckets {
            prop_assert!(bucket.cl_dead_ticks <= bucket.cl_waiting_ticks, "the dead wait too");
        }
        prop_assert_eq!(record, sweep::play_unit(&scenario, unit));
    }
}

/// A hash of all that it is told, in the order in which it is told.
#[derive(Default)]
struct Told(DefaultHasher);

impl Observer for Told {
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        write!(self, "{now:?} {event:?} {gauges:?}").expect("a hash takes all");
    }
}

impl fmt::Write for Told {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn the_calendar_and_a_plain_heap_deal_the_same_events(scenario in scenario()) {
        let (mut calendar, mut heap) = (Told::default(), Told::default());
        let end = engine::play(&scenario, 0, 0, &mut calendar);
        prop_assert_eq!(end, engine::play_on_heap(&scenario, 0, 0, &mut heap));
        prop_assert_eq!(calendar.0.finish(), heap.0.finish());
    }
}
