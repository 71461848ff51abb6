//! One unit: a fleet under one policy in one random world, on one thread.
//!
//! ## The life of a unit
//!
//! 1. Every client gets its first timer: somewhere in its interval (warm) or after its start-up wait
//!    (cold).
//! 2. The loop takes the least of eight keys: the calendar's (one timer per client: an attempt's arrival
//!    or the end of patience), the database's next completion, the next login, the timeout of the
//!    queue's head, the handshake station's, the next request, the next of work, the next disturbance.
//!    Time only moves forward.
//! 3. At the end of the run the attempts under way are told to the observer as pending.
//!
//! ```text
//!  asleep ─▶ on its way ─▶ [attempt cost] ─▶ [handshake] ─▶ refused? ─▶ queue ─▶ backend ─▶ claim
//!    ▲           ▲          │ connect timeout      │           │ retry    │ patience, timeout  │
//!    └───────────┴──────────┴──────────────────────┴───────────┴──────────┴────────────────────┘
//! ```
//!
//! An attempt on a connection that its client has kept goes from its way straight to the queue.
//!
//! Departures need no event of their own: nothing can happen to an attempt on its way but a restart
//! of its client, so it is told when it arrives, with the time at which it set out.
//!
//! ## Order
//!
//! Events are ordered by (time, class, client), see `key`: at one instant disturbances come first,
//! then completions, logins, queue timeouts, handshakes, clients' alarms, arrivals, requests and work.
//! No order depends on a hash, an address or a thread.

mod backends;
mod calendar;
mod calls;
mod calm;
mod client;
mod client_pool;
mod connections;
mod course;
mod database;
mod demand;
mod disturbance;
mod facts;
mod fleet;
mod guest;
mod handshake;
mod heap;
mod key;
mod life;
mod limiter;
mod memory;
pub mod observer;
mod order;
mod pooler;
mod queue;
mod session;
mod simulation;
mod timers;
mod work;

use crate::scenario::Scenario;
use calendar::Calendar;
use observer::{End, Observer};
use simulation::Simulation;
use timers::PlainHeap;

/// Plays `replicate` of the scenario's policy number `policy` and tells `observer`.
///
/// # Panics
///
/// If the scenario was not checked: a run beyond [`longest_run`](crate::scenario::longest_run), a policy
/// that does not exist.
pub fn play(scenario: &Scenario, policy: usize, replicate: u32, observer: impl Observer) -> End {
    Simulation::<_, Calendar>::new(scenario, policy, replicate, observer).run()
}

/// Plays the same events with the timers in the standard library's heap: what the calendar is tested
/// against and compared with.
///
/// # Panics
///
/// As [`play`] does.
pub fn play_on_heap(
    scenario: &Scenario,
    policy: usize,
    replicate: u32,
    observer: impl Observer,
) -> End {
    Simulation::<_, PlainHeap>::new(scenario, policy, replicate, observer).run()
}

/// Bytes that the engine holds for each client that keeps its connection; for others it is a little
/// less.
pub const BYTES_PER_CLIENT: usize = size_of::<client::Stand>()
    + size_of::<client::Client>()
    + size_of::<key::Key>()
    + size_of::<connections::Connection>();
