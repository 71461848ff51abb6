//! The report on the terminal: what ran, whether its thresholds hold, a row per policy or variant, the course of each, and a
//! verdict.

use unicode_width::UnicodeWidthStr;

use super::rows::Rows;
use super::text::{Piece, Style, Tone, padded, paragraph, truncated, wrap};
use super::{
    beside, columns, differences, happenings, numbers, prose, spark, table, thresholds, warnings,
};
use crate::metrics::{PolicySummary, Timeline};
use crate::results::Results;
use crate::scenario::Scenario;
use crate::units::SimTime;

/// Names longer than this are cut off where there are 80 columns.
const NAME_WIDTH: usize = 17;
/// What the rest of the table takes beside the names, at most.
const FIGURES_WIDTH: usize = 63;

/// The whole report, ending in a line break.
pub fn render(results: &Results, style: &Style) -> String {
    let mut parts = vec![head(results, style), figures(results, style), courses(results, style)];
    if let Some(reference) = &results.loaded.scenario.reference {
        let heading =
            differences::heading(reference).split(' ').map(Piece::new).collect::<Vec<_>>();
        let columns = differences::columns(results, name_width(results, style), style.glyphs);
        let heading = wrap(&heading, " ", style.width, "", style.ink);
        parts.insert(2, format!("{heading}{}", table::render(columns, style.width, style.ink)));
    }
    if let Some(thresholds) = thresholds::lines(results, style) {
        parts.insert(1, thresholds);
    }
    parts.push(wrap(&prose::verdict(results), " ", style.width, "", style.ink));
    let theory = beside::lines(results).into_iter();
    let theory: String = theory.map(|line| paragraph("", &line, style.width)).collect();
    let warnings = warnings::all(results).into_iter();
    let warnings = warnings.map(|text| paragraph("", &format!("warning: {text}"), style.width));
    parts.extend([theory, warnings.collect()].into_iter().filter(|part| !part.is_empty()));
    style.glyphs.write(&parts.join("\n"))
}

fn head(results: &Results, style: &Style) -> String {
    let words = |text: &str| text.split_whitespace().map(Piece::new).collect::<Vec<Piece>>();
    let mut out = String::new();
    if let Some(partial) = prose::partial(results) {
        let pieces: Vec<Piece> =
            partial.split_whitespace().map(|word| Piece::toned(word, Tone::Bad)).collect();
        out.push_str(&wrap(&pieces, " ", style.width, "", style.ink));
    }
    let title = prose::title(&results.loaded.scenario);
    out.push_str(&wrap(&words(&title), " ", style.width, "  ", style.ink));
    for facts in prose::facts(&results.loaded.scenario) {
        let facts: Vec<Piece> = facts.into_iter().map(Piece::new).collect();
        out.push_str("  ");
        out.push_str(&wrap(&facts, " · ", style.width.saturating_sub(2), "  ", style.ink));
    }
    for line in happenings::lines(&results.loaded.scenario) {
        let words = words(&line);
        out.push_str("  ");
        out.push_str(&wrap(&words, " ", style.width.saturating_sub(2), "    ", style.ink));
    }
    out
}

fn figures(results: &Results, style: &Style) -> String {
    table::render(columns::columns(results, name_width(results, style)), style.width, style.ink)
}

/// One sparkline per row of the table on one scale, and where the disturbances of all variants are.
fn courses(results: &Results, style: &Style) -> String {
    let scenario = &results.loaded.scenario;
    let (rows, width) = (Rows::of(&results.loaded.scenario), name_width(results, style));
    let names: Vec<String> =
        results.policies.iter().map(|policy| truncated(&rows.name(policy), width)).collect();
    let label = names.iter().map(|name| name.width()).max().unwrap_or(0) + 4;
    let room = style.width.saturating_sub(label).max(1);
    let courses = scenario.courses();
    let full = courses.iter().map(Scenario::largest_pool).max().unwrap_or_default();
    let mut out = format!(
        "active backends, 0 – {}, {} = full\n",
        numbers::span(scenario.run.duration.as_secs_f64()),
        numbers::count(f64::from(full)),
    );
    for (policy, name) in results.policies.iter().zip(&names) {
        let means = means(policy, room.min(policy.timeline.buckets.len()));
        let line = format!("  {}  {}", padded(name, label - 4), spark::line(&means, full.into()));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if let Some(first) = results.policies.first() {
        let mut times: Vec<SimTime> =
            courses.iter().flat_map(Scenario::happenings).map(|happening| happening.at).collect();
        times.sort_unstable();
        out.push_str(&marks(&times, &first.timeline, label, style.width));
    }
    out
}

/// Mean active backends in each of `cells` equal parts of the run.
fn means(policy: &PolicySummary, cells: usize) -> Vec<f64> {
    let Timeline { buckets, .. } = &policy.timeline;
    (0..cells)
        .map(|cell| {
            let part = cell * buckets.len() / cells..(cell + 1) * buckets.len() / cells;
            let held: u64 = buckets[part.clone()].iter().map(|bucket| bucket.sv_active_ticks).sum();
            let time: u64 = part.map(|index| policy.timeline.length(index).ticks()).sum();
            held as f64 / (time as f64 * policy.replicates.len() as f64)
        })
        .collect()
}

/// A line that points at each of these times in order and says when it was, as far as there is
/// room.
fn marks(times: &[SimTime], timeline: &Timeline, label: usize, width: usize) -> String {
    let cells = width.saturating_sub(label).max(1).min(timeline.buckets.len());
    let mut line = String::new();
    for &time in times {
        let column = label + cell_of(timeline, time, cells);
        if line.width() > column {
            continue;
        }
        let marked = format!("▲ {}", numbers::span(time.as_secs_f64()));
        let mark = if column + marked.width() <= width { &marked } else { "▲" };
        line = padded(&line, column);
        line.push_str(mark);
    }
    if line.is_empty() { line } else { format!("{line}\n") }
}

fn cell_of(timeline: &Timeline, at: SimTime, cells: usize) -> usize {
    let buckets = timeline.buckets.len();
    let bucket = timeline.index(at).min(buckets.saturating_sub(1));
    // The cell whose part [cell · buckets / cells, (cell + 1) · buckets / cells) holds the bucket.
    ((bucket + 1) * cells).div_ceil(buckets.max(1)).saturating_sub(1)
}

fn name_width(results: &Results, style: &Style) -> usize {
    let names = if Rows::of(&results.loaded.scenario) == Rows::Both { 2 } else { 1 };
    (names * NAME_WIDTH).max(style.width.saturating_sub(FIGURES_WIDTH))
}
