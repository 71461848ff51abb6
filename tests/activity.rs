//! What a monitor saw beside what was simulated: readings whose truth is known, since they are of a
//! simulated world that the run did not meet.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Output;

use herdsim::report::activity;
use herdsim::results::{Activity, Archive, Results};
use herdsim::{scenario, sweep};
use tempfile::TempDir;

use crate::cli::{herdsim, refused, stderr, stdout};
use crate::measured;

/// A small fleet with its results, and what somebody saw of another world under the policy `spread`.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        place.does(&[
            "new",
            "mine",
            "--clients",
            "500",
            "--pool",
            "20",
            "--poll",
            "10s",
            "--service",
            "200ms",
        ]);
        place.does(&["run", "mine.toml", "--policy", "spread", "--policy", "as-it-is"]);
        let world = ["--seed", "99", "--replicates", "1", "--trace", "trace.csv", "--out", "other"];
        place.does(&[&["run", "mine.toml", "--policy", "spread"], &world[..]].concat());
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn does(&self, args: &[&str]) -> Output {
        let output = herdsim(self.path(), args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        output
    }

    /// The other world, looked at each second: active backends and waiting clients.
    fn readings(&self) -> Vec<(u32, u32)> {
        let trace = fs::read_to_string(self.path().join("trace.csv")).unwrap();
        let (mut readings, mut state) = (Vec::new(), (0, 0));
        for line in trace.lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let at: f64 = fields[0].parse().unwrap();
            while (readings.len() as f64) < at {
                readings.push(state);
            }
            // From the right: a detail may have commas of its own.
            let count = |index: usize| fields[fields.len() - index].parse::<u32>().unwrap();
            state = (count(3) + count(2), count(1));
        }
        readings
    }

    /// Their file, each reading of active backends changed.
    fn write(&self, name: &str, change: impl Fn(u32) -> u32) {
        let mut text = "t_s,active,waiting\n".to_owned();
        for (second, (active, waiting)) in self.readings().into_iter().enumerate() {
            let _ = writeln!(text, "{second},{},{waiting}", change(active));
        }
        fs::write(self.path().join(name), text).unwrap();
    }

    /// The row of a policy in the table that `report` prints.
    fn row(&self, file: &str, policy: &str) -> Vec<String> {
        let printed = stdout(&self.does(&["report", "results/mine", "--activity", file]));
        let row = format!("{policy:10}");
        let row = printed.lines().find(|line| line.starts_with(&row)).unwrap();
        row.replace(['%', '<', '>'], "").split_whitespace().map(str::to_owned).collect()
    }
}

#[test]
fn a_world_like_the_simulated_agrees_and_another_does_not() {
    let place = Place::new();
    place.write("seen.csv", |active| active);
    place.write("busier.csv", |active| active + 9);
    let number = |row: &[String], column: usize| row[column].parse::<f64>().unwrap();
    let (measured, same) = (place.row("seen.csv", "measured"), place.row("seen.csv", "spread"));
    // mean, p95, readings within, largest difference, waiting
    assert!((number(&measured, 1) / number(&same, 1) - 1.0).abs() < 0.03, "{measured:?} {same:?}");
    assert!((number(&measured, 2) - number(&same, 2)).abs() <= 1.0, "{measured:?} {same:?}");
    assert!(number(&same, 3) > 75.0, "{same:?}");
    assert!(number(&same, 4) < 10.0, "{same:?}");
    assert_eq!(measured[3..5], ["–", "–"]);
    let other = place.row("busier.csv", "spread");
    assert!(number(&other, 3) < 15.0 && number(&other, 4) > 60.0, "{other:?}");
    let herd = place.row("seen.csv", "as-it-is");
    assert!(number(&herd, 3) < number(&same, 3) && number(&herd, 4) > number(&same, 4), "{herd:?}");
}

