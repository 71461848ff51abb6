//! A checked scenario: what the rooms after this one work with.

use serde::Serialize;

use super::axis::Axis;
use super::disturbance::{Disturbance, Variant};
use super::threshold::Threshold;
use crate::policy::{Handling, Policy, Scope};
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
    /// What the fleet is there for; `None` lets every poll find an empty queue.
    pub work: Option<Work>,
    /// Who else uses the pool; `None` is nobody.
    pub background: Option<Background>,
    /// What happens to the system, in order of time: each is a trigger.
    pub disturbances: Vec<Disturbance>,
    /// What is done about it in the course of one variant, in order of time: marks, but no
    /// triggers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub responses: Vec<Disturbance>,
    /// Courses of events to be compared; where there are any, only they are played.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// When a fleet counts as drained.
    pub drain: DrainRule,
    /// The keys that take several values, each combination played by itself; empty is one run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<Axis>,
    /// What is asked of the results, in the file's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<Threshold>,
    /// The policy that the others are held against; `None` compares none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The candidates, in the file's order.
    pub policies: Vec<Candidate>,
}

/// A policy under its name, or a fleet that follows several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Its name in the scenario.
    pub name: String,
    /// The parts of the fleet, one for a plain policy; their shares add up to 1.
    pub parts: Vec<Part>,
    /// How the background load is handled under it; `None` where there is none.
    pub handling: Option<Handling>,
}

impl Scenario {
    /// The candidate of this name.
    pub fn candidate(&self, name: &str) -> Option<&Candidate> {
        self.policies.iter().find(|known| known.name == name)
    }
}

impl Candidate {
    /// Whether all clients of one of its policies share the count of a guard.
    pub fn guards_the_fleet(&self) -> bool {
        let layers = self.parts.iter().flat_map(|part| part.policy.acquire.layers());
        layers.flat_map(|layer| &layer.guards).any(|guard| guard.scope == Scope::Fleet)
    }
}

/// A part of a fleet and what it follows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Share of the fleet.
    pub share: Ratio,
    /// What its clients decide.
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
    /// Transactions of a poll, each with an acquisition of its own unless the pool is one of sessions.
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
    /// Every client sleeps at this interval, its next poll uniform over it; a connection that it
    /// keeps is open, somewhere in its life.
    Warm {
        /// The interval reached.
        interval: Span,
    },
    /// Every client starts at time 0, with its policy's start-up spread.
    Cold,
}

/// Items that arrive for tenants, wait in their tenant's queue, are taken by claims and processed. A tenant's
/// clients are those whose number leaves the tenant's when divided by the number of tenants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Work {
    /// When items arrive.
    pub arrivals: Arrivals,
    /// How many there are.
    pub tenants: u32,
    /// Exponent of Zipf's law by which tenants differ in their rates; 0 is not at all. Not of a trace.
    pub skew: f64,
    /// How rates go up and down over a day; `None` is not at all. Not of a trace.
    pub daily: Option<Daily>,
    /// Items that a client has in process at once.
    pub workers: u16,
    /// How long an item is processed, away from the database.
    pub processing: Demand,
    /// Then, transactions of the worker with an acquisition each: their demands.
    pub transactions: Vec<Demand>,
    /// Share of processings that fail: the item goes back to its queue.
    pub failure: Ratio,
    /// After how long the items of a client that died go back to their queue.
    pub reclaim: Span,
}

/// When items arrive.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Each tenant's after independent intervals; exponential ones are a Poisson process.
    Renewal(Demand),
    /// (tenant, time), in order of time.
    Trace(Vec<(u32, SimTime)>),
}

/// A rate that follows 1 + amplitude · cos(2π (t − peak) / 24 h); time 0 is midnight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Daily {
    /// From 0 to below 1.
    pub amplitude: f64,
    /// When in the day most arrives.
    pub peak: Span,
}

/// Requests of an API that come whether earlier ones are answered or not: an open loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Background {
    /// Requests a second, a Poisson process.
    pub rate: f64,
    /// The demand of each transaction of a request.
    pub claims: Vec<Demand>,
    /// Requests under way at most, those that wait to ask again included; one more is turned away.
    pub at_once: u32,
}

