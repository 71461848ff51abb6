//! What holds the retries of real libraries back, by the presets that stand for them.

use herdsim::engine::observer::{Begins, Event};
use herdsim::policy::guard::{Adaptive, Breaker, Ending, Limit, Meter, Quota, Ticket, Verdict};
use herdsim::policy::{Failure, Guard, Scope};
use herdsim::scenario::{Backoff, Preset, backoffs, parse_backoffs, presets};
use herdsim::units::{SimTime, Span};

use crate::guards::outage_with;
use crate::watch::events;

const START: SimTime = SimTime::ZERO;
const DELAY: Span = Span::from_millis(50);

#[track_caller]
fn preset(wanted: &str) -> Backoff {
    match backoffs(wanted) {
        Ok(mut found) => found.remove(0),
        Err(error) => panic!("{wanted}: {error}"),
    }
}

/// The one guard of a preset.
#[track_caller]
fn guard(wanted: &str) -> Guard {
    let [guard] = &preset(wanted).guards[..] else { panic!("{wanted} has one guard") };
    guard.clone()
}

fn at(millis: u64) -> SimTime {
    START + Span::from_millis(millis)
}

/// A try of a call sets out.
fn depart(meter: &mut dyn Meter, now: SimTime, ticket: &mut Ticket, first: bool) {
    assert_eq!(meter.ask(now), Verdict::Go);
    ticket.open = true;
    meter.depart(now, ticket, first);
}

/// Its try ends.
fn end(meter: &mut dyn Meter, now: SimTime, ticket: &mut Ticket, ending: Ending) {
    meter.end(now, ticket, ending);
    (ticket.open, ticket.retry) = (false, false);
}

/// Its try fails: after how long may it try again?
fn fail(
    meter: &mut dyn Meter,
    now: SimTime,
    ticket: &mut Ticket,
    failure: Failure,
) -> Option<Span> {
    end(meter, now, ticket, Ending::Failed(failure));
    let after = meter.retry(now, ticket, failure, DELAY);
    ticket.retry = after.is_some();
    after
}

/// A call that fails at once whenever it tries, until its rule or its guard ends it: its retries, and
/// whether the guard did.
fn failing_call(rule: &Backoff, meter: &mut dyn Meter, failure: Failure) -> (u32, bool) {
    let mut ticket = Ticket::default();
    let mut failed = 0;
    loop {
        depart(meter, START, &mut ticket, failed == 0);
        failed += 1;
        if rule.retry.stop.reached(failed, Span::ZERO, failure) {
            end(meter, START, &mut ticket, Ending::Failed(failure));
            return (failed - 1, false);
        }
        if fail(meter, START, &mut ticket, failure).is_none() {
            return (failed - 1, true);
        }
    }
}

/// Retries of a client whose every try fails, until its guard lets it have no more.
fn retries_from_full(rule: &Backoff, failure: Failure) -> u32 {
    let mut meter = rule.guards[0].limit.meter();
    let mut retries = 0;
    loop {
        let (more, denied) = failing_call(rule, &mut *meter, failure);
        retries += more;
        if denied {
            return retries;
        }
    }
}