/// Means of each second of a real PgBouncer, in the columns in which they were kept: it is a world like
/// those simulated, and the band of 20 holds one more in 19/21 of the seconds or more.
#[test]
fn a_real_pooler_lies_within_the_band_of_its_simulation() {
    for run in &measured::STEADY_RUNS {
        let loaded = scenario::parse("real", "real.toml", &measured::text(run), &[]).unwrap();
        let policies = sweep::play(&loaded.scenario, 2, &|_| {});
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("r");
        Results { loaded, policies, partial: None }.write(&folder, false).unwrap();
        let mut archive = Archive::open(&folder).unwrap();
        let file =
            format!("{}/tests/data/real_pooler/{}.csv", env!("CARGO_MANIFEST_DIR"), run.name);
        let seen = Activity::parse("real.csv", &fs::read_to_string(file).unwrap()).unwrap();
        archive.activity = Some(seen);
        let markdown = activity::markdown(&archive);
        let cells = |name: &str| -> Vec<f64> {
            let row = markdown.lines().find(|line| line.starts_with(&format!("| {name} |")));
            let row = row.unwrap().replace(['%', '>'], "");
            let cells = row.split('|').map(|cell| cell.trim());
            cells.filter_map(|cell| cell.parse().ok()).collect()
        };
        let (real, simulated) = (cells("measured"), cells("real"));
        assert!((real[0] / simulated[0] - 1.0).abs() < 0.03, "{}\n{markdown}", run.name);
        assert!(simulated[1] >= 100.0 * 19.0 / 21.0, "{}\n{markdown}", run.name);
        assert!(markdown.contains("so they are means"), "{markdown}");
    }
}

#[test]
fn the_report_says_it_on_the_terminal_the_page_and_in_markdown() {
    let place = Place::new();
    place.write("seen.csv", |active| active);
    let report = place.does(&["report", "results/mine", "--activity", "seen.csv"]);
    let said = stdout(&report);
    for words in [
        "measured beside simulated: 600 readings of seen.csv from 2m to 11m 59s",
        "Nearest to what was measured is spread",
        "in 82 % of the seconds or more",
    ] {
        assert!(said.replace('\n', " ").contains(words), "no {words} in: {said}");
    }
    let results = place.path().join("results/mine");
    let page = fs::read_to_string(results.join("report.html")).unwrap();
    assert!(page.contains("<h2>Measured beside simulated</h2>"), "the page has a section");
    assert!(page.contains("600 readings of seen.csv"));
    let picture = fs::read_to_string(results.join("activity.svg")).unwrap();
    assert_eq!(picture.matches("class=\"measured\"").count(), 2, "a line for each policy");
    roxmltree::Document::parse(&picture).unwrap();

    // The next report without it takes it away, and data are the same all along.
    let summary = fs::read(results.join("summary.csv")).unwrap();
    place.does(&["report", "results/mine"]);
    assert!(!results.join("activity.svg").exists());
    assert!(!fs::read_to_string(results.join("report.html")).unwrap().contains("seen.csv"));

    let run = [
        "run",
        "mine.toml",
        "--policy",
        "spread",
        "--policy",
        "as-it-is",
        "--activity",
        "seen.csv",
    ];
    let markdown = stdout(&place.does(&[&run[..], &["--format", "markdown"]].concat()));
    assert!(markdown.contains("| measured | "), "{markdown}");
    assert!(stdout(&place.does(&run)).contains("Nearest to what was measured is spread"));
    assert_eq!(fs::read(results.join("summary.csv")).unwrap(), summary);
    let csv = stdout(&place.does(&[&run[..], &["--format", "csv", "--no-report"]].concat()));
    assert_eq!(csv.as_bytes(), summary, "nothing beside the data");
}

#[test]
fn a_part_of_the_window_is_compared_second_by_second_alone() {
    let place = Place::new();
    let all: Vec<(u32, u32)> = place.readings();
    let text: String = all[..300].iter().map(|(active, _)| format!("{active}\n")).collect();
    fs::write(place.path().join("part.csv"), format!("active\n{text}")).unwrap();
    let said = stdout(&place.does(&["report", "results/mine", "--activity", "part.csv"]));
    assert!(said.contains("180 readings of part.csv from 2m to 4m 59s"), "{said}");
    assert!(said.contains("reach over 30 % of the measured window"), "{said}");
    let row = place.row("part.csv", "spread");
    assert_eq!((&*row[2], &*row[4]), ("–", "–"), "{row:?}");
}

