//! What the script of a page reads: the timeline as JSON that may stand in a page, in full where there are few
//! cases and over longer buckets where there are many.

use serde::Serialize;

use crate::report::scene::{Case, Scene};
use crate::report::svg;

/// Buckets of all cases, at most about: a page is mailed and committed.
const MOST_BUCKETS: usize = 16_000;

#[derive(Serialize)]
struct Data<'a> {
    /// The length of the run, and of a bucket, in seconds.
    duration: f64,
    width: f64,
    /// The end of the vertical scale.
    full: f64,
    cases: Vec<Course<'a>>,
}

/// The course of a case, a number per bucket.
#[derive(Serialize)]
struct Course<'a> {
    name: &'a str,
    active: Vec<f64>,
    waiting: Vec<f64>,
    refused: Vec<f64>,
}

/// The text of a JSON script element.
pub(super) fn json(scene: &Scene<'_>) -> String {
    let starts = scene.cases.first().map(|case| case.record.timeline.numbers("t_s"));
    let buckets = starts.as_ref().map_or(0, Vec::len);
    let width = starts.and_then(|starts| Some(starts.get(1)? - starts[0]));
    // Never fewer than a line that is drawn without script has points.
    let together = (scene.cases.len() * buckets).div_ceil(MOST_BUCKETS);
    let together = together.min(buckets / svg::POINTS).max(1);
    let data = Data {
        duration: scene.duration(),
        width: width.map_or(scene.duration(), |width| width * together as f64),
        full: scene.most_backends(),
        cases: scene.cases.iter().map(|case| course(case, together)).collect(),
    };
    let json = serde_json::to_string(&data).expect("numbers of a table are finite");
    // Whole numbers need no point; a name must not end the element.
    json.replace(".0,", ",").replace(".0]", "]").replace('<', "\\u003c")
}

/// Levels are means over each bucket, refusals are counted.
fn course<'a>(case: &'a Case<'_>, together: usize) -> Course<'a> {
    let column = |name, fold: fn(&[f64]) -> f64| -> Vec<f64> {
        let tenths = |part: &[f64]| (10.0 * fold(part)).round() / 10.0;
        case.record.timeline.numbers(name).chunks(together).map(tenths).collect()
    };
    Course {
        name: &case.name,
        active: column("sv_active_mean", svg::mean),
        waiting: column("cl_waiting_mean", svg::mean),
        refused: column("refused", |part| part.iter().sum()),
    }
}
