//! A checked scenario: what the rooms after this one work with.

use serde::Serialize;

use crate::policy::Policy;
use crate::units::{Ratio, SimTime, Span};

/// A system and the policies to be compared on it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scenario {
    /// Short name: the file's name without its ending.
    pub name: String,
    /// One line on what it shows.
    pub title: String,
    /// How long and how often it is played.
    pub run: Run,
    /// The clients.
    pub fleet: Fleet,
    /// What stands between clients and database.
    pub pooler: Pooler,
    /// What executes claims.
    pub database: Database,
    /// What happens to the system, in order of time.
    pub disturbances: Vec<Disturbance>,
    /// When a fleet counts as drained.
    pub drain: DrainRule,
    /// The candidates, in the file's order.
    pub policies: Vec<Candidate>,
}

/// A policy under its name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Its name in the scenario.
    pub name: String,
    /// What it decides.
    pub policy: Policy,
}

/// How long and how often a scenario is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The whole of the simulated time.
    pub duration: Span,
    /// The part of it, from the start, that is not measured.
    pub warm_up: Span,
    /// Independent random worlds that every policy meets.
    pub replicates: u32,
    /// Where those worlds come from.
    pub seed: u64,
}

/// The clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fleet {
    /// How many.
    pub clients: u32,
    /// Transactions of a poll, each with an acquisition of its own.
    pub transactions_per_poll: u8,
    /// From an attempt's departure to its arrival at the pooler and the answer, in one.
    pub round_trip: Span,
    /// How the world begins.
    pub initial: Initial,
}

/// How the world begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Every client sleeps at this interval, its next poll uniform over it.
    Warm {
        /// The interval reached.
        interval: Span,
    },
    /// Every client starts at time 0, with its policy's start-up spread.
    Cold,
}

/// What stands between clients and database.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pooler {
    /// Backends.
    pub pool_size: u32,
    /// Client connections beyond which an attempt is refused; `None` is no limit.
    pub max_client_conn: Option<u32>,
    /// The longest a place waits for a backend, dead or alive; `None` is for ever.
    pub query_wait_timeout: Option<Span>,
    /// What becomes of the place of a client that left.
    pub dead_waiters: DeadWaiters,
}

/// What becomes of the place of a client that left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeadWaiters {
    /// It is given up at once.
    Dropped,
    /// It is kept, and costs a backend this demand when reached.
    Kept {
        /// Demand of a served dead waiter.
        demand: Demand,
    },
}

/// What executes claims.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Database {
    /// Service demand of a claim: the time it takes at speed 1.
    pub claim: Demand,
    /// How active claims slow each other down.
    pub contention: Contention,
}

/// A law of service demand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    /// Always the same.
    Constant(Span),
    /// Exponential with this mean.
    Exponential {
        /// Mean.
        mean: Span,
    },
    /// Uniform between two spans.
    Uniform(Span, Span),
    /// Normal, negative draws taken as zero.
    Normal {
        /// Mean before truncation.
        mean: Span,
        /// Standard deviation before truncation.
        std_dev: Span,
    },
}

/// Processor sharing: the speed v(n) of each of n active claims.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contention {
    /// v = 1.
    None,
    /// v = 1 up to so many, then cores/n: throughput stays at its plateau.
    Cores(u32),
    /// v = (knee/n)^gamma beyond the knee: for gamma > 1 throughput falls.
    Power {
        /// Active claims up to which v = 1.
        knee: u32,
        /// Exponent.
        gamma: f64,
    },
}

/// Something that happens to the system at a stated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Disturbance {
    /// When it begins, from the start of the simulation.
    pub at: SimTime,
    /// What happens.
    pub action: Action,
}

/// What a disturbance does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Clients restart: each loses its connection at once and starts again within the span.
    Restart {
        /// Share of the fleet.
        clients: Ratio,
        /// The span over which they start again, uniformly.
        over: Span,
        /// Whether the database restarts too: the pooler forgets every place, running claims are
        /// dropped.
        database: bool,
    },
}

/// When a fleet counts as drained: no failed attempt and no wait beyond `wait` for the length of
/// `hold`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DrainRule {
    /// The longest wait of a living client that still counts as drained.
    pub wait: Span,
    /// How long it must last.
    pub hold: Span,
}

impl Default for DrainRule {
    fn default() -> DrainRule {
        DrainRule { wait: Span::from_secs(1), hold: Span::from_secs(60) }
    }
}

impl Contention {
    /// The speed of each of `active` claims, 1 for one alone.
    pub fn speed(&self, active: u32) -> f64 {
        match *self {
            Contention::None => 1.0,
            Contention::Cores(cores) if active <= cores => 1.0,
            Contention::Cores(cores) => f64::from(cores) / f64::from(active),
            Contention::Power { knee, .. } if active <= knee => 1.0,
            Contention::Power { knee, gamma } => {
                libm::pow(f64::from(knee) / f64::from(active), gamma)
            }
        }
    }
}

impl Demand {
    /// The mean demand in seconds (of a normal law before truncation).
    pub fn mean_secs(&self) -> f64 {
        match self {
            Demand::Constant(span) => span.as_secs_f64(),
            Demand::Exponential { mean } | Demand::Normal { mean, .. } => mean.as_secs_f64(),
            Demand::Uniform(low, high) => (low.as_secs_f64() + high.as_secs_f64()) / 2.0,
        }
    }
}

impl Scenario {
    /// The time of the first disturbance, from which drain and service are counted.
    pub fn first_trigger(&self) -> Option<SimTime> {
        self.disturbances.first().map(|disturbance| disturbance.at)
    }
}

/// The longest run of so many clients: time in microseconds, a class of 3 bits and the client's number
/// share the 64 bits of an engine key.
pub fn longest_run(clients: u32) -> Span {
    const CLASS_BITS: u32 = 3;
    let client_bits = (u32::BITS - clients.saturating_sub(1).leading_zeros()).max(1);
    Span::from_ticks((1 << (u64::BITS - CLASS_BITS - client_bits)) - 1)
}
