//! Long runs: whatever ends one early, the same command goes on to the same bytes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::cli::{command, herdsim, refused, stderr, stdout};

/// Some dozen units of some ten milliseconds each, all of them on record.
const RUN: [&str; 9] = [
    "run",
    "deriver-restart",
    "--replicates=4",
    "--set=fleet.clients=500",
    "--set=run.duration=8m",
    "--jobs=2",
    "--out=r",
    "--keep-units",
    "--no-progress",
];
/// Its units, and how many bytes each takes on record at least.
const UNITS: usize = 28;

/// The program at work in a folder, its stderr in a pipe.
fn start(folder: &Path, args: &[&str]) -> Child {
    command(folder, args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The files of a folder with their bytes, in order.
pub fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// What the run leaves when nothing disturbs it.
fn undisturbed() -> Vec<(String, Vec<u8>)> {
    let place = tempfile::tempdir().unwrap();
    assert!(herdsim(place.path(), &RUN[..RUN.len() - 2]).status.success());
    assert!(!place.path().join("r.units").exists(), "a short run leaves no records");
    files(&place.path().join("r"))
}

/// Waits until some units are on record.
fn wait_for_records(log: &Path) {
    while fs::metadata(log).map_or(0, |log| log.len()) < 50_000 {
        thread::sleep(Duration::from_millis(5));
    }
}

/// A folder with the records of a run that was killed, and the log.
fn killed() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let log = place.path().join("r.units/units.bin");
    let mut child = start(place.path(), &RUN);
    wait_for_records(&log);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path().join("r").exists(), "nothing is written before the end");
    (place, log)
}

/// Goes on without `--keep-units`; how many units it went on from, and what it said.
#[track_caller]
fn finish(folder: &Path) -> (usize, String) {
    let output = herdsim(folder, &RUN[..RUN.len() - 2]);
    let said = stderr(&output);
    assert!(output.status.success(), "{said}");
    assert!(!folder.join("r.units").exists(), "records go when the results are there");
    let found = said.split("going on from ").nth(1);
    let found = found.map_or(0, |rest| rest.split(' ').next().unwrap().parse().unwrap());
    (found, said)
}

#[test]
fn killed_at_any_moment_a_run_ends_with_the_same_bytes() {
    let whole = undisturbed();
    let place = tempfile::tempdir().unwrap();
    for millis in [0, 3, 20, 80, 150, 250] {
        let mut child = start(place.path(), &RUN);
        thread::sleep(Duration::from_millis(millis));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    finish(place.path());
    assert_eq!(files(&place.path().join("r")), whole);
}

#[test]
fn what_is_on_record_is_not_played_again() {
    let (place, _) = killed();
    // The kill may have fallen into the middle of a record, which is then said to be damaged.
    let (found, _) = finish(place.path());
    assert!((1..=UNITS).contains(&found), "{found}");
}

#[test]
fn a_damaged_or_torn_record_is_played_again() {
    let whole = undisturbed();
    for damage in [
        // A kill or a full disk in the middle of a frame.
        |log: &mut Vec<u8>| log.truncate(log.len() - 7),
        |log: &mut Vec<u8>| log.extend_from_slice(b"\x09\0\0\0"),
        // A bit in a payload, in a length, in the first line.
        |log: &mut Vec<u8>| log[500] ^= 4,
        |log: &mut Vec<u8>| log[91] ^= 0x40,
        |log: &mut Vec<u8>| log[3] = 0xff,
    ] {
        let (place, log) = killed();
        let mut bytes = fs::read(&log).unwrap();
        damage(&mut bytes);
        fs::write(&log, bytes).unwrap();
        let (_, said) = finish(place.path());
        let warning =
            "warning: a part of r.units is damaged: what cannot be read is played again\n";
        assert!(said.starts_with(warning), "{said}");
        assert_eq!(files(&place.path().join("r")), whole);
    }
}

#[test]
fn an_empty_log_is_no_damage() {
    let (place, log) = killed();
    fs::write(&log, "").unwrap();
    let (found, said) = finish(place.path());
    assert_eq!(found, 0);
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn a_kill_while_the_folder_of_records_is_made_costs_nothing() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("r.units")).unwrap();
    fs::write(place.path().join("r.units/units.json.new"), "{ \"tool\": \"her").unwrap();
    assert!(herdsim(place.path(), &RUN).status.success());
    assert_eq!(finish(place.path()).0, UNITS);
}