#[test]
fn times_count_from_the_run_or_from_the_first_row() {
    let times = |text: &str| -> Vec<f64> {
        let activity = Activity::parse("a.csv", text).unwrap();
        activity.readings.iter().map(|reading| reading.at).collect()
    };
    assert_eq!(times("active\n1\n2\n"), [0.0, 1.0]);
    assert_eq!(times("t_s,active\n120,1\n130.5,2\n"), [120.0, 130.5]);
    assert_eq!(times("time,active\n1780410000,1\n1780410010,2\n"), [0.0, 10.0]);
    assert_eq!(
        times("time,sv_active\n2026-06-02 14:00:00,1\n2026-06-02 14:01:00.5+00,2\n"),
        [0.0, 60.5]
    );
    let activity = Activity::parse("a.csv", "cl_waiting, sv_active ,maxwait\n7, 3 ,x\n").unwrap();
    let reading = activity.readings[0];
    assert_eq!((reading.active, reading.waiting, reading.clients), (3.0, Some(7.0), None));
}

#[test]
fn readings_that_cannot_be_read_are_refused_with_their_line() {
    let place = Place::new();
    let report =
        |file: &str| herdsim(place.path(), &["report", "results/mine", "--activity", file]);
    let page = || fs::read(place.path().join("results/mine/report.html")).unwrap();
    let before = page();
    for (text, what) in [
        ("", "it has no column `active`"),
        ("busy\n1\n", "it has no column `active`"),
        ("active\n", "it has no rows"),
        ("active\n1\nmany\n", "line 3: `many` is no number for active"),
        ("active\n-1\n", "line 2: `-1` is no number"),
        ("active\nNaN\n", "line 2: `NaN` is no number"),
        ("active,waiting\n1,\n", "line 2: `` is no number for waiting"),
        ("active,waiting\n1\n", "line: 2"),
        ("t_s,active\n5,1\n4,1\n", "line 3: it comes before the row above"),
        ("time,active\nyesterday,1\n", "line 2: `yesterday` is no time for time"),
        ("active\n1\n", "no reading of a.csv is from 2m to 12m of the run"),
        ("t_s,active\n9999,1\n", "no reading of a.csv is from 2m to 12m of the run"),
    ] {
        fs::write(place.path().join("a.csv"), text).unwrap();
        refused(&report("a.csv"), &["a.csv", what, "help: "]);
    }
    refused(&report("no.csv"), &["cannot read no.csv"]);
    assert!(page() == before, "the page is left as it was");
    // A run that could not be compared is not even begun.
    let run = ["run", "mine.toml", "--out", "new", "--activity", "a.csv"];
    refused(&herdsim(place.path(), &run), &["no reading of a.csv"]);
    assert!(!place.path().join("new").exists());
    let sweep = ["run", "mine.toml", "--sweep", "fleet.clients=10,20", "--activity", "a.csv"];
    refused(&herdsim(place.path(), &sweep), &["--sweep", "--activity"]);
}

#[test]
fn one_replicate_has_no_band() {
    let place = Place::new();
    place.write("seen.csv", |active| active);
    let mut archive = Archive::open(&place.path().join("other")).unwrap();
    let text = fs::read_to_string(place.path().join("seen.csv")).unwrap();
    archive.activity = Some(Activity::parse("seen.csv", &text).unwrap());
    let markdown = activity::markdown(&archive);
    assert!(markdown.contains("With one replicate there is no band"), "{markdown}");
    let row = markdown.lines().find(|line| line.starts_with("| spread |")).unwrap();
    assert_eq!(row.split('|').nth(4).unwrap().trim(), "–", "{markdown}");
}
