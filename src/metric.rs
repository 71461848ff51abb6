//! Every figure of `summary.csv`: its name, its unit and how replicates are put together.
//!
//! A room of its own, since a scenario names figures in its thresholds before anything is measured.

use std::fmt;

use serde::{Serialize, Serializer};

/// How a metric is estimated from its replicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The mean, with a t interval at 95 %.
    Mean,
    /// A share of replicates, with a Wilson interval at 95 %.
    Share,
    /// A time that may not have come before the end (censored): the median, with an order-statistic
    /// interval at 95 % that treats censored as infinite.
    Time,
}

/// One replicate's value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// It had not happened by the end of the run.
    Censored,
    /// There is nothing to measure: a quantile without observations, a drain without a trigger.
    Absent,
}

macro_rules! metrics {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $unit:literal, $kind:ident;)*) => {
        /// A figure of `summary.csv`. The order is the order of its rows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Metric { $($(#[doc = $doc])* $variant,)* }

        impl Metric {
            /// All metrics in the order of `summary.csv`.
            pub const ALL: &[Metric] = &[$(Metric::$variant,)*];

            /// The name in files and on the command line, its unit last.
            pub fn name(self) -> &'static str {
                match self { $(Metric::$variant => $name,)* }
            }

            /// The unit, as written in `summary.csv`.
            pub fn unit(self) -> &'static str {
                match self { $(Metric::$variant => $unit,)* }
            }

            /// What it measures.
            pub fn means(self) -> &'static str {
                match self { $(Metric::$variant => concat!($($doc),*).trim_ascii(),)* }
            }

            /// How replicates are put together.
            pub fn kind(self) -> Kind {
                match self { $(Metric::$variant => Kind::$kind,)* }
            }
        }
    };
}