#[test]
fn records_of_another_run_are_never_mixed_in() {
    let (place, _) = killed();
    let before = files(&place.path().join("r.units"));
    let other = [&RUN[..], &["--seed", "1"]].concat();
    refused(
        &herdsim(place.path(), &other),
        &["r.units holds unit records of another run: its seed is 20260602, not 1", "--force"],
    );
    let other = [&RUN[..], &["--policy", "baseline"]].concat();
    refused(
        &herdsim(place.path(), &other),
        &["its scenario, overrides, sweep, policies or variants"],
    );
    assert_eq!(files(&place.path().join("r.units")), before);

    let output = herdsim(place.path(), &[&other[..], &["--force"]].concat());
    assert!(output.status.success());
    assert!(!stderr(&output).contains("going on"), "{}", stderr(&output));
}

#[test]
fn a_folder_of_somebody_else_is_no_place_for_records() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("r.units")).unwrap();
    fs::write(place.path().join("r.units/letter"), "dear").unwrap();
    refused(&herdsim(place.path(), &RUN), &["r.units holds no unit records of herdsim", "help"]);
    assert_eq!(files(&place.path().join("r.units")).len(), 1);
}

#[test]
fn all_records_stay_where_that_is_wanted_and_give_the_same_bytes_again() {
    let place = tempfile::tempdir().unwrap();
    assert!(herdsim(place.path(), &RUN).status.success());
    assert_eq!(files(&place.path().join("r")), undisturbed());
    let (found, _) = finish(place.path());
    assert_eq!(found, UNITS);
}

#[cfg(unix)]
mod signals {
    use super::*;

