//! The CSV files of a results folder, as bytes.
//!
//! Tidy: one observation a row, the unit last in a column's name. An empty field is a figure that
//! does not exist, or a time that had not come by the end (*censored*): never a number in its
//! place. Where the scenario has variants, a row is of one policy in one variant.

use super::{AgainstReference, Judged, Results};
use crate::metrics::{Estimate, LatencyKind, Metric, QUANTILES, Value};
use crate::units::Span;

/// `summary.csv`: a row per policy and metric.
pub fn summary(results: &Results) -> Vec<u8> {
    let mut table = Table::new(results, ["scenario", "policy"].into_iter().chain(FIGURES));
    let scenario = &results.loaded.scenario.name;
    for policy in &results.policies {
        for &metric in Metric::ALL {
            let estimate = policy.estimate(metric);
            let row = [scenario.clone()]
                .into_iter()
                .chain(names(&policy.policy, policy.variant.as_deref()));
            table.row(row.chain(figures(&estimate)));
        }
    }
    table.bytes()
}

/// `replicates.csv`: a row per policy and replicate, a column per metric.
pub fn replicates(results: &Results) -> Vec<u8> {
    let keys = ["scenario", "policy", "replicate"];
    let metrics = Metric::ALL.iter().map(|metric| metric.name());
    let mut table = Table::new(results, keys.into_iter().chain(metrics));
    for policy in &results.policies {
        for (replicate, values) in policy.replicates.iter().enumerate() {
            let values = values.iter().map(|&cell| value(cell));
            let scenario = [results.loaded.scenario.name.clone()];
            let keys = scenario
                .into_iter()
                .chain(names(&policy.policy, policy.variant.as_deref()))
                .chain([replicate.to_string()]);
            table.row(keys.chain(values));
        }
    }
    table.bytes()
}

/// `drain.csv`: a row per policy, replicate and trigger.
pub fn drain(results: &Results) -> Vec<u8> {
    let columns = ["policy", "replicate", "trigger", "at_s", "drain_s", "censored"];
    let mut table = Table::new(results, columns);
    for policy in &results.policies {
        for row in &policy.drains {
            table.row(names(&policy.policy, policy.variant.as_deref()).chain([
                row.replicate.to_string(),
                row.trigger.to_string(),
                decimal(row.drain.at.as_secs_f64()),
                optional(row.drain.after.map(Span::as_secs_f64)),
                u8::from(row.drain.after.is_none()).to_string(),
            ]));
        }
    }
    table.bytes()
}

/// `concurrency.csv`: the share of time at each number of active backends, exact and as a monitor
/// sees it that looks once a second.
pub fn concurrency(results: &Results) -> Vec<u8> {
    let columns = ["policy", "kind", "active", "share", "cumulative", "sampled_share"];
    let mut table = Table::new(results, columns);
    for policy in &results.policies {
        for (kind, exact, sampled) in policy.occupancy.kinds() {
            let (time, samples) = (exact.total(), sampled.total());
            let mut below = 0;
            for level in 0..exact.held.len().max(sampled.held.len()) {
                let held = exact.held.get(level).copied().unwrap_or(0);
                let seen = sampled.held.get(level).copied().unwrap_or(0);
                below += held;
                table.row(names(&policy.policy, policy.variant.as_deref()).chain([
                    kind.to_owned(),
                    level.to_string(),
                    optional(share(held, time)),
                    optional(share(below, time)),
                    optional(share(seen, samples)),
                ]));
            }
        }
    }
    table.bytes()
}

