//! What the engine tells of itself: every event, with the levels after it.
//!
//! The engine counts nothing and prints nothing. An observer is a type parameter, so a method that
//! ignores an event costs nothing.

pub use super::backends::Connections;
pub use super::course::Course;
pub use crate::policy::{MOST_LAYERS, Outcome};
use crate::units::{SimTime, Span};

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An attempt set out. Told when it arrives, or is cut off on its way: `at` may be up to a round
    /// trip earlier than now.
    Departed {
        /// Who.
        client: u32,
        /// When it set out.
        at: SimTime,
        /// Whether it begins a poll, an acquisition, or is another attempt.
        begins: Begins,
    },
    /// An attempt reached the pooler and was refused.
    Refused {
        /// Who.
        client: u32,
    },
    /// An attempt reached the rate limiter and is refused: it will be told so at once.
    Throttled {
        /// Who.
        client: u32,
    },
    /// A guard of its client held a try back: its attempt did not set out.
    Rejected {
        /// Who.
        client: u32,
        /// What it would have begun.
        begins: Begins,
    },
    /// A retry rule wanted another try, and a guard denied it.
    RetryDenied {
        /// Who.
        client: u32,
    },
    /// A try of a layer around the innermost set out.
    OuterTry {
        /// Who.
        client: u32,
        /// How many layers are within it, at least one.
        within: u8,
    },
    /// An attempt reached the pooler and was given a place.
    Admitted {
        /// Who.
        client: u32,
        /// Whether it opened a connection for it; else it had kept one.
        connects: bool,
    },
    /// A client's transaction is done, and it keeps its connection.
    ConnectionKept {
        /// Who.
        client: u32,
    },
    /// Connections were closed that clients had kept and that were not in use: for their age, or at
    /// a restart, a refusal or a disturbance.
    ConnectionsClosed {
        /// How many.
        connections: u32,
    },
    /// A waiting client got a backend: the attempt was served and its claim started.
    Granted {
        /// Who.
        client: u32,
        /// Since admission.
        waited: Span,
    },
    /// A client's patience ended and it left.
    Abandoned {
        /// Who.
        client: u32,
        /// Since admission.
        waited: Span,
    },
    /// `query_wait_timeout` ended the attempt of a living client.
    TimedOut {
        /// Who.
        client: u32,
        /// Since admission.
        waited: Span,
    },
    /// The connect timeout ended an attempt before it was admitted.
    ConnectTimedOut {
        /// Who.
        client: u32,
    },
    /// A client waited too long for a connection of its own process.
    PoolTimedOut {
        /// Who.
        client: u32,
        /// Since it asked.
        waited: Span,
    },
    /// A disturbance, or a login that failed when no backend was left, cut an attempt off.
    Dropped {
        /// Who.
        client: u32,
        /// Since admission; `None` if it was still on its way.
        waited: Option<Span>,
    },
    /// `query_wait_timeout` removed a dead place.
    PlaceExpired {
        /// Since admission.
        waited: Span,
    },
    /// A disturbance, or such a login, removed all places, dead or alive; the drops of the living follow.
    PlacesForgotten {
        /// How many there were.
        places: u32,
        /// Since their admissions, summed, in ticks.
        waited: u64,
    },
    /// A dead place was dropped when its client left.
    PlaceGivenUp {
        /// Since admission.
        waited: Span,
    },
    /// A backend reached a dead place and passed on.
    PlaceSkipped {
        /// Since admission.
        waited: Span,
    },
    /// A dead place got a backend: a claim for nobody started.
    DeadServed {
        /// Who had left, or will throw the answer away.
        client: u32,
        /// Since admission.
        waited: Span,
    },
    /// A dead place got a backend, which was closed for it.
    DeadClosed {
        /// Who had left.
        client: u32,
        /// Since admission.
        waited: Span,
    },
    /// A backend was closed because its client left it in the middle of something.
    BackendLost {
        /// Who had left.
        client: u32,
    },
    /// A backend began to log in.
    LoginBegan,
    /// A backend logged in.
    LoggedIn,
    /// A backend's login failed.
    LoginFailed,
    /// A claim was completed.
    Completed {
        /// Whose it was.
        client: u32,
        /// Whether its client waited for the answer.
        good: bool,
        /// Since the grant.
        service: Span,
    },
    /// A later claim of a session started on the backend of the one before.
    Continued {
        /// Whose it is.
        client: u32,
        /// Since the claim before it.
        idle: Span,
    },
    /// A disturbance ended a session between two claims.
    SessionCut {
        /// Whose it was.
        client: u32,
        /// Since the last claim.
        idle: Span,
    },
    /// A disturbance cut a running claim off.
    ClaimDropped {
        /// Whose it was.
        client: u32,
        /// Whether its client waited for the answer.
        good: bool,
        /// Since the grant.
        service: Span,
    },
    /// A running claim lost its client and its backend, and runs on in the database.
    ClaimOrphaned {
        /// Whose it was.
        client: u32,
        /// Since the grant.
        service: Span,
    },
    /// A poll came to its end.
    PollEnded {
        /// Who.
        client: u32,
        /// When it had begun.
        began: SimTime,
        /// How it ended.
        outcome: Outcome,
    },
    /// A disturbance began.
    Disturbed {
        /// Its index in the scenario.
        index: usize,
    },
    /// A client exited: its supervisor will start it again.
    Exited {
        /// Who.
        client: u32,
    },
    /// A client left: only a restart brings it back.
    Left {
        /// Who.
        client: u32,
    },
    /// A disturbance restarted a client.
    Restarted {
        /// Who.
        client: u32,
        /// The disturbance's index in the scenario.
        index: usize,
    },
    /// A request of the background load came in.
    RequestCame {
        /// Its slot behind the fleet's clients.
        client: u32,
    },
    /// A request came in and found no room.
    RequestTurnedAway,
    /// A request was answered, or its client gave up.
    RequestEnded {
        /// Its slot.
        client: u32,
        /// When it had come.
        came: SimTime,
        /// Whether it was served.
        good: bool,
    },
    /// An item of work arrived.
    ItemArrived {
        /// Whose it is.
        tenant: u32,
    },
    /// A client took an item.
    ItemTaken {
        /// Who.
        client: u32,
        /// When it had arrived.
        arrived: SimTime,
        /// Whether it was taken for the first time.
        first: bool,
    },
    /// An item went back to its queue.
    ItemReturned {
        /// When it had arrived.
        arrived: SimTime,
    },
    /// An item was done.
    ItemDone {
        /// By whom.
        client: u32,
        /// When it had arrived.
        arrived: SimTime,
    },
    /// A client that a disturbance told to stop has finished its poll, or was between two, and
    /// stays away for a while.
    Stopped {
        /// Who.
        client: u32,
        /// The disturbance's index in the scenario.
        index: usize,
    },
    /// A disturbance made the pool larger or smaller.
    PoolResized {
        /// Its backends from now on, the reserve aside.
        pool_size: u32,
    },
    /// The run ended before this attempt did.
    Pending {
        /// Who.
        client: u32,
        /// Since admission; `None` if it was still on its way.
        waited: Option<Span>,
    },
}

