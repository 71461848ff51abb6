//! Guards of retries, in words.

use super::numbers::{percent, span};
use crate::policy::guard::{Breaker, Limit, Quota, Trip, Window};
use crate::policy::{Failure, Guard, Scope};
use crate::units::Span;

/// What a guard does, as in `500 tokens for each client: a retry costs 5, after a timed-out try 10; …`.
pub fn sentence(guard: &Guard) -> String {
    let whose = whose(guard.scope);
    match &guard.limit {
        Limit::Quota(quota) => {
            let Quota { capacity, reward, .. } = quota;
            let cost = costs(quota);
            format!("{capacity} tokens {whose}: a retry costs {cost}; a success brings {reward}")
        }
        Limit::Throttle(limit) => format!(
            "{} tokens {whose}: a failure costs 1, a success brings {}; no retry at half or below",
            limit.max, limit.ratio
        ),
        Limit::Ratio(limit) => {
            let reserve = match limit.reserve {
                0.0 => String::new(),
                reserve => format!(" and {reserve} a second"),
            };
            let (share, ttl) = (percent(limit.ratio), long(limit.ttl));
            format!("retries {whose} for {share} of the calls of the last {ttl}{reserve}")
        }
        Limit::Concurrency(limit) => match limit.share {
            0.0 => format!("{} retries at once {whose}", limit.least),
            share => {
                let share = percent(share);
                format!(
                    "retries up to {share} of the tries under way {whose}, {} always",
                    limit.least
                )
            }
        },
        Limit::Bucket(limit) => {
            format!("{} retries a second {whose}, {} at once; others wait", limit.rate, limit.burst)
        }
        Limit::Breaker(breaker) => {
            let Breaker { open, probes, .. } = breaker;
            let noun = if *probes == 1 { "probe" } else { "probes" };
            format!("no try {whose} for {} {}; then {probes} {noun}", long(*open), trip(breaker))
        }
        Limit::InFlight(limit) => format!("{} tries at once {whose}; others fail", limit.limit),
        Limit::Adaptive(limit) => {
            let on = Failure::ALL.into_iter().filter(|&failure| limit.on.of(failure));
            let on = on.map(Failure::name).collect::<Vec<_>>().join(" or ");
            format!("a rate of tries {whose} that falls when one is {on} and grows otherwise")
        }
    }
}

fn whose(scope: Scope) -> String {
    match scope {
        Scope::Call => "for each call".to_owned(),
        Scope::Client => "for each client".to_owned(),
        Scope::Process(clients) => format!("for each {clients} clients"),
        Scope::Fleet => "for the whole fleet".to_owned(),
    }
}

/// The cost that most classes of failures have, then those that differ.
fn costs(quota: &Quota) -> String {
    let costs = Failure::ALL.map(|failure| quota.cost.of(failure));
    let times = |cost: u32| costs.iter().filter(|&&other| other == cost).count();
    let most = costs.into_iter().max_by_key(|&cost| times(cost)).unwrap_or_default();
    let others = Failure::ALL.into_iter().filter(|&failure| quota.cost.of(failure) != most);
    others.fold(most.to_string(), |text, failure| {
        format!("{text}, after a {} try {}", failure.name(), quota.cost.of(failure))
    })
}

fn trip(breaker: &Breaker) -> String {
    match breaker.trip {
        Trip::Consecutive(failures) => format!("after {failures} failures in a row"),
        Trip::Share { failed, of, least } => {
            let of = match of {
                Window::Calls(calls) => format!("the last {calls} calls"),
                Window::Seconds(seconds) => format!("the calls of the last {seconds} s"),
                Window::Sampled(span) => format!("the calls of the last {}", long(span)),
            };
            format!("when {} of {of}, {least} at least, have failed", percent(failed))
        }
    }
}

fn long(length: Span) -> String {
    span(length.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::guard::{Adaptive, Bucket, Concurrency, InFlight, Ratio, Throttle};

    #[test]
    fn the_defaults_of_libraries_read_as_their_documentation_does() {
        let said = |limit, scope| sentence(&Guard { limit, scope });
        for (limit, scope, words) in [
            (
                Limit::Quota(Quota::aws_2_0()),
                Scope::Client,
                "500 tokens for each client: a retry costs 5, after a timed-out try 10; a success \
                 brings 1",
            ),
            (
                Limit::Throttle(Throttle::grpc()),
                Scope::Client,
                "10 tokens for each client: a failure costs 1, a success brings 0.1; no retry at \
                 half or below",
            ),
            (
                Limit::Ratio(Ratio::finagle()),
                Scope::Process(39),
                "retries for each 39 clients for 20 % of the calls of the last 10 s and 10 a second",
            ),
            (
                Limit::Concurrency(Concurrency::envoy_budget()),
                Scope::Fleet,
                "retries up to 20 % of the tries under way for the whole fleet, 3 always",
            ),
            (
                Limit::Concurrency(Concurrency::envoy_max_retries()),
                Scope::Client,
                "3 retries at once for each client",
            ),
            (
                Limit::Bucket(Bucket::kubernetes()),
                Scope::Client,
                "10 retries a second for each client, 100 at once; others wait",
            ),
            (
                Limit::Breaker(Breaker::resilience4j()),
                Scope::Client,
                "no try for each client for 60 s when 50 % of the last 100 calls, 100 at least, have \
                 failed; then 10 probes",
            ),
            (
                Limit::Breaker(Breaker::gobreaker()),
                Scope::Client,
                "no try for each client for 60 s after 6 failures in a row; then 1 probe",
            ),
            (
                Limit::InFlight(InFlight { limit: 25 }),
                Scope::Call,
                "25 tries at once for each call; others fail",
            ),
            (
                Limit::Adaptive(Adaptive::aws()),
                Scope::Client,
                "a rate of tries for each client that falls when one is throttled and grows otherwise",
            ),
        ] {
            assert_eq!(said(limit, scope), words);
        }
    }
}
