//! Client-side pools: the clients of one process share its connections.
//!
//! A client asks its process for a connection before each attempt, and waits in line if none is
//! free. It holds one until its attempt has failed or its transaction, in a session its poll, is
//! done: in short, until it asks again. An attempt sets out when it has its connection. The one
//! last given back is the first to be used again.

use std::collections::VecDeque;
use std::mem::take;

use super::client::{AttemptId, Phase};
use super::connections::Connection;
use super::fleet::Parts;
use super::key::Class;
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::Failure;
use crate::units::Span;

/// The pools of all processes.
#[derive(Debug)]
pub(super) struct ClientPools {
    /// By part of the fleet, its processes in the order of their clients; none where every client
    /// connects for itself.
    parts: Vec<Vec<ClientPool>>,
}

#[derive(Clone, Debug)]
pub(super) struct ClientPool {
    pub free: Vec<Connection>,
    /// Who asked, in order; some may have gone on.
    line: VecDeque<(u32, AttemptId)>,
}

impl ClientPools {
    pub fn new(parts: &Parts<'_>) -> ClientPools {
        let pools = parts.sizes().map(|(policy, clients)| match policy.client_pool {
            None => Vec::new(),
            Some(pool) => {
                let free = vec![Connection::default(); pool.connections as usize];
                let fresh = ClientPool { free, line: VecDeque::new() };
                vec![fresh; clients.div_ceil(pool.clients) as usize]
            }
        });
        ClientPools { parts: pools.collect() }
    }

    /// Those that no client holds.
    pub fn free_connections(&mut self) -> impl Iterator<Item = &mut Connection> {
        self.parts.iter_mut().flatten().flat_map(|pool| &mut pool.free)
    }
}

impl<O: Observer, T: Timers> Simulation<'_, O, T> {
    /// Lets a client ask its guards, and its process for a connection, after `wait`; the one that it
    /// holds goes back.
    pub(super) fn ask_after(&mut self, client: u32, wait: Span) {
        self.stands[client as usize].phase = Phase::Asking;
        self.set_timer(client, self.now + wait, Class::Alarm);
        self.release(client);
    }

    /// The connection that a client holds, if any, goes to the next in line.
    pub(super) fn release(&mut self, client: u32) {
        if take(&mut self.clients[client as usize].has_connection) {
            let kept = self.connections.get_mut(client as usize);
            let connection = kept.map(take).unwrap_or_default();
            match self.next_in_line(client) {
                Some(next) => self.hand_over(next, connection),
                None => self.pool_of(client).free.push(connection),
            }
        }
    }

    /// A client asks its guards, then its process for a connection if that has a pool.
    pub(super) fn ask(&mut self, client: u32) {
        if !self.pass_guards(client) {
            return;
        }
        if self.client_pool(client).is_none() {
            return self.set_out(client, Span::ZERO);
        }
        let attempt = self.clients[client as usize].attempt;
        let pool = self.pool_of(client);
        if let Some(connection) = pool.free.pop() {
            return self.hand_over(client, connection);
        }
        pool.line.push_back((client, attempt));
        self.stands[client as usize].phase = Phase::Lining;
        let timeout = self.client_pool(client).expect("a pool to ask").timeout;
        self.set_timer(client, self.now + timeout, Class::Alarm);
    }

    /// A client has waited too long for a connection: so its attempt has failed.
    pub(super) fn time_out_in_line(&mut self, client: u32) {
        let waited = self.client_pool(client).expect("a pool to wait for").timeout;
        self.departed(client, self.now);
        self.emit(Event::PoolTimedOut { client, waited });
        self.fail(client, Failure::TimedOut);
    }

    fn hand_over(&mut self, client: u32, connection: Connection) {
        self.clients[client as usize].has_connection = true;
        if let Some(kept) = self.connections.get_mut(client as usize) {
            *kept = connection;
        }
        self.set_out(client, Span::ZERO);
    }

    /// Closes the connections that the process of a client has free.
    pub(super) fn empty_pool(&mut self, client: u32) {
        if self.client_pool(client).is_some() {
            let free = self.pool_of(client).free.iter_mut();
            let closed = free.filter_map(|connection| take(&mut connection.idle).then_some(()));
            let closed = closed.count() as u32;
            self.closed(closed);
        }
    }

    /// Takes the first who still waits out of the line that a client belongs to.
    fn next_in_line(&mut self, client: u32) -> Option<u32> {
        while let Some((next, attempt)) = self.pool_of(client).line.pop_front() {
            let in_line = self.stands[next as usize].phase == Phase::Lining;
            if in_line && self.clients[next as usize].attempt == attempt {
                return Some(next);
            }
        }
        None
    }

    pub(super) fn pool_of(&mut self, client: u32) -> &mut ClientPool {
        let owner = self.guests.owner(client);
        let clients = self.client_pool(client).expect("a client with a pool").clients;
        let process = self.parts.rank(owner) / clients;
        &mut self.client_pools.parts[self.parts.part(owner)][process as usize]
    }
}
