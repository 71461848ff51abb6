//! Whether places that die in the queue keep a fleet locked in.

use super::longest_queue;
use crate::policy::{Acquire, Failure, Policy, Retry, Stop};
use crate::scenario::{DeadWaiters, Scenario};
use crate::units::Span;

/// Attempts a second, between which a full pool's throughput makes retries the cause of a lock-in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LockIn {
    /// What the fleet asks for with one attempt a poll, each of which times out: N/(Z + P). A pool that
    /// completes less is locked in without any retry.
    pub single: f64,
    /// What it asks for under its own rule: N·a/(a·P + delays + Z), with a the attempts of a poll that all
    /// time out. A pool that completes more comes back.
    pub failing: f64,
}

/// Attempts of a poll beyond which a rule that never gives up is as good as endless.
const MOST_ATTEMPTS: u32 = 1_000;

/// The window of a policy whose clients lose patience in a full queue, where their places stay behind
/// and cost as much as claims; `None` where nobody does, or places vanish with their clients.
pub fn lock_in(scenario: &Scenario, policy: &Policy) -> Option<LockIn> {
    let patience = policy.patience?.as_secs_f64();
    let dropped = matches!(scenario.pooler.dead_waiters, DeadWaiters::Dropped);
    if dropped || longest_queue(scenario) <= patience {
        return None;
    }
    let clients = f64::from(scenario.fleet.clients);
    let asleep = policy.interval().as_secs_f64();
    let (attempts, busy) = match &policy.acquire {
        Acquire::Once => (1.0, patience),
        Acquire::Retry(retry) => failing(retry, patience),
        Acquire::Layers(_) => return None,
    };
    Some(LockIn {
        single: clients / (asleep + patience),
        failing: clients * attempts / (busy + asleep),
    })
}

/// Attempts of a poll that all take `patience` and fail, and how long they take together with mean delays.
fn failing(retry: &Retry, patience: f64) -> (f64, f64) {
    let Stop { elapsed_with_delay, .. } = retry.stop;
    let (mut attempts, mut elapsed) = (0, 0.0);
    loop {
        attempts += 1;
        elapsed += patience;
        let so_far = Span::from_ticks_f64(elapsed * 1e6);
        let delay = retry.delay.mean(attempts - 1).as_secs_f64();
        let too_late =
            elapsed_with_delay.is_some_and(|limit| elapsed + delay > limit.as_secs_f64());
        if retry.stop.reached(attempts, so_far, Failure::TimedOut)
            || too_late
            || attempts == MOST_ATTEMPTS
        {
            return (f64::from(attempts), elapsed);
        }
        elapsed += delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_incidents_window_holds_its_pool() {
        let scenario = crate::scenario::load("deriver-restart", &[]).unwrap().scenario;
        let of = |name: &str| {
            let candidate = scenario.policies.iter().find(|policy| policy.name == name).unwrap();
            lock_in(&scenario, &candidate.parts[0].policy).unwrap()
        };
        // Four attempts of 2 s and delays of 0.6, 0.7 and 0.9 s in 10.2 s: 11,543 · 4 / 40.2.
        let retry = of("baseline");
        assert!((retry.single - 11_543.0 / 32.0).abs() < 0.01, "{retry:?}");
        assert!((retry.failing - 11_543.0 * 4.0 / 40.2).abs() < 0.01, "{retry:?}");
        // For ever: 2 s and a mean of 15 s where the jitter comes after the clamp, of nearly 30 s before it.
        assert!((of("full-jitter").failing - 11_543.0 / 17.0).abs() < 10.0);
        assert!((of("botocore").failing - 11_543.0 / 32.0).abs() < 10.0);
        let once = of("no-retry");
        assert_eq!(once.single, once.failing);
        let patient =
            crate::scenario::load("deriver-restart", &["policy.baseline.patience=60s".into()]);
        let patient = patient.unwrap().scenario;
        assert_eq!(lock_in(&patient, &patient.policies[0].parts[0].policy), None);
    }
}
