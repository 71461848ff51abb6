//! What happens to an attempt in the pooler's hands: handshake, limit, queue, backend, claim.

use super::client::{AttemptId, Phase};
use super::database::{Job, Work};
use super::demand;
use super::key::{Class, NEVER};
use super::observer::{Event, Observer};
use super::queue::Place;
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::{Failure, Leave, Policy};
use crate::random::{Moment, Purpose};
use crate::scenario::{DeadCost, DeadWaiters, Demand, Orphans};
use crate::units::{SimTime, Span};

/// What a place is worth when a backend reaches it.
enum Fate<'a> {
    /// Its client waits for the answer.
    Served,
    /// Its client waits, and will throw the answer away.
    Captive,
    /// Its client is gone, and the backend passes on.
    Skipped,
    /// Its client is gone, and the backend is closed; its claim may run on.
    Closed(Orphans),
    /// Its client is gone, and the backend works so much for nobody.
    Worked(&'a Demand),
}

impl<'a, O: Observer, T: Timers> Simulation<'a, O, T> {
    /// An attempt reaches the pooler.
    #[inline]
    pub(super) fn arrive(&mut self, client: u32) {
        if self.facts.straight {
            self.tell_arrival(client, false);
            self.admit(client);
        } else {
            self.arrive_at_stations(client);
        }
    }

    /// The same where there is more than a limit on an attempt's way.
    #[inline(never)]
    fn arrive_at_stations(&mut self, client: u32) {
        let held = self.stands[client as usize].phase == Phase::Held;
        if !held && let Some(limiter) = &mut self.limiter {
            match limiter.arrive(self.now) {
                Some(Span::ZERO) => {}
                Some(wait) => return self.hold(client, wait),
                None => return self.throttle(client),
            }
        }
        if self.is_connected(client) {
            self.tell_arrival(client, held);
            return self.enter(client);
        }
        if self.scenario.database.attempt_cost.is_none() && self.handshake.is_none() {
            self.tell_arrival(client, held);
            return self.admit(client);
        }
        let since = if held { self.clients[client as usize].admitted } else { self.now };
        let stand = &mut self.stands[client as usize];
        (stand.phase, stand.timer) = (Phase::Connecting, NEVER);
        let attempt = self.clients[client as usize].attempt;
        if let Some(timeout) = self.policy(client).connect_timeout {
            // A client may have taken up a shorter timeout since.
            self.set_timer(client, (since + timeout).max(self.now), Class::Alarm);
        }
        match &self.scenario.database.attempt_cost {
            Some(cost) => {
                let site = self.site(Purpose::AttemptCost, client, attempt.moment());
                let work = Work::Attempt(attempt);
                self.start_job(client, work, SimTime::ZERO, demand::sample(cost, site));
            }
            None => self.shake(client, attempt),
        }
        // Told last, since it enters the station without a word of its own.
        self.tell_arrival(client, held);
    }

    /// Tells of an attempt that arrives now, unless that was told when it was `held`.
    #[inline]
    fn tell_arrival(&mut self, client: u32, held: bool) {
        if !held {
            self.departed(client, self.now - self.scenario.fleet.round_trip);
        }
    }

    /// The rate limiter lets an attempt wait for its token, if its client does.
    fn hold(&mut self, client: u32, wait: Span) {
        self.tell_arrival(client, false);
        self.clients[client as usize].admitted = self.now;
        match self.policy(client).connect_timeout {
            Some(timeout) if timeout <= wait => {
                self.stands[client as usize].phase = Phase::Connecting;
                self.set_timer(client, self.now + timeout, Class::Alarm);
            }
            _ => {
                self.stands[client as usize].phase = Phase::Held;
                self.set_timer(client, self.now + wait, Class::Arrival);
            }
        }
    }

    /// The rate limiter refuses an attempt.
    fn throttle(&mut self, client: u32) {
        self.tell_arrival(client, false);
        self.emit(Event::Throttled { client });
        self.refuse_with(client, Phase::Throttled);
    }

    /// An attempt has paid what it costs the database.
    fn shake(&mut self, client: u32, attempt: AttemptId) {
        if !self.connects(client, attempt) {
            return;
        }
        match &mut self.handshake {
            Some(handshake) => handshake.enter(self.now, client, attempt),
            None => self.admit(client),
        }
    }