/// 500 tokens by the cost of a retry.
#[test]
fn under_sustained_failure_a_client_has_as_many_retries_as_its_sdk_grants() {
    use Failure::{Dropped, Refused, Throttled, TimedOut};
    let (timeouts, transient) = ([100, 100, 50, 100], [50, 100, 50, 50]);
    let of_2026 = [35, 100, 35, 35];
    for (name, retries) in [
        ("botocore-standard@1.31.21", timeouts),
        ("botocore-standard@1.34.107", timeouts),
        ("botocore-standard@1.44.0", of_2026),
        ("botocore-standard-throttling@1.44.0", of_2026),
        ("botocore-standard-dynamodb@1.44.0", of_2026),
        ("botocore-adaptive@1.31.21", timeouts),
        ("botocore-adaptive@1.34.107", timeouts),
        ("botocore-adaptive@1.44.0", of_2026),
        ("smithy-util-retry-standard@4.2.0", transient),
        ("smithy-util-retry-throttling@4.2.0", transient),
        ("smithy-core-standard@3.41.1", of_2026),
        ("smithy-core-throttling@3.41.1", of_2026),
        ("aws-sdk-go-v2-standard@legacy", timeouts),
        ("aws-sdk-go-v2-standard@retries2026", of_2026),
        ("aws-sdk-java-v2-standard@25787b3", [100; 4]),
        ("smithy-rs-standard@56ee88c", transient),
    ] {
        let rule = preset(name);
        let found = [Refused, Throttled, TimedOut, Dropped]
            .map(|failure| retries_from_full(&rule, failure));
        assert_eq!(found, retries, "{name}");
        assert!(rule.guards.iter().all(|guard| guard.scope == Scope::Client), "{name}");
    }
}

/// In the Java SDK's legacy mode throttling costs nothing, however long it lasts.
#[test]
fn the_legacy_mode_of_java_retries_throttling_for_nothing() {
    for name in ["aws-sdk-java-v2-legacy@25787b3", "aws-sdk-java-v2-legacy-throttling@25787b3"] {
        let rule = preset(name);
        let mut meter = rule.guards[0].limit.meter();
        for _ in 0..1_000 {
            assert_eq!(failing_call(&rule, &mut *meter, Failure::Throttled), (3, false));
        }
        assert_eq!(retries_from_full(&rule, Failure::Refused), 100, "{name}");
    }
}

#[test]
fn version_2_1_of_the_specification_is_a_parameter_of_the_rust_sdk() {
    let text = "[v2-1]\npreset = 'smithy-rs-standard@56ee88c'\nbase = '50ms'\ncost = 14";
    let rule = parse_backoffs("v2-1", text).unwrap().remove(0);
    assert_eq!(rule.guards[0].limit, Limit::Quota(Quota::aws_2_1()));
    assert_eq!(retries_from_full(&rule, Failure::Dropped), 35);
}

/// The same through the engine: of clients in an outage, each retries until its quota is empty.
#[test]
fn a_fleet_in_an_outage_spends_each_clients_quota_and_no_more() {
    for (acquire, retries) in [
        ("acquire = { preset = 'botocore-standard@1.34.107' }", 100),
        ("acquire = { preset = 'botocore-standard@1.44.0' }", 35),
        ("acquire = { preset = 'botocore-standard@1.34.107', capacity = 50 }", 10),
        ("acquire = { preset = 'botocore-standard@1.34.107' }\nguards = []", 400),
    ] {
        let scenario = outage_with(
            acquire,
            &[
                "run.duration=1h",
                "fleet.clients=5",
                "disturbance.0.at=0s",
                "disturbance.0.outage.over=1h",
                "policy.tested.poll.0=15s",
            ],
        );
        let mut found = [0; 5];
        for (_, event) in events(&scenario, 0) {
            if let Event::Departed { client, begins: Begins::Nothing, .. } = event {
                found[client as usize] += 1;
            }
        }
        match acquire.ends_with("[]") {
            true => assert!(found.iter().all(|&found| found > retries), "{acquire}: {found:?}"),
            false => assert_eq!(found, [retries; 5], "{acquire}"),
        }
    }
}

/// The example of proposal A6: 10 tokens, of which more than half must be left.
#[test]
fn grpc_stops_retrying_at_the_fifth_failure_in_a_row() {
    for name in ["grpc-js-retry@1.14.7", "grpc-go-retry@4793ad0"] {
        let rule = preset(name);
        assert_eq!(retries_from_full(&rule, Failure::Dropped), 4, "{name}");
    }
}

