//! The timeline of one case for a page: lines alone, stretched to the width that the page has; names,
//! axes and notes are the page's own text, so that a telephone shows them as large as a wall does.

use super::draw::{Drawing, number};
use super::escaped;
use super::grid::{least, mean, most, thinned};
use super::scale::Scale;
use super::timeline::POINTS;
use crate::report::scene::Scene;

/// The view box.
pub(in crate::report) const WIDTH: f64 = 1_000.0;
pub(in crate::report) const HEIGHT: f64 = 100.0;

/// Active claims of case `index`.
pub(in crate::report) fn strip(scene: &Scene<'_>, index: usize) -> String {
    let case = &scene.cases[index];
    let y = Scale { low: 0.0, high: scene.most_backends(), from: HEIGHT, to: 2.0 };
    let course = |values: &[f64]| {
        let step = WIDTH / values.len().max(1) as f64;
        let place = |(i, value): (usize, &f64)| ((i as f64 + 0.5) * step, y.place(*value));
        values.iter().enumerate().map(place).collect::<Vec<_>>()
    };
    let record = case.record;
    let active = course(&thinned(&record.timeline.numbers("sv_active_mean"), POINTS, mean));
    let low = course(&thinned(&record.band.numbers("sv_active_low"), POINTS, least));
    let high = course(&thinned(&record.band.numbers("sv_active_high"), POINTS, most));
    let mut drawing = Drawing::default();
    drawing.case(index, |drawing| {
        drawing.area(&active, &[(0.0, HEIGHT), (WIDTH, HEIGHT)], "fill");
        drawing.area(&high, &low, "band");
        drawing.line(&active, "line");
    });
    let capacity = y.place(case.capacity);
    drawing.line(&[(0.0, capacity), (WIDTH, capacity)], "limit");
    for mark in &case.marks {
        let x = mark / scene.duration() * WIDTH;
        drawing.line(&[(x, 0.0), (x, HEIGHT)], "mark");
    }
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"Active claims over time: {}\">\n{}</svg>",
        number(WIDTH),
        number(HEIGHT),
        escaped(&case.name),
        drawing.finish()
    )
}
