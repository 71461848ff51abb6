//! The numbers of a run as tables: everything that a picture shows, and every metric.

use super::html::{Row, Table};
use crate::metrics::{Estimate, Kind, LatencyKind, Metric, QUANTILES};
use crate::report::numbers::{count, factor, of_kind, percent, span};
use crate::report::scene::{Case, Scene};

/// Where there is nothing to measure.
const ABSENT: &str = "–";
/// Cases beside each other, at most, on a page of paper.
const ABREAST: usize = 7;
/// Rows of a timeline.
const PARTS: usize = 32;

/// What a column shows of a case; `None` where there is nothing to measure.
type Cell<'a> = &'a dyn Fn(&Case<'_>) -> Option<String>;

/// A row for each case, a column for each of `columns`.
fn per_case(scene: &Scene<'_>, caption: &str, columns: &[(&str, Cell<'_>)]) -> Table {
    let row = |(index, case): (usize, &Case<'_>)| Row {
        case: Some(index),
        head: case.name.clone(),
        cells: columns.iter().map(|(_, cell)| cell(case).unwrap_or(ABSENT.into())).collect(),
    };
    Table {
        caption: caption.to_owned(),
        corner: scene.rows.heading(),
        columns: columns.iter().map(|(heading, _)| (*heading).to_owned()).collect(),
        rows: scene.cases.iter().enumerate().map(row).collect(),
    }
}

/// How many claims run at once.
pub(super) fn concurrency(scene: &Scene<'_>) -> Table {
    let of = |metric: Metric| move |case: &Case<'_>| case.record.estimate(metric).map(count);
    per_case(
        scene,
        "Active claims over the time after the warm-up",
        &[
            ("mean", &of(Metric::SvActiveMean)),
            ("median", &of(Metric::SvActiveP50)),
            ("p99", &of(Metric::SvActiveP99)),
            ("p99.9", &of(Metric::SvActiveP999)),
            ("most", &of(Metric::SvActiveMax)),
        ],
    )
}

/// Time to drain of each replicate after each trigger.
pub(super) fn drains(scene: &Scene<'_>) -> Table {
    let triggers = scene.cases.iter().flat_map(|case| case.record.drains.numbers("trigger"));
    let triggers = triggers.fold(0.0, f64::max) as usize + 1;
    let replicates = scene.scenario().run.replicates as usize;
    let mut rows = Vec::new();
    for (index, case) in scene.cases.iter().enumerate() {
        let column = |name| case.record.drains.numbers(name);
        let (numbers, at) = (column("trigger"), column("at_s"));
        let after = case.record.drains.get("drain_s");
        for trigger in 0..triggers {
            let own = (0..numbers.len()).filter(|row| numbers[*row] as usize == trigger);
            let own: Vec<usize> = own.collect();
            let Some(&first) = own.first() else { continue };
            let cell = |row: &usize| match after[*row] {
                Some(time) => span(time),
                None => format!("> {}", span(scene.duration() - at[*row])),
            };
            let head = match triggers {
                1 => case.name.clone(),
                _ => format!("{}, from {}", case.name, span(at[first])),
            };
            rows.push(Row { case: Some(index), head, cells: own.iter().map(cell).collect() });
        }
    }
    Table {
        caption: "Time to drain, replicate by replicate".to_owned(),
        corner: scene.rows.heading(),
        columns: (0..replicates).map(|number| format!("world {number}")).collect(),
        rows,
    }
}

/// What it costs.
pub(super) fn cost(scene: &Scene<'_>) -> Table {
    let of = |metric: Metric| move |case: &Case<'_>| case.record.estimate(metric).map(count);
    per_case(
        scene,
        "What it costs, a mean of all replicates after the warm-up",
        &[
            ("attempts", &of(Metric::Attempts)),
            ("per acquisition", &|case| case.record.estimate(Metric::Amplification).map(factor)),
            ("refused", &of(Metric::Refused)),
            ("abandoned", &of(Metric::Abandoned)),
            ("peak in 100 ms", &of(Metric::PeakArrivals)),
            ("most places", &of(Metric::ClientsMax)),
            ("good claims", &of(Metric::GoodClaims)),
            ("wasted claims", &of(Metric::WastedClaims)),
            ("wasted", &|case| super::verdict::wasted(case).map(percent)),
            ("wasted backend time", &|case| case.record.estimate(Metric::WastedBackend).map(span)),
        ],
    )
}

