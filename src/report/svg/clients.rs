//! The wall of clients: who holds a place at the pooler and who is turned away, and beside it for whom the
//! database then works.

use super::Picture;
use super::draw::Drawing;
use super::grid::{Column, Grid, ROW, Unit, mean, most, thinned};
use super::timeline::POINTS;
use crate::metrics::Metric;
use crate::report::numbers::{count, percent};
use crate::report::scene::{Case, Scene};

/// A third of the width, a third of the points.
const THIRD: usize = POINTS / 3;

pub(super) fn picture(scene: &Scene<'_>) -> Picture {
    let limit = scene.scenario().pooler.max_client_conn.map(f64::from);
    let over_all = |of: fn(&Case<'_>) -> Vec<f64>| {
        scene.cases.iter().map(|case| most(&of(case))).fold(0.0, f64::max)
    };
    let places = limit.unwrap_or(0.0).max(over_all(held));
    let claims = over_all(|case| thinned(&completed(case), THIRD, mean));
    let refusals = over_all(|case| thinned(&per_second(case, "refused"), THIRD, mean));
    let heading = match limit {
        Some(limit) => format!("Places, limit {}", count(limit)),
        None => format!("Places, to {}", count(places)),
    };
    let column = |heading: String, y_end: f64| Column {
        heading,
        unit: Unit::Seconds,
        x_end: scene.duration(),
        y_end: y_end.max(1.0),
    };
    let columns = vec![
        column(heading, places),
        column(format!("Refused/s, to {}", count(refusals)), refusals),
        column(format!("Claims/s, to {}", count(claims)), claims),
    ];
    let grid = Grid::new(scene.names(), columns, ROW);
    let mut drawing = Drawing::default();
    grid.frame(&mut drawing);
    for (row, case) in scene.cases.iter().enumerate() {
        let [wall, door, work] = [0, 1, 2].map(|column| grid.panel(row, column));
        let drawn = |values: &[f64]| thinned(values, THIRD, mean);
        let timeline = &case.record.timeline;
        let active = timeline.numbers("sv_active_mean");
        let all = held(case);
        // The dead lie on top of those who still wait.
        let dead = timeline.numbers("cl_dead_mean");
        let living: Vec<f64> = all.iter().zip(&dead).map(|(all, dead)| all - dead).collect();
        let [active, living, all] = [active, living, all].map(|level| wall.course(&drawn(&level)));
        let turned_away = door.course(&drawn(&per_second(case, "refused")));
        let good = work.course(&drawn(&per_second(case, "good")));
        let both = work.course(&drawn(&completed(case)));
        let refused = case.record.estimate(Metric::Refused).unwrap_or(0.0);
        let number = |metric| case.record.estimate(metric).unwrap_or(0.0);
        let (useful, wasted) = (number(Metric::GoodClaims), number(Metric::WastedClaims));
        let refused = format!("{} refused", count(refused));
        let share = if wasted > 0.0 { wasted / (useful + wasted) } else { 0.0 };
        let wasted = format!("{} wasted", percent(share));
        drawing.case(row, |drawing| {
            drawing.area(&all, &living, "wasted");
            drawing.area(&living, &active, "waiting");
            drawing.area(&active, &wall.floor(), "bars");
            drawing.area(&turned_away, &door.floor(), "bars");
            drawing.area(&both, &good, "wasted");
            drawing.area(&good, &work.floor(), "bars");
            if let Some(limit) = limit {
                drawing.line(&wall.level(limit), "limit");
            }
            (0..3).for_each(|column| grid.marks(drawing, row, column, &case.marks));
            grid.label(drawing, row, &[&refused, &wasted]);
        });
    }
    Picture {
        name: "clients.svg",
        title: "Who waits, and for whom the database works".to_owned(),
        about: "For each policy the places at the pooler: full those that a backend serves, pale those of \
                clients that wait, grey those of clients that have left; the attempts that are turned away; \
                and the claims completed, in colour for a client that still waits for the answer, grey for \
                nobody."
            .to_owned(),
        height: grid.height(),
        body: drawing.finish(),
    }
}

/// Places served and waiting.
fn held(case: &Case<'_>) -> Vec<f64> {
    let timeline = &case.record.timeline;
    let (active, waiting) =
        (timeline.numbers("sv_active_mean"), timeline.numbers("cl_waiting_mean"));
    active.iter().zip(&waiting).map(|(active, waiting)| active + waiting).collect()
}

fn completed(case: &Case<'_>) -> Vec<f64> {
    let (good, wasted) = (per_second(case, "good"), per_second(case, "wasted"));
    good.iter().zip(&wasted).map(|(good, wasted)| good + wasted).collect()
}

/// A count of `timeline.csv`, for each second of its buckets.
pub(super) fn per_second(case: &Case<'_>, name: &str) -> Vec<f64> {
    let timeline = &case.record.timeline;
    let starts = timeline.numbers("t_s");
    let width = starts.get(1).map_or(1.0, |second| second - starts[0]);
    timeline.numbers(name).into_iter().map(|count| count / width).collect()
}
