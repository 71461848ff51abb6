//! Attempts each second of all policies in one plot, and what an acquisition takes of them.

use super::Picture;
use super::clients::per_second;
use super::draw::{Anchor, Drawing, Point};
use super::grid::{WIDTH, mean, most, thinned};
use super::scale::{Scale, numbers, times};
use crate::metrics::Metric;
use crate::report::numbers::{count, factor, span};
use crate::report::scene::Scene;
use crate::report::text::truncated;

const HEIGHT: f64 = 420.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 240.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = HEIGHT - 36.0;
/// Labels are at least this far apart.
const LINE: f64 = 17.0;
const POINTS: usize = 160;
const LONGEST_NAME: usize = 22;

pub(super) fn picture(scene: &Scene<'_>) -> Picture {
    let courses: Vec<Vec<f64>> = scene
        .cases
        .iter()
        .map(|case| thinned(&per_second(case, "attempts"), POINTS, mean))
        .collect();
    let high = courses.iter().map(|course| most(course)).fold(1.0, f64::max);
    let height = HEIGHT.max(TOP + LINE * (courses.len() as f64 + 3.0));
    let bottom = BOTTOM + height - HEIGHT;
    let x = Scale { low: 0.0, high: scene.duration(), from: LEFT, to: RIGHT };
    let y = Scale { low: 0.0, high, from: bottom, to: TOP };

    let mut drawing = Drawing::default();
    drawing.text((LEFT, TOP - 20.0), Anchor::Start, "strong", "Attempts a second");
    drawing.text((RIGHT + 28.0, TOP - 20.0), Anchor::Start, "strong", "Attempts per acquisition");
    for tick in numbers(high, 5) {
        let level = y.place(tick);
        drawing.line(&[(LEFT, level), (RIGHT, level)], "grid");
        drawing.text((LEFT - 8.0, level + 4.0), Anchor::End, "soft", &count(tick));
    }
    for tick in times(scene.duration(), 8) {
        drawing.text((x.place(tick), bottom + 20.0), Anchor::Middle, "soft", &span(tick));
    }
    drawing.line(&[(LEFT, bottom), (RIGHT, bottom)], "axis");

    let mut ends = Vec::new();
    for (index, course) in courses.iter().enumerate() {
        let step = scene.duration() / course.len().max(1) as f64;
        let place = |(i, value): (usize, &f64)| -> Point {
            (x.place((i as f64 + 0.5) * step), y.place(*value))
        };
        let points: Vec<Point> = course.iter().enumerate().map(place).collect();
        ends.push(points.last().map_or(bottom, |end| end.1));
        drawing.case(index, |drawing| drawing.line(&points, "line dashed"));
    }
    for (index, label) in spread(&ends, TOP, bottom).into_iter().enumerate() {
        let case = &scene.cases[index];
        let times = case.record.estimate(Metric::Amplification).map_or("–".to_owned(), factor);
        let leader = [(RIGHT, ends[index]), (RIGHT + 8.0, ends[index]), (RIGHT + 24.0, label)];
        let name = truncated(&case.name, LONGEST_NAME);
        drawing.case(index, |drawing| {
            drawing.line(&leader, "leader");
            drawing.text((RIGHT + 28.0, label + 4.0), Anchor::Start, "name", &name);
            drawing.text((WIDTH - 4.0, label + 4.0), Anchor::End, "note", &times);
        });
    }
    Picture {
        name: "attempts.svg",
        title: "Attempts".to_owned(),
        about: "Attempts that reach the pooler each second, a line for each policy, and how many attempts \
                it takes for each acquisition."
            .to_owned(),
        height,
        body: drawing.finish(),
    }
}

/// Places for labels as near to `wanted` as they can be without touching, in its order.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]).then(a.cmp(b)));
    let mut places = vec![0.0; wanted.len()];
    let mut floor = bottom;
    // From below, each pushes up those that would touch it.
    for &index in order.iter().rev() {
        places[index] = wanted[index].min(floor);
        floor = places[index] - LINE;
    }
    let mut ceiling = top;
    for &index in &order {
        places[index] = places[index].max(ceiling);
        ceiling = places[index] + LINE;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_touch_and_keep_their_order() {
        let places = spread(&[100.0, 100.0, 20.0, 99.0], 0.0, 100.0);
        assert_eq!(places, [83.0, 100.0, 20.0, 66.0]);
        let crowded = spread(&[5.0, 6.0, 7.0], 0.0, 10.0);
        assert_eq!(crowded, [0.0, 17.0, 34.0]);
    }
}