/// Calls that have failed and whose retries are all under way.
fn retries_at_once(wanted: &str, under_way: u32) -> u32 {
    let mut meter = guard(wanted).limit.meter();
    for _ in 0..under_way {
        depart(&mut *meter, START, &mut Ticket::default(), true);
    }
    let mut failed = |_: &u32| {
        let mut ticket = Ticket::default();
        depart(&mut *meter, START, &mut ticket, true);
        fail(&mut *meter, START, &mut ticket, Failure::Dropped).is_some()
    };
    (0..1_000).take_while(|call| failed(call)).count() as u32
}

#[test]
fn envoy_has_three_retries_at_once_or_a_fifth_of_what_is_under_way() {
    for (under_way, budget) in [(0, 3), (15, 3), (25, 5), (100, 20)] {
        assert_eq!(retries_at_once("envoy-retry@1", under_way), 3);
        assert_eq!(retries_at_once("envoy-retry@old", under_way), 3);
        assert_eq!(retries_at_once("envoy-retry-budget@1", under_way), budget);
    }
}

#[test]
fn a_budget_grants_ten_retries_a_second_and_a_fifth_of_the_calls() {
    for name in [
        "finagle-retry-budget@4feb34c",
        "finagle-exponential-jittered@4feb34c",
        "finagle-decorrelated-jittered@4feb34c",
        "tower-backoff@0.5.3",
        "linkerd2-proxy-retry@0f1a754",
    ] {
        let mut meter = guard(name).limit.meter();
        for _ in 0..50 {
            let mut ticket = Ticket::default();
            depart(&mut *meter, START, &mut ticket, true);
            end(&mut *meter, START, &mut ticket, Ending::Good);
        }
        let mut ticket = Ticket::default();
        let retry = |_: &u32| meter.retry(START, &mut ticket, Failure::Refused, DELAY).is_some();
        let retries = (0..1_000).take_while(retry).count();
        assert_eq!(retries, 10 * 10 + 50 / 5, "{name}");
    }
}

/// `MaxRequeuesPerReq`: a fifth of the balance of 100 that is there without any traffic.
#[test]
fn a_request_of_finagle_is_requeued_twenty_times_and_only_if_it_did_nothing() {
    let rule = preset("finagle-retry-budget@4feb34c");
    let retries = |failure| {
        let mut meter = rule.guards[0].limit.meter();
        failing_call(&rule, &mut *meter, failure)
    };
    assert_eq!(retries(Failure::Refused), (20, false));
    assert_eq!(retries(Failure::Throttled), (20, false));
    for failure in [Failure::TimedOut, Failure::Dropped] {
        assert_eq!(retries(failure), (0, false));
    }
    assert_eq!(rule.retry.delay.range(7), (Span::ZERO, Span::ZERO));
}

#[test]
fn a_work_queue_takes_a_hundred_at_once_and_then_ten_a_second() {
    let mut meter = guard("k8s-workqueue@32ce75a").limit.meter();
    let mut retry = |now| meter.retry(now, &mut Ticket::default(), Failure::Refused, DELAY);
    for _ in 0..100 {
        assert_eq!(retry(START), Some(DELAY));
    }
    for wait in [100, 200, 300] {
        assert_eq!(retry(START), Some(Span::from_millis(wait)));
    }
    assert_eq!(retry(at(1_300)), Some(DELAY), "ten tokens have come, three were promised");
}

#[test]
fn a_pipeline_is_a_retry_around_a_breaker_with_the_librarys_defaults() {
    for (name, retry, breaker) in [
        ("polly-retry-breaker@173d6d1", "polly-constant@173d6d1", Breaker::polly()),
        (
            "resilience4j-retry-breaker@af9e7c9",
            "resilience4j-fixed@af9e7c9",
            Breaker::resilience4j(),
        ),
    ] {
        let rule = preset(name);
        assert_eq!(rule.retry, preset(retry).retry, "{name}");
        assert_eq!(guard(name), Guard { limit: Limit::Breaker(breaker), scope: Scope::Client });
        // The breaker is asked before every try; the retry goes on after its rejections.
        assert!(!rule.retry.stop.reached(1, Span::ZERO, Failure::Rejected), "{name}");
    }
    let mut meter = guard("polly-retry-breaker@173d6d1").limit.meter();
    for call in 0..100 {
        let (mut ticket, failed) = (Ticket::default(), call % 10 == 9);
        depart(&mut *meter, START, &mut ticket, true);
        let ending = if failed { Ending::Failed(Failure::Dropped) } else { Ending::Good };
        end(&mut *meter, START, &mut ticket, ending);
    }
    assert_eq!(meter.ask(at(4_999)), Verdict::Reject);
    assert_eq!(meter.ask(at(5_000)), Verdict::Go);
}

