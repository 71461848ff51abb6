//! Attempts each second of all policies in one plot, and what an acquisition takes of them.

use super::Picture;
use super::clients::per_second;
use super::draw::Drawing;
use super::grid::{mean, most, thinned};
use super::lines::{Course, Plot};
use super::scale::{numbers, times};
use crate::metrics::Metric;
use crate::report::numbers::{count, factor, span};
use crate::report::scene::{Case, Scene};

const HEIGHT: f64 = 420.0;
const POINTS: usize = 160;

pub(super) fn picture(scene: &Scene<'_>) -> Picture {
    let course = |case: &Case<'_>| {
        let attempts = thinned(&per_second(case, "attempts"), POINTS, mean);
        let step = scene.duration() / attempts.len().max(1) as f64;
        let middle = |index: usize| (index as f64 + 0.5) * step;
        let points = attempts.iter().enumerate().map(|(index, rate)| (middle(index), *rate));
        let note = case.record.estimate(Metric::Amplification).map_or("–".to_owned(), factor);
        Course { name: case.name.clone(), note, points: points.collect(), ..Course::default() }
    };
    let courses: Vec<Course> = scene.cases.iter().map(course).collect();
    let rates = courses.iter().flat_map(|course| &course.points).map(|point| point.1);
    let high = most(&rates.collect::<Vec<f64>>()).max(1.0);
    let ticks = |places: Vec<f64>, words: fn(f64) -> String| {
        places.into_iter().map(|place| (place, words(place))).collect()
    };
    let plot = Plot {
        heading: "Attempts a second".to_owned(),
        notes: "Attempts per acquisition",
        x: (0.0, scene.duration(), ticks(times(scene.duration(), 8), span)),
        y: (high, ticks(numbers(high, 5), count)),
        height: HEIGHT.max(Plot::least_height(courses.len())),
    };
    let mut drawing = Drawing::default();
    plot.draw(&mut drawing, 0.0, &courses);
    Picture {
        name: "attempts.svg",
        title: "Attempts".to_owned(),
        about: "Attempts that reach the pooler each second, a line for each policy, and how many attempts \
                it takes for each acquisition."
            .to_owned(),
        height: plot.height,
        body: drawing.finish(),
    }
}