    /// The handshake station has done with the check of its first attempt, or with all of it.
    pub(super) fn shake_hands(&mut self) {
        let handshake = self.handshake.as_mut().expect("a handshake was due");
        let (client, attempt, passed) = handshake.due();
        let others = handshake.clients().saturating_sub(1);
        let full = self.is_full(others);
        let connects = self.connects(client, attempt);
        let handshake = self.handshake.as_mut().expect("a handshake was due");
        if connects && !passed && !full {
            return handshake.pass(self.now);
        }
        handshake.leave(self.now);
        match (connects, passed) {
            (true, true) => self.enter(client),
            (true, false) => self.refuse(client),
            (false, _) => {}
        }
    }

    /// Whether the client of an attempt still connects by it.
    fn connects(&self, client: u32, attempt: AttemptId) -> bool {
        self.stands[client as usize].phase == Phase::Connecting
            && self.clients[client as usize].attempt == attempt
    }

    /// An attempt meets the client limit.
    #[inline]
    fn admit(&mut self, client: u32) {
        if self.is_full(0) { self.refuse(client) } else { self.enter(client) }
    }

    /// Whether the client limit is reached, so many `connecting` ones counted.
    #[inline]
    pub(super) fn is_full(&self, connecting: u32) -> bool {
        let clients = self.good + self.wasted + self.queue.waiting() + self.idle + connecting;
        self.moments.max_client_conn.is_some_and(|limit| clients >= limit)
    }

    /// An attempt is within the limit, or on a connection that is: it is served at once, or queued.
    #[inline]
    fn enter(&mut self, client: u32) {
        if let Some(after) = self.moments.refusing {
            self.hang_up(client);
            self.emit(Event::Refused { client });
            self.learn_refusal(client, Phase::Refused, after);
        } else if self.backends.fail_fast() {
            self.begin_logins(1, Span::ZERO);
            self.refuse(client);
        } else if self.queue.waiting() == 0
            && let Some(connected) = self.backends.take(self.now, Span::ZERO)
        {
            let connects = self.connect(client);
            self.emit(Event::Admitted { client, connects });
            self.grant(client, Span::ZERO, connected);
        } else {
            self.enqueue(client);
            self.refill();
        }
    }

    fn refuse(&mut self, client: u32) {
        self.refuse_with(client, Phase::Refused);
    }

    /// Refuses an attempt, whose client will be in this phase until it learns of it.
    fn refuse_with(&mut self, client: u32, phase: Phase) {
        self.hang_up(client);
        self.emit(Event::Refused { client });
        match &self.scenario.pooler.refusal_delay {
            None if phase == Phase::Throttled => self.fail(client, Failure::Throttled),
            None => self.fail(client, Failure::Refused),
            Some(delay) => {
                let moment = self.clients[client as usize].attempt.moment();
                let site = self.site(Purpose::RefusalDelay, client, moment);
                self.learn_refusal(client, phase, demand::sample(delay, site));
            }
        }
    }

    fn learn_refusal(&mut self, client: u32, phase: Phase, after: Span) {
        self.stands[client as usize].phase = phase;
        self.set_timer(client, self.now + after, Class::Alarm);
    }

    fn enqueue(&mut self, client: u32) {
        let stand = &mut self.stands[client as usize];
        (stand.phase, stand.timer) = (Phase::Waiting, NEVER);
        let state = &mut self.clients[client as usize];
        state.admitted = self.now;
        let attempt = state.attempt;
        let Policy { leave, patience, .. } = *self.policy(client);
        self.queue.push(Place { admitted: self.now, client, attempt, leave });
        if let Some(patience) = patience {
            self.set_timer(client, self.now + patience, Class::Alarm);
        }
        let connects = self.connect(client);
        self.emit(Event::Admitted { client, connects });
    }

    /// A client's timer goes off that is no arrival.
    pub(super) fn alarm(&mut self, client: u32) {
        match self.stands[client as usize].phase {
            Phase::Connecting => {
                self.emit(Event::ConnectTimedOut { client });
                self.fail(client, Failure::TimedOut);
            }
            Phase::Refused => self.fail(client, Failure::Refused),
            Phase::Throttled => self.fail(client, Failure::Throttled),
            Phase::Asking => self.ask(client),
            Phase::Lining => self.time_out_in_line(client),
            Phase::Linked => self.follow_up(client),
            Phase::Busy => self.look(client),
            _ => self.abandon(client),
        }
    }

