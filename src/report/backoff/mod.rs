//! What retry rules do at each attempt: tables side by side, CSV, JSON, Markdown.

use std::fmt::Write as _;

use serde::Serialize;

use super::numbers::{count, percent};
use super::table::{self, Column};
use super::text::{Piece, Style, paragraph};
use crate::policy::{Curve, Distribution, Retry, SAMPLES, Stop, Surprise};
use crate::results::tables::decimal;

/// A retry rule with its curve.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What it is called.
    pub name: String,
    /// Its formula, if it has one.
    pub formula: Option<String>,
    /// The rule.
    pub retry: Retry,
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
const SIDE_BY_SIDE: [&[usize]; 5] =
    [&[0, 1, 2, 3, 4, 5, 6, 7], &[1, 2, 3, 4, 6, 7], &[1, 3, 4, 6], &[3, 4, 6], &[3, 6]];

/// Letters that stand for the rules; there are as many tables as it takes.
const LETTERS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

/// For people: the rules, their delays side by side, and what may surprise.
pub fn render(shown: &[Shown], style: &Style) -> String {
    let groups = shown.chunks(LETTERS.len()).map(|group| render_group(group, style));
    style.glyphs.write(&groups.collect::<Vec<_>>().join("\n"))
}

fn render_group(group: &[Shown], style: &Style) -> String {
    let mut out = String::new();
    for (letter, rule) in LETTERS.iter().zip(group) {
        let _ = writeln!(out, "{letter}  {}", rule.name);
        for fact in rule.facts() {
            for line in paragraph("", &fact, style.width.saturating_sub(3)).lines() {
                let _ = writeln!(out, "   {line}");
            }
        }
    }
    out.push_str("\nSeconds from a failed attempt to the next.\n\n");
    let all = SIDE_BY_SIDE.map(|figures| columns(group, figures));
    let [.., least] = &all;
    let fitting = all.iter().find(|columns| table::fits(columns, style.width)).unwrap_or(least);
    out.push_str(&table::render(fitting.clone(), style.width, style.ink));
    for (letter, rule) in LETTERS.iter().zip(group) {
        for surprise in &rule.curve.surprises {
            let words = format!("{letter}: {}", sentence(surprise));
            let _ = write!(out, "\n{}", paragraph("- ", &words, style.width));
        }
    }
    out
}

/// A column of attempts, then the chosen figures of each rule.
fn columns(group: &[Shown], figures: &[usize]) -> Vec<Column> {
    let rows = group.iter().map(|rule| rule.curve.delays.len()).max().unwrap_or(0);
    let attempts = (1..=rows).map(|attempt| Piece::new(attempt.to_string())).collect();
    let mut columns = vec![Column {
        name: "attempt",
        heading: ["", "attempt"],
        weight: u8::MAX,
        cells: attempts,
    }];
    for (letter, rule) in LETTERS.into_iter().zip(group) {
        for (place, figure) in figures.iter().map(|&index| &FIGURES[index]).enumerate() {
            let steps = rule.curve.steps();
            let mut cells: Vec<Piece> =
                steps.map(|(delay, sum)| Piece::new((figure.cell)(delay, sum))).collect();
            cells.resize(rows, Piece::new("raises"));
            let letter = if place == 0 { letter } else { "" };
            let heading = [letter, figure.heading];
            columns.push(Column { name: figure.name, heading, weight: 1, cells });
        }
    }
    columns
}

impl Shown {
    /// Its formula, where it stops and how its figures were got, in lines.
    fn facts(&self) -> Vec<String> {
        let exact = self.curve.delays.iter().filter(|delay| delay.exact).count();
        let how = match exact {
            0 => format!("sampled from {} clients", count(f64::from(SAMPLES))),
            all if all == self.curve.delays.len() => "exact".to_owned(),
            some => {
                let (all, samples) = (self.curve.delays.len(), count(f64::from(SAMPLES)));
                format!("exact at {some} of {all} attempts, else sampled from {samples} clients")
            }
        };
        self.formula
            .iter()
            .cloned()
            .chain([format!("{}; {how}", stops(&self.retry.stop))])
            .collect()
    }
}

/// Where a rule stops, in words.
fn stops(stop: &Stop) -> String {
    let limits = [
        stop.attempts.map(|attempts| format!("after {attempts} attempts")),
        stop.elapsed.map(|elapsed| format!("when an attempt fails {elapsed} after the first")),
        stop.elapsed_with_delay.map(|elapsed| format!("before a delay beyond {elapsed}")),
    ];
    match limits.into_iter().flatten().collect::<Vec<_>>().join(", or ") {
        none if none.is_empty() => "never stops".to_owned(),
        limits => format!("stops {limits}"),
    }
}

