//! The figures of a report: one column each, one row per policy or variant.

use super::numbers::{count, factor, percent, span};
use super::rows::Rows;
use super::table::Column;
use super::text::{Piece, Tone, truncated};
use crate::metrics::{Metric, PolicySummary};
use crate::results::Results;
use crate::units::{SimTime, Span};

/// What stands where there is nothing to measure.
const ABSENT: &str = "–";

/// The table of a run: with a trigger how it recovers, without one how it stands. Names take at most
/// `name_width` columns.
pub(super) fn columns(results: &Results, name_width: usize) -> Vec<Column<'static>> {
    let column = |name, heading, weight, cell: &dyn Fn(&PolicySummary) -> Piece| Column {
        name,
        heading,
        weight,
        cells: results.policies.iter().map(cell).collect(),
    };
    let counted = |metric| move |policy: &PolicySummary| counted(policy, metric);
    let rows = Rows::of(&results.loaded.scenario);
    let mut columns = vec![
        column(rows.heading(), ["", rows.heading()], u8::MAX, &|policy| {
            Piece::new(truncated(&rows.name(policy), name_width))
        }),
        column("peak active", ["peak", "active"], 7, &counted(Metric::SvActiveMax)),
        column("p99 active", ["p99", "active"], 3, &counted(Metric::SvActiveP99)),
        column("peak clients", ["peak", "clients"], 2, &counted(Metric::ClientsMax)),
        column("refused", ["", "refused"], 6, &counted(Metric::Refused)),
        column("amplification", ["", "ampl."], 5, &|policy| {
            let estimate = policy.estimate(Metric::Amplification).estimate;
            Piece::new(estimate.map_or(ABSENT.to_owned(), factor))
        }),
        column("wasted", ["", "wasted"], 4, &wasted),
    ];
    let happens = |metric| {
        let happened = |policy: &PolicySummary| policy.estimate(metric).estimate > Some(0.0);
        results.policies.iter().any(happened)
    };
    for (metric, name, heading) in [
        (Metric::Throttled, "throttled", ["", "throttled"]),
        (Metric::RetriesDenied, "retries denied", ["retries", "denied"]),
        (Metric::Rejected, "held back", ["held", "back"]),
    ] {
        if happens(metric) {
            columns.push(column(name, heading, 5, &counted(metric)));
        }
    }
    if happens(Metric::Layer2Tries) {
        columns.push(column("tries by layer", ["tries", "by layer"], 6, &tries_by_layer));
    }
    if results.loaded.scenario.work.is_some() {
        columns.push(column("mean pickup", ["mean", "pickup"], 10, &|policy| {
            let seconds = policy.estimate(Metric::PickupMean).estimate;
            Piece::new(seconds.map_or(ABSENT.to_owned(), span))
        }));
        columns.push(column("items open", ["items", "open"], 6, &counted(Metric::ItemsOpen)));
    }
    if results.loaded.scenario.background.is_some() {
        columns.push(column("requests served", ["requests", "served"], 10, &|policy| {
            let served = policy.estimate(Metric::RequestsServed).estimate;
            Piece::new(served.map_or(ABSENT.to_owned(), percent))
        }));
        columns.push(column("request amplification", ["request", "ampl."], 6, &|policy| {
            let estimate = policy.estimate(Metric::RequestAmplification).estimate;
            Piece::new(estimate.map_or(ABSENT.to_owned(), factor))
        }));
    }
    if has_trigger(results) {
        columns.push(column("time to drain", ["time to", "drain"], 9, &|policy| {
            timed(results, policy, Metric::TimeToDrain)
        }));
        columns.push(column("99 % served", ["99 %", "served"], 8, &|policy| {
            timed(results, policy, Metric::Served99)
        }));
    } else {
        let mean = column("mean active", ["mean", "active"], 8, &counted(Metric::SvActiveMean));
        columns.insert(1, mean);
        columns.push(column("mean wait", ["wait", "mean"], 7, &|policy| {
            let millis = policy.estimate(Metric::WaitMean).estimate;
            Piece::new(millis.map_or(ABSENT.to_owned(), |millis| span(millis / 1e3)))
        }));
        columns.push(column("wait p99", ["wait", "p99"], 9, &|policy| {
            let millis = policy.estimate(Metric::WaitP99).estimate;
            Piece::new(millis.map_or(ABSENT.to_owned(), |millis| span(millis / 1e3)))
        }));
    }
    columns
}

/// Whether there is a trigger in any of the courses that were played.
pub(super) fn has_trigger(results: &Results) -> bool {
    results.policies.iter().any(|policy| !policy.drains.is_empty())
}

/// How long after its first trigger the run ends; `None` without a trigger.
pub(super) fn trigger_to_end(results: &Results, policy: &PolicySummary) -> Option<Span> {
    let end = SimTime::ZERO + results.loaded.scenario.run.duration;
    policy.drains.first().map(|row| end.since(row.drain.at))
}

/// How the drains of a policy came out, as a tone: all, none, or neither.
pub(super) fn drain_tone(policy: &PolicySummary) -> Tone {
    let estimate = policy.estimate(Metric::TimeToDrain);
    match estimate.censored {
        _ if estimate.replicates == 0 => Tone::Neutral,
        0 => Tone::Good,
        censored if censored == estimate.replicates => Tone::Bad,
        _ => Tone::Neutral,
    }
}

fn counted(policy: &PolicySummary, metric: Metric) -> Piece {
    Piece::new(policy.estimate(metric).estimate.map_or(ABSENT.to_owned(), count))
}

/// Tries per call at each layer, from the outside in: their product is the amplification.
fn tries_by_layer(policy: &PolicySummary) -> Piece {
    let mean = |metric| policy.estimate(metric).estimate;
    let tries = [Metric::Acquisitions, Metric::Layer3Tries, Metric::Layer2Tries, Metric::Attempts];
    let tries: Vec<f64> = tries.into_iter().filter_map(mean).collect();
    match tries.len() {
        0..3 => Piece::new(ABSENT),
        _ => {
            let each = tries.windows(2).map(|pair| factor(pair[1] / pair[0]));
            Piece::new(each.collect::<Vec<_>>().join(" "))
        }
    }
}

/// The share of completed claims that were for nobody; `None` without any.
pub(super) fn wasted_share(mean: impl Fn(Metric) -> Option<f64>) -> Option<f64> {
    let (good, wasted) = (mean(Metric::GoodClaims)?, mean(Metric::WastedClaims)?);
    (good + wasted > 0.0).then(|| wasted / (good + wasted))
}

fn wasted(policy: &PolicySummary) -> Piece {
    let share = wasted_share(|metric| policy.estimate(metric).estimate);
    Piece::new(share.map_or(ABSENT.to_owned(), percent))
}

/// A median time; beyond the end of the run where the median is censored; preceded by how many
/// replicates got there where only some did.
fn timed(results: &Results, policy: &PolicySummary, metric: Metric) -> Piece {
    let estimate = policy.estimate(metric);
    let time = match (estimate.estimate, trigger_to_end(results, policy)) {
        (Some(seconds), _) => span(seconds),
        (None, Some(limit)) if estimate.censored > 0 => format!("> {}", span(limit.as_secs_f64())),
        (None, _) => return Piece::new(ABSENT),
    };
    let reached = estimate.replicates - estimate.censored;
    let text = match estimate.censored > 0 && reached > 0 {
        true => format!("{reached}/{} {time}", estimate.replicates),
        false => time,
    };
    match metric {
        Metric::TimeToDrain => Piece::toned(text, drain_tone(policy)),
        _ => Piece::new(text),
    }
}
