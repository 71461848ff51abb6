//! What disturbances do to the system.

use super::client::{Client, Phase};
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use crate::policy::Outcome;
use crate::random::{Moment, Purpose};
use crate::scenario::Action;
use crate::units::Span;

impl<O: Observer> Simulation<'_, O> {
    /// Begins disturbance `index`.
    pub(super) fn disturb(&mut self, index: usize) {
        self.emit(Event::Disturbed { index });
        match self.scenario.disturbances[index].action {
            Action::Restart { clients, over, database } => {
                let restarting = clients.of(self.scenario.fleet.clients);
                self.cut_claims(restarting, database);
                for client in 0..restarting {
                    self.restart(client, index, over);
                }
                if database {
                    self.forget_places();
                }
                self.bury_tombstones();
                self.serve();
            }
        }
    }

    /// Drops the running claims of the first `restarting` clients, or all of them with the database.
    fn cut_claims(&mut self, restarting: u32, database: bool) {
        let cut = self
            .database
            .cut_off(self.now, |claim| database || (claim.good && claim.client < restarting));
        for claim in cut {
            *if claim.good { &mut self.good } else { &mut self.wasted } -= 1;
            self.emit(Event::ClaimDropped { client: claim.client, good: claim.good });
            if claim.good && claim.client >= restarting {
                self.end_poll(claim.client, Outcome::Error);
            }
        }
    }

    /// The pooler forgets every place. A client that still waited in one sees its attempt fail.
    fn forget_places(&mut self) {
        let places = self.queue.forget();
        self.emit(Event::PlacesForgotten { places });
        for client in 0..self.scenario.fleet.clients {
            let Client { phase, admitted, .. } = self.clients[client as usize];
            if phase == Phase::Waiting {
                self.emit(Event::Dropped { client, waited: Some(self.now.since(admitted)) });
                self.fail(client);
            }
        }
    }

    /// A client loses its connection and starts again, at its base interval.
    fn restart(&mut self, client: u32, index: usize, over: Span) {
        let Client { phase, admitted, .. } = self.clients[client as usize];
        if phase == Phase::Waiting {
            self.leave_place();
            self.emit(Event::Dropped { client, waited: Some(self.now.since(admitted)) });
        } else if self.tell_departure(client) {
            self.emit(Event::Dropped { client, waited: None });
        }
        let start = index as u32 + 1;
        let moment = Moment { poll: start, ..Moment::default() };
        let skew = self.world.site(Purpose::RestartSkew, client, moment).uniform(0);
        let back = Span::from_ticks((over.ticks() as f64 * skew) as u64);
        let state = &mut self.clients[client as usize];
        state.attempt = state.attempt.next_poll();
        state.step = 0;
        let wait = back + self.start_up(client, start);
        self.emit(Event::Restarted { client, index });
        self.begin_poll(client, wait);
    }
}
