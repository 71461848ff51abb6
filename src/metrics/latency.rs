//! Latencies as HDR histograms, split by how the thing ended: the worse policy can have the better
//! overall percentile when its failures are left out.

use hdrhistogram::Histogram;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    kinds: Vec<Histogram<u64>>,
    /// The longest of each kind, exactly.
    longest: Vec<Span>,
    /// All of each kind, summed, exactly.
    sums: Vec<u128>,
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
    /// Empty histograms.
    pub fn new() -> Latencies {
        const DIGITS: u8 = 3;
        let histogram = Histogram::new(DIGITS).expect("three digits are within 0..=5");
        let kinds = LatencyKind::ALL.len();
        Latencies {
            kinds: vec![histogram; kinds],
            longest: vec![Span::ZERO; kinds],
            sums: vec![0; kinds],
        }
    }

    /// Records one observation.
    #[inline]
    pub fn record(&mut self, kind: LatencyKind, span: Span) {
        self.kinds[kind as usize]
            .record(span.ticks())
            .expect("the histogram grows to any simulated span");
        let longest = &mut self.longest[kind as usize];
        *longest = span.max(*longest);
        self.sums[kind as usize] += u128::from(span.ticks());
    }

    /// The value not exceeded by a share `q` of the observations; `None` without any.
    pub fn quantile(&self, kind: LatencyKind, q: f64) -> Option<Span> {
        let histogram = &self.kinds[kind as usize];
        let value = || Span::from_ticks(histogram.value_at_quantile(q));
        (!histogram.is_empty()).then(|| value().min(self.longest[kind as usize]))
    }

    /// The mean of `kind` in milliseconds; `None` without observations.
    pub fn mean_ms(&self, kind: LatencyKind) -> Option<f64> {
        let observations = self.count(kind);
        let sum = self.sums[kind as usize] as f64 / 1e3;
        (observations > 0).then(|| sum / observations as f64)
    }

    /// Observations of `kind`.
    pub fn count(&self, kind: LatencyKind) -> u64 {
        self.kinds[kind as usize].len()
    }

    /// Adds another's observations.
    pub fn add(&mut self, other: &Latencies) {
        for (sum, histogram) in self.kinds.iter_mut().zip(&other.kinds) {
            sum.add(histogram).expect("histograms grow to hold each other");
        }
        for (longest, other) in self.longest.iter_mut().zip(&other.longest) {
            *longest = (*longest).max(*other);
        }
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            *sum += other;
        }
    }
}

/// What is stored of one kind: the longest, the sum, and how many there are of each value. A
/// histogram's values are those it tells apart, so that recording them again gives the same one.
type Stored = (Span, u128, Vec<(u64, u64)>);

impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kinds = self.kinds.iter().zip(&self.longest).zip(&self.sums);
        let stored = kinds.map(|((histogram, &longest), &sum)| -> Stored {
            let values = histogram.iter_recorded();
            let counts = values.map(|value| (value.value_iterated_to(), value.count_at_value()));
            (longest, sum, counts.collect())
        });
        serializer.collect_seq(stored)
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Latencies, D::Error> {
        let stored = Vec::<Stored>::deserialize(deserializer)?;
        let mut latencies = Latencies::new();
        if stored.len() != latencies.kinds.len() {
            return Err(D::Error::invalid_length(stored.len(), &"one histogram per kind"));
        }
        for (kind, (longest, sum, counts)) in stored.into_iter().enumerate() {
            for (value, count) in counts {
                latencies.kinds[kind].record_n(value, count).map_err(D::Error::custom)?;
            }
            latencies.longest[kind] = longest;
            latencies.sums[kind] = sum;
        }
        Ok(latencies)
    }
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies::new()
    }
}