/// What stands between clients and database.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pooler {
    /// Backends.
    pub pool_size: u32,
    /// How long a backend belongs to a client.
    pub mode: Mode,
    /// More backends when the longest wait has lasted so long; `None` has none.
    pub reserve: Option<Reserve>,
    /// Client connections beyond which an attempt is refused; `None` is no limit.
    pub max_client_conn: Option<u32>,
    /// How long a refusal takes; `None` is at once.
    pub refusal_delay: Option<Demand>,
    /// The longest a place waits for a backend, dead or alive; `None` is for ever.
    pub query_wait_timeout: Option<Span>,
    /// How often the pooler looks for places that have waited too long; `None` is always.
    pub timeout_grid: Option<Span>,
    /// What becomes of the place of a client that left.
    pub dead_waiters: DeadWaiters,
    /// What becomes of a claim whose client left while it ran, or whose dead place costs a login.
    pub orphans: Orphans,
    /// The station that every attempt passes first; `None` takes no time.
    pub handshake: Option<Handshake>,
    /// How backends are connected; `None` has them all connected always.
    pub logins: Option<Logins>,
    /// What stands in front of it all and refuses what comes too fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limiter: Option<RateLimiter>,
}

/// A rate limiter in front of the pooler: a token bucket that every attempt needs a token of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateLimiter {
    /// Tokens a second.
    pub rate: f64,
    /// Tokens that it holds at most, and at the beginning.
    pub burst: u32,
    /// The longest an attempt waits for its token; one that would wait longer is refused at once.
    pub wait: Span,
    /// How long the rate takes to grow from nothing when the database is back; `None` has it at once.
    pub ramp: Option<Span>,
    /// What it tells those whom it refuses: how long to wait.
    pub retry_after: Option<Span>,
}

/// How long a backend belongs to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// For one transaction; each is an acquisition of its own.
    Transaction,
    /// For all transactions of a poll and the round trips between them.
    Session,
}

/// Backends beyond the pool for waits that last too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reserve {
    /// How many.
    pub size: u32,
    /// The wait of the longest waiter after which they are used.
    pub timeout: Span,
}

/// The station that every attempt passes first: one server, first in, first out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Handshake {
    /// What an accepted attempt takes.
    pub service: Span,
    /// What a refused one takes, as a share of that.
    pub refused_cost: f64,
    /// Which attempts hold a client slot.
    pub count: CountFrom,
}

/// When an attempt begins to hold a client slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountFrom {
    /// On reaching the station, as every accepted socket does at PgBouncer.
    Accept,
    /// After its handshake, as at Supavisor.
    Authentication,
}

/// How backends are connected to the database.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Logins {
    /// What a login takes.
    pub time: Demand,
    /// Logins at once, 1 at PgBouncer; `None` is no limit.
    pub at_once: Option<u32>,
    /// After a failed login, how long none is tried.
    pub retry: Span,
    /// Connections that the database allows, orphaned claims included; a login beyond fails.
    pub limit: Option<u32>,
    /// Idle time after which a backend is closed; `None` is never.
    pub idle_timeout: Option<Span>,
    /// Age at which a backend is closed when it is given back; `None` is never.
    pub lifetime: Option<Span>,
}

/// What becomes of a claim whose backend is closed because its client left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Orphans {
    /// The database drops it.
    Dropped,
    /// It runs to its end in the database, outside the pool.
    Run,
}

/// What becomes of the place of a client that left.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeadWaiters {
    /// It is given up at once.
    Dropped,
    /// It is kept until a backend or the timeout reaches it, and then costs so much.
    Kept(DeadCost),
    /// It is kept, and costs what the way its client left makes it cost at PgBouncer: a closed
    /// connection nothing, a terminated one a login, one whose client stays the whole claim and a
    /// login.
    ByLeave,
}

/// What a dead waiter costs when a backend reaches it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeadCost {
    /// Nothing.
    Free,
    /// The backend is closed and must log in again.
    Login,
    /// The backend works for nobody.
    Demand(Demand),
}

/// What executes claims.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Database {
    /// Service demand of the claim of each transaction of a poll; the last holds for all after it.
    pub claims: Vec<Demand>,
    /// How active claims slow each other down.
    pub contention: Contention,
    /// Demand of an attempt itself, executed before the pooler sees it and without a backend; `None` is
    /// none.
    pub attempt_cost: Option<Demand>,
}

