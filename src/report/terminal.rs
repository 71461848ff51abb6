//! The report on the terminal: what ran, the verdict, whether its thresholds hold, a row per policy or
//! variant, the course of each and how it fills the pool, what theory says, and warnings.

use super::rows::Rows;
use super::text::{Piece, Style, Tone, paragraph, wrap};
use super::{
    beside, columns, courses, differences, happenings, histogram, prose, table, thresholds,
    warnings,
};
use crate::results::Results;

/// Names longer than this are cut off where there are 80 columns.
const NAME_WIDTH: usize = 17;
/// What the rest of the table takes beside the names, at most.
const FIGURES_WIDTH: usize = 63;

/// The whole report, ending in a line break.
pub fn render(results: &Results, style: &Style) -> String {
    let verdict = wrap(&prose::verdict(results), " ", style.width, "", style.ink);
    let mut parts = vec![head(results, style), verdict];
    parts.extend(thresholds::lines(results, style));
    parts.push(figures(results, style));
    if let Some(reference) = &results.loaded.scenario.reference {
        let heading = paragraph("", &differences::heading(reference), style.width);
        let columns = differences::columns(results, name_width(results, style), style.glyphs);
        parts.push(format!("{heading}{}", table::render(columns, style.width, style.ink)));
    }
    parts.push(courses::render(results, name_width(results, style), style.width));
    parts.push(histogram::render(results, name_width(results, style), style.width));
    let theory = beside::lines(results).into_iter();
    let theory: String = theory.map(|line| paragraph("", &line, style.width)).collect();
    let warnings = warnings::all(results).into_iter();
    let warnings = warnings.map(|text| paragraph("", &format!("warning: {text}"), style.width));
    parts.extend([theory, warnings.collect()]);
    parts.retain(|part| !part.is_empty());
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

fn name_width(results: &Results, style: &Style) -> usize {
    let names = if Rows::of(&results.loaded.scenario) == Rows::Both { 2 } else { 1 };
    (names * NAME_WIDTH).max(style.width.saturating_sub(FIGURES_WIDTH))
}
