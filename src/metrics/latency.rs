//! Latencies as histograms, split by how the thing ended: the worse policy can have the better
//! overall percentile when its failures are left out.

use serde::{Deserialize, Serialize};

use super::histogram::Histogram;
use crate::units::Span;

/// What was timed, and how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyKind {
    /// Admission to grant.
    Wait,
    /// Admission to the end of patience.
    WaitAbandoned,
    /// Admission to `query_wait_timeout`, living clients only.
    WaitTimedOut,
    /// Grant to completion of a good claim.
    ServiceGood,
    /// Grant to completion of a claim for nobody.
    ServiceWasted,
    /// Start of a poll to its good end.
    ResponseGood,
    /// Start of a poll to its failure.
    ResponseError,
    /// Arrival of a request of the background load to its answer.
    RequestGood,
    /// Arrival of a request to its client's giving up.
    RequestError,
    /// Arrival of an item of work to its being taken, for the first time.
    Pickup,
    /// Arrival of an item of work to its being done.
    ItemDone,
}

/// The quantiles of `latency.csv`.
pub const QUANTILES: [f64; 6] = [0.5, 0.9, 0.95, 0.99, 0.999, 1.0];

/// One histogram for each [`LatencyKind`], in microseconds with three significant digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    kinds: [Histogram; LatencyKind::ALL.len()],
}

impl LatencyKind {
    /// All kinds, in the order of `latency.csv`.
    pub const ALL: [LatencyKind; 11] = [
        LatencyKind::Wait,
        LatencyKind::WaitAbandoned,
        LatencyKind::WaitTimedOut,
        LatencyKind::ServiceGood,
        LatencyKind::ServiceWasted,
        LatencyKind::ResponseGood,
        LatencyKind::ResponseError,
        LatencyKind::RequestGood,
        LatencyKind::RequestError,
        LatencyKind::Pickup,
        LatencyKind::ItemDone,
    ];

    /// The name in `latency.csv`.
    pub fn name(self) -> &'static str {
        match self {
            LatencyKind::Wait => "wait",
            LatencyKind::WaitAbandoned => "wait_abandoned",
            LatencyKind::WaitTimedOut => "wait_timed_out",
            LatencyKind::ServiceGood => "service_good",
            LatencyKind::ServiceWasted => "service_wasted",
            LatencyKind::ResponseGood => "response_good",
            LatencyKind::ResponseError => "response_error",
            LatencyKind::RequestGood => "request_good",
            LatencyKind::RequestError => "request_error",
            LatencyKind::Pickup => "pickup",
            LatencyKind::ItemDone => "item_done",
        }
    }
}

impl Latencies {
    /// Records one observation.
    #[inline]
    pub fn record(&mut self, kind: LatencyKind, span: Span) {
        self.kinds[kind as usize].record(span, 1);
    }

    /// Records good polls of one claim each that did not wait, by the services of their claims, which are so
    /// many ticks altogether.
    #[inline]
    pub fn record_polls(&mut self, services: &[Span], ticks: u64, round_trip: Span) {
        let kinds = [LatencyKind::ServiceGood as usize, LatencyKind::ResponseGood as usize];
        let [service, response] = self.kinds.get_disjoint_mut(kinds).expect("they are two");
        service.record_with(response, services, ticks, round_trip);
    }

    /// Records so many equal observations.
    pub fn record_many(&mut self, kind: LatencyKind, span: Span, times: u64) {
        if times > 0 {
            self.kinds[kind as usize].record(span, times);
        }
    }

    /// The value not exceeded by a share `q` of the observations; `None` without any.
    pub fn quantile(&self, kind: LatencyKind, q: f64) -> Option<Span> {
        self.kinds[kind as usize].quantile(q)
    }

    /// The mean of `kind` in milliseconds; `None` without observations.
    pub fn mean_ms(&self, kind: LatencyKind) -> Option<f64> {
        let observations = self.count(kind);
        let sum = self.kinds[kind as usize].sum() as f64 / 1e3;
        (observations > 0).then(|| sum / observations as f64)
    }

    /// Observations of `kind`.
    pub fn count(&self, kind: LatencyKind) -> u64 {
        self.kinds[kind as usize].count()
    }

    /// Adds another's observations.
    pub fn add(&mut self, other: &Latencies) {
        for (sum, histogram) in self.kinds.iter_mut().zip(&other.kinds) {
            sum.add(histogram);
        }
    }
}
