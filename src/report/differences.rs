//! Differences to the reference policy: a short table of what most runs are compared by.

use super::numbers::{factor, significant, span};
use super::rows::Rows;
use super::table::Column;
use super::text::{Glyphs, Piece, truncated};
use crate::metrics::{Difference, Metric};
use crate::results::Results;

/// What stands above the table.
pub(super) fn heading(reference: &str) -> String {
    format!("difference to {reference} in the same worlds, with half its 95 % interval")
}

/// One row per policy, or policy and variant, but the reference. Names take at most `name_width` columns.
pub(super) fn columns(
    results: &Results,
    name_width: usize,
    glyphs: Glyphs,
) -> Vec<Column<'static>> {
    let compared = results.against_reference();
    let rows = Rows::of(&results.loaded.scenario);
    let names = compared.iter().map(|row| truncated(&rows.name(row.policy), name_width));
    let names = Column {
        name: rows.heading(),
        heading: ["", rows.heading()],
        weight: u8::MAX,
        cells: names.map(Piece::new).collect(),
    };
    let column = |(metric, name, heading, weight)| Column {
        name,
        heading,
        weight,
        cells: compared.iter().map(|row| cell(row.difference(metric), glyphs)).collect(),
    };
    let figures = [
        (Metric::Attempts, "attempts", ["", "attempts"], 5),
        (Metric::SvActiveMean, "mean active", ["mean", "active"], 9),
        (Metric::SvActiveMax, "peak active", ["peak", "active"], 8),
        (Metric::WastedBackend, "wasted backend, s", ["wasted", "backend, s"], 6),
        (Metric::WaitP99, "wait p99", ["wait", "p99"], 7),
    ];
    let pairing = Column {
        name: "mean active narrower by pairing",
        heading: ["narrower", "by pairing"],
        weight: 4,
        cells: compared.iter().map(|row| narrower(row.difference(Metric::SvActiveMean))).collect(),
    };
    [names].into_iter().chain(figures.map(column)).chain([pairing]).collect()
}

/// How many times narrower the interval is than that of worlds of their own.
fn narrower(difference: &Difference) -> Piece {
    Piece::new(difference.pairing_factor.map_or("–".to_owned(), factor))
}

/// `+12.3 ± 0.4`; without an interval `+12.3`.
fn cell(difference: &Difference, glyphs: Glyphs) -> Piece {
    let Some(middle) = difference.difference else { return Piece::new("–") };
    let size = |number: f64, digits| match difference.metric.unit() {
        "ms" => span(number / 1e3),
        _ => significant(number, digits),
    };
    let sign = match middle {
        0.0 => "",
        ..0.0 => "−",
        _ => "+",
    };
    let middle = format!("{sign}{}", size(middle.abs(), 3));
    let or = match glyphs {
        Glyphs::Unicode => "±",
        Glyphs::Ascii => "+/-",
    };
    Piece::new(match difference.half_width() {
        Some(half) => format!("{middle} {or} {}", size(half, 2)),
        None => middle,
    })
}
