//! What one unit leaves behind: integers only, so that folding is exact.

use serde::{Deserialize, Serialize};

use super::{
    Counts, Drain, Latencies, LatencyKind, Metric, Occupancy, Recurrence, Timeline, Value,
    WorkRecord,
};
use crate::units::Span;

/// The record of one unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitRecord {
    /// Counts of the fleet in the measured window, each event at its own time.
    pub counts: Counts,
    /// The same of the background load; `None` where there is none.
    pub requests: Option<Counts>,
    /// What became of items; `None` where there is no work.
    pub work: Option<WorkRecord>,
    /// Time spent at each number of active backends in the measured window.
    pub occupancy: Occupancy,
    /// Most client connections in the measured window.
    pub clients_max: u32,
    /// Most attempts reaching the pooler within 100 ms.
    pub peak_arrivals: u64,
    /// The course of the whole run.
    pub timeline: Timeline,
    /// Latencies that ended in the measured window.
    pub latencies: Latencies,
    /// The drain after each trigger, in order.
    pub drains: Vec<Drain>,
    /// Time after the first trigger until 50 % and 99 % of the clients had a good poll; `None` if
    /// that had not come by the end.
    pub served: [Option<Span>; 2],
    /// How the herd came back.
    pub recurrence: Recurrence,
    /// Most backends logging in at once in the measured window.
    pub sv_login_max: u32,
    /// Time in the measured window for which the pool was short of backends while somebody waited.
    pub short: Span,
    /// Events that the engine handled.
    pub events: u64,
}

impl UnitRecord {
    fn later_connects(&self) -> Option<f64> {
        let connects = self.recurrence.later_connects? as f64;
        Some(connects / self.timeline.width.as_secs_f64())
    }

    /// The values of all metrics, in the order of [`Metric::ALL`].
    pub fn values(&self) -> Vec<Value> {
        Metric::ALL.iter().map(|&metric| self.value(metric)).collect()
    }

    /// This unit's value of `metric`.
    pub fn value(&self, metric: Metric) -> Value {
        let counts = &self.counts;
        let active = &self.occupancy.all;
        let count = |count: u64| Value::Number(count as f64);
        let layer = |tries: u64| if tries == 0 { Value::Absent } else { count(tries) };
        let number = |number: Option<f64>| number.map_or(Value::Absent, Value::Number);
        let level = |level: Option<u32>| number(level.map(f64::from));
        let wait = |kind, q| number(self.latencies.quantile(kind, q).map(Span::as_millis_f64));
        let since_trigger = |time: Option<Span>| match (self.drains.is_empty(), time) {
            (true, _) => Value::Absent,
            (false, None) => Value::Censored,
            (false, Some(span)) => Value::Number(span.as_secs_f64()),
        };
        let drain = self.drains.first().and_then(|drain| drain.after);
        let (requests, work) = (self.requests.as_ref(), self.work);
        let came = |r: &Counts| r.requests + r.requests_turned_away;
        let share = |pair: Option<(u64, u64)>| {
            number(pair.filter(|pair| pair.1 > 0).map(|(part, whole)| part as f64 / whole as f64))
        };
        match metric {
            Metric::Polls => count(counts.polls),
            Metric::Acquisitions => count(counts.acquisitions),
            Metric::Attempts => count(counts.attempts),
            Metric::Amplification => share(Some((counts.attempts, counts.acquisitions))),
            Metric::Refused => count(counts.refused),
            Metric::Throttled => count(counts.throttled),
            Metric::Rejected => count(counts.rejected),
            Metric::RetriesDenied => count(counts.retries_denied),
            Metric::Layer2Tries => layer(counts.outer_tries[0]),
            Metric::Layer3Tries => layer(counts.outer_tries[1]),
            Metric::TimedOut => count(counts.timed_out),
            Metric::ConnectTimedOut => count(counts.connect_timed_out),
            Metric::PoolTimedOut => count(counts.pool_timed_out),
            Metric::Abandoned => count(counts.abandoned),
            Metric::Dropped => count(counts.dropped),
            Metric::GoodClaims => count(counts.good_claims),
            Metric::WastedClaims => count(counts.wasted_claims),
            Metric::WastedBackend => {
                let wasted = &self.occupancy.wasted.held;
                let ticks: u128 =
                    wasted.iter().enumerate().map(|(n, &t)| n as u128 * u128::from(t)).sum();
                Value::Number(ticks as f64 / crate::units::TICKS_PER_SECOND as f64)
            }
            Metric::SvActiveMean => number(active.mean()),
            Metric::SvActiveP50 => level(active.quantile(0.5)),
            Metric::SvActiveP99 => level(active.quantile(0.99)),
            Metric::SvActiveP999 => level(active.quantile(0.999)),
            Metric::SvActiveMax => level(active.max()),
            Metric::ClientsMax => count(u64::from(self.clients_max)),
            Metric::WaitMean => number(self.latencies.mean_ms(LatencyKind::Wait)),
            Metric::WaitP50 => wait(LatencyKind::Wait, 0.5),
            Metric::WaitP99 => wait(LatencyKind::Wait, 0.99),
            Metric::WaitAbandonedP50 => wait(LatencyKind::WaitAbandoned, 0.5),
            Metric::WaitAbandonedP99 => wait(LatencyKind::WaitAbandoned, 0.99),
            Metric::TimeToDrain => since_trigger(drain),
            Metric::DrainedShare if self.drains.is_empty() => Value::Absent,
            Metric::DrainedShare => count(u64::from(drain.is_some())),
            Metric::Served50 => since_trigger(self.served[0]),
            Metric::Served99 => since_trigger(self.served[1]),
            Metric::PeakArrivals => count(self.peak_arrivals),
            Metric::ClientConnects => count(counts.connects),
            Metric::BackendLogins => count(counts.logins),
            Metric::BackendLoginsFailed => count(counts.logins_failed),
            Metric::BackendsLost => count(counts.backends_lost),
            Metric::SvLoginMax => count(u64::from(self.sv_login_max)),
            Metric::SvShort => Value::Number(self.short.as_secs_f64()),
            Metric::Requests => number(requests.map(|r| came(r) as f64)),
            Metric::RequestsServed => share(requests.map(|r| (r.requests_served, came(r)))),
            Metric::RequestAmplification => share(requests.map(|r| (r.attempts, came(r)))),
            Metric::RequestP50 => wait(LatencyKind::RequestGood, 0.5),
            Metric::RequestP99 => wait(LatencyKind::RequestGood, 0.99),
            Metric::Items => number(work.map(|work| work.items as f64)),
            Metric::ItemsDone => number(work.map(|work| work.done as f64)),
            Metric::ItemsReturned => number(work.map(|work| work.returned as f64)),
            Metric::ItemsOpen => number(work.map(|work| (work.items - work.done) as f64)),
            Metric::BacklogMax => number(work.map(|work| work.backlog_max as f64)),
            Metric::OldestMax => number(work.map(|work| work.oldest.as_secs_f64())),
            Metric::PickupMean => {
                number(self.latencies.mean_ms(LatencyKind::Pickup).map(|millis| millis / 1e3))
            }
            Metric::PickupP99 => {
                number(self.latencies.quantile(LatencyKind::Pickup, 0.99).map(Span::as_secs_f64))
            }
            Metric::LaterPeak => number(self.recurrence.later_peak.map(|peak| peak as f64)),
            Metric::LaterConnects => number(self.later_connects()),
            Metric::Dispersion => number(self.recurrence.dispersion()),
            Metric::PhaseCoherence => number(self.recurrence.coherence.map(|r| r as f64 / 1e6)),
        }
    }
}
