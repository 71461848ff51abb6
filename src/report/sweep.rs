//! A sweep: one row for each policy at each combination of values.

use std::collections::BTreeMap;

use serde::Serialize;

use super::json::{Policy, pretty};
use super::numbers::{count, factor, of_kind, percent};
use super::rows::Rows;
use super::table::{self, Column};
use super::text::{Glyphs, Piece, Style, Tone};
use super::{markdown, thresholds};
use crate::metrics::{Judgement, Kind, Metric, Outcome};
use crate::results::{Swept, digest};

/// The sweep on the terminal, policy by policy so that the course of a figure is seen.
pub fn render(swept: &Swept, style: &Style) -> String {
    let rows = rows(swept);
    let mut out = format!("{}\n", heading(swept));
    let judged = swept.judged();
    if !judged.is_empty() {
        out.push_str(&format!("thresholds: {}\n", thresholds::tally(&judged)));
    }
    out.push('\n');
    out.push_str(&table::render(columns(swept, &rows, style.glyphs), style.width, style.ink));
    style.glyphs.write(&out)
}

/// The same for a pull request.
pub fn markdown(swept: &Swept) -> String {
    let columns = table(swept);
    let mut out = format!("# {}\n\n", markdown::escaped(&heading(swept)));
    markdown::push_table(&mut out, &columns);
    out
}

/// A row for each case at each point.
pub(super) fn table(swept: &Swept) -> Vec<Column<'_>> {
    columns(swept, &rows(swept), Glyphs::Unicode)
}

/// All estimates, point by point.
pub fn json(swept: &Swept) -> String {
    let points = swept.points.iter().map(|(values, outcomes)| Point {
        values: swept.points.axes.iter().map(|axis| &*axis.key).zip(values).collect(),
        policies: outcomes
            .iter()
            .map(|case| {
                Policy::of(&case.policy, case.variant.as_deref(), |metric| case.estimate(metric))
            })
            .collect(),
    });
    let report = Report {
        scenario: &swept.loaded.scenario.name,
        digest: digest(&swept.loaded),
        points: points.collect(),
    };
    pretty(&report)
}

fn heading(swept: &Swept) -> String {
    let scenario = &swept.loaded.scenario;
    let keys: Vec<&str> = swept.points.axes.iter().map(|axis| &*axis.key).collect();
    let replicates = scenario.run.replicates;
    format!("{}: {}, {replicates} replicates each", scenario.name, keys.join(" × "))
}

/// What its policies and variants are called, in order.
pub(super) fn names(swept: &Swept) -> Vec<String> {
    let rows = Rows::of(&swept.loaded.scenario);
    let cases = swept.points.cases().iter();
    cases.map(|case| rows.of_case(&case.policy, case.variant.as_deref())).collect()
}

/// What a row is about: the values of the keys there, and the outcome.
type Row<'a> = (Vec<&'a str>, &'a Outcome);

fn rows(swept: &Swept) -> Vec<Row<'_>> {
    let cases = 0..swept.points.cases().len();
    let points: Vec<_> = swept.points.iter().collect();
    let row = |case: usize| points.iter().map(move |(values, all)| (values.clone(), &all[case]));
    cases.flat_map(row).collect()
}

fn columns<'a>(swept: &'a Swept, rows: &[Row<'a>], glyphs: Glyphs) -> Vec<Column<'a>> {
    let scenario = &swept.loaded.scenario;
    let names = Rows::of(scenario);
    let column = |name, heading, weight, cell: &dyn Fn(&Row<'a>) -> Piece| Column {
        name,
        heading,
        weight,
        cells: rows.iter().map(cell).collect(),
    };
    let mut columns =
        vec![column(names.heading(), ["", names.heading()], u8::MAX, &|(_, case)| {
            Piece::new(names.of_case(&case.policy, case.variant.as_deref()))
        })];
    for (index, axis) in swept.points.axes.iter().enumerate() {
        let value = |(values, _): &Row<'a>| Piece::new(values[index]);
        columns.push(column(&axis.key, short(&axis.key), u8::MAX, &value));
    }
    if !scenario.thresholds.is_empty() {
        let worst = |(_, case): &Row<'a>| worst(swept, case, glyphs);
        columns.push(column("thresholds", ["", "thresholds"], 11, &worst));
    }
    let triggered = rows.iter().any(|(_, case)| case.estimate(Metric::TimeToDrain).replicates > 0);
    let figures: &[(Metric, [&str; 2], u8)] = match triggered {
        true => &[
            (Metric::SvActiveMax, ["peak", "active"], 7),
            (Metric::Refused, ["", "refused"], 6),
            (Metric::Amplification, ["", "ampl."], 5),
            (Metric::DrainedShare, ["", "drained"], 8),
            (Metric::TimeToDrain, ["time to", "drain"], 10),
            (Metric::Served99, ["99 %", "served"], 9),
        ],
        false => &[
            (Metric::SvActiveMean, ["mean", "active"], 10),
            (Metric::SvActiveMax, ["peak", "active"], 7),
            (Metric::Refused, ["", "refused"], 6),
            (Metric::Amplification, ["", "ampl."], 5),
            (Metric::WaitMean, ["mean wait,", "ms"], 8),
            (Metric::WaitP99, ["wait p99,", "ms"], 9),
        ],
    };
    for &(metric, heading, weight) in figures {
        columns.push(column(metric.name(), heading, weight, &|(_, case)| cell(case, metric)));
    }
    columns
}

/// The last two parts of a key, one over the other: the line above the table has all of them.
pub(super) fn short(key: &str) -> [&str; 2] {
    match key.rsplit_once('.') {
        Some((rest, last)) => [rest.rsplit('.').next().unwrap_or(rest), last],
        None => ["", key],
    }
}

/// An estimate; of a time that had not come by the end, that it had not.
fn cell(case: &Outcome, metric: Metric) -> Piece {
    let estimate = case.estimate(metric);
    let tone = match (metric, estimate.censored) {
        (Metric::TimeToDrain, 0) if estimate.replicates > 0 => Tone::Good,
        (Metric::TimeToDrain, censored) if censored > 0 && censored == estimate.replicates => {
            Tone::Bad
        }
        _ => Tone::Neutral,
    };
    let text = match (estimate.estimate, metric) {
        (Some(value), Metric::Amplification) => factor(value),
        (Some(value), Metric::DrainedShare) => percent(value),
        (Some(value), _) if metric.kind() == Kind::Mean => count(value),
        (Some(value), _) => of_kind(metric.kind(), value),
        (None, _) if estimate.censored > 0 => "not by the end".to_owned(),
        (None, _) => "–".to_owned(),
    };
    Piece::toned(text, tone)
}

/// The worst that came of what is asked of a policy at a point.
fn worst(swept: &Swept, case: &Outcome, glyphs: Glyphs) -> Piece {
    let rank = |judgement: &Judgement| match judgement {
        Judgement::Pass => 0,
        Judgement::Undecided(_) => 1,
        Judgement::Fail => 2,
    };
    let judged = swept.judged_of(case).map(|judged| judged.judgement);
    judged.max_by_key(rank).map_or_else(|| Piece::new(""), |worst| thresholds::mark(worst, glyphs))
}

#[derive(Serialize)]
struct Report<'a> {
    scenario: &'a str,
    digest: String,
    points: Vec<Point<'a>>,
}

#[derive(Serialize)]
struct Point<'a> {
    values: BTreeMap<&'a str, &'a str>,
    policies: Vec<Policy<'a>>,
}