/// A law of service demand.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Log-normal.
    LogNormal {
        /// Mean of the demand itself.
        mean: Span,
        /// Standard deviation of its logarithm.
        sigma: f64,
    },
    /// Gamma.
    Gamma {
        /// Mean.
        mean: Span,
        /// Shape: 1 is exponential, less is more variable.
        shape: f64,
    },
    /// Weibull.
    Weibull {
        /// The span that 63.2 % do not exceed.
        scale: Span,
        /// Shape: 1 is exponential, less is more variable.
        shape: f64,
    },
    /// One of these, each as likely.
    Empirical(Vec<Span>),
}

/// Processor sharing: the speed v(n) of each of n active claims.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// v = 1/(1 + sigma·(n − 1) + kappa·n·(n − 1)), the universal scalability law (Gunther).
    Usl {
        /// Contention.
        sigma: f64,
        /// Coherency.
        kappa: f64,
    },
    /// A measured throughput X(n) in any unit, rising in n: v(n) = X(n)/n, relative to the first row.
    /// Linear between rows, constant after the last.
    Table(Vec<(u32, f64)>),
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
        let n = f64::from(active);
        match *self {
            Contention::None => 1.0,
            Contention::Cores(cores) if active <= cores => 1.0,
            Contention::Cores(cores) => f64::from(cores) / n,
            Contention::Power { knee, .. } if active <= knee => 1.0,
            Contention::Power { knee, gamma } => libm::pow(f64::from(knee) / n, gamma),
            Contention::Usl { sigma, kappa } => {
                1.0 / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
            }
            Contention::Table(ref rows) => throughput(rows, n) / n / throughput(rows, 1.0),
        }
    }
}

/// The throughput of a measured table, linear from (0, 0) through its rows and constant after the last.
fn throughput(rows: &[(u32, f64)], n: f64) -> f64 {
    let (mut before, mut low) = (0.0, 0.0);
    for &(active, high) in rows {
        let active = f64::from(active);
        if n <= active {
            return low + (high - low) * (n - before) / (active - before);
        }
        (before, low) = (active, high);
    }
    low
}

impl Demand {
    /// The mean demand in seconds (of a normal law before truncation).
    pub fn mean_secs(&self) -> f64 {
        match self {
            Demand::Constant(span) => span.as_secs_f64(),
            Demand::Exponential { mean }
            | Demand::Normal { mean, .. }
            | Demand::LogNormal { mean, .. }
            | Demand::Gamma { mean, .. } => mean.as_secs_f64(),
            Demand::Uniform(low, high) => (low.as_secs_f64() + high.as_secs_f64()) / 2.0,
            Demand::Weibull { scale, shape } => {
                scale.as_secs_f64() * libm::tgamma(1.0 + 1.0 / shape)
            }
            Demand::Empirical(spans) => {
                spans.iter().map(|span| span.as_secs_f64()).sum::<f64>() / spans.len() as f64
            }
        }
    }
}

impl Database {
    /// The demand of the claim of a transaction, counted from 0.
    pub fn claim(&self, transaction: u8) -> &Demand {
        &self.claims[usize::from(transaction).min(self.claims.len() - 1)]
    }
}

impl Pooler {
    /// A plain capped resource: so many backends, waiters in order, nothing else.
    pub fn plain(pool_size: u32) -> Pooler {
        Pooler {
            pool_size,
            mode: Mode::Transaction,
            reserve: None,
            max_client_conn: None,
            refusal_delay: None,
            query_wait_timeout: None,
            timeout_grid: None,
            dead_waiters: DeadWaiters::Dropped,
            orphans: Orphans::Dropped,
            handshake: None,
            logins: None,
            limiter: None,
        }
    }
}

impl Scenario {
    /// Clients and guests at most: places in the engine's array.
    pub fn places(&self) -> u32 {
        let requests = self.background.as_ref().map_or(0, |background| background.at_once);
        let workers = match &self.work {
            Some(work) if !work.transactions.is_empty() => {
                self.fleet.clients.saturating_mul(u32::from(work.workers))
            }
            _ => 0,
        };
        self.fleet.clients.saturating_add(requests).saturating_add(workers)
    }
}

/// The longest run of so many clients and guests: time in microseconds, a class of 3 bits and the client's number
/// share the 64 bits of an engine key.
pub fn longest_run(clients: u32) -> Span {
    const CLASS_BITS: u32 = 3;
    let client_bits = (u32::BITS - clients.saturating_sub(1).leading_zeros()).max(1);
    Span::from_ticks((1 << (u64::BITS - CLASS_BITS - client_bits)) - 1)
}