    /// A waiting client's patience ends: its attempt has failed, and it leaves if it can.
    fn abandon(&mut self, client: u32) {
        let waited = self.now.since(self.clients[client as usize].admitted);
        if self.policy(client).leave == Leave::Stays {
            self.stands[client as usize].phase = Phase::Captive;
            return self.emit(Event::Abandoned { client, waited });
        }
        self.leave_place(waited);
        self.emit(Event::Abandoned { client, waited });
        self.fail(client, Failure::TimedOut);
        self.bury_tombstones();
    }

    /// A client has left its place: it stays as a dead one, or is given up.
    pub(super) fn leave_place(&mut self, waited: Span) {
        if self.drops_dead_waiters() {
            self.queue.give_up(1);
            self.emit(Event::PlaceGivenUp { waited });
        }
    }

    /// The head of the queue has waited as long as the pooler allows.
    pub(super) fn expire(&mut self) {
        let place = self.queue.pop().expect("an expiry has a head");
        let waited = self.now.since(place.admitted);
        if self.is_alive(&place) {
            self.emit(Event::TimedOut { client: place.client, waited });
            self.fail(place.client, Failure::TimedOut);
        } else {
            let captive = self.is_captive(&place);
            self.killed.remove(&(place.client, place.attempt));
            self.emit(Event::PlaceExpired { waited });
            if captive {
                self.fail(place.client, Failure::TimedOut);
            }
        }
        self.bury_tombstones();
    }

    /// Gives free backends to the queue until either runs out, and has more of them log in.
    #[inline]
    pub(super) fn serve(&mut self) {
        while let Some(head) = self.queue.head()
            && let waited = self.now.since(head.admitted)
            && let Some(connected) = self.backends.take(self.now, waited)
        {
            let place = self.queue.pop().expect("a queue with a head");
            match self.fate(&place) {
                Fate::Served => self.grant(place.client, waited, connected),
                Fate::Captive => self.serve_captive(&place, connected),
                Fate::Worked(demand) => self.serve_dead(&place, demand, connected),
                Fate::Closed(orphans) => self.close_for_dead(&place, orphans),
                Fate::Skipped => {
                    self.backends.give_back(self.now, connected);
                    self.emit(Event::PlaceSkipped { waited });
                }
            }
            self.bury_tombstones();
        }
        self.refill();
    }

