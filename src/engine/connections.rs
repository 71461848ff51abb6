//! Connections to the pooler that clients keep.
//!
//! A connection that is not kept lives from an attempt's admission to the end of its transaction:
//! the place or the claim stands for it. One that is kept stays open after that. Idle, it holds a
//! client slot but no backend, and the next attempt goes out on it, past attempt cost, handshake
//! and limit. In use, it needs nobody to close it: it is there for the next attempt only if its
//! client takes it back when the transaction is done, and of an attempt that has failed nobody
//! does.
//!
//! Where the clients of a process share its connections, this state goes with them from one to the
//! other. A restart of any of these clients closes the connections that the process has free.

use std::mem::take;

use super::observer::{Event, Observer};
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::Lifetime;
use crate::random::{Purpose, Site};
use crate::units::{SimTime, Span};

/// A connection that a client or its process has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Connection {
    /// From when on it is too old, or may be where that is drawn at its use.
    due: SimTime,
    /// Whether it is open and not in use.
    pub idle: bool,
}

impl<O: Observer, T: Timers> Simulation<'_, O, T> {
    /// Whether a client's attempt goes out on the connection that it has. One that is too old is
    /// closed.
    #[inline]
    pub(super) fn is_connected(&mut self, client: u32) -> bool {
        let Some(&Connection { due, idle: true }) = self.connections.get(client as usize) else {
            return false;
        };
        let end = match self.policy(client).connection {
            Some(Lifetime::AtUse(spread)) => {
                due + spread.draw(self.lifetime_site(client)) - spread.shortest()
            }
            _ => due,
        };
        let fresh = self.now < end;
        if !fresh {
            self.hang_up(client);
        }
        fresh
    }

    /// A client's attempt is admitted, on the connection that it has or on a new one; whether it is
    /// a new one.
    #[inline]
    pub(super) fn connect(&mut self, client: u32) -> bool {
        let Some(connection) = self.connections.get_mut(client as usize) else { return true };
        if take(&mut connection.idle) {
            self.idle -= 1;
            return false;
        }
        if let Some(lifetime) = self.policy(client).connection {
            let due = self.now + sure_life(lifetime, self.lifetime_site(client));
            self.connections[client as usize].due = due;
        }
        true
    }

    /// Lets a warm world begin with a client's connection open, somewhere in its life, if there is
    /// a slot left for it.
    pub(super) fn begin_connected(&mut self, client: u32) {
        let Some(lifetime) = self.policy(client).connection else { return };
        let site = self.lifetime_site(client).again();
        let left = sure_life(lifetime, site).ticks() as f64 * site.uniform(1);
        let open = Connection { due: self.now + Span::from_ticks(left as u64), idle: true };
        if self.is_full(0) {
            return;
        }
        let Some(connection) = self.own_connection(client) else { return };
        *connection = open;
        self.idle += 1;
        self.emit(Event::ConnectionKept { client });
    }

    /// A client's transaction is done: it keeps its connection if that is its policy.
    #[inline]
    pub(super) fn keep_connection(&mut self, client: u32) {
        if !self.connections.is_empty() && self.policy(client).connection.is_some() {
            self.connections[client as usize].idle = true;
            self.idle += 1;
            self.emit(Event::ConnectionKept { client });
        }
    }

    /// A client closes the connection that it has.
    pub(super) fn hang_up(&mut self, client: u32) {
        if let Some(connection) = self.connections.get_mut(client as usize) {
            let closed = take(&mut connection.idle);
            self.closed(u32::from(closed));
        }
    }

    /// Closes all connections that are not in use.
    pub(super) fn close_connections(&mut self) {
        let own = self.connections.iter_mut();
        for connection in own.chain(self.client_pools.free_connections()) {
            connection.idle = false;
        }
        self.closed(self.idle);
    }

    /// So many connections that were not in use have been closed.
    pub(super) fn closed(&mut self, connections: u32) {
        if connections > 0 {
            self.idle -= connections;
            self.emit(Event::ConnectionsClosed { connections });
        }
    }

    /// The connection that is a client's: its own, or one of its process as long as these last.
    fn own_connection(&mut self, client: u32) -> Option<&mut Connection> {
        match self.client_pool(client) {
            None => self.connections.get_mut(client as usize),
            Some(pool) => {
                let nth = self.parts.rank(client) % pool.clients;
                self.pool_of(client).free.get_mut(nth as usize)
            }
        }
    }

    fn lifetime_site(&self, client: u32) -> Site {
        let moment = self.clients[client as usize].attempt.moment();
        self.site(Purpose::Lifetime, client, moment)
    }
}

/// How long a connection lives at least, as far as that is known when it is opened.
fn sure_life(lifetime: Lifetime, site: Site) -> Span {
    match lifetime {
        Lifetime::Never => Span::MAX,
        Lifetime::AtBirth(spread) => spread.draw(site),
        Lifetime::AtUse(spread) => spread.shortest(),
    }
}