/// The quantiles of all latencies that there are.
pub(super) fn latencies(scene: &Scene<'_>) -> Vec<Table> {
    let table = |kind: LatencyKind| {
        let mut rows = Vec::new();
        for (index, case) in scene.cases.iter().enumerate() {
            let millis = case.record.latencies.get(kind.name())?.get("ms");
            let cell = |ms: &Option<f64>| ms.map_or(ABSENT.into(), |ms| span(ms / 1e3));
            let cells: Vec<String> = millis.iter().map(cell).collect();
            rows.push(Row { case: Some(index), head: case.name.clone(), cells });
        }
        let measured = rows.iter().flat_map(|row| &row.cells).any(|cell| cell != ABSENT);
        let heading = |quantile: f64| match quantile {
            1.0 => "longest".to_owned(),
            quantile => format!("p{}", 100.0 * quantile),
        };
        measured.then(|| Table {
            caption: words(kind).to_owned(),
            corner: scene.rows.heading(),
            columns: QUANTILES.into_iter().map(heading).collect(),
            rows,
        })
    };
    LatencyKind::ALL.into_iter().filter_map(table).collect()
}

fn words(kind: LatencyKind) -> &'static str {
    match kind {
        LatencyKind::Wait => "Wait for a backend, attempts that were served",
        LatencyKind::WaitAbandoned => "Wait for a backend, attempts that were abandoned",
        LatencyKind::WaitTimedOut => "Wait for a backend, attempts that the pooler ended",
        LatencyKind::ServiceGood => "Claim in the database, its client still waiting",
        LatencyKind::ServiceWasted => "Claim in the database, for nobody",
        LatencyKind::ResponseGood => "Whole poll, successful",
        LatencyKind::ResponseError => "Whole poll, failed",
        LatencyKind::RequestGood => "Request of the background load, served",
        LatencyKind::RequestError => "Request of the background load, failed",
        LatencyKind::Pickup => "Item, from its arrival until it is taken",
        LatencyKind::ItemDone => "Item, from its arrival until it is done",
    }
}

/// Active claims in parts of the run.
pub(super) fn timeline(scene: &Scene<'_>) -> Vec<Table> {
    chunks(scene)
        .map(|cases| {
            let rows = |first: &Case<'_>| {
                let starts = first.record.timeline.numbers("t_s");
                let step = starts.len().div_ceil(PARTS).max(1);
                let part = |index: usize| Row {
                    case: None,
                    head: span(starts[index]),
                    cells: cases
                        .iter()
                        .map(|case| {
                        let active = case.record.timeline.numbers("sv_active_mean");
                        // All of the time up to the next row: a herd that comes back each half minute
                        // would hide between moments.
                        let part = &active[index..(index + step).min(active.len())];
                        part.iter().sum::<f64>() / part.len() as f64
                    })
                        .map(|active| count((10.0 * active).round() / 10.0))
                        .collect(),
                };
                (0..starts.len()).step_by(step).map(part).collect()
            };
            Table {
                caption: "Active claims, a mean over the replicates and over the time from each row to the next"
                    .to_owned(),
                corner: "time",
                columns: cases.iter().map(|case| case.name.clone()).collect(),
                rows: cases.first().map(rows).unwrap_or_default(),
            }
        })
        .collect()
}

/// Every metric with its interval; those that no case has are left out.
pub(super) fn metrics(scene: &Scene<'_>) -> Vec<Table> {
    chunks(scene)
        .map(|cases| {
            let row = |metric: &Metric| {
                let estimates = cases.iter().map(|case| case.record.outcome.estimate(*metric));
                let estimates: Vec<Estimate> = estimates.collect();
                let known = estimates.iter().any(|estimate| estimate.replicates > 0);
                known.then(|| Row {
                    case: None,
                    head: metric.name().to_owned(),
                    cells: estimates.iter().map(|estimate| shown(scene, estimate)).collect(),
                })
            };
            Table {
                caption: "Every metric: estimate, and its 95 % interval where there is one"
                    .to_owned(),
                corner: "metric",
                columns: cases.iter().map(|case| case.name.clone()).collect(),
                rows: Metric::ALL.iter().filter_map(row).collect(),
            }
        })
        .collect()
}

fn chunks<'a, 'b>(scene: &'b Scene<'a>) -> std::slice::Chunks<'b, Case<'a>> {
    scene.cases.chunks(ABREAST)
}

fn shown(scene: &Scene<'_>, estimate: &Estimate) -> String {
    let number = |value: f64| match estimate.metric.kind() {
        Kind::Mean if value.abs() < 10.0 => format!("{value:.2}"),
        kind => of_kind(kind, value.max(0.0)),
    };
    let beyond = || match estimate.censored {
        0 => ABSENT.to_owned(),
        _ => {
            let trigger = scene.scenario().first_trigger().map_or(0.0, |at| at.as_secs_f64());
            format!("> {}", span(scene.duration() - trigger))
        }
    };
    let middle = estimate.estimate.map_or_else(beyond, number);
    match estimate.low.zip(estimate.high) {
        Some((low, high)) if low < high => format!("{middle} ({} – {})", number(low), number(high)),
        _ => middle,
    }
}
