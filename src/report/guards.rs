//! What is said about guards: a line for each.

use crate::policy::guard::{Breaker, Limit, Quota, Trip, Window};
use crate::policy::{ByFailure, Failure, Guard, Scope};

/// A line for each guard, in the order in which they are asked.
pub fn lines(guards: &[Guard]) -> impl Iterator<Item = String> {
    guards.iter().map(|guard| format!("guard: {}", sentence(guard)))
}

/// What a guard allows, and to whom.
pub fn sentence(guard: &Guard) -> String {
    let whose = whose(guard.scope);
    match &guard.limit {
        Limit::Quota(quota) => {
            format!("{} tokens {whose}, {}", quota.capacity, costs(quota))
        }
        Limit::Throttle(throttle) => format!(
            "{} tokens {whose}, a failure takes 1, a success brings {}, no retry at half of them or \
             fewer",
            throttle.max, throttle.ratio
        ),
        Limit::Ratio(ratio) => {
            let reserve = match ratio.reserve {
                0.0 => String::new(),
                reserve => format!(" and {reserve} more a second"),
            };
            let (ratio, ttl) = (percent(ratio.ratio), ratio.ttl);
            format!("retries up to {ratio} of the calls of the last {ttl}{reserve}, {whose}")
        }
        Limit::Concurrency(limit) => match limit.share {
            0.0 => format!("retries at once up to {}, {whose}", limit.least),
            share => format!(
                "retries at once up to {} of the tries under way, at least {}, {whose}",
                percent(share),
                limit.least
            ),
        },
        Limit::Bucket(bucket) => {
            let (burst, rate) = (bucket.burst, bucket.rate);
            format!("{burst} retries at once, then {rate} a second {whose}, others wait")
        }
        Limit::Breaker(breaker) => format!("{}, {whose}", breaker_words(breaker)),
        Limit::InFlight(limit) => format!("tries at once up to {}, {whose}", limit.limit),
        Limit::Adaptive(adaptive) => {
            let on = Failure::ALL.into_iter().filter(|class| adaptive.on.of(*class));
            let on = on.map(noun).collect::<Vec<_>>().join(" or ");
            format!("tries at a rate {whose} that falls after {on} and grows again")
        }
    }
}

/// A class of failures as a noun.
pub(super) fn noun(failure: Failure) -> &'static str {
    match failure {
        Failure::Refused => "a refusal",
        Failure::Throttled => "throttling",
        Failure::TimedOut => "a time-out",
        Failure::Dropped => "a cut connection",
        Failure::Rejected => "a rejection",
    }
}

fn whose(scope: Scope) -> String {
    match scope {
        Scope::Call => "for each call".to_owned(),
        Scope::Client => "for each client".to_owned(),
        Scope::Process(clients) => format!("for every {clients} clients"),
        Scope::Fleet => "for all clients together".to_owned(),
    }
}

/// What a retry costs: mostly, and after which failures something else.
fn costs(quota: &Quota) -> String {
    let mostly = most_common(&quota.cost);
    let others = Failure::ALL.into_iter().filter(|class| quota.cost.of(*class) != mostly);
    let others = others.map(|class| match quota.cost.of(class) {
        0 => format!(", after {} nothing", noun(class)),
        cost => format!(", after {} {cost}", noun(class)),
    });
    format!("a retry costs {mostly}{}", others.collect::<String>())
}

fn most_common(cost: &ByFailure<u32>) -> u32 {
    let uses = |cost_of: u32| cost.0.iter().filter(|&&cost| cost == cost_of).count();
    let [first, rest @ ..] = cost.0;
    rest.into_iter().fold(first, |most, next| if uses(next) > uses(most) { next } else { most })
}

fn breaker_words(breaker: &Breaker) -> String {
    let when = match breaker.trip {
        Trip::Consecutive(failures) => format!("after {failures} failures in a row"),
        Trip::Share { failed, of, least } => {
            let (results, all) = match of {
                Window::Calls(calls) => (format!("the last {calls} tries"), calls),
                Window::Seconds(seconds) => (format!("the tries of the last {seconds} s"), 1),
                Window::Sampled(span) => (format!("the tries of the last {span}"), 1),
            };
            let least = if least == all { String::new() } else { format!(", {least} at least,") };
            format!("when {} of {results}{least} fail", percent(failed))
        }
    };
    let probes = match breaker.probes {
        1 => "1 probe".to_owned(),
        probes => format!("{probes} probes"),
    };
    format!("no tries for {} {when}, then {probes}", breaker.open)
}

