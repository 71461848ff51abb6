//! Active claims over time: the mean of all replicates with the band that holds each of them, below the
//! capacity.

use super::Picture;
use super::draw::Drawing;
use super::grid::{Column, Grid, ROW, Unit, least, mean, most, thinned};
use crate::report::numbers::count;
use crate::report::scene::Scene;

/// Points of a line: about one for each two units of the picture.
pub(in crate::report) const POINTS: usize = 340;

pub(super) fn picture(scene: &Scene<'_>) -> Picture {
    let full = scene.most_backends();
    let column = Column {
        heading: format!("Active claims, 0 to {}; a dashed line is the capacity", count(full)),
        unit: Unit::Seconds,
        x_end: scene.duration(),
        y_end: full,
    };
    let grid = Grid::new(scene.names(), vec![column], ROW);
    let mut drawing = Drawing::default();
    grid.frame(&mut drawing);
    for (row, case) in scene.cases.iter().enumerate() {
        let panel = grid.panel(row, 0);
        let record = case.record;
        let course =
            panel.course(&thinned(&record.timeline.numbers("sv_active_mean"), POINTS, mean));
        let low = panel.course(&thinned(&record.band.numbers("sv_active_low"), POINTS, least));
        let high = panel.course(&thinned(&record.band.numbers("sv_active_high"), POINTS, most));
        drawing.case(row, |drawing| {
            drawing.area(&course, &panel.floor(), "fill");
            drawing.area(&high, &low, "band");
            drawing.line(&course, "line");
            drawing.line(&panel.level(case.capacity), "limit");
            grid.marks(drawing, row, 0, &case.marks);
            grid.label(drawing, row, &[&case.outcome.words()]);
        });
    }
    Picture {
        name: "timeline.svg",
        title: "Active claims over time".to_owned(),
        about: "For each policy the backends at work over the run: the mean of all replicates, and around \
                it the least and the most of any. A dashed line is the capacity, a triangle marks what \
                happens to the system."
            .to_owned(),
        height: grid.height(),
        body: drawing.finish(),
    }
}