impl Event {
    /// Who it is about: a client of the fleet, or a guest behind them.
    #[inline(always)]
    pub fn client(&self) -> Option<u32> {
        match *self {
            Event::Departed { client, .. }
            | Event::Refused { client }
            | Event::Throttled { client }
            | Event::Rejected { client, .. }
            | Event::RetryDenied { client }
            | Event::OuterTry { client, .. }
            | Event::Admitted { client, .. }
            | Event::Granted { client, .. }
            | Event::Abandoned { client, .. }
            | Event::TimedOut { client, .. }
            | Event::ConnectTimedOut { client }
            | Event::PoolTimedOut { client, .. }
            | Event::Dropped { client, .. }
            | Event::DeadServed { client, .. }
            | Event::DeadClosed { client, .. }
            | Event::BackendLost { client }
            | Event::Completed { client, .. }
            | Event::Continued { client, .. }
            | Event::SessionCut { client, .. }
            | Event::ClaimDropped { client, .. }
            | Event::ClaimOrphaned { client, .. }
            | Event::PollEnded { client, .. }
            | Event::Exited { client }
            | Event::ConnectionKept { client }
            | Event::Left { client }
            | Event::Restarted { client, .. }
            | Event::Stopped { client, .. }
            | Event::RequestCame { client }
            | Event::RequestEnded { client, .. }
            | Event::ItemTaken { client, .. }
            | Event::ItemDone { client, .. }
            | Event::Pending { client, .. } => Some(client),
            Event::PlaceExpired { .. }
            | Event::PlacesForgotten { .. }
            | Event::ConnectionsClosed { .. }
            | Event::PlaceGivenUp { .. }
            | Event::PlaceSkipped { .. }
            | Event::LoginBegan
            | Event::LoggedIn
            | Event::LoginFailed
            | Event::RequestTurnedAway
            | Event::ItemArrived { .. }
            | Event::ItemReturned { .. }
            | Event::PoolResized { .. }
            | Event::Disturbed { .. } => None,
        }
    }
}

/// What an attempt is the beginning of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Begins {
    /// A poll, and so an acquisition.
    Poll,
    /// An acquisition: a later transaction of a poll.
    Acquisition,
    /// Neither: it is a retry.
    Nothing,
}

