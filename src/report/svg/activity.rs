//! What a monitor saw over time: a line over the band that holds every replicate.

use super::Picture;
use super::draw::{Drawing, Point};
use super::grid::{Column, Grid, Panel, ROW, Unit, least, most, thinned};
use super::timeline::POINTS;
use crate::report::numbers::count;
use crate::report::scene::Scene;
use crate::results::Activity;

pub(super) fn picture(scene: &Scene<'_>, activity: &Activity) -> Picture {
    let full = scene.most_backends();
    let seen = activity.readings.iter().map(|reading| reading.active).fold(full, f64::max);
    let column = Column {
        heading: format!("Active backends, 0 to {}: measured over simulated", count(seen)),
        unit: Unit::Seconds,
        x_end: scene.duration(),
        y_end: seen,
    };
    let grid = Grid::new(scene.names(), vec![column], ROW);
    let mut drawing = Drawing::default();
    grid.frame(&mut drawing);
    for (row, case) in scene.cases.iter().enumerate() {
        let panel = grid.panel(row, 0);
        let band = &case.record.band;
        let low = panel.course(&thinned(&band.numbers("sv_active_low"), POINTS, least));
        let high = panel.course(&thinned(&band.numbers("sv_active_high"), POINTS, most));
        drawing.case(row, |drawing| {
            drawing.area(&high, &low, "band");
            grid.marks(drawing, row, 0, &case.marks);
            grid.label(drawing, row, &[]);
        });
        for line in lines(activity, scene.duration(), panel) {
            drawing.line(&line, "measured");
        }
    }
    Picture {
        name: "activity.svg",
        title: "Measured beside simulated".to_owned(),
        about:
            "The line is what was measured, the same in each row; the coloured band holds every \
                replicate."
                .to_owned(),
        height: grid.height(),
        body: drawing.finish(),
    }
}

/// The readings as means of as many parts of the run as a line has points, broken where there are none.
fn lines(activity: &Activity, duration: f64, panel: Panel) -> Vec<Vec<Point>> {
    let mut sums = [(0.0, 0_u32); POINTS];
    for reading in activity.readings.iter().filter(|reading| reading.at < duration) {
        let part = (reading.at / duration * POINTS as f64) as usize;
        let (sum, count) = &mut sums[part.min(POINTS - 1)];
        (*sum, *count) = (*sum + reading.active, *count + 1);
    }
    let point = |(part, (sum, count)): (usize, &(f64, u32))| {
        let at = (part as f64 + 0.5) / POINTS as f64 * duration;
        (*count > 0).then(|| panel.at(at, sum / f64::from(*count)))
    };
    let points: Vec<Option<Point>> = sums.iter().enumerate().map(point).collect();
    let parts = points.split(Option::is_none).filter(|part| part.len() > 1);
    parts.map(|part| part.iter().copied().flatten().collect()).collect()
}
