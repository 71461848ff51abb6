//! What retry rules do at each attempt: tables side by side, a picture, CSV, JSON, Markdown.

mod data;
mod words;

pub use data::{csv, json};

use std::fmt::Write as _;

use super::markdown::escaped;
use super::numbers::percent;
use super::table::{self, Column};
use super::text::{Glyphs, Piece, Style, Tone, paragraph};
use crate::policy::{Curve, Distribution, End, Guard, Retry};
use crate::scenario::Preset;
use words::{seconds, sentence};

/// A retry rule with its curve.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What it is called.
    pub name: String,
    /// The preset that it is, if it is one.
    pub preset: Option<&'static Preset>,
    /// The rule.
    pub retry: Retry,
    /// What holds it back, which its curve does not show.
    pub guards: Vec<Guard>,
    /// What it does.
    pub curve: Curve,
}

/// A figure of a delay.
struct Figure {
    name: &'static str,
    heading: &'static str,
    cell: fn(&Distribution, f64) -> String,
}

/// The figures of a delay in order, from its distribution and its cumulative mean.
const FIGURES: [Figure; 8] = [
    Figure { name: "min", heading: "min", cell: |delay, _| seconds(delay.min) },
    Figure { name: "p10", heading: "p10", cell: |delay, _| seconds(delay.p10) },
    Figure { name: "p50", heading: "p50", cell: |delay, _| seconds(delay.p50) },
    Figure { name: "mean", heading: "mean", cell: |delay, _| seconds(delay.mean) },
    Figure { name: "p90", heading: "p90", cell: |delay, _| seconds(delay.p90) },
    Figure { name: "max", heading: "max", cell: |delay, _| seconds(delay.max) },
    Figure { name: "at cap", heading: "at cap", cell: |delay, _| percent(delay.cap_share) },
    Figure { name: "sum of means", heading: "sum", cell: |_, sum| seconds(sum) },
];

/// Which figures are shown side by side, the first that fit: by their index.
const SIDE_BY_SIDE: [&[usize]; 6] =
    [&[0, 1, 2, 3, 4, 5, 6, 7], &[1, 2, 3, 4, 6, 7], &[1, 3, 4, 6], &[3, 4, 6], &[3, 6], &[3]];

/// Stands before what is beyond a rule's stop.
const BEYOND: char = '·';
/// Stands where there is no delay, below the reason.
const ABSENT: &str = "–";

/// Letters that stand for the rules; there are as many tables as it takes.
const LETTERS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

/// For people: the rules, their delays side by side, and what may surprise.
pub fn render(shown: &[Shown], style: &Style) -> String {
    // One figure of each has room, so that none is left out.
    let most = (style.width / 10).clamp(1, LETTERS.len());
    let groups = shown.chunks(most).map(|group| render_group(group, style));
    style.glyphs.write(&groups.collect::<Vec<_>>().join("\n"))
}

fn render_group(group: &[Shown], style: &Style) -> String {
    let mut out = String::new();
    for (letter, rule) in LETTERS.iter().zip(group) {
        let _ = writeln!(out, "{letter}  {}", rule.name);
        for fact in rule.facts(style.glyphs) {
            for line in paragraph("", &fact, style.width.saturating_sub(3)).lines() {
                let _ = writeln!(out, "   {line}");
            }
        }
    }
    let caption = format!("Seconds from a failed attempt to the next. {}", words::beyond(group));
    let _ = writeln!(out, "\n{}", paragraph("", &caption, style.width));
    let all = SIDE_BY_SIDE.map(|figures| columns(group, figures));
    let [.., least] = &all;
    let fitting = all.iter().find(|columns| table::fits(columns, style.width)).unwrap_or(least);
    out.push_str(&table::render(fitting.clone(), style.width, style.ink));
    let mut surprises = String::new();
    for (letter, rule) in LETTERS.iter().zip(group) {
        for surprise in &rule.curve.surprises {
            let words = format!("{letter}: {}", sentence(surprise, rule));
            surprises.push_str(&paragraph("- ", &words, style.width));
        }
    }
    match surprises.is_empty() {
        true => out,
        false => format!("{out}\n{surprises}"),
    }
}

