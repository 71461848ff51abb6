//! The last delay of those whose retries remember it: decorrelated jitter, random walks.
//!
//! It fills up as such delays are drawn, and stays empty where no policy remembers.

use super::observer::Observer;
use super::simulation::Simulation;
use crate::policy::Scope;
use crate::units::Span;

/// Last delays of retries.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// By client.
    own: Vec<Option<Span>>,
    /// Shared by all clients of a part, by part; behind them that of the background load's servers.
    shared: Vec<Option<Span>>,
}

impl<O: Observer> Simulation<'_, O> {
    /// The delay before the one that a client is about to draw, where its policy remembers it.
    #[inline]
    pub(super) fn previous_delay(&self, client: u32) -> Option<Span> {
        match self.policy(client).acquire.memory()? {
            Scope::Client if self.clients[client as usize].attempt.attempt == 0 => None,
            Scope::Client => self.delays.own.get(client as usize).copied().flatten(),
            Scope::Fleet => self.delays.shared.get(self.sharing(client)).copied().flatten(),
        }
    }

    /// Keeps the delay that a client has drawn, where its policy remembers it.
    #[inline]
    pub(super) fn remember_delay(&mut self, client: u32, delay: Span) {
        let Some(scope) = self.policy(client).acquire.memory() else { return };
        let sharing = self.sharing(client);
        let (delays, index) = match scope {
            Scope::Client => (&mut self.delays.own, client as usize),
            Scope::Fleet => (&mut self.delays.shared, sharing),
        };
        if delays.len() <= index {
            delays.resize(index + 1, None);
        }
        delays[index] = Some(delay);
    }

    fn sharing(&self, client: u32) -> usize {
        let owner = self.guests.owner(client);
        if self.is_guest(owner) { self.parts.sizes().count() } else { self.parts.part(owner) }
    }
}
