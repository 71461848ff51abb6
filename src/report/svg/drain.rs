//! Time to drain: a dot per replicate, an open triangle at the end for one that had not drained by then.

use super::Picture;
use super::draw::Drawing;
use super::grid::{Column, Grid, ROW, Unit};
use crate::metrics::{Metric, Value};
use crate::report::scene::{Outcome, Scene};

pub(super) fn picture(scene: &Scene<'_>) -> Picture {
    let ends = scene.cases.iter().filter_map(|case| {
        let at = case.record.drains.get("at_s").first().copied().flatten()?;
        Some(scene.duration() - at)
    });
    let end = ends.fold(0.0, f64::max);
    let column = Column {
        heading: "Time from the disturbance until the fleet has drained".to_owned(),
        unit: Unit::Seconds,
        x_end: end,
        y_end: 1.0,
    };
    let grid = Grid::new(scene.names(), vec![column], ROW);
    let mut drawing = Drawing::default();
    grid.frame(&mut drawing);
    for (row, case) in scene.cases.iter().enumerate() {
        let panel = grid.panel(row, 0);
        let values = case.record.outcome.values(Metric::TimeToDrain);
        drawing.case(row, |drawing| {
            for (index, value) in values.iter().enumerate() {
                // Replicates one above the other, so that equal times do not hide each other.
                let height = (index as f64 + 1.0) / (values.len() as f64 + 1.0);
                match value {
                    Value::Number(time) => drawing.dot(panel.at(*time, height), 4.0, "dot"),
                    Value::Censored => {
                        let (x, y) = panel.at(end, height);
                        let back = [(x - 4.0, y - 4.0), (x + 4.0, y)];
                        drawing.area(&back, &[(x - 4.0, y + 4.0)], "open");
                    }
                    Value::Absent => {}
                }
            }
            if let Outcome::Drained(median) = case.outcome {
                drawing.line(&[panel.at(median, 0.0), panel.at(median, 1.0)], "line");
            }
            grid.label(drawing, row, &[&case.outcome.words()]);
        });
    }
    Picture {
        name: "drain.svg",
        title: "Time to drain".to_owned(),
        about: "For each policy a dot per replicate at the time it took the fleet to drain. An open \
                triangle at the right end is a replicate that had not drained by the end of the run."
            .to_owned(),
        height: grid.height(),
        body: drawing.finish(),
    }
}