/// A column of attempts, then the chosen figures of each rule.
fn columns(group: &[Shown], figures: &[usize]) -> Vec<Column<'static>> {
    let rows = group.iter().map(Shown::rows).max().unwrap_or(0);
    let attempts = (1..=rows).map(|attempt| Piece::new(attempt.to_string())).collect();
    let mut columns = vec![Column {
        name: "attempt",
        heading: ["", "attempt"],
        weight: u8::MAX,
        cells: attempts,
    }];
    for (letter, rule) in LETTERS.into_iter().zip(group) {
        for (place, figure) in figures.iter().map(|&index| &FIGURES[index]).enumerate() {
            let mut cells = rule.cells(figure);
            let mut heading = ["", figure.heading];
            if place == 0 {
                heading[0] = letter;
                rule.mark(&mut cells);
            }
            cells.resize(rows, Piece::new(ABSENT));
            columns.push(Column { name: figure.name, heading, weight: 1, cells });
        }
    }
    columns
}

impl Shown {
    /// Its rows: one for each delay, and one to say why there are no more.
    fn rows(&self) -> usize {
        self.curve.delays.len() + usize::from(self.curve.end.is_some())
    }

    /// A figure of each delay, faint beyond the stop.
    fn cells(&self, figure: &Figure) -> Vec<Piece> {
        let cell = |(attempt, (delay, sum))| {
            let tone = if self.curve.is_beyond_stop(attempt) { Tone::Faint } else { Tone::Neutral };
            Piece::toned((figure.cell)(delay, sum), tone)
        };
        (1..).zip(self.curve.steps()).map(cell).collect()
    }

    /// Marks what is beyond the stop, and says why there is no more, in the `cells` of its first figure.
    fn mark(&self, cells: &mut Vec<Piece>) {
        let kept = (1..).take(cells.len()).take_while(|&k| !self.curve.is_beyond_stop(k)).count();
        let (before, beyond) = cells.split_at_mut(kept);
        let widest = |cells: &[Piece]| cells.iter().map(Piece::width).max().unwrap_or(0);
        let width = widest(before).max(widest(beyond) + 1) - 1;
        for cell in beyond {
            cell.text = format!("{BEYOND} {:>width$}", cell.text);
        }
        cells.extend(self.curve.end.map(|end| {
            Piece::new(match end {
                End::Stops => "stops",
                End::Raises => "raises",
            })
        }));
    }
}

/// A fan of delays for each rule.
pub fn svg(shown: &[Shown]) -> String {
    super::svg::fans(shown).file()
}

/// A table for each rule.
pub fn markdown(shown: &[Shown]) -> String {
    let mut out = String::new();
    for rule in shown {
        let _ = writeln!(out, "### {}\n", escaped(&rule.name));
        for line in rule.facts(Glyphs::Unicode) {
            let _ = writeln!(out, "- {}", escaped(&line));
        }
        for surprise in &rule.curve.surprises {
            let _ = writeln!(out, "- {}", sentence(surprise, rule));
        }
        let beyond = words::beyond(std::slice::from_ref(rule));
        if !beyond.is_empty() {
            let _ = writeln!(out, "- {beyond}");
        }
        let figures: Vec<usize> = (0..FIGURES.len()).collect();
        let columns = columns(std::slice::from_ref(rule), &figures);
        let in_seconds = |name| if name == "at cap" || name == "attempt" { "" } else { " (s)" };
        out.push('\n');
        let names =
            columns.iter().map(|column| format!("{}{}", column.name, in_seconds(column.name)));
        let _ = writeln!(out, "| {} |", names.collect::<Vec<_>>().join(" | "));
        let _ = writeln!(out, "|{}", " ---: |".repeat(columns.len()));
        for row in 0..rule.rows() {
            let cells: Vec<&str> =
                columns.iter().map(|column| column.cells[row].text.as_str()).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out.push('\n');
    }
    out
}