/// A share of 1 as it was written: `20 %`, `0.5 %`.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e5).round() / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::guard::{Adaptive, Bucket, Concurrency, InFlight, Late, Ratio, Throttle};
    use crate::units::Span;

    #[track_caller]
    fn assert_words(limit: Limit, scope: Scope, wanted: &str) {
        assert_eq!(sentence(&Guard { limit, scope }), wanted);
    }

    #[test]
    fn a_quota_names_the_failures_that_cost_something_else() {
        let of = |quota, wanted| assert_words(Limit::Quota(quota), Scope::Client, wanted);
        of(Quota::aws_2_0(), "500 tokens for each client, a retry costs 5, after a time-out 10");
        of(Quota::aws_2_1(), "500 tokens for each client, a retry costs 14, after throttling 5");
        let plain = Quota { cost: ByFailure::all(5), ..Quota::aws_2_0() };
        of(plain, "500 tokens for each client, a retry costs 5");
        let free = Quota { cost: plain.cost.with(Failure::Throttled, 0), ..plain };
        of(free, "500 tokens for each client, a retry costs 5, after throttling nothing");
        // The class that comes first is no less the exception.
        let first = Quota { cost: plain.cost.with(Failure::Refused, 1), ..plain };
        of(first, "500 tokens for each client, a retry costs 5, after a refusal 1");
    }

    #[test]
    fn a_guard_says_who_shares_it() {
        let limit = || Limit::InFlight(InFlight { limit: 25 });
        assert_words(limit(), Scope::Call, "tries at once up to 25, for each call");
        assert_words(limit(), Scope::Process(8), "tries at once up to 25, for every 8 clients");
        assert_words(limit(), Scope::Fleet, "tries at once up to 25, for all clients together");
    }

    #[test]
    fn every_limit_of_retries_has_its_numbers() {
        let of = |limit, wanted| assert_words(limit, Scope::Client, wanted);
        of(
            Limit::Throttle(Throttle::grpc()),
            "10 tokens for each client, a failure takes 1, a success brings 0.1, no retry at half of \
             them or fewer",
        );
        of(
            Limit::Ratio(Ratio::finagle()),
            "retries up to 20 % of the calls of the last 10s and 10 more a second, for each client",
        );
        of(
            Limit::Ratio(Ratio { ratio: 0.57, reserve: 0.0, ttl: Span::from_secs(10) }),
            "retries up to 57 % of the calls of the last 10s, for each client",
        );
        of(
            Limit::Concurrency(Concurrency::envoy_max_retries()),
            "retries at once up to 3, for each client",
        );
        of(
            Limit::Concurrency(Concurrency::envoy_budget()),
            "retries at once up to 20 % of the tries under way, at least 3, for each client",
        );
        of(
            Limit::Bucket(Bucket::kubernetes()),
            "100 retries at once, then 10 a second for each client, others wait",
        );
        of(
            Limit::Adaptive(Adaptive::aws()),
            "tries at a rate for each client that falls after throttling and grows again",
        );
    }

    #[test]
    fn a_breaker_says_when_it_opens_and_for_how_long() {
        let of = |breaker, wanted| assert_words(Limit::Breaker(breaker), Scope::Client, wanted);
        of(
            Breaker::gobreaker(),
            "no tries for 1m after 6 failures in a row, then 1 probe, for each client",
        );
        of(
            Breaker::resilience4j(),
            "no tries for 1m when 50 % of the last 100 tries fail, then 10 probes, for each client",
        );
        of(
            Breaker::polly(),
            "no tries for 5s when 10 % of the tries of the last 30s, 100 at least, fail, then 1 probe, \
             for each client",
        );
        let trip = Trip::Share { failed: 0.005, of: Window::Seconds(10), least: 1 };
        of(
            Breaker { trip, open: Span::from_secs(5), probes: 1, late: Late::Count },
            "no tries for 5s when 0.5 % of the tries of the last 10 s fail, then 1 probe, for each \
             client",
        );
    }
}