/// A surprise in words.
fn sentence(surprise: &Surprise) -> String {
    match *surprise {
        Surprise::NoJitter => {
            "no jitter: clients whose attempts fail together try again together.".to_owned()
        }
        Surprise::FirstUnjittered(delay) => {
            format!("the first retry has no jitter: it comes after exactly {} s.", seconds(delay))
        }
        Surprise::JitterVanishes { from, until, cap } => {
            let when = match until {
                None => format!("from attempt {from} on"),
                Some(until) if until == from => format!("at attempt {from}"),
                Some(until) => format!("at attempts {from} to {until}"),
            };
            let cap = seconds(cap);
            format!(
                "jitter vanishes at the cap: {when}, 90 % of the delays or more are exactly {cap} s."
            )
        }
        Surprise::JitterHalved { from, share, cap } => {
            let (share, cap) = (percent(share), seconds(cap));
            format!(
                "from attempt {from} on, up to {share} of the delays are exactly the cap of {cap} s."
            )
        }
        Surprise::ExceedsCap { from, longest, cap } => {
            let (longest, cap) = (seconds(longest), seconds(cap));
            format!("may exceed its cap of {cap} s from attempt {from} on: up to {longest} s.")
        }
        Surprise::Unbounded => "unbounded: no cap ends the growth.".to_owned(),
        Surprise::Raises(attempt) => {
            format!("overflow: the code raises at attempt {attempt}, and its caller has failed.")
        }
    }
}

/// Seconds in three significant digits.
fn seconds(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        _ if value >= 1e6 => format!("{value:.1e}"),
        _ if value >= 99.95 => format!("{value:.0}"),
        _ if value >= 9.995 => format!("{value:.1}"),
        _ if value >= 0.999_5 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// A row per rule and attempt, in seconds.
pub fn csv(shown: &[Shown]) -> Vec<u8> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let header = "policy,attempt,min_s,p10_s,p50_s,mean_s,p90_s,max_s,cap_share,cumulative_mean_s";
    let written = "a table in memory can be written";
    table.write_record(header.split(',')).expect(written);
    for rule in shown {
        for (attempt, (d, sum)) in (1..).zip(rule.curve.steps()) {
            let figures = [d.min, d.p10, d.p50, d.mean, d.p90, d.max, d.cap_share, sum];
            let figures = figures.map(decimal);
            let keys = [rule.name.clone(), format!("{attempt}")];
            table.write_record(keys.into_iter().chain(figures)).expect(written);
        }
    }
    table.into_inner().expect(written)
}

#[derive(Serialize)]
struct JsonRule<'a> {
    policy: &'a str,
    formula: Option<&'a str>,
    surprises: Vec<String>,
    attempts: Vec<JsonAttempt>,
}

#[derive(Serialize)]
struct JsonAttempt {
    attempt: u32,
    exact: bool,
    min_s: f64,
    p10_s: f64,
    p50_s: f64,
    mean_s: f64,
    p90_s: f64,
    max_s: f64,
    cap_share: f64,
    cumulative_mean_s: f64,
}

/// The same as JSON, with what may surprise.
pub fn json(shown: &[Shown]) -> String {
    let attempt = |(attempt, (d, sum)): (u32, (&Distribution, f64))| JsonAttempt {
        attempt,
        exact: d.exact,
        min_s: d.min,
        p10_s: d.p10,
        p50_s: d.p50,
        mean_s: d.mean,
        p90_s: d.p90,
        max_s: d.max,
        cap_share: d.cap_share,
        cumulative_mean_s: sum,
    };
    let rules: Vec<JsonRule<'_>> = shown
        .iter()
        .map(|rule| JsonRule {
            policy: &rule.name,
            formula: rule.formula.as_deref(),
            surprises: rule.curve.surprises.iter().map(sentence).collect(),
            attempts: (1..).zip(rule.curve.steps()).map(attempt).collect(),
        })
        .collect();
    let mut text = serde_json::to_string_pretty(&rules).expect("its keys are texts");
    text.push('\n');
    text
}

/// A table for each rule.
pub fn markdown(shown: &[Shown]) -> String {
    let mut out = String::new();
    for rule in shown {
        let _ = writeln!(out, "### {}\n", super::markdown::escaped(&rule.name));
        for line in rule.facts() {
            let _ = writeln!(out, "- {}", super::markdown::escaped(&line));
        }
        for surprise in &rule.curve.surprises {
            let _ = writeln!(out, "- {}", sentence(surprise));
        }
        let figures: Vec<usize> = (0..FIGURES.len()).collect();
        let columns = columns(std::slice::from_ref(rule), &figures);
        let in_seconds = |name| if name == "at cap" || name == "attempt" { "" } else { " (s)" };
        out.push('\n');
        let names =
            columns.iter().map(|column| format!("{}{}", column.name, in_seconds(column.name)));
        let _ = writeln!(out, "| {} |", names.collect::<Vec<_>>().join(" | "));
        let _ = writeln!(out, "|{}", " ---: |".repeat(columns.len()));
        for row in 0..rule.curve.delays.len() {
            let cells: Vec<&str> =
                columns.iter().map(|column| column.cells[row].text.as_str()).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out.push('\n');
    }
    out
}
