//! A map of two keys: a shaded cell for each pair of their values, the first key from column to column, the
//! second from row to row.

use super::Picture;
use super::draw::{Anchor, Drawing};
use super::grid::WIDTH;
use super::sweep::figure;
use crate::metrics::{Estimate, Kind, Metric};
use crate::results::Points;

const TOP: f64 = 26.0;
const HEADING: f64 = 36.0;
const CELL: f64 = 26.0;
const BOTTOM: f64 = 68.0;
const BETWEEN: f64 = 34.0;
/// A digit takes about this much.
const CHARACTER: f64 = 7.0;
/// Words on the darkest shade can still be read.
const DARKEST: f64 = 0.7;

/// The figures `metrics` of all cases under these names, where there are two keys.
pub(super) fn picture(points: &Points, names: &[String], metrics: &[Metric]) -> Option<Picture> {
    let [x, y] = &points.axes[..] else { return None };
    let longest = |values: &[String]| values.iter().map(|v| v.chars().count()).max().unwrap_or(0);
    let label = longest(&y.values) as f64 * CHARACTER + 14.0;
    let room = WIDTH - metrics.len() as f64 * label - (metrics.len() as f64 - 1.0) * BETWEEN;
    let width = room / metrics.len() as f64 / x.values.len() as f64;
    let block = HEADING + y.values.len() as f64 * CELL + BOTTOM;
    let mut drawing = Drawing::default();
    for (case, name) in names.iter().enumerate() {
        let top = TOP + case as f64 * block;
        drawing.text((0.0, top), Anchor::Start, "strong", name);
        for (index, &metric) in metrics.iter().enumerate() {
            let left = label + index as f64 * (room / metrics.len() as f64 + label + BETWEEN);
            let top = top + HEADING;
            drawing.text((left, top - 14.0), Anchor::Start, "name", metric.name());
            let estimate = |column: usize, row: usize| {
                points.outcomes[column * y.values.len() + row][case].estimate(metric)
            };
            let shades = Shades::of(points, metric);
            for (row, value) in y.values.iter().enumerate() {
                let middle = top + (row as f64 + 0.5) * CELL;
                drawing.text((left - 8.0, middle + 4.0), Anchor::End, "soft", value);
                for column in 0..x.values.len() {
                    let estimate = estimate(column, row);
                    let corner = (left + column as f64 * width, top + row as f64 * CELL);
                    let (class, shade) = shades.shade(&estimate);
                    drawing.cell(corner, (width - 1.0, CELL - 1.0), class, shade);
                    let words = figure(&estimate);
                    if words.chars().count() as f64 * CHARACTER < width {
                        let place = (corner.0 + width / 2.0, middle + 4.0);
                        drawing.text(place, Anchor::Middle, "inside", &words);
                    }
                }
            }
            let bottom = top + y.values.len() as f64 * CELL;
            // As many as there is room for.
            let step = (longest(&x.values) as f64 + 1.0) * CHARACTER / width;
            for (column, value) in x.values.iter().enumerate().step_by(step.ceil() as usize) {
                let place = (left + (column as f64 + 0.5) * width, bottom + 16.0);
                drawing.text(place, Anchor::Middle, "soft", value);
            }
            let keys = format!("→ {}   ↓ {}", x.key, y.key);
            drawing.text((left, bottom + 34.0), Anchor::Start, "soft", &keys);
        }
    }
    Some(Picture {
        name: "map.svg",
        title: format!("{} and {}", x.key, y.key),
        about: "For each policy a cell for each pair of values: the darker, the higher its figure. Orange \
                is a time that had not come by the end of the run."
            .to_owned(),
        height: TOP + names.len() as f64 * block,
        body: drawing.finish(),
    })
}

/// From the least figure of any case to the greatest, so that cases can be compared by eye.
struct Shades {
    low: f64,
    high: f64,
}

impl Shades {
    fn of(points: &Points, metric: Metric) -> Shades {
        let all = || points.outcomes.iter().flatten();
        let figures = || all().filter_map(|case| case.estimate(metric).estimate);
        match metric.kind() {
            Kind::Share => Shades { low: 0.0, high: 1.0 },
            _ => Shades {
                low: figures().fold(f64::INFINITY, f64::min),
                high: figures().fold(0.0, f64::max),
            },
        }
    }

    /// The class of a cell and how opaque it is.
    fn shade(&self, estimate: &Estimate) -> (&'static str, f64) {
        match estimate.estimate {
            Some(value) if self.high > self.low => {
                ("s0", DARKEST * (value - self.low) / (self.high - self.low))
            }
            Some(_) => ("s0", 0.0),
            None if estimate.censored > 0 => ("s1", DARKEST),
            None => ("s0", 0.0),
        }
    }
}
