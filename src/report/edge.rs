//! How far a key can go, on the terminal: the answer, and what was tried for it.

use super::numbers;
use super::table::{self, Column};
use super::text::{Piece, Style, Tone, paragraph};
use crate::metrics::{Estimate, Judgement};
use crate::results::{Aim, Edge, Step};

/// What was asked for.
pub struct Asked<'a> {
    /// The largest or the smallest value.
    pub aim: Aim,
    /// Of which key.
    pub key: &'a str,
    /// What must hold.
    pub such_that: &'a str,
    /// A value as it would be written.
    pub value: &'a dyn Fn(f64) -> String,
}

/// The answer, the evidence, and what was tried.
pub fn render(edge: &Edge, asked: &Asked<'_>, style: &Style) -> String {
    let mut out = String::new();
    for sentence in sentences(edge, asked) {
        out.push_str(&paragraph("", &sentence, style.width));
    }
    out.push('\n');
    let rows: Vec<(&Step, &str)> = [(&edge.steps[..], "search"), (&edge.checks[..], "check")]
        .into_iter()
        .chain([(edge.found.as_slice(), "fresh")])
        .flat_map(|(steps, worlds)| steps.iter().map(move |step| (step, worlds)))
        .collect();
    let column = |name, cell: &dyn Fn(&Step) -> Piece| Column {
        name,
        heading: ["", name],
        weight: u8::MAX,
        cells: rows.iter().map(|(step, _)| cell(step)).collect(),
    };
    let mut columns = vec![
        column("value", &|step| Piece::new((asked.value)(step.value))),
        column("estimate", &|step| Piece::new(figure(&step.estimate, step.estimate.estimate))),
        column("95 % interval", &|step| Piece::new(interval(&step.estimate))),
        column("holds", &|step| match step.judgement {
            Judgement::Pass => Piece::toned("yes", Tone::Good),
            Judgement::Fail => Piece::toned("no", Tone::Bad),
            Judgement::Undecided(_) => Piece::new("undecided"),
        }),
    ];
    let mut worlds = column("worlds", &|_| Piece::new(""));
    worlds.cells = rows.iter().map(|(_, worlds)| Piece::new(*worlds)).collect();
    columns.push(worlds);
    out.push_str(&table::render(columns, style.width, style.ink));
    style.glyphs.write(&out)
}

fn sentences(edge: &Edge, asked: &Asked<'_>) -> Vec<String> {
    let Asked { aim, key, such_that, value } = asked;
    let extreme = match aim {
        Aim::Largest => "largest",
        Aim::Smallest => "smallest",
    };
    let Some(found) = &edge.found else {
        return vec![format!("No value of {key} in reach has {such_that} for sure.")];
    };
    let mut sentences = vec![
        format!("The {extreme} {key} with {such_that} is {}.", value(found.value)),
        format!(
            "There, in fresh random worlds, {} is {} ({}, {} replicates).",
            found.estimate.metric,
            figure(&found.estimate, found.estimate.estimate),
            interval(&found.estimate),
            found.estimate.replicates,
        ),
    ];
    sentences.push(match edge.beyond {
        Some(beyond) => format!("At {} it does not hold for sure.", value(beyond)),
        None => "It holds as far as was looked: the edge lies further out.".to_owned(),
    });
    sentences.push(match edge.is_monotone(*aim) {
        true => "Nothing that was tried on the near side misses it: there is one edge.".to_owned(),
        false => {
            "On the near side it misses at some values: there is more than one edge, and this \
                  is one of them. Look at it with `herdsim map`."
                .to_owned()
        }
    });
    sentences
}

/// A figure of an estimate, in its unit.
fn figure(estimate: &Estimate, value: Option<f64>) -> String {
    match value {
        Some(value) => numbers::of_kind(estimate.metric.kind(), value),
        None if estimate.censored > 0 => "not by the end".to_owned(),
        None => "–".to_owned(),
    }
}

fn interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (None, None) => "none".to_owned(),
        (low, high) => format!("{} to {}", figure(estimate, low), figure(estimate, high)),
    }
}