#[test]
fn adaptive_mode_is_the_standard_one_behind_a_limiter_of_all_tries() {
    for version in ["1.31.21", "1.34.107", "1.44.0"] {
        let standard = preset(&format!("botocore-standard@{version}"));
        let adaptive = preset(&format!("botocore-adaptive@{version}"));
        assert_eq!(adaptive.retry, standard.retry, "{version}");
        let limiter = Guard { limit: Limit::Adaptive(Adaptive::aws()), scope: Scope::Client };
        assert_eq!(adaptive.guards, [standard.guards, vec![limiter]].concat(), "{version}");
    }
}

/// So that a rule shown beside a scenario is held back as it is there.
#[test]
fn guards_beside_a_preset_replace_its_own_and_are_inherited() {
    let text = "[policy.quota]
                acquire = { preset = 'botocore-standard@1.34.107', capacity = 50 }
                [policy.none]
                acquire = { preset = 'botocore-standard@1.34.107' }
                guards = []
                [policy.heir]
                extends = 'none'
                acquire = { preset = 'botocore-standard@1.44.0' }
                [policy.delay]
                acquire.retry.delay = { preset = 'botocore-standard@1.44.0' }
                acquire.retry.stop = 'never'";
    let found = parse_backoffs("policies", text).unwrap();
    let [quota, rest @ ..] = &found[..] else { panic!() };
    let smaller = Quota { capacity: 50, ..Quota::aws_2_0() };
    assert_eq!(quota.guards, [Guard { limit: Limit::Quota(smaller), scope: Scope::Client }]);
    assert_eq!(rest.iter().map(|rule| rule.guards.len()).collect::<Vec<_>>(), [0, 0, 0]);
}

#[test]
fn no_preset_leaves_out_what_a_guard_can_do() {
    for preset in presets() {
        let lacks = preset.lacks.as_deref().unwrap_or_default();
        for missing in ["quota", "retry budget", "throttle", "concurrent retries", "bucket"] {
            assert!(!lacks.contains(missing), "{}: {lacks}", preset.reference());
        }
        assert_eq!(preset.guards(), backoffs(&preset.reference()).unwrap()[0].guards);
    }
}

/// Where a manual or the source says so and the classes are those of the model.
#[test]
fn time_outs_and_throttling_are_not_retried_by_those_who_say_so() {
    let not_retried: Vec<(&str, &[Failure])> = vec![
        ("axios-retry", &[Failure::TimedOut]),
        ("axios-retry-exponential", &[Failure::TimedOut]),
        ("axios-retry-linear", &[Failure::TimedOut]),
        ("ky", &[Failure::TimedOut]),
        ("slack-sdk", &[Failure::Throttled]),
        ("linkerd2-proxy-retry", &[Failure::TimedOut, Failure::Dropped]),
        ("finagle-retry-budget", &[Failure::TimedOut, Failure::Dropped]),
    ];
    let excepted = |preset: &Preset| {
        let known = not_retried.iter().find(|(name, _)| *name == preset.name);
        known.map_or(&[][..], |(_, classes)| classes)
    };
    for preset in presets() {
        let rule = backoffs(&preset.reference()).unwrap().remove(0);
        let found: Vec<Failure> = Failure::ALL
            .into_iter()
            .filter(|class| rule.retry.stop.on.and_then(|on| on.of(*class)) == Some(1))
            .collect();
        assert_eq!(found, excepted(preset), "{}", preset.reference());
    }
}
