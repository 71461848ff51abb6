//! Session pooling: a backend serves all transactions of a poll.
//!
//! Between two of them, for a round trip, it stays linked to its client and counts as active, while the
//! database does nothing for it.

use std::ops::Range;

use super::client::Phase;
use super::database::Work;
use super::key::Class;
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::Outcome;
use crate::scenario::Mode;
use crate::units::SimTime;

/// A backend between two claims of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub since: SimTime,
    /// Since when the backend has been connected.
    connected: SimTime,
}

impl<O: Observer, T: Timers> Simulation<'_, O, T> {
    /// Whether the backend of a client whose claim is done stays with it.
    #[inline]
    pub(super) fn session_goes_on(&self, client: u32) -> bool {
        self.scenario.pooler.mode == Mode::Session && self.has_more_transactions(client)
    }

    /// A backend stays with its client until the next claim arrives.
    pub(super) fn link(&mut self, client: u32, connected: SimTime) {
        self.stands[client as usize].phase = Phase::Linked;
        self.links.insert(client, Link { since: self.now, connected });
        self.set_timer(client, self.now + self.scenario.fleet.round_trip, Class::Alarm);
    }

    /// The next claim of a session starts.
    pub(super) fn follow_up(&mut self, client: u32) {
        let Link { since, connected } = self.links.remove(&client).expect("a linked client");
        self.stands[client as usize].phase = Phase::Served;
        self.clients[client as usize].attempt.transaction += 1;
        self.start_claim(client, Work::Good, connected);
        self.emit(Event::Continued { client, idle: self.now.since(since) });
    }

    /// Ends the sessions of `restarting` clients, whose backends are free again, or all of them with a
    /// `database` that goes down.
    pub(super) fn cut_sessions(&mut self, restarting: Range<u32>, database: bool) {
        let hit = |client: &u32| database || self.guests.dies(*client, &restarting);
        let cut: Vec<u32> = self.links.keys().copied().filter(hit).collect();
        for client in cut {
            let Some(Link { since, connected }) = self.links.remove(&client) else { continue };
            self.good -= 1;
            if database {
                self.backends.close();
            } else {
                self.backends.give_back(self.now, connected);
            }
            self.emit(Event::SessionCut { client, idle: self.now.since(since) });
            if self.outlives(client, &restarting) {
                self.end_poll(client, Outcome::Error);
            }
        }
    }
}
