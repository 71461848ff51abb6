//! Two finished runs side by side: a sentence and tables for people, CSV and JSON for programs.
//!
//! The tables show what differs or is undecided, the figures that decide about a policy first. A time
//! that may be censored has no interval of its difference: in its place stands how many replicates got
//! there.

use std::fmt::Write as _;

use serde::Serialize;

use super::numbers::{count, percent, span};
use super::table::{self, Column};
use super::text::{Piece, Style, Tone, paragraph, truncated};
use crate::metrics::{
    Design, Difference, Estimate, Kind, Method, Metric, Verdict, replicates_for_median_interval,
};
use crate::results::Finished;
use crate::results::comparison::{Change, Compared, Comparison};
use crate::results::read::Case;
use crate::results::tables::decimal;

/// The figures that people ask for first; the others follow in the order of `summary.csv`.
const FIRST: [Metric; 12] = [
    Metric::TimeToDrain,
    Metric::DrainedShare,
    Metric::Served99,
    Metric::Amplification,
    Metric::Attempts,
    Metric::Refused,
    Metric::WastedBackend,
    Metric::SvActiveMax,
    Metric::SvActiveMean,
    Metric::WaitP99,
    Metric::RequestsServed,
    Metric::PickupP99,
];

/// What stands where there is nothing to measure.
const ABSENT: &str = "–";
/// What stands for a median that had not come by the end of the run.
const BEYOND: &str = "> end";
/// Changes of the scenario that are shown.
const CHANGES: usize = 6;

/// Which metrics a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Those that differ, and those of which the replicates do not tell.
    WhatMayDiffer,
    /// Every one.
    All,
}

/// For people: what was compared, a sentence, and a table per policy.
pub fn render(comparison: &Comparison, extent: Extent, style: &Style) -> String {
    let width = style.width;
    let mut out = String::new();
    let mut say = |bullet: &str, words: &str| out.push_str(&paragraph(bullet, words, width));
    say("", &sentence(comparison));
    for (bullet, run) in [("A: ", &comparison.a), ("B: ", &comparison.b)] {
        say(bullet, &about(run, comparison));
    }
    for words in remarks(comparison) {
        say("", &words);
    }
    let mut same = Vec::new();
    for compared in &comparison.cases {
        let shown = shown(compared, extent);
        if shown.is_empty() {
            same.push(compared.case.to_string());
            continue;
        }
        let _ = writeln!(out, "\n{}", truncated(&compared.case.to_string(), width));
        out.push_str(&table::render(columns(&shown), width, style.ink));
    }
    if !same.is_empty() {
        let words = format!("The same in every metric and replicate: {}.", same.join(", "));
        let _ = write!(out, "\n{}", paragraph("", &words, width));
    }
    let notes = notes(comparison, extent);
    if !notes.is_empty() {
        let _ = write!(out, "\n{}", paragraph("", &notes, width));
    }
    style.glyphs.write(&out)
}

/// How many policies are in common, and under how many of them something differs.
fn sentence(comparison: &Comparison) -> String {
    let of = |wanted: fn(Verdict) -> bool| {
        let has = |case: &&Compared| case.differences.iter().any(|found| wanted(found.verdict));
        comparison.cases.iter().filter(has).count()
    };
    let variants = comparison.cases.iter().any(|compared| compared.case.variant.is_some());
    let common = match (comparison.cases.len(), variants) {
        (1, false) => "1 policy".to_owned(),
        (n, false) => format!("{n} policies"),
        (1, true) => "1 policy in a variant".to_owned(),
        (n, true) => format!("{n} policies in variants"),
    };
    let differs = of(Verdict::differs);
    let undecided = of(|verdict| verdict == Verdict::Undecided);
    match (differs, undecided) {
        (0, 0) => format!("{common} in common: everything is the same in every replicate."),
        (0, _) => format!(
            "{common} in common; under none of them it is sure that anything differs, under \
             {undecided} something is undecided."
        ),
        _ => format!("{common} in common; under {differs} of them something differs."),
    }
}