/// `timeline.csv`: a row per policy and bucket, each figure a mean over replicates.
pub fn timeline(results: &Results) -> Vec<u8> {
    let mut table = Table::new(
        results,
        [
            "policy",
            "t_s",
            "polls",
            "attempts",
            "connects",
            "refused",
            "timed_out",
            "abandoned",
            "good",
            "wasted",
            "requests_served",
            "requests_failed",
            "backlog_mean",
            "oldest_item_s",
            "logins",
            "backends_lost",
            "sv_active_mean",
            "sv_active_max",
            "clients_max",
            "cl_waiting_mean",
            "cl_waiting_max",
            "cl_dead_mean",
            "sv_short_s",
            "phase_coherence",
        ],
    );
    for policy in &results.policies {
        let replicates = policy.replicates.len() as f64;
        let timeline = &policy.timeline;
        for (index, bucket) in timeline.buckets.iter().enumerate() {
            let mean = |sum: u64| decimal(sum as f64 / replicates);
            let length = timeline.length(index).ticks() as f64;
            let second = crate::units::TICKS_PER_SECOND as f64;
            let level = |ticks: u64| decimal(ticks as f64 / (replicates * length));
            table.row(names(&policy.policy, policy.variant.as_deref()).chain([
                decimal(timeline.start(index).as_secs_f64()),
                mean(bucket.polls),
                mean(bucket.attempts),
                mean(bucket.connects),
                mean(bucket.refused),
                mean(bucket.timed_out),
                mean(bucket.abandoned),
                mean(bucket.good),
                mean(bucket.wasted),
                mean(bucket.requests_served),
                mean(bucket.requests_failed),
                level(bucket.backlog_ticks),
                decimal(bucket.oldest_ticks as f64 / (replicates * second)),
                mean(bucket.logins),
                mean(bucket.backends_lost),
                level(bucket.sv_active_ticks),
                mean(bucket.sv_active_max),
                mean(bucket.clients_max),
                level(bucket.cl_waiting_ticks),
                mean(bucket.cl_waiting_max),
                level(bucket.cl_dead_ticks),
                decimal(bucket.short_ticks as f64 / (replicates * second)),
                decimal(bucket.coherence as f64 / (replicates * 1e6)),
            ]));
        }
    }
    table.bytes()
}

/// `band.csv`: a row per policy and bucket of the timeline, the least and the most active backends of any
/// replicate, each a mean over the bucket.
pub fn band(results: &Results) -> Vec<u8> {
    let mut table = Table::new(results, ["policy", "t_s", "sv_active_low", "sv_active_high"]);
    for policy in &results.policies {
        let bounds = policy.band.least_ticks.iter().zip(&policy.band.most_ticks);
        for (index, (&least, &most)) in bounds.enumerate() {
            let length = policy.timeline.length(index).ticks() as f64;
            table.row(names(&policy.policy, policy.variant.as_deref()).chain([
                decimal(policy.timeline.start(index).as_secs_f64()),
                decimal(least as f64 / length),
                decimal(most as f64 / length),
            ]));
        }
    }
    table.bytes()
}

/// `latency.csv`: a row per policy, kind of latency and quantile.
pub fn latency(results: &Results) -> Vec<u8> {
    let mut table = Table::new(results, ["policy", "kind", "quantile", "ms"]);
    for policy in &results.policies {
        for kind in LatencyKind::ALL {
            for quantile in QUANTILES {
                let span = policy.latencies.quantile(kind, quantile);
                table.row(names(&policy.policy, policy.variant.as_deref()).chain([
                    kind.name().to_owned(),
                    decimal(quantile),
                    optional(span.map(Span::as_millis_f64)),
                ]));
            }
        }
    }
    table.bytes()
}

/// `thresholds.csv`: a row per policy and threshold.
pub fn thresholds(results: &Results) -> Vec<u8> {
    let mut table = Table::new(results, ["policy"].into_iter().chain(JUDGED));
    for found in results.judged() {
        table.row(names(found.policy, found.variant).chain(judged(&found)));
    }
    table.bytes()
}

/// `differences.csv`: a row per policy but the reference and metric.
pub fn differences(results: &Results) -> Vec<u8> {
    let mut table = Table::new(
        results,
        [
            "policy",
            "metric",
            "unit",
            "method",
            "difference",
            "ci_low",
            "ci_high",
            "replicates",
            "pairing_factor",
            "verdict",
        ],
    );
    for AgainstReference { policy, differences } in results.against_reference() {
        for difference in differences {
            table.row(names(&policy.policy, policy.variant.as_deref()).chain([
                difference.metric.name().to_owned(),
                difference.metric.unit().to_owned(),
                difference.method.to_string(),
                optional(difference.difference),
                optional(difference.low),
                optional(difference.high),
                difference.b.replicates.to_string(),
                optional(difference.pairing_factor),
                difference.verdict.to_string(),
            ]));
        }
    }
    table.bytes()
}

