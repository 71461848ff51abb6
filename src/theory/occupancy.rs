//! How many backends a fleet at rest keeps busy.

use super::demand_of_poll;
use crate::scenario::{Candidate, Mode, Scenario};

/// The mean number of active backends of a fleet at rest that is never turned away: the finite-source
/// queue. n clients at the pool are as likely as C(N, n)·Zⁿ⁻ᴺ·∏ s/(k·v(k)), k up to the pool's size, with Z
/// a client's time elsewhere in a cycle and s its service: exact for exponential claims and any law of Z
/// (Baskett, Chandy, Muntz, Palacios, J. ACM 22, 1975), and for any claims as long as the pool is never
/// full. `None` for a mixed fleet, sessions, and where requests or items ask for backends too.
pub fn active_at_rest(scenario: &Scenario, candidate: &Candidate) -> Option<f64> {
    let [part] = &candidate.parts[..] else { return None };
    let others = scenario.background.is_some() || scenario.work.is_some();
    let asleep = part.policy.interval().as_secs_f64()
        + f64::from(scenario.fleet.transactions_per_poll) * scenario.fleet.round_trip.as_secs_f64();
    if others || scenario.pooler.mode == Mode::Session || asleep <= 0.0 {
        return None;
    }
    let (clients, pool) = (scenario.fleet.clients, scenario.pooler.pool_size);
    let service = demand_of_poll(scenario);
    // From n − 1 to n clients at the pool: how much likelier that is, from its mode outward in logarithms.
    let log_ratio = |n: u32| {
        let served = n.min(pool);
        let rate = f64::from(served) * scenario.database.contention.speed(served) / service;
        libm::log(f64::from(clients - (n - 1)) / asleep / rate)
    };
    let logs: Vec<f64> = (1..=clients)
        .scan(0.0, |log, n| {
            *log += log_ratio(n);
            Some(*log)
        })
        .collect();
    let most = logs.iter().fold(0.0, |most: f64, &log| most.max(log));
    let weights = std::iter::once(0.0).chain(logs).map(|log| libm::exp(log - most));
    let (all, active) = weights.zip(0..).fold((0.0, 0.0), |(all, active), (weight, n)| {
        (all + weight, active + weight * f64::from(pool.min(n)))
    });
    Some(active / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_rest(overrides: &[&str]) -> f64 {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let scenario = crate::scenario::load("steady-state", &overrides).unwrap().scenario;
        active_at_rest(&scenario, &scenario.policies[0]).unwrap()
    }

    #[test]
    fn a_pool_that_is_never_full_has_as_many_as_the_claims_take_of_a_cycle() {
        // 11,543 · 0.17 / (30 + 0.02 + 0.17).
        assert!((at_rest(&[]) - 65.0).abs() < 0.01, "{}", at_rest(&[]));
    }

    /// One backend and ten clients that sleep as long as a claim takes: 1 − 1/Σ 10!/(10 − n)!.
    #[test]
    fn a_small_pool_is_the_machine_repairmans() {
        let one = at_rest(&[
            "fleet.clients=10",
            "fleet.round_trip=0s",
            "pooler.pool_size=1",
            "database.claim={ exponential = { mean = \"30s\" } }",
        ]);
        let states = (0..=10u32).map(|n| (0..n).map(|k| f64::from(10 - k)).product::<f64>());
        assert!((one - (1.0 - 1.0 / states.sum::<f64>())).abs() < 1e-9, "{one}");
        // Millions of clients on a full pool.
        assert_eq!(at_rest(&["fleet.clients=2_000_000"]).round(), 368.0);
    }
}
