//! The pooler's side of the database: backends that are free, linked to a client or logging in.
//!
//! Where the scenario says nothing of logins, every backend is connected always and only their number
//! counts. Else a backend is connected when somebody waits for one, idle ones are used again last in,
//! first out, and are closed after a time. That is looked at when a backend is needed: nobody can
//! tell the difference.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::key::{Class, Key, Layout, NEVER};
use crate::scenario::{Logins, Pooler};
use crate::units::{SimTime, Span};

/// Backends of one pool.
#[derive(Debug)]
pub(super) struct Backends<'a> {
    layout: Layout,
    pooler: &'a Pooler,
    /// Backends of the pool, the reserve aside.
    pool_size: u32,
    /// Connected whatever happens: all of the pool where the scenario says nothing of logins.
    always: u32,
    /// Linked to a client, or at work for nobody.
    busy: u32,
    /// Connected and free, the last used last; unused where all are connected always.
    idle: VecDeque<Idle>,
    /// When the logins under way end.
    logins: BinaryHeap<Reverse<SimTime>>,
    /// Before this no login begins.
    held_until: SimTime,
    /// Whether the last login failed.
    failing: bool,
    /// Connections ever opened, and ever closed.
    opened: u64,
    closed: u64,
}

/// A free backend.
#[derive(Clone, Copy, Debug)]
struct Idle {
    since: SimTime,
    connected: SimTime,
}

/// How the logins of a pool stand, for the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Connections to the database ever opened, those of the start included.
    pub opened: u64,
    /// Connections ever closed.
    pub closed: u64,
}

