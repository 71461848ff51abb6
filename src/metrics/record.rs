//! What one unit leaves behind: integers only, so that folding is exact.

use super::{
    Counts, Drain, Latencies, LatencyKind, Metric, Occupancy, Recurrence, Timeline, Value,
};
use crate::units::Span;

/// The record of one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitRecord {
    /// Counts of the measured window, each event at its own time.
    pub counts: Counts,
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

    /// This unit's value of `metric`.
    pub fn value(&self, metric: Metric) -> Value {
        let counts = &self.counts;
        let active = &self.occupancy.all;
        let count = |count: u64| Value::Number(count as f64);
        let number = |number: Option<f64>| number.map_or(Value::Absent, Value::Number);
        let level = |level: Option<u32>| number(level.map(f64::from));
        let wait = |kind, q| number(self.latencies.quantile(kind, q).map(Span::as_millis_f64));
        let since_trigger = |time: Option<Span>| match (self.drains.is_empty(), time) {
            (true, _) => Value::Absent,
            (false, None) => Value::Censored,
            (false, Some(span)) => Value::Number(span.as_secs_f64()),
        };
        let drain = self.drains.first().and_then(|drain| drain.after);
        match metric {
            Metric::Polls => count(counts.polls),
            Metric::Acquisitions => count(counts.acquisitions),
            Metric::Attempts => count(counts.attempts),
            Metric::Amplification => number(
                (counts.acquisitions > 0)
                    .then(|| counts.attempts as f64 / counts.acquisitions as f64),
            ),
            Metric::Refused => count(counts.refused),
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
            Metric::LaterPeak => number(self.recurrence.later_peak.map(|peak| peak as f64)),
            Metric::LaterConnects => number(self.later_connects()),
            Metric::Dispersion => number(self.recurrence.dispersion()),
            Metric::PhaseCoherence => number(self.recurrence.coherence.map(|r| r as f64 / 1e6)),
        }
    }
}
