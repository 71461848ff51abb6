//! The last delay of those whose plain retries remember it: decorrelated jitter, random walks.
//!
//! It fills up as such delays are drawn, and stays empty where no policy remembers.

use super::observer::Observer;
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::{Retry, Scope};
use crate::units::Span;

/// Last delays of retries.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// Of those that keep one for themselves, by client.
    own: Vec<Option<Span>>,
    /// Of those that share one, by who they are.
    shared: Vec<Option<Span>>,
}

impl<O: Observer, T: Timers> Simulation<'_, O, T> {
    /// The delay before the one that a client is about to draw by `retry`, where it is remembered.
    #[inline]
    pub(super) fn previous_delay(&self, client: u32, retry: &Retry) -> Option<Span> {
        if !retry.delay.remembers() {
            return None;
        }
        match retry.scope {
            Scope::Call if self.clients[client as usize].attempt.attempt == 0 => None,
            Scope::Call | Scope::Client => self.delays.own.get(client as usize).copied().flatten(),
            Scope::Process(_) | Scope::Fleet => {
                self.delays.shared.get(self.delay_sharer(client)).copied().flatten()
            }
        }
    }

    /// Keeps the delay that a client has drawn by `retry`, where it is remembered.
    #[inline]
    pub(super) fn remember_delay(&mut self, client: u32, retry: &Retry, delay: Span) {
        if !retry.delay.remembers() {
            return;
        }
        let sharer = self.delay_sharer(client);
        let (delays, index) = match retry.scope {
            Scope::Call | Scope::Client => (&mut self.delays.own, client as usize),
            Scope::Process(_) | Scope::Fleet => (&mut self.delays.shared, sharer),
        };
        if delays.len() <= index {
            delays.resize(index + 1, None);
        }
        delays[index] = Some(delay);
    }

    /// A client that starts again remembers nothing of its own.
    pub(super) fn forget_delay(&mut self, client: u32) {
        if let Some(delay) = self.delays.own.get_mut(client as usize) {
            *delay = None;
        }
    }

    /// The part of a client; behind all parts, the servers of the background load.
    fn delay_sharer(&self, client: u32) -> usize {
        let owner = self.guests.owner(client);
        if self.is_guest(owner) { self.parts.sizes().count() } else { self.parts.part(owner) }
    }
}
