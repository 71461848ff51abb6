//! A map of two keys on the terminal: a shaded grid for each policy.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use super::numbers::{of_kind, span};
use super::text::{Piece, Style, Tone, padded, paragraph};
use crate::metrics::{Estimate, Kind, Metric, Outcome};
use crate::results::Grid;
use crate::units::Span;

/// From nothing to all.
const SHADES: [&str; 5] = ["  ", "░░", "▒▒", "▓▓", "██"];

/// A grid for each policy; runs last `duration`.
pub fn render(grid: &Grid, duration: Span, style: &Style) -> String {
    let mut out = String::new();
    for (number, row) in grid.rows().iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let name = match &row.variant {
            Some(variant) => format!("{} / {variant}", row.policy),
            None => row.policy.clone(),
        };
        let title = format!("{name}: {}", grid.metric);
        out.push_str(&paragraph("", &title, style.width));
        out.push_str(&of_policy(grid, number, duration, style));
    }
    style.glyphs.write(&out)
}

fn of_policy(grid: &Grid, number: usize, duration: Span, style: &Style) -> String {
    let estimates: Vec<Vec<Estimate>> = grid
        .cells
        .iter()
        .map(|row| row.iter().map(|cell| estimate(cell, number, grid.metric)).collect())
        .collect();
    let values = || estimates.iter().flatten().filter_map(|estimate| estimate.estimate);
    let (low, high) = match grid.metric.kind() {
        Kind::Share => (0.0, 1.0),
        _ => (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)),
    };
    let cells: Vec<Vec<Piece>> = estimates
        .iter()
        .map(|row| row.iter().map(|estimate| cell(estimate, low, high, duration)).collect())
        .collect();
    let label = grid.y.values.iter().map(|value| value.width()).max().unwrap_or(0);
    let label = label.max(grid.y.key.width());
    let column = |index: usize| {
        let below = cells.iter().map(|row| row[index].width()).max().unwrap_or(0);
        below.max(grid.x.values[index].width())
    };
    let widths: Vec<usize> = (0..grid.x.values.len()).map(column).collect();
    let mut out = format!("{}  {}\n", padded("", label), grid.x.key);
    let heads = grid.x.values.iter().zip(&widths);
    let heads: String = heads.map(|(value, &width)| format!("  {value:>width$}")).collect();
    let _ = writeln!(out, "{}{heads}", padded(&grid.y.key, label));
    let rule = label + widths.iter().map(|width| width + 2).sum::<usize>();
    let _ = writeln!(out, "{}", "─".repeat(rule));
    for (value, row) in grid.y.values.iter().zip(&cells) {
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

fn estimate(cell: &[Outcome], number: usize, metric: Metric) -> Estimate {
    cell.get(number).map_or_else(|| Estimate::of(metric, &[]), |outcome| outcome.estimate(metric))
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