impl<'a> Backends<'a> {
    /// So many `connected`.
    pub fn new(pooler: &'a Pooler, connected: u32, layout: Layout) -> Backends<'a> {
        let idle = if pooler.logins.is_some() { connected } else { 0 };
        let fresh = Idle { since: SimTime::ZERO, connected: SimTime::ZERO };
        Backends {
            layout,
            pooler,
            pool_size: pooler.pool_size,
            always: connected - idle,
            busy: 0,
            idle: std::iter::repeat_n(fresh, idle as usize).collect(),
            logins: BinaryHeap::new(),
            held_until: SimTime::ZERO,
            failing: false,
            opened: u64::from(idle),
            closed: 0,
        }
    }

    /// How many are connected.
    #[inline]
    pub fn connected(&self) -> u32 {
        (self.busy + self.idle.len() as u32).max(self.always)
    }

    /// Backends that are there without a login.
    pub fn always(&self) -> u32 {
        self.always
    }

    /// So many are at work from now on, of those that are always there.
    pub fn occupy(&mut self, busy: u32) {
        self.busy = busy;
    }

    /// How many are logging in.
    #[inline]
    pub fn logging_in(&self) -> u32 {
        self.logins.len() as u32
    }

    pub fn connections(&self) -> Connections {
        Connections { opened: self.opened, closed: self.closed }
    }

    /// Whether a new client is refused because no backend is connected and the last login failed.
    pub fn fail_fast(&self) -> bool {
        self.failing && self.connected() == 0
    }

    /// How many there may be when the longest wait is `longest_wait`.
    #[inline]
    fn most(&self, longest_wait: Span) -> u32 {
        let reserve = self.pooler.reserve.filter(|reserve| longest_wait >= reserve.timeout);
        self.pool_size + reserve.map_or(0, |reserve| reserve.size)
    }

    /// Makes the pool larger or smaller, and says whether it had another size. Idle backends beyond
    /// it are closed, the least recently used first; busy ones when they are given back.
    pub fn resize(&mut self, pool_size: u32) -> bool {
        let resized = self.pool_size != pool_size;
        self.pool_size = pool_size;
        if self.pooler.logins.is_none() {
            self.always = pool_size;
        }
        while resized && self.connected() > self.most(Span::MAX) && !self.idle.is_empty() {
            self.idle.pop_front();
            self.closed += 1;
        }
        resized
    }

    /// Takes a free backend for who has waited for `waited`, and tells since when it has been
    /// connected.
    #[inline]
    pub fn take(&mut self, now: SimTime, waited: Span) -> Option<SimTime> {
        if self.busy < self.always {
            self.busy += 1;
            return Some(SimTime::ZERO);
        }
        self.take_connected(now, waited)
    }

    fn take_connected(&mut self, now: SimTime, waited: Span) -> Option<SimTime> {
        let Some(logins) = &self.pooler.logins else {
            let free = self.busy < self.most(waited);
            self.busy += u32::from(free);
            return free.then_some(SimTime::ZERO);
        };
        while let Some(Idle { since, connected }) = self.idle.pop_back() {
            let rested = logins.idle_timeout.is_some_and(|limit| now.since(since) >= limit);
            if !rested && !outlived(logins, connected, now) {
                self.busy += 1;
                return Some(connected);
            }
            self.closed += 1;
        }
        None
    }

    /// A backend is free again.
    #[inline]
    pub fn give_back(&mut self, now: SimTime, connected: SimTime) {
        self.busy -= 1;
        if let Some(logins) = &self.pooler.logins {
            if outlived(logins, connected, now) || self.connected() >= self.most(Span::MAX) {
                self.closed += 1;
            } else {
                self.idle.push_back(Idle { since: now, connected });
            }
        }
    }

    /// A backend is closed.
    pub fn close(&mut self) {
        self.busy -= 1;
        self.closed += u64::from(self.pooler.logins.is_some());
    }

    /// The database goes down, after its claims and sessions: idle backends are closed, logins under way broken
    /// off, and none begins before `until`.
    pub fn go_down(&mut self, until: SimTime) {
        assert_eq!(self.busy, 0, "no backend outlives the database");
        self.closed += self.idle.len() as u64;
        self.idle.clear();
        self.logins.clear();
        self.hold(until);
    }

    /// No login begins before `until`.
    pub fn hold(&mut self, until: SimTime) {
        self.held_until = self.held_until.max(until);
    }

    /// Whether another login should begin for `waiting` places, the first of which has waited for
    /// `longest_wait`.
    pub fn wants_login(&self, now: SimTime, waiting: u32, longest_wait: Span) -> bool {
        let Some(logins) = &self.pooler.logins else { return false };
        let under_way = self.logging_in();
        now >= self.held_until
            && under_way < logins.at_once.unwrap_or(u32::MAX).min(waiting)
            && self.connected() + under_way < self.most(longest_wait)
    }

    /// A login begins that will end at `end`.
    pub fn begin_login(&mut self, end: SimTime) {
        self.logins.push(Reverse(end));
    }

    /// Ends a login that is due, if any: whether it succeeded, beside so many `orphans` that hold
    /// connections of the database.
    pub fn end_login(&mut self, now: SimTime, orphans: u32) -> Option<bool> {
        let logins = self.pooler.logins.as_ref()?;
        self.logins.peek().filter(|Reverse(end)| *end <= now)?;
        self.logins.pop();
        let in_use = self.connected() + orphans;
        self.failing = logins.limit.is_some_and(|limit| in_use >= limit);
        if self.failing {
            self.hold(now + logins.retry);
        } else if self.connected() < self.most(Span::MAX) {
            self.opened += 1;
            self.idle.push_back(Idle { since: now, connected: now });
        } else {
            // The pool has become smaller meanwhile.
            self.opened += 1;
            self.closed += 1;
        }
        Some(!self.failing)
    }

    /// The next instant at which a waiting place may be helped: a login ends or may begin, or the
    /// reserve comes in for the `head`, admitted then.
    pub fn next(&self, now: SimTime, head: Option<SimTime>) -> Key {
        let login = self.logins.peek().map(|&Reverse(end)| end);
        let retry = head.map(|_| self.held_until).filter(|&until| until > now);
        let reserve = self.pooler.reserve.zip(head);
        let reserve = reserve.map(|(reserve, head)| head + reserve.timeout).filter(|&t| t > now);
        let soonest = [login, retry, reserve].into_iter().flatten().min();
        soonest.map_or(NEVER, |time| self.layout.key(time, Class::Login, 0))
    }
}

fn outlived(logins: &Logins, connected: SimTime, now: SimTime) -> bool {
    logins.lifetime.is_some_and(|limit| now.since(connected) >= limit)
}