    fn signal(child: &Child, name: &str) {
        let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Interrupts the run once; its folder, and what it printed.
    fn interrupted(place: &Path, name: &str, more: &[&str]) -> (String, String) {
        let mut command = command(place, &[&RUN[..], more].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_records(&place.join("r.units/units.bin"));
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
        (stdout(&output), stderr(&output))
    }

    #[test]
    fn one_signal_leaves_a_partial_report_and_the_rest_to_the_same_command() {
        for name in ["-INT", "-TERM"] {
            let place = tempfile::tempdir().unwrap();
            let (printed, said) = interrupted(place.path(), name, &[]);
            assert!(printed.starts_with("PARTIAL: interrupted after "), "{printed}");
            let messages: Vec<&str> = said.lines().collect();
            assert_eq!(
                messages[..2],
                [
                    "interrupted: finishing the units under way; once more stops at once",
                    "wrote partial results to r"
                ]
            );
            let manifest = fs::read(place.path().join("r/manifest.json")).unwrap();
            let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
            assert_eq!(manifest["partial"], true);
            assert_eq!(manifest["units_planned"], UNITS);
            let done = manifest["units_done"].as_u64().unwrap() as usize;
            assert_eq!(manifest["units"].as_array().unwrap().len(), done);
            assert_eq!(
                messages[2..],
                [
                    format!(
                        "error: interrupted after {done} of 28 units, {done} of them on record in r.units"
                    ),
                    "help: the same command goes on from there".to_owned()
                ]
            );
            refused(
                &herdsim(place.path(), &["compare", "r", "r"]),
                &["r holds the partial results of an interrupted run", "help: finish it"],
            );
            let (found, _) = finish(place.path());
            assert_eq!(found, done);
            assert_eq!(files(&place.path().join("r")), undisturbed());
        }
    }

    #[test]
    fn each_partial_report_says_so_first() {
        for (format, first) in [("markdown", "**PARTIAL: interrupted after "), ("json", "{")] {
            let place = tempfile::tempdir().unwrap();
            let more = ["--format", format, "--reference", "deadline"];
            let (printed, _) = interrupted(place.path(), "-INT", &more);
            assert!(printed.starts_with(first), "{printed}");
            if format == "json" {
                let report: serde_json::Value = serde_json::from_str(&printed).unwrap();
                assert_eq!(report["partial"]["planned"], UNITS);
            }
        }
    }

    #[test]
    fn partial_results_never_replace_whole_ones_of_the_same_run() {
        let place = tempfile::tempdir().unwrap();
        assert!(herdsim(place.path(), &RUN[..RUN.len() - 2]).status.success());
        let whole = files(&place.path().join("r"));
        let (_, said) = interrupted(place.path(), "-INT", &[]);
        assert!(said.contains("left the whole results in r as they are"), "{said}");
        assert_eq!(files(&place.path().join("r")), whole);
    }

    #[test]
    fn the_second_signal_stops_at_once_and_leaves_earlier_results() {
        let place = tempfile::tempdir().unwrap();
        assert!(herdsim(place.path(), &RUN[..RUN.len() - 2]).status.success());
        let whole = files(&place.path().join("r"));
        // Units of many seconds.
        let slow = [&RUN[..], &["--force", "--set=fleet.clients=10000", "--set=run.duration=10h"]];
        let mut child = start(place.path(), &slow.concat());
        let mut said = BufReader::new(child.stderr.take().unwrap());
        while !place.path().join("r.units/units.bin").exists() {
            thread::sleep(Duration::from_millis(5));
        }
        signal(&child, "-INT");
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert!(line.starts_with("interrupted: "), "{line}");
        signal(&child, "-INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(files(&place.path().join("r")), whole);
    }
}

mod on_record {
    use herdsim::plan::{self, Unit};
    use herdsim::records::{Manifest, Records, RecordsError};
    use herdsim::scenario::{self, Loaded};
    use herdsim::sweep;

    fn loaded(name: &str) -> Loaded {
        let short = ["run.replicates=1".to_owned()];
        scenario::load(name, &short).unwrap()
    }

    fn open(loaded: &Loaded, dir: &std::path::Path) -> Result<Records, RecordsError> {
        Records::open(dir, Manifest::new(loaded, plan::units(&loaded.scenario).len(), None), false)
    }

    /// The first unit of a scenario.
    const FIRST: Unit = Unit { point: 0, policy: 0, variant: 0, replicate: 0 };

    #[test]
    fn a_record_comes_back_as_it_was() {
        // A fleet, items of work, requests beside the fleet, backend logins.
        for name in ["deriver-restart", "items-survive", "api-burst", "pgbouncer-login-storm"] {
            let loaded = loaded(name);
            let courses = loaded.scenario.courses();
            let place = tempfile::tempdir().unwrap();
            let units = plan::units(&loaded.scenario).into_iter().take(2);
            let played: Vec<_> =
                units.map(|unit| (unit, sweep::play_unit(&courses[unit.variant], unit))).collect();
            let records = open(&loaded, place.path()).unwrap();
            records.begin();
            for (unit, record) in &played {
                assert_eq!(records.load(*unit), None);
                records.keep(*unit, record);
                assert_eq!(records.load(*unit).as_ref(), Some(record), "in the same sitting");
            }
            records.close().unwrap();
            let records = open(&loaded, place.path()).unwrap();
            assert_eq!((records.found(), records.damaged()), (played.len(), 0));
            for (unit, record) in &played {
                assert_eq!(records.load(*unit).as_ref(), Some(record), "in the next one");
            }
        }
    }

    #[test]
    fn two_cannot_add_to_the_same_records() {
        let (loaded, place) = (loaded("steady-state"), tempfile::tempdir().unwrap());
        let records = open(&loaded, place.path()).unwrap();
        records.begin();
        assert!(matches!(open(&loaded, place.path()), Err(RecordsError::InUse(_))));
        records.close().unwrap();
        assert!(open(&loaded, place.path()).is_ok());
    }

    #[test]
    fn where_records_cannot_be_kept_the_run_goes_on_without() {
        let (loaded, place) = (loaded("steady-state"), tempfile::tempdir().unwrap());
        let dir = place.path().join("r.units");
        let records = open(&loaded, &dir).unwrap();
        std::fs::write(&dir, "in the way").unwrap();
        records.begin();
        assert!(records.have_failed());
        records.keep(FIRST, &sweep::play_unit(&loaded.scenario, FIRST));
        assert_eq!((records.count(), records.load(FIRST)), (0, None));
        assert!(records.close().unwrap_err().to_string().starts_with("cannot create "));
    }
}