    fn fate(&mut self, place: &Place) -> Fate<'a> {
        if self.is_alive(place) {
            return Fate::Served;
        }
        if self.is_captive(place) {
            return Fate::Captive;
        }
        match &self.scenario.pooler.dead_waiters {
            DeadWaiters::Dropped => unreachable!("a dropped dead waiter has no place"),
            DeadWaiters::Kept(DeadCost::Free) => Fate::Skipped,
            DeadWaiters::Kept(DeadCost::Login) => Fate::Closed(self.scenario.pooler.orphans),
            DeadWaiters::Kept(DeadCost::Demand(demand)) => Fate::Worked(demand),
            DeadWaiters::ByLeave => {
                let killed = self.killed.remove(&(place.client, place.attempt));
                match place.leave {
                    Leave::Terminate if !killed => Fate::Closed(Orphans::Dropped),
                    _ => Fate::Skipped,
                }
            }
        }
    }

    /// An attempt is served: its claim starts.
    #[inline]
    fn grant(&mut self, client: u32, waited: Span, connected: SimTime) {
        let stand = &mut self.stands[client as usize];
        (stand.phase, stand.timer) = (Phase::Served, NEVER);
        self.start_claim(client, Work::Good, connected);
        self.good += 1;
        self.emit(Event::Granted { client, waited });
    }

    /// The claim of a client that will throw the answer away.
    fn serve_captive(&mut self, place: &Place, connected: SimTime) {
        self.stands[place.client as usize].phase = Phase::Served;
        self.start_claim(place.client, Work::Captive, connected);
        self.wasted += 1;
        let waited = self.now.since(place.admitted);
        self.emit(Event::DeadServed { client: place.client, waited });
    }

    #[inline]
    pub(super) fn start_claim(&mut self, client: u32, work: Work, connected: SimTime) {
        let attempt = self.clients[client as usize].attempt;
        let demand = self.claim_demand(client, attempt);
        self.start_job(client, work, connected, demand);
    }

    #[inline]
    fn start_job(&mut self, client: u32, work: Work, connected: SimTime, demand: Span) {
        let job = Job { client, work, started: self.now, connected };
        self.database.start(self.now, job, demand);
    }

    /// The demand of a claim: the same whichever attempt gets it.
    #[inline]
    fn claim_demand(&self, client: u32, attempt: AttemptId) -> Span {
        let site = self.site(Purpose::Demand, client, attempt.transaction_moment());
        demand::sample(self.claim_law(client, attempt.transaction), site)
    }

    fn serve_dead(&mut self, place: &Place, demand: &Demand, connected: SimTime) {
        let site = self.world.site(Purpose::DeadDemand, place.client, place.attempt.moment());
        let demand = demand::sample(demand, site);
        self.start_job(place.client, Work::Dead, connected, demand);
        self.wasted += 1;
        let waited = self.now.since(place.admitted);
        self.emit(Event::DeadServed { client: place.client, waited });
    }

    fn close_for_dead(&mut self, place: &Place, orphans: Orphans) {
        self.backends.close();
        if orphans == Orphans::Run {
            let demand = self.claim_demand(place.client, place.attempt);
            self.start_job(place.client, Work::Orphan, SimTime::ZERO, demand);
            self.orphans += 1;
        }
        let waited = self.now.since(place.admitted);
        self.emit(Event::DeadClosed { client: place.client, waited });
    }

    /// The database has done with a job.
    #[inline]
    pub(super) fn complete(&mut self) {
        let Job { client, work, started, connected } = self.database.complete(self.now);
        let service = self.now.since(started);
        match work {
            Work::Good if self.session_goes_on(client) => {
                self.emit(Event::Completed { client, good: true, service });
                return self.link(client, connected);
            }
            Work::Good => {
                self.good -= 1;
                self.backends.give_back(self.now, connected);
                self.emit(Event::Completed { client, good: true, service });
                self.keep_connection(client);
                self.advance_transaction(client);
            }
            Work::Dead => {
                self.wasted -= 1;
                self.backends.give_back(self.now, connected);
                self.emit(Event::Completed { client, good: false, service });
            }
            Work::Captive => {
                // It closes its connection within the transaction, and the backend with it.
                self.wasted -= 1;
                self.backends.close();
                self.emit(Event::Completed { client, good: false, service });
                self.emit(Event::BackendLost { client });
                self.fail(client, Failure::TimedOut);
            }
            Work::Orphan => {
                self.orphans -= 1;
                return;
            }
            Work::Attempt(attempt) => return self.shake(client, attempt),
        }
        self.serve();
    }

    /// Logins end; those who wait are served, and more logins begin. If one fails and no backend is
    /// connected, all who wait see their attempts fail (`kill_pool_logins` in PgBouncer).
    pub(super) fn log_in(&mut self) {
        self.pool_wake = NEVER;
        while let Some(success) = self.backends.end_login(self.now, self.orphans) {
            self.emit(if success { Event::LoggedIn } else { Event::LoginFailed });
            if !success && self.backends.connected() == 0 {
                self.forget_places();
            }
        }
        self.serve();
    }

    /// Has backends log in for those who wait, and notes when to look again.
    #[inline]
    pub(super) fn refill(&mut self) {
        let pooler = &self.scenario.pooler;
        if pooler.logins.is_none() && pooler.reserve.is_none() {
            return;
        }
        let head = self.queue.head().map(|place| place.admitted);
        let longest_wait = head.map_or(Span::ZERO, |admitted| self.now.since(admitted));
        self.begin_logins(self.queue.waiting(), longest_wait);
    }

    fn begin_logins(&mut self, waiting: u32, longest_wait: Span) {
        while self.backends.wants_login(self.now, waiting, longest_wait) {
            let logins = self.scenario.pooler.logins.as_ref().expect("backends that log in");
            let site = self.world.site(Purpose::Login, self.logins, Moment::default());
            self.logins = self.logins.wrapping_add(1);
            self.backends.begin_login(self.now + demand::sample(&logins.time, site));
            self.emit(Event::LoginBegan);
        }
        let head = self.queue.head().map(|place| place.admitted);
        self.pool_wake = self.backends.next(self.now, head);
    }
}
