//! What the script of a page reads: the timeline in full, as JSON that may stand in a page.

use serde::Serialize;

use crate::report::scene::{Case, Scene};

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
    let width = starts.and_then(|starts| Some(starts.get(1)? - starts[0]));
    let data = Data {
        duration: scene.duration(),
        width: width.unwrap_or(scene.duration()),
        full: scene.most_backends(),
        cases: scene.cases.iter().map(course).collect(),
    };
    let json = serde_json::to_string(&data).expect("numbers of a table are finite");
    // Whole numbers need no point; a name must not end the element.
    json.replace(".0,", ",").replace(".0]", "]").replace('<', "\\u003c")
}

fn course<'a>(case: &'a Case<'_>) -> Course<'a> {
    let column = |name| {
        let tenths = |number: f64| (10.0 * number).round() / 10.0;
        case.record.timeline.numbers(name).into_iter().map(tenths).collect()
    };
    Course {
        name: &case.name,
        active: column("sv_active_mean"),
        waiting: column("cl_waiting_mean"),
        refused: column("refused"),
    }
}
