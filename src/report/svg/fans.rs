//! What retry rules do, attempt by attempt: a fan of delays for each.

use super::Picture;
use super::draw::Drawing;
use super::grid::{Column, Grid, Unit, most};
use crate::policy::Distribution;
use crate::report::backoff::Shown;
use crate::report::numbers::span;

const ROW: f64 = 96.0;
/// Rules whose longest delays are further apart than this, as a ratio, have scales of their own.
const ALIKE: f64 = 10.0;

pub(in crate::report) fn picture(shown: &[Shown]) -> Picture {
    let attempts = shown.iter().map(|rule| rule.curve.delays.len()).max().unwrap_or(0);
    let longest: Vec<f64> = shown.iter().map(longest).collect();
    let highest = most(&longest);
    let shared = longest.iter().all(|longest| longest * ALIKE >= highest);
    let column = Column {
        heading: match shared {
            true => format!("Delay after each failed attempt, 0 to {}", span(highest)),
            false => "Delay after each failed attempt, each rule to its own longest".to_owned(),
        },
        unit: Unit::Attempts,
        x_end: attempts as f64 + 0.5,
        y_end: 1.0,
    };
    let grid = Grid::new(shown.iter().map(|rule| &*rule.name), vec![column], ROW);
    let mut drawing = Drawing::default();
    grid.frame(&mut drawing);
    for (row, rule) in shown.iter().enumerate() {
        let panel = grid.panel(row, 0);
        let scale = if shared { highest } else { longest[row] }.max(f64::MIN_POSITIVE);
        let edge = |of: fn(&Distribution) -> f64| -> Vec<_> {
            let delays = (1..).zip(&rule.curve.delays);
            delays.map(|(attempt, d)| panel.at(f64::from(attempt), of(d) / scale)).collect()
        };
        let [min, low, half] = [edge(|d| d.min), edge(|d| d.p10), edge(|d| d.p50)];
        let [high, max] = [edge(|d| d.p90), edge(|d| d.max)];
        let stop: Vec<f64> = rule.curve.stops_at.into_iter().map(f64::from).collect();
        let stop: Vec<f64> = stop.into_iter().filter(|at| *at <= attempts as f64).collect();
        let notes = match rule.curve.delays.last() {
            None => vec!["no retry".to_owned()],
            Some(last) => vec![
                format!("attempt {}", rule.curve.delays.len()),
                format!("half by {}", span(last.p50)),
                format!("90 % by {}", span(last.p90)),
                format!("all by {}", span(last.max)),
            ],
        };
        let notes: Vec<&str> = notes.iter().map(|note| &**note).collect();
        drawing.case(row, |drawing| {
            drawing.area(&max, &min, "fill");
            drawing.area(&high, &low, "band");
            drawing.line(&half, "line");
            half.iter().for_each(|point| drawing.dot(*point, 2.5, "dot"));
            grid.marks(drawing, row, 0, &stop);
            grid.label(drawing, row, &notes);
        });
    }
    Picture {
        name: "backoff.svg",
        title: "Delays, attempt by attempt".to_owned(),
        about: "For each retry rule the delay after each failed attempt: the median as a line, 10 to 90 % of \
                all delays as a dark band, all of them as a pale one. Where the bands close, clients try \
                again together. A triangle marks where a rule stops."
            .to_owned(),
        height: grid.height(),
        body: drawing.finish(),
    }
}

fn longest(rule: &Shown) -> f64 {
    most(&rule.curve.delays.iter().map(|delay| delay.max).collect::<Vec<_>>())
}