/// What a run was.
fn about(run: &Finished, comparison: &Comparison) -> String {
    let mut words = vec![clean(&run.dir.display().to_string())];
    if comparison.a.scenario != comparison.b.scenario {
        words.push(format!("scenario {}", run.scenario));
    }
    words.push(format!("herdsim {}", clean(&run.version)));
    words.push(format!("seed {}", run.seed));
    let replicates = run.cases.values().map(|rows| rows.len()).max().unwrap_or(0);
    words.push(plural(replicates, "replicate"));
    words.join(" · ")
}

/// What to know before the figures.
fn remarks(comparison: &Comparison) -> Vec<String> {
    let mut remarks = Vec::new();
    let used = comparison.cases.iter().map(|case| case.replicates[0]).max().unwrap_or(0);
    remarks.push(match comparison.design {
        Design::Paired => format!(
            "Equal seeds: {} met the same random worlds and {} compared in pairs.",
            plural(used, "replicate"),
            if used == 1 { "is" } else { "are" }
        ),
        Design::Unpaired => {
            "Different seeds: all random worlds are independent, and differences less sure."
                .to_owned()
        }
    });
    for (name, only) in [("A", &comparison.only_a), ("B", &comparison.only_b)] {
        if !only.is_empty() {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            remarks.push(format!("Only {name} has {}.", only.join(", ")));
        }
    }
    let missing = Metric::ALL.len()
        - comparison.cases.iter().map(|case| case.differences.len()).max().unwrap_or(0);
    if missing > 0 {
        remarks.push(format!("{} not in both folders.", plural(missing, "metric")));
    }
    let changes: Vec<&Change> =
        comparison.changes.iter().filter(|change| is_told(change)).collect();
    if !changes.is_empty() {
        let shown = changes.iter().take(CHANGES).map(|change| {
            let value = |json: &Option<serde_json::Value>| match json {
                None => "none".to_owned(),
                Some(serde_json::Value::String(text)) => truncated(&clean(text), 24),
                Some(json) => truncated(&clean(&json.to_string()), 24),
            };
            let key = truncated(&clean(&change.key), 48);
            format!("{key} from {} to {}", value(&change.a), value(&change.b))
        });
        let mut words = format!("Changed: {}", shown.collect::<Vec<_>>().join("; "));
        if changes.len() > CHANGES {
            let _ = write!(words, "; and {} more", changes.len() - CHANGES);
        }
        remarks.push(format!("{words}."));
    }
    remarks
}

/// Whether a change is worth a word: seed, replicates, the name and the policies of one run alone are
/// told elsewhere.
fn is_told(change: &Change) -> bool {
    let elsewhere = ["run.seed", "run.replicates", "name", "title"];
    let alone = change.a.is_none() || change.b.is_none();
    let of_one_run =
        alone && change.key.strip_prefix("policies.").is_some_and(|policy| !policy.contains('.'));
    !(elsewhere.contains(&change.key.as_str()) || of_one_run)
}

/// The metrics of a table in its order.
fn shown(compared: &Compared, extent: Extent) -> Vec<&Difference> {
    let place = |metric| FIRST.iter().position(|first| *first == metric).unwrap_or(FIRST.len());
    let wanted = |found: &&Difference| extent == Extent::All || found.verdict != Verdict::Same;
    let mut shown: Vec<&Difference> = compared.differences.iter().filter(wanted).collect();
    shown.sort_by_key(|found| (place(found.metric), found.metric));
    shown
}

fn columns(shown: &[&Difference]) -> Vec<Column<'static>> {
    let column = |name, weight, cell: fn(&Difference) -> Piece| Column {
        name,
        heading: ["", name],
        weight,
        cells: shown.iter().map(|found| cell(found)).collect(),
    };
    vec![
        column("metric", u8::MAX, |found| Piece::new(found.metric.name())),
        column("A", 5, |found| Piece::new(estimate(&found.a))),
        column("B", 6, |found| Piece::new(estimate(&found.b))),
        column("B − A", 4, |found| {
            let unit = found.metric.unit();
            Piece::new(found.difference.map_or(ABSENT.to_owned(), |by| signed(unit, by)))
        }),
        column("95 % interval", 3, interval),
        column("verdict", 7, |found| match found.verdict {
            Verdict::Lower | Verdict::Higher => Piece::new(found.verdict.to_string()),
            Verdict::Same | Verdict::Undecided => {
                Piece::toned(found.verdict.to_string(), Tone::Faint)
            }
        }),
    ]
}