/// The one format of a number in files: at most six decimals, no exponent, no trailing zeros, no
/// minus before zero.
///
/// ```
/// use herdsim::results::tables::decimal;
///
/// assert_eq!(decimal(12.5), "12.5");
/// assert_eq!(decimal(-1e-9), "0");
/// assert_eq!(decimal(1e15), "1000000000000000");
/// ```
pub fn decimal(number: f64) -> String {
    assert!(number.is_finite(), "a figure is a number, or its field stays empty: {number}");
    let fixed = format!("{number:.6}");
    let short = fixed.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// The columns of an estimate.
pub(super) const FIGURES: [&str; 7] =
    ["metric", "unit", "estimate", "ci_low", "ci_high", "replicates", "censored"];

/// The fields of an estimate, in the order of its columns.
pub(super) fn figures(estimate: &Estimate) -> [String; FIGURES.len()] {
    [
        estimate.metric.name().to_owned(),
        estimate.metric.unit().to_owned(),
        optional(estimate.estimate),
        optional(estimate.low),
        optional(estimate.high),
        estimate.replicates.to_string(),
        estimate.censored.to_string(),
    ]
}

/// The columns of a threshold.
pub(super) const JUDGED: [&str; 7] =
    ["metric", "comparison", "estimate", "ci_low", "ci_high", "verdict", "replicates_to_decide"];

/// The fields of a threshold, in the order of its columns.
pub(super) fn judged(judged: &Judged<'_>) -> [String; JUDGED.len()] {
    let Judged { threshold, estimate, judgement, .. } = judged;
    [
        threshold.condition.metric.name().to_owned(),
        threshold.condition.comparison.to_string(),
        optional(estimate.estimate),
        optional(estimate.low),
        optional(estimate.high),
        judgement.name().to_owned(),
        judgement.replicates_to_decide().map_or_else(String::new, |n| n.to_string()),
    ]
}

/// One replicate's value.
pub(super) fn value(value: Value) -> String {
    match value {
        Value::Number(number) => decimal(number),
        Value::Censored | Value::Absent => String::new(),
    }
}

fn optional(number: Option<f64>) -> String {
    number.map_or_else(String::new, decimal)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The policy of a row, and its variant where the scenario has variants.
pub(super) fn names(policy: &str, variant: Option<&str>) -> impl Iterator<Item = String> {
    [Some(policy.to_owned()), variant.map(str::to_owned)].into_iter().flatten()
}

/// A CSV file in memory: writes cannot fail, only rows of unequal length could, which is a bug.
pub(super) struct Table(csv::Writer<Vec<u8>>);

impl Table {
    /// An empty table of these columns, and of `variant` after `policy` where the scenario has
    /// variants.
    fn new<'a>(results: &Results, columns: impl IntoIterator<Item = &'a str>) -> Table {
        Table::with(!results.loaded.scenario.variants.is_empty(), columns)
    }

    /// The same, told whether there are `variants`.
    pub fn with<'a>(variants: bool, columns: impl IntoIterator<Item = &'a str>) -> Table {
        let variant = variants.then_some("variant");
        let with_variant =
            |column| [Some(column), variant.filter(|_| column == "policy")].into_iter().flatten();
        let mut table = Table(csv::Writer::from_writer(Vec::new()));
        table.row(columns.into_iter().flat_map(with_variant));
        table
    }

    pub fn row(&mut self, fields: impl IntoIterator<Item = impl AsRef<[u8]>>) {
        self.0.write_record(fields).expect("rows are as long as the header");
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0.into_inner().expect("a vector takes every write")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_format() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (100.0, "100"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333"),
            (-2.5, "-2.5"),
            (-0.000_000_4, "0"),
            (0.000_000_6, "0.000001"),
            (1e21, "1000000000000000000000"),
        ] {
            assert_eq!(decimal(number), text);
        }
    }
}
