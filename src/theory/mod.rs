//! Closed forms: what a scenario's figures say before anything is played.

mod lock_in;
mod occupancy;

pub use lock_in::{LockIn, lock_in};
pub use occupancy::active_at_rest;

use crate::policy::{Policy, Spread};
use crate::scenario::{Action, Arrivals, Candidate, Demand, Mode, Scenario, Waves, Work};
use crate::units::{Ratio, Span};

/// Most steps of a schedule that are looked at within a start-up window.
const MOST_STEPS: u32 = 10_000;

/// Demand of all claims of a poll, in seconds of service at speed 1.
fn demand_of_poll(scenario: &Scenario) -> f64 {
    let transactions = 0..scenario.fleet.transactions_per_poll;
    transactions.map(|transaction| scenario.database.claim(transaction).mean_secs()).sum()
}

/// Claims a second that a fleet at rest asks for: N·K / (Z + K·round trip + service), with Z its sleep.
pub fn offered_load(scenario: &Scenario, candidate: &Candidate) -> f64 {
    let fleet = &scenario.fleet;
    let transactions = f64::from(fleet.transactions_per_poll);
    let work = transactions * fleet.round_trip.as_secs_f64() + demand_of_poll(scenario);
    let rate = |policy: &Policy| transactions / (policy.interval().as_secs_f64() + work);
    let parts = candidate.parts.iter();
    f64::from(fleet.clients)
        * parts.map(|part| part.share.as_f64() * rate(&part.policy)).sum::<f64>()
}

/// Claims a second that `active` backends complete together: n·v(n) / demand. In a pool of sessions the K
/// claims of a poll also take K − 1 round trips; that the database is less busy meanwhile is left out.
pub fn throughput(scenario: &Scenario, active: u32) -> f64 {
    let transactions = f64::from(scenario.fleet.transactions_per_poll);
    let service = demand_of_poll(scenario) / scenario.database.contention.speed(active);
    let linked = match scenario.pooler.mode {
        Mode::Transaction => 0.0,
        Mode::Session => (transactions - 1.0) * scenario.fleet.round_trip.as_secs_f64(),
    };
    f64::from(active) * transactions / (service + linked)
}

/// The most that any number of active backends within the pool completes.
pub fn best_throughput(scenario: &Scenario) -> f64 {
    (1..=scenario.pooler.pool_size).map(|n| throughput(scenario, n)).fold(0.0, f64::max)
}

/// What the background load asks of the database, as a share of the most that it ever completes.
pub fn background_utilisation(scenario: &Scenario) -> f64 {
    let asked = scenario.background.as_ref().map_or(0.0, |background| {
        background.rate * background.claims.iter().map(Demand::mean_secs).sum::<f64>()
    });
    let speed = |n| f64::from(n) * scenario.database.contention.speed(n);
    asked / (1..=scenario.pooler.pool_size).map(speed).fold(0.0, f64::max)
}

/// Items of work that arrive each second, of all tenants together.
fn items_per_second(scenario: &Scenario, work: &Work) -> f64 {
    match &work.arrivals {
        Arrivals::Renewal(law) => f64::from(work.tenants) / law.mean_secs(),
        Arrivals::Trace(rows) => rows.len() as f64 / scenario.run.duration.as_secs_f64(),
    }
}

/// How many workers the items keep busy, as a share of all: what is processed goes on beside the polls.
pub fn worker_utilisation(scenario: &Scenario) -> f64 {
    scenario.work.as_ref().map_or(0.0, |work| {
        let at_pool: f64 = work.transactions.iter().map(Demand::mean_secs).sum();
        let tries = 1.0 / (1.0 - work.failure.as_f64().min(0.999));
        let busy =
            items_per_second(scenario, work) * tries * (work.processing.mean_secs() + at_pool);
        busy / (f64::from(scenario.fleet.clients) * f64::from(work.workers))
    })
}

/// Polls that a client begins within the spread of its own start-up: 1 if its first interval is longer.
pub fn polls_within(policy: &Policy, window: Span) -> u32 {
    let (mut polls, mut time, mut step) = (0, Span::ZERO, 0);
    while time <= window && polls < MOST_STEPS {
        polls += 1;
        time += policy.poll.nominal(step);
        step = policy.poll.advance(step);
    }
    polls
}

/// Claims at once at the end of a start-up spread W after a restart of the whole fleet: N/W · (polls within W) ·
/// service. The schedule restarts at its base interval within the spread, so the load is a multiple of that at
/// rest. `None` without a spread, or if nothing restarts all at once.
pub fn ramp_peak(scenario: &Scenario, policy: &Policy) -> Option<f64> {
    let Spread::Uniform(low, high) = policy.start_up else { return None };
    let restarts_all = |action: &Action| {
        matches!(action, Action::Restart { clients: Ratio::ONE, waves: Waves::One, .. })
    };
    if !scenario.happenings().any(|happening| restarts_all(&happening.action)) {
        return None;
    }
    let window = Span::from_ticks(high.ticks() - low.ticks());
    let starts = f64::from(scenario.fleet.clients) / window.as_secs_f64();
    (window > Span::ZERO)
        .then(|| starts * f64::from(polls_within(policy, window)) * demand_of_poll(scenario))
}

/// How long the last of a full queue waits: client slots behind the backends over the pool's throughput.
pub fn longest_queue(scenario: &Scenario) -> f64 {
    let pooler = &scenario.pooler;
    let clients = pooler.max_client_conn.unwrap_or(u32::MAX).min(scenario.fleet.clients);
    f64::from(clients.saturating_sub(pooler.pool_size)) / throughput(scenario, pooler.pool_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped(name: &str) -> Scenario {
        crate::scenario::load(name, &[]).unwrap().scenario
    }

    #[test]
    fn the_main_scenario_has_the_incidents_figures() {
        let scenario = shipped("deriver-restart");
        // 11,543 / 30.19 s, at 100 / 0.17 s.
        let load = offered_load(&scenario, &scenario.policies[0]);
        assert!((load - 382.35).abs() < 0.01, "{load}");
        assert!((throughput(&scenario, 368) - 588.24).abs() < 0.01);
        let fix = &scenario.policies[3].parts[0].policy;
        // Polls at 0, 1, 3, 7 and 15 s within 30 s: 5 × 385/s × 0.17 s.
        let peak = ramp_peak(&scenario, fix).unwrap();
        assert!((peak - 327.05).abs() < 0.01, "{peak}");
        assert!((longest_queue(&scenario) - 14.67).abs() < 0.01);
    }

    #[test]
    fn a_retrograde_database_completes_less_when_full() {
        let scenario = shipped("retrograde-database");
        assert!((throughput(&scenario, 368) - 306.6).abs() < 0.1);
        assert!((best_throughput(&scenario) - 588.24).abs() < 0.01);
    }
}
