//! Client-side pools: the clients of one process share its connections.
//!
//! A client asks its process for a connection before each attempt, and waits in line if none is free. It
//! holds one until its attempt has failed or its transaction, in a session its poll, is done: in short,
//! until it asks again. An attempt sets out when it has its connection.

use std::collections::VecDeque;

use super::client::{AttemptId, Phase};
use super::fleet::Parts;
use super::key::Class;
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use crate::units::Span;

/// The pools of all processes.
#[derive(Debug)]
pub(super) struct ClientPools {
    /// By part of the fleet, its processes in the order of their clients; none where every client
    /// connects for itself.
    parts: Vec<Vec<ClientPool>>,
}

#[derive(Clone, Debug)]
struct ClientPool {
    free: u32,
    /// Who asked, in order; some may have gone on.
    line: VecDeque<(u32, AttemptId)>,
}

impl ClientPools {
    pub fn new(parts: &Parts<'_>) -> ClientPools {
        let pools = parts.sizes().map(|(policy, clients)| match policy.client_pool {
            None => Vec::new(),
            Some(pool) => {
                let fresh = ClientPool { free: pool.connections, line: VecDeque::new() };
                vec![fresh; clients.div_ceil(pool.clients) as usize]
            }
        });
        ClientPools { parts: pools.collect() }
    }
}

impl<O: Observer> Simulation<'_, O> {
    /// Lets a client ask its process for a connection after `wait`; the one that it holds goes back.
    pub(super) fn ask_after(&mut self, client: u32, wait: Span) {
        self.clients[client as usize].phase = Phase::Asking;
        self.set_timer(client, self.now + wait, Class::Alarm);
        if std::mem::take(&mut self.clients[client as usize].has_connection) {
            match self.next_in_line(client) {
                Some(next) => self.hand_over(next),
                None => self.pool_of(client).free += 1,
            }
        }
    }

    /// A client asks its process for a connection.
    pub(super) fn ask(&mut self, client: u32) {
        let attempt = self.clients[client as usize].attempt;
        let pool = self.pool_of(client);
        if pool.free > 0 {
            pool.free -= 1;
            return self.hand_over(client);
        }
        pool.line.push_back((client, attempt));
        self.clients[client as usize].phase = Phase::Lining;
        let timeout = self.parts.client_pool(client).expect("a pool to ask").timeout;
        self.set_timer(client, self.now + timeout, Class::Alarm);
    }

    /// A client has waited too long for a connection: so its attempt has failed.
    pub(super) fn time_out_in_line(&mut self, client: u32) {
        let waited = self.parts.client_pool(client).expect("a pool to wait for").timeout;
        self.departed(client, self.now);
        self.emit(Event::PoolTimedOut { client, waited });
        self.fail(client);
    }

    fn hand_over(&mut self, client: u32) {
        self.clients[client as usize].has_connection = true;
        self.set_out(client, Span::ZERO);
    }

    /// Takes the first who still waits out of the line that a client belongs to.
    fn next_in_line(&mut self, client: u32) -> Option<u32> {
        while let Some((next, attempt)) = self.pool_of(client).line.pop_front() {
            let state = &self.clients[next as usize];
            if state.phase == Phase::Lining && state.attempt == attempt {
                return Some(next);
            }
        }
        None
    }

    fn pool_of(&mut self, client: u32) -> &mut ClientPool {
        let clients = self.parts.client_pool(client).expect("a client with a pool").clients;
        let process = self.parts.rank(client) / clients;
        &mut self.client_pools.parts[self.parts.part(client)][process as usize]
    }
}