fn estimate(estimate: &Estimate) -> String {
    match estimate.estimate {
        Some(value) => figure(estimate.metric.unit(), value),
        None if estimate.censored > 0 => BEYOND.to_owned(),
        None => ABSENT.to_owned(),
    }
}

/// The interval of the difference; of a time, how many replicates got there in A and in B.
fn interval(found: &Difference) -> Piece {
    let came = |side: &Estimate| format!("{}/{}", side.replicates - side.censored, side.replicates);
    let unit = found.metric.unit();
    match (found.metric.kind(), found.low, found.high) {
        (Kind::Time, ..) if found.a.replicates + found.b.replicates > 0 => {
            Piece::toned(format!("{}, {} came", came(&found.a), came(&found.b)), Tone::Faint)
        }
        (_, Some(low), Some(high)) => {
            Piece::new(format!("{} … {}", signed(unit, low), signed(unit, high)))
        }
        _ => Piece::new(ABSENT),
    }
}

/// A figure of a unit, for people. Only a damaged folder has one below zero.
fn figure(unit: &str, value: f64) -> String {
    let sign = if value < 0.0 { "−" } else { "" };
    let size = value.abs();
    let text = match unit {
        "s" => span(size),
        "ms" => span(size / 1e3),
        "share" => percent(size),
        "ratio" if size < 9.995 => format!("{size:.3}"),
        "ratio" if size < 99.95 => format!("{size:.1}"),
        _ if size > 0.0 && size < 9.995 && size.fract() != 0.0 => format!("{size:.2}"),
        _ => count(size),
    };
    format!("{sign}{text}")
}

/// A difference, always with its sign.
fn signed(unit: &str, value: f64) -> String {
    let text = figure(unit, value);
    if value > 0.0 { format!("+{text}") } else { text }
}

/// What to know about the verdicts.
fn notes(comparison: &Comparison, extent: Extent) -> String {
    let all = || comparison.cases.iter().flat_map(|compared| shown(compared, extent));
    let mut notes = Vec::new();
    if all().any(|found| estimate(&found.a) == BEYOND || estimate(&found.b) == BEYOND) {
        notes.push(format!("{BEYOND}: the median had not come by the end of the run."));
    }
    let enough = replicates_for_median_interval();
    let few = |found: &Difference| {
        let fewest = found.a.replicates.min(found.b.replicates);
        found.method == Method::Medians
            && found.verdict == Verdict::Undecided
            && (1..enough).contains(&fewest)
    };
    if all().any(few) {
        notes.push(format!(
            "A median has a 95 % interval from {enough} replicates on: run both with --replicates \
             {enough} or more."
        ));
    } else if comparison.cases.iter().any(|case| case.replicates.contains(&1)) {
        notes.push("One replicate has no interval: run both with more.".to_owned());
    }
    if all().any(|found| found.verdict.differs()) {
        notes.push(
            "Each interval is of one metric: where many do not differ, 1 in 20 may seem to."
                .to_owned(),
        );
    }
    notes.join(" ")
}

/// Text of a folder or a path without control characters.
fn clean(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { '?' } else { sign }).collect()
}