metrics! {
    /// Polls begun.
    Polls = "polls", "count", Mean;
    /// Acquisitions begun: one for each transaction of a poll.
    Acquisitions = "acquisitions", "count", Mean;
    /// Attempts begun.
    Attempts = "attempts", "count", Mean;
    /// Attempts per acquisition; 1 is none.
    Amplification = "amplification", "ratio", Mean;
    /// Attempts that the pooler refused at once.
    Refused = "refused", "count", Mean;
    /// Those of them that the rate limiter refused.
    Throttled = "throttled", "count", Mean;
    /// Tries that a guard of their own client held back: they never set out.
    Rejected = "rejected", "count", Mean;
    /// Retries that a retry rule wanted and a guard denied.
    RetriesDenied = "retries_denied", "count", Mean;
    /// Tries of the layer around the innermost, where retry rules are nested.
    Layer2Tries = "layer_2_tries", "count", Mean;
    /// Tries of the layer around that.
    Layer3Tries = "layer_3_tries", "count", Mean;
    /// Attempts of living clients that `query_wait_timeout` ended.
    TimedOut = "timed_out", "count", Mean;
    /// Attempts that ended in the handshake.
    ConnectTimedOut = "connect_timed_out", "count", Mean;
    /// Attempts that ended in the wait for a connection of the client's own process.
    PoolTimedOut = "pool_timed_out", "count", Mean;
    /// Attempts whose client's patience ended.
    Abandoned = "abandoned", "count", Mean;
    /// Attempts that a disturbance cut off.
    Dropped = "dropped", "count", Mean;
    /// Claims completed while their client waited for the answer.
    GoodClaims = "good_claims", "count", Mean;
    /// Claims completed for nobody.
    WastedClaims = "wasted_claims", "count", Mean;
    /// Backend time spent on claims for nobody.
    WastedBackend = "wasted_backend_s", "s", Mean;
    /// Active backends: time-weighted mean.
    SvActiveMean = "sv_active_mean", "backends", Mean;
    /// Active backends: the level not exceeded half of the time.
    SvActiveP50 = "sv_active_p50", "backends", Mean;
    /// Active backends: the level not exceeded 99 % of the time.
    SvActiveP99 = "sv_active_p99", "backends", Mean;
    /// Active backends: the level not exceeded 99.9 % of the time.
    SvActiveP999 = "sv_active_p999", "backends", Mean;
    /// Active backends: the highest level.
    SvActiveMax = "sv_active_max", "backends", Mean;
    /// Client connections, dead places included: the highest level.
    ClientsMax = "clients_max", "clients", Mean;
    /// Wait of granted attempts, from admission to the grant: mean.
    WaitMean = "wait_mean_ms", "ms", Mean;
    /// Wait of granted attempts: median.
    WaitP50 = "wait_p50_ms", "ms", Mean;
    /// Wait of granted attempts: 99 % quantile.
    WaitP99 = "wait_p99_ms", "ms", Mean;
    /// Wait of attempts that ended in abandonment: median.
    WaitAbandonedP50 = "wait_abandoned_p50_ms", "ms", Mean;
    /// Wait of attempts that ended in abandonment: 99 % quantile.
    WaitAbandonedP99 = "wait_abandoned_p99_ms", "ms", Mean;
    /// From the first trigger until the fleet has drained.
    TimeToDrain = "time_to_drain_s", "s", Time;
    /// Share of replicates that drained after the first trigger.
    DrainedShare = "drained_share", "share", Share;
    /// From the first trigger until half of the clients have had a good poll.
    Served50 = "served_50_s", "s", Time;
    /// From the first trigger until 99 % of the clients have had a good poll.
    Served99 = "served_99_s", "s", Time;
    /// Most attempts reaching the pooler within any 100 ms after the first trigger, or in the window.
    PeakArrivals = "peak_arrivals_100ms", "count", Mean;
    /// Connections to the pooler that clients opened.
    ClientConnects = "client_connects", "count", Mean;
    /// Backends that logged in to the database.
    BackendLogins = "backend_logins", "count", Mean;
    /// Logins to the database that failed.
    BackendLoginsFailed = "backend_logins_failed", "count", Mean;
    /// Backends closed because their client had left.
    BackendsLost = "backends_lost", "count", Mean;
    /// Most backends logging in at once.
    SvLoginMax = "sv_login_max", "backends", Mean;
    /// Time for which places waited while fewer than `pool_size` backends were connected.
    SvShort = "sv_short_s", "s", Mean;
    /// Requests of the background load that came, those turned away included.
    Requests = "requests", "count", Mean;
    /// Requests served per request that came.
    RequestsServed = "requests_served_share", "ratio", Mean;
    /// Attempts at the pooler per request, of the server and of its client together.
    RequestAmplification = "request_amplification", "ratio", Mean;
    /// From a request's arrival to its answer, served ones only: median.
    RequestP50 = "request_p50_ms", "ms", Mean;
    /// From a request's arrival to its answer, served ones only: 99 % quantile.
    RequestP99 = "request_p99_ms", "ms", Mean;
    /// Items of work that arrived, over the whole run.
    Items = "items", "count", Mean;
    /// Items done, over the whole run.
    ItemsDone = "items_done", "count", Mean;
    /// Times that an item went back to its queue: its processing had failed or its client died.
    ItemsReturned = "items_returned", "count", Mean;
    /// Items that wait or are under way at the end: what arrived and is neither is lost, and none is.
    ItemsOpen = "items_open", "count", Mean;
    /// Most items waiting.
    BacklogMax = "backlog_max", "count", Mean;
    /// The longest that an item has waited, done or not.
    OldestMax = "oldest_item_s", "s", Mean;
    /// From an item's arrival to its being taken for the first time: mean.
    PickupMean = "pickup_mean_s", "s", Mean;
    /// From an item's arrival to its being taken for the first time: 99 % quantile.
    PickupP99 = "pickup_p99_s", "s", Mean;
    /// Most active backends after the first trigger's drain.
    LaterPeak = "later_peak", "backends", Mean;
    /// Most client connections opened in a second (a bucket's mean in a long run) after that drain.
    LaterConnects = "later_connects_per_s", "1/s", Mean;
    /// Variance / mean of poll starts per second (per bucket in a long run); 1 is Poisson.
    Dispersion = "poll_dispersion", "ratio", Mean;
    /// Phase coherence of poll starts at the end: 1 is in step, about 1/√N spread out.
    PhaseCoherence = "phase_coherence", "ratio", Mean;
}

impl Metric {
    /// The metric of this name.
    pub fn named(name: &str) -> Option<Metric> {
        Metric::ALL.iter().copied().find(|metric| metric.name() == name)
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
