//! A map of two keys: a shaded grid for each policy, on the terminal and as a picture.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::numbers::{of_kind, span};
use super::svg;
use super::text::{Piece, Style, Tone, padded, paragraph};
use crate::metrics::{Estimate, Kind, Metric, Outcome};
use crate::results::Points;
use crate::units::Span;

/// From nothing to all.
const SHADES: [&str; 5] = ["  ", "░░", "▒▒", "▓▓", "██"];

/// A grid of `metric` for each policy, the first of two keys from column to column; runs last `duration`.
pub fn render(points: &Points, metric: Metric, duration: Span, style: &Style) -> String {
    let mut out = String::new();
    for (number, row) in points.cases().iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let title = format!("{}: {metric}", name(row));
        out.push_str(&paragraph("", &title, style.width));
        out.push_str(&of_policy(points, number, metric, duration, style));
    }
    style.glyphs.write(&out)
}

/// The same as a picture.
pub fn svg(points: &Points, metric: Metric) -> String {
    let names: Vec<String> = points.cases().iter().map(name).collect();
    svg::map(points, &names, metric).map_or_else(String::new, |picture| picture.file())
}

fn name(case: &Outcome) -> String {
    match &case.variant {
        Some(variant) => format!("{} / {variant}", case.policy),
        None => case.policy.clone(),
    }
}

fn of_policy(
    points: &Points,
    number: usize,
    metric: Metric,
    duration: Span,
    style: &Style,
) -> String {
    let [x, y] = &points.axes[..] else { return String::new() };
    let estimate = |column: usize, row: usize| {
        points.outcomes[column * y.values.len() + row][number].estimate(metric)
    };
    let estimates: Vec<Vec<Estimate>> = (0..y.values.len())
        .map(|row| (0..x.values.len()).map(|column| estimate(column, row)).collect())
        .collect();
    let values = || estimates.iter().flatten().filter_map(|estimate| estimate.estimate);
    let (low, high) = match metric.kind() {
        Kind::Share => (0.0, 1.0),
        _ => (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)),
    };
    let cells: Vec<Vec<Piece>> = estimates
        .iter()
        .map(|row| row.iter().map(|estimate| cell(estimate, low, high, duration)).collect())
        .collect();
    let label = y.values.iter().map(|value| value.width()).max().unwrap_or(0);
    let label = label.max(y.key.width());
    let column = |index: usize| {
        let below = cells.iter().map(|row| row[index].width()).max().unwrap_or(0);
        below.max(x.values[index].width())
    };
    let widths: Vec<usize> = (0..x.values.len()).map(column).collect();
    let mut out = format!("{}  {}\n", padded("", label), x.key);
    let heads = x.values.iter().zip(&widths);
    let heads: String = heads.map(|(value, &width)| format!("  {value:>width$}")).collect();
    let _ = writeln!(out, "{}{heads}", padded(&y.key, label));
    let rule = label + widths.iter().map(|width| width + 2).sum::<usize>();
    let _ = writeln!(out, "{}", "─".repeat(rule));
    for (value, row) in y.values.iter().zip(&cells) {
        let mut line = padded(value, label);
        for (cell, &width) in row.iter().zip(&widths) {
            line.push_str(&" ".repeat(2 + width - cell.width()));
            line.push_str(&cell.painted(style.ink));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A shade and a number. What has not come by the end of the run is black.
fn cell(estimate: &Estimate, low: f64, high: f64, duration: Span) -> Piece {
    let shade = |value: f64| {
        let share = if high > low { (value - low) / (high - low) } else { 0.0 };
        SHADES[(share * 4.0).round() as usize]
    };
    match (estimate.metric.kind(), estimate.estimate) {
        (Kind::Share, Some(share)) => {
            let tone = match share {
                1.0 => Tone::Good,
                0.0 => Tone::Bad,
                _ => Tone::Neutral,
            };
            Piece::toned(format!("{} {:>5}", shade(share), of_kind(Kind::Share, share)), tone)
        }
        (Kind::Time, None) if estimate.censored > 0 => {
            let limit = span(duration.as_secs_f64());
            Piece::toned(format!("{} > {limit}", SHADES[4]), Tone::Bad)
        }
        (kind, Some(value)) => Piece::new(format!("{} {}", shade(value), of_kind(kind, value))),
        (_, None) => Piece::new("–"),
    }
}