fn plural(number: usize, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// A row per policy and metric, as for programs: an empty field is a figure that does not exist.
pub fn csv(comparison: &Comparison) -> Vec<u8> {
    let variants = comparison.cases.iter().any(|compared| compared.case.variant.is_some());
    let mut table = csv::Writer::from_writer(Vec::new());
    let written = "a table in memory can be written";
    let keys = if variants { "policy,variant" } else { "policy" };
    let header = format!(
        "{keys},metric,unit,method,a,a_ci_low,a_ci_high,b,b_ci_low,b_ci_high,difference,ci_low,\
         ci_high,replicates_a,replicates_b,censored_a,censored_b,verdict"
    );
    table.write_record(header.split(',')).expect(written);
    for compared in &comparison.cases {
        for found in &compared.differences {
            let (a, b) = (&found.a, &found.b);
            let mut row = vec![compared.case.policy.clone()];
            if variants {
                row.push(compared.case.variant.clone().unwrap_or_default());
            }
            row.extend([
                found.metric.name().to_owned(),
                found.metric.unit().to_owned(),
                found.method.to_string(),
            ]);
            let sides = [a.estimate, a.low, a.high, b.estimate, b.low, b.high];
            let figures = sides.into_iter().chain([found.difference, found.low, found.high]);
            row.extend(figures.map(|figure| finite(figure).map_or_else(String::new, decimal)));
            let counts = [a.replicates, b.replicates, a.censored, b.censored];
            row.extend(counts.map(|count| count.to_string()));
            row.push(found.verdict.to_string());
            table.write_record(row).expect(written);
        }
    }
    table.into_inner().expect(written)
}

/// Estimates of a damaged folder may be beyond all numbers.
fn finite(figure: Option<f64>) -> Option<f64> {
    figure.filter(|figure| figure.is_finite())
}

#[derive(Serialize)]
struct Report<'a> {
    design: &'static str,
    a: Run<'a>,
    b: Run<'a>,
    only_a: Vec<Name<'a>>,
    only_b: Vec<Name<'a>>,
    changes: Vec<Changed<'a>>,
    policies: Vec<Policy<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    folder: String,
    scenario: &'a str,
    version: &'a str,
    digest: &'a str,
    seed: u64,
}

#[derive(Serialize)]
struct Name<'a> {
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
}

#[derive(Serialize)]
struct Changed<'a> {
    key: &'a str,
    a: &'a Option<serde_json::Value>,
    b: &'a Option<serde_json::Value>,
}

#[derive(Serialize)]
struct Policy<'a> {
    #[serde(flatten)]
    name: Name<'a>,
    metrics: Vec<Figures>,
}

#[derive(Serialize)]
struct Figures {
    metric: &'static str,
    unit: &'static str,
    method: String,
    a: Side,
    b: Side,
    difference: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    verdict: String,
}

#[derive(Serialize)]
struct Side {
    estimate: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    replicates: usize,
    censored: usize,
}

/// The same as JSON, with what was compared. A figure that does not exist is `null`.
pub fn json(comparison: &Comparison) -> String {
    let report = Report {
        design: match comparison.design {
            Design::Paired => "paired",
            Design::Unpaired => "unpaired",
        },
        a: Run::of(&comparison.a),
        b: Run::of(&comparison.b),
        only_a: comparison.only_a.iter().map(Name::of).collect(),
        only_b: comparison.only_b.iter().map(Name::of).collect(),
        changes: comparison
            .changes
            .iter()
            .map(|Change { key, a, b }| Changed { key, a, b })
            .collect(),
        policies: comparison
            .cases
            .iter()
            .map(|compared| Policy {
                name: Name::of(&compared.case),
                metrics: compared.differences.iter().map(Figures::of).collect(),
            })
            .collect(),
    };
    super::json::pretty(&report)
}

impl<'a> Run<'a> {
    fn of(run: &'a Finished) -> Run<'a> {
        Run {
            folder: run.dir.display().to_string(),
            scenario: &run.scenario,
            version: &run.version,
            digest: &run.digest,
            seed: run.seed,
        }
    }
}

impl<'a> Name<'a> {
    fn of(case: &'a Case) -> Name<'a> {
        Name { policy: &case.policy, variant: case.variant.as_deref() }
    }
}

impl Figures {
    fn of(found: &Difference) -> Figures {
        let side = |of: &Estimate| Side {
            estimate: finite(of.estimate),
            ci_low: finite(of.low),
            ci_high: finite(of.high),
            replicates: of.replicates,
            censored: of.censored,
        };
        Figures {
            metric: found.metric.name(),
            unit: found.metric.unit(),
            method: found.method.to_string(),
            a: side(&found.a),
            b: side(&found.b),
            difference: found.difference,
            ci_low: found.low,
            ci_high: found.high,
            verdict: found.verdict.to_string(),
        }
    }
}
