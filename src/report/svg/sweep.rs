//! A sweep of one key: how figures go with its value, a line for each policy in the band of its intervals.

use super::Picture;
use super::draw::Drawing;
use super::grid::most;
use super::lines::{Course, Plot, Ticks};
use super::scale::{numbers, times};
use crate::metrics::{Estimate, Kind, Metric};
use crate::report::numbers::{count, of_kind, percent, span};
use crate::report::sweep;
use crate::results::{Points, Swept};
use crate::scenario::Axis;
use crate::units::Span;

const HEIGHT: f64 = 250.0;
/// Values further apart than this, as a ratio, have room on a logarithmic axis only.
const WIDE: f64 = 20.0;
/// Values that are written below an axis, at most.
const WRITTEN: usize = 9;

pub(super) fn picture(swept: &Swept) -> Option<Picture> {
    let [axis] = &swept.points.axes[..] else { return None };
    let names = sweep::names(swept);
    let places = places(&axis.values);
    let metrics = drawn(&swept.points);
    let height = HEIGHT.max(Plot::least_height(names.len()));
    let mut drawing = Drawing::default();
    for (index, metric) in metrics.iter().enumerate() {
        let estimates = |case: usize| {
            swept.points.outcomes.iter().map(move |point| point[case].estimate(*metric))
        };
        let all: Vec<Estimate> = (0..names.len()).flat_map(estimates).collect();
        let y = y_axis(*metric, &all);
        let high = y.0;
        let courses = names
            .iter()
            .enumerate()
            .map(|(case, name)| course(name, &places, &estimates(case).collect::<Vec<_>>(), high));
        let (&first, &last) = (places.first()?, places.last()?);
        let plot = Plot {
            heading: format!("{} against {}", metric.name(), axis.key),
            notes: "",
            x: (first, last, written(axis, &places)),
            y,
            height,
        };
        plot.draw(&mut drawing, index as f64 * height, &courses.collect::<Vec<_>>());
    }
    Some(Picture {
        name: "sweep.svg",
        title: format!("What {} decides", axis.key),
        about: "A line for each policy, from value to value, in the band of its 95 % interval where there \
                is one. An open triangle at the top is a time that had not come by the end of the run."
            .to_owned(),
        height: metrics.len() as f64 * height,
        body: drawing.finish(),
    })
}

/// The figures that are drawn of a sweep.
pub(super) fn drawn(points: &Points) -> &'static [Metric] {
    let triggered = |metric| points.cases().iter().any(|case| case.estimate(metric).replicates > 0);
    match triggered(Metric::TimeToDrain) {
        true => &[Metric::TimeToDrain, Metric::DrainedShare, Metric::Amplification],
        false => &[Metric::SvActiveMean, Metric::WaitP99, Metric::Refused],
    }
}

fn course(name: &str, places: &[f64], estimates: &[Estimate], high: f64) -> Course {
    let mut course = Course { name: name.to_owned(), marked: true, ..Course::default() };
    for (&place, estimate) in places.iter().zip(estimates) {
        match estimate.estimate {
            Some(value) => course.points.push((place, value)),
            None if estimate.censored > 0 => course.beyond.push(place),
            None => {}
        }
        if let Some((low, upper)) = estimate.bounds() {
            course.band[0].push((place, low.min(high)));
            course.band[1].push((place, upper.min(high)));
        }
    }
    course
}

/// Up to the largest figure, or to all, or to what is later than the end of the run.
fn y_axis(metric: Metric, estimates: &[Estimate]) -> (f64, Ticks) {
    let bounds = |estimate: &Estimate| [estimate.estimate, estimate.high];
    let values: Vec<f64> = estimates.iter().flat_map(bounds).flatten().collect();
    let high = match metric.kind() {
        Kind::Share => 1.0,
        _ if most(&values) > 0.0 => most(&values),
        _ => 1.0,
    };
    // What had not come lies above all that had.
    let later = estimates.iter().any(|estimate| estimate.censored > 0).then_some(1.2 * high);
    let ticks = match metric.kind() {
        Kind::Time => times(high, 5),
        _ => numbers(high, 5),
    };
    let words = match metric.kind() {
        Kind::Share => percent,
        Kind::Time => span,
        Kind::Mean => count,
    };
    let ticks = ticks.into_iter().map(|tick| (tick, words(tick)));
    let top = later.map(|later| (later, "later".to_owned()));
    (later.unwrap_or(high), ticks.chain(top).collect())
}

/// Where the values of a key lie: as far apart as they are, or as their logarithms, or evenly where they are no
/// rising numbers.
fn places(values: &[String]) -> Vec<f64> {
    let number = |value: &String| match value.parse::<Span>() {
        Ok(span) => Some(span.as_secs_f64()),
        Err(_) => Axis::number(value).map(|(number, _)| number),
    };
    let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
    match numbers {
        Some(numbers) if numbers.is_sorted_by(|a, b| a < b) => {
            let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
            let wide = first > 0.0 && last / first > WIDE;
            numbers.into_iter().map(|n| if wide { libm::log(n) } else { n }).collect()
        }
        _ => (0..values.len()).map(|index| index as f64).collect(),
    }
}

/// The values as they are written, as many as there is room for.
fn written(axis: &Axis, places: &[f64]) -> Ticks {
    let step = axis.values.len().div_ceil(WRITTEN).max(1);
    let all = places.iter().copied().zip(axis.values.iter().cloned());
    all.step_by(step).collect()
}

/// An estimate in a few words.
pub(super) fn figure(estimate: &Estimate) -> String {
    match estimate.estimate {
        Some(value) => of_kind(estimate.metric.kind(), value),
        None if estimate.censored > 0 => "not".to_owned(),
        None => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Vec<f64> {
        places(&values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn values_lie_as_far_apart_as_they_are() {
        assert_eq!(of(&["500ms", "1s", "3s"]), [0.5, 1.0, 3.0]);
        assert_eq!(of(&["1_000", "2000", "4000"]), [1_000.0, 2_000.0, 4_000.0]);
        assert_eq!(of(&["200/s", "100/s"]), [0.0, 1.0]);
        assert_eq!(of(&["close", "terminate", "stays"]), [0.0, 1.0, 2.0]);
        let wide = of(&["1", "10", "100"]);
        assert!((wide[1] - wide[0] - (wide[2] - wide[1])).abs() < 1e-12);
    }
}
