//! Theory beside simulation: what closed forms say of the system at rest and with its pool full, and what
//! was played.

use super::html::{Row, Table};
use crate::report::numbers::count;
use crate::report::scene::{Case, Scene};
use crate::theory;

/// A row for each case: claims completed at rest and with the pool full, each as computed and as played.
pub(super) fn table(scene: &Scene<'_>) -> Table {
    let scenario = scene.scenario();
    let full = theory::throughput(scenario, scenario.pooler.pool_size);
    let row = |(index, case): (usize, &Case<'_>)| {
        let load = case.candidate.map(|candidate| theory::offered_load(scenario, candidate));
        let shown = |rate: Option<f64>| rate.map_or("–".to_owned(), |rate| count(rate.round()));
        let pool = f64::from(scenario.pooler.pool_size);
        let cells = [
            shown(load),
            shown(completed(case, |at, _| at < rest(scene, case))),
            shown(Some(full)),
            // A claim is booked when it ends, so a bucket counts only if the pool was full all through it.
            shown(completed(case, |_, active| active > 0.999 * pool)),
        ];
        Row { case: Some(index), head: case.name.clone(), cells: cells.into() }
    };
    Table {
        caption: "Claims a second".to_owned(),
        corner: scene.rows.heading(),
        columns: [
            "asked for at rest, theory",
            "played",
            "completed with the pool full, theory",
            "played",
        ]
        .map(str::to_owned)
        .into(),
        rows: scene.cases.iter().enumerate().map(row).collect(),
    }
}

/// Until when a case is undisturbed, in seconds.
fn rest(scene: &Scene<'_>, case: &Case<'_>) -> f64 {
    case.marks.iter().copied().fold(scene.duration(), f64::min)
}

/// Claims completed a second in the buckets that `counts`, given their time and active backends.
fn completed(case: &Case<'_>, counts: impl Fn(f64, f64) -> bool) -> Option<f64> {
    let timeline = &case.record.timeline;
    let starts = timeline.numbers("t_s");
    let width = starts.get(1)? - starts[0];
    let active = timeline.numbers("sv_active_mean");
    let (good, wasted) = (timeline.numbers("good"), timeline.numbers("wasted"));
    let counted: Vec<f64> = (0..starts.len())
        .filter(|&index| counts(starts[index] + width, active[index]))
        .map(|index| good[index] + wasted[index])
        .collect();
    (!counted.is_empty()).then(|| counted.iter().sum::<f64>() / (counted.len() as f64 * width))
}