/// Levels of the pooler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Backends at work for a client that waits for the answer, or linked to one between two claims.
    pub good: u32,
    /// Backends at work for nobody.
    pub wasted: u32,
    /// Places waiting for a backend, dead ones included.
    pub waiting: u32,
    /// Client connections that are kept and not in use.
    pub idle: u32,
    /// Attempts in the handshake station that hold a client slot.
    pub connecting: u32,
    /// Backends connected, idle ones included.
    pub connected: u32,
    /// Backends logging in.
    pub logging_in: u32,
}

/// How things stood when the run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// When.
    pub at: SimTime,
    /// Levels.
    pub gauges: Gauges,
    /// How long the places that still wait have waited, summed, in ticks.
    pub waited: u64,
    /// How long the claims that still run have run, and backends been linked, summed, in ticks.
    pub served: u64,
    /// Backends linked to a client between two claims.
    pub linked: u32,
    /// Requests of the background load under way.
    pub requests: u32,
    /// Items that wait to be taken.
    pub items_queued: u64,
    /// Items that have been taken and are not done, those of dead clients included.
    pub items_under_way: u64,
    /// Connections to the database, opened and closed.
    pub connections: Connections,
    /// Events handled.
    pub events: u64,
}

impl Gauges {
    /// Whether all levels are the same: compared at once, since at most events they are.
    #[inline]
    pub fn same(&self, other: &Gauges) -> bool {
        (self.good ^ other.good)
            | (self.wasted ^ other.wasted)
            | (self.waiting ^ other.waiting)
            | (self.idle ^ other.idle)
            | (self.connecting ^ other.connecting)
            | (self.connected ^ other.connected)
            | (self.logging_in ^ other.logging_in)
            == 0
    }

    /// Active backends.
    #[inline]
    pub fn active(&self) -> u32 {
        self.good + self.wasted
    }

    /// Client connections, dead places included.
    #[inline]
    pub fn clients(&self) -> u32 {
        self.active() + self.waiting + self.idle + self.connecting
    }
}

/// A poll that is at work in a [`Window`], to its end or beyond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// Whose.
    pub client: u32,
    /// Polls of this client before it.
    pub number: u32,
    /// When its claim had started: a round trip after it had begun.
    pub started: SimTime,
    /// When it ends.
    pub at: SimTime,
    /// Where the client's schedule stood when it began.
    pub(super) step: u16,
}

/// What happened in a stretch of time in which every attempt was the first of its poll and was served at
/// once, every claim was completed for a client that waited for it, and every poll was empty.
///
/// It stands for the events `Departed`, `Admitted` and `Granted` of each arrival, and `Completed` and
/// `PollEnded` of each completion.
#[derive(Debug)]
pub struct Window<'a> {
    /// How long before its arrival an attempt set out, and so its poll began.
    pub round_trip: Span,
    /// Arrivals in order, and what levels of active backends they and completions lead through.
    pub course: &'a Course,
    /// How long the claims that were completed had run, in no order.
    pub services: &'a [Span],
    /// The polls at work in it, those that ended included, in no order.
    pub polls: &'a [Poll],
    /// Where it ends: polls that end before are completed.
    pub until: SimTime,
}

impl Window<'_> {
    /// The polls that ended, in no order.
    pub fn ended(&self) -> impl Iterator<Item = &Poll> {
        self.polls.iter().filter(|poll| poll.at < self.until)
    }
}

/// Watches a run.
pub trait Observer {
    /// Told of each event, in the order in which they are handled.
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges);

    /// Until when events may be told as windows, all earlier ones having been told. Who wants to hear of each
    /// says `now`.
    fn calm_until(&mut self, now: SimTime) -> SimTime {
        now
    }

    /// Told of a window within the time that was asked for.
    fn on_window(&mut self, _: Window<'_>) {}
}

/// Watches nothing.
impl Observer for () {
    fn on(&mut self, _: SimTime, _: Event, _: Gauges) {}

    fn calm_until(&mut self, _: SimTime) -> SimTime {
        SimTime::NEVER
    }
}

/// Both watch.
impl<A: Observer, B: Observer> Observer for (A, B) {
    #[inline(always)]
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        self.0.on(now, event, gauges);
        self.1.on(now, event, gauges);
    }
}

impl<O: Observer> Observer for &mut O {
    #[inline(always)]
    fn on(&mut self, now: SimTime, event: Event, gauges: Gauges) {
        (**self).on(now, event, gauges);
    }

    fn calm_until(&mut self, now: SimTime) -> SimTime {
        (**self).calm_until(now)
    }

    fn on_window(&mut self, window: Window<'_>) {
        (**self).on_window(window);
    }
}
