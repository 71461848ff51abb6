//! Lines of all cases in one plot, each with its name at its end and, where there is room beside it, a note.

use super::draw::{Anchor, Drawing, Point};
use super::grid::WIDTH;
use super::scale::Scale;
use crate::report::text::truncated;

const LEFT: f64 = 64.0;
const RIGHT: f64 = WIDTH - 240.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 36.0;
/// Labels are at least this far apart.
const LINE: f64 = 17.0;
const LONGEST_NAME: usize = 22;

/// Places on an axis with what stands at them.
pub(super) type Ticks = Vec<(f64, String)>;

/// A plot.
pub(super) struct Plot {
    /// What it shows.
    pub heading: String,
    /// What the notes are, `""` for none.
    pub notes: &'static str,
    /// Along it: both ends and what stands there.
    pub x: (f64, f64, Ticks),
    /// Up it, from 0.
    pub y: (f64, Ticks),
    /// All of its height.
    pub height: f64,
}

/// What is drawn of a case.
#[derive(Default)]
pub(super) struct Course {
    pub name: String,
    pub note: String,
    pub points: Vec<Point>,
    /// The lower and the upper edge of its band.
    pub band: [Vec<Point>; 2],
    /// Whether each of its points is marked.
    pub marked: bool,
    /// Where it is beyond the upper end.
    pub beyond: Vec<f64>,
}

impl Plot {
    /// The least height at which so many courses have room for their names.
    pub fn least_height(courses: usize) -> f64 {
        TOP + LINE * (courses as f64 + 3.0)
    }

    /// Draws it below `top`.
    pub fn draw(&self, drawing: &mut Drawing, top: f64, courses: &[Course]) {
        let bottom = top + self.height - BOTTOM;
        let top = top + TOP;
        let x = Scale { low: self.x.0, high: self.x.1, from: LEFT, to: RIGHT };
        let y = Scale { low: 0.0, high: self.y.0, from: bottom, to: top };
        drawing.text((LEFT, top - 20.0), Anchor::Start, "strong", &self.heading);
        drawing.text((RIGHT + 28.0, top - 20.0), Anchor::Start, "strong", self.notes);
        for (tick, label) in &self.y.1 {
            let level = y.place(*tick);
            drawing.line(&[(LEFT, level), (RIGHT, level)], "grid");
            drawing.text((LEFT - 8.0, level + 4.0), Anchor::End, "soft", label);
        }
        for (tick, label) in &self.x.2 {
            drawing.text((x.place(*tick), bottom + 20.0), Anchor::Middle, "soft", label);
        }
        drawing.line(&[(LEFT, bottom), (RIGHT, bottom)], "axis");

        let placed = |points: &[Point]| -> Vec<Point> {
            points.iter().map(|point| (x.place(point.0), y.place(point.1))).collect()
        };
        for (index, course) in courses.iter().enumerate() {
            let points = placed(&course.points);
            let [low, high] = [&course.band[0], &course.band[1]].map(|edge| placed(edge));
            drawing.case(index, |drawing| {
                drawing.area(&high, &low, "fill");
                drawing.line(&points, "line dashed");
                if course.marked {
                    points.iter().for_each(|point| drawing.marker(index, *point));
                }
                course.beyond.iter().for_each(|at| drawing.beyond((x.place(*at), top)));
            });
        }
        let end = |course: &Course| match course.points.last() {
            Some(last) if course.beyond.last().is_none_or(|beyond| *beyond < last.0) => {
                y.place(last.1)
            }
            _ if course.beyond.is_empty() => bottom,
            _ => top,
        };
        let ends: Vec<f64> = courses.iter().map(end).collect();
        for (index, label) in spread(&ends, top, bottom).into_iter().enumerate() {
            let course = &courses[index];
            let leader = [(RIGHT, ends[index]), (RIGHT + 8.0, ends[index]), (RIGHT + 24.0, label)];
            let name = truncated(&course.name, LONGEST_NAME);
            drawing.case(index, |drawing| {
                drawing.line(&leader, "leader");
                drawing.text((RIGHT + 28.0, label + 4.0), Anchor::Start, "name", &name);
                drawing.text((WIDTH - 4.0, label + 4.0), Anchor::End, "note", &course.note);
            });
        }
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
