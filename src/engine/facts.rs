//! What a scenario never needs: asked once for a unit, not at every event.

use super::calm;
use crate::policy::{Acquire, Policy};
use crate::scenario::Scenario;
use crate::units::Span;

/// What may happen in a unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// Whether there is a handshake, background load or work.
    pub stations: bool,
    /// Whether any policy has clients ask guards, or their process for a connection.
    pub asks: bool,
    /// Whether any policy has layers.
    pub layers: bool,
    /// Whether any policy of the fleet keeps connections.
    pub connections: bool,
    /// Whether an attempt that arrives meets the client limit at once, and on no connection that is kept.
    pub straight: bool,
    /// Whether any policy has clients exit when they have failed too often.
    pub exits: bool,
    /// The least time that a client sleeps, where all there is to know of one that does is where it stands.
    pub nap: Option<Span>,
}

impl Facts {
    pub fn new(scenario: &Scenario, policy: usize) -> Facts {
        let candidate = &scenario.policies[policy];
        let others = scenario.happenings().filter_map(|happening| happening.action.to());
        let parts = candidate.parts.iter().map(|part| &part.policy);
        let fleet: Vec<&Policy> = parts.chain(others.map(|to| &to.policy)).collect();
        let servers = candidate.handling.iter().map(|handling| &handling.server);
        let layers = fleet
            .iter()
            .copied()
            .chain(servers)
            .any(|policy| matches!(policy.acquire, Acquire::Layers(_)));
        let connections = fleet.iter().any(|policy| policy.connection.is_some());
        let pooler = &scenario.pooler;
        Facts {
            stations: pooler.handshake.is_some()
                || scenario.background.is_some()
                || scenario.work.is_some(),
            asks: layers || fleet.iter().any(|policy| policy.client_pool.is_some()),
            layers,
            connections,
            straight: pooler.limiter.is_none()
                && pooler.handshake.is_none()
                && scenario.database.attempt_cost.is_none()
                && !connections,
            exits: fleet.iter().any(|policy| policy.supervisor.is_some()),
            nap: calm::shortest_sleep(scenario, &fleet),
        }
    }
}
