//! Many machines: shards played apart give the bytes of the run on one machine.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::cli::{command, herdsim, refused, stderr, stdout};
use crate::long_runs::files;

/// 14 units of some milliseconds each.
const RUN: [&str; 5] = [
    "run",
    "deriver-restart",
    "--replicates=2",
    "--set=fleet.clients=200",
    "--set=run.duration=6m",
];

/// 28 units at four points, all of one plan; [`swept`] writes the file.
const SWEEP: [&str; 4] =
    ["run", "sweep.toml", "--set=run.duration=6m", "--sweep=pooler.pool_size=40..50:2"];

/// A folder with a scenario that has a sweep.
fn swept() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let scenario = include_str!("../scenarios/deriver-restart.toml");
    let scenario = scenario.replace("replicates = 5", "replicates = 1");
    let text = format!("{scenario}\n[sweep]\nfleet.clients = [100, 200]\n");
    fs::write(place.path().join("sweep.toml"), text).unwrap();
    place
}

fn run(folder: &Path, more: &[&str]) {
    run_of(&RUN, folder, more);
}

fn run_of(run: &[&str], folder: &Path, more: &[&str]) {
    let output = herdsim(folder, &[run, more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
}

fn shards(folder: &Path, count: usize) -> Vec<String> {
    shards_of(&RUN, folder, count)
}

/// Plays all shards of `count` into folders `0`, `1`, …, which are returned.
fn shards_of(run: &[&str], folder: &Path, count: usize) -> Vec<String> {
    let dirs: Vec<String> = (0..count).map(|index| index.to_string()).collect();
    for dir in &dirs {
        run_of(run, folder, &["--shard", &format!("{dir}/{count}"), "--out", dir]);
        let names: Vec<String> =
            files(&folder.join(dir)).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["units.bin", "units.json"]);
    }
    dirs
}

fn merge<'a>(folder: &Path, dirs: impl IntoIterator<Item = &'a String>) -> std::process::Output {
    let dirs: Vec<&str> = dirs.into_iter().map(|dir| dir.as_str()).collect();
    herdsim(folder, &[&["merge", "--out", "merged"], &dirs[..]].concat())
}

#[track_caller]
fn assert_merged(folder: &Path, dirs: &[String]) {
    assert_merged_of(&RUN, folder, dirs);
}

#[track_caller]
fn assert_merged_of(run: &[&str], folder: &Path, dirs: &[String]) {
    let output = merge(folder, dirs);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let whole = herdsim(folder, &[run, &["--out", "whole"]].concat());
    assert_eq!(stdout(&output), stdout(&whole), "the same report");
    assert_eq!(files(&folder.join("merged")), files(&folder.join("whole")));
}

#[test]
fn any_number_of_shards_gives_the_bytes_of_one_machine() {
    for count in [1, 3, 8] {
        let place = tempfile::tempdir().unwrap();
        let dirs = shards(place.path(), count);
        assert_merged(place.path(), &dirs);
    }
}

#[test]
fn more_shards_than_units_leave_some_empty() {
    let place = tempfile::tempdir().unwrap();
    let dirs = shards(place.path(), 15);
    assert_merged(place.path(), &dirs);
}

#[test]
fn a_shard_may_be_played_twice() {
    let place = tempfile::tempdir().unwrap();
    let mut dirs = shards(place.path(), 3);
    run(place.path(), &["--shard", "1/3", "--out", "again"]);
    // One that is complete has nothing left to play.
    run(place.path(), &["--shard", "2/3", "--out", "2"]);
    dirs.push("again".to_owned());
    assert_merged(place.path(), &dirs);
}

#[test]
fn a_killed_shard_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let dirs = shards(place.path(), 3);
    kill_shard_1_of_3(&RUN, place.path());
    run(place.path(), &["--shard", "1/3", "--out", "1"]);
    assert_merged(place.path(), &dirs);
}

/// Plays it anew, and kills it when the first of its units are on record.
fn kill_shard_1_of_3(run: &[&str], folder: &Path) {
    fs::remove_dir_all(folder.join("1")).unwrap();
    let shard = [run, &["--shard", "1/3", "--out", "1", "--jobs", "1"]].concat();
    let mut command = command(folder, &shard);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let log = folder.join("1/units.bin");
    while fs::metadata(&log).map_or(0, |log| log.len()) < 5_000 {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_sweep_is_sharded_as_a_run_is() {
    for count in [1, 8] {
        let place = swept();
        let dirs = shards_of(&SWEEP, place.path(), count);
        assert_merged_of(&SWEEP, place.path(), &dirs);
    }
    let place = swept();
    let mut dirs = shards_of(&SWEEP, place.path(), 3);
    kill_shard_1_of_3(&SWEEP, place.path());
    run_of(&SWEEP, place.path(), &["--shard", "1/3", "--out", "1", "--jobs", "3"]);
    run_of(&SWEEP, place.path(), &["--shard", "2/3", "--out", "again"]);
    dirs.push("again".to_owned());
    // The scenario need not be there.
    let file = place.path().join("sweep.toml");
    let text = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    assert_eq!(merge(place.path(), &dirs).status.code(), Some(0));
    fs::write(&file, text).unwrap();
    assert_merged_of(&SWEEP, place.path(), &dirs);
}

#[test]
fn what_does_not_belong_to_a_sweep_is_refused_by_name() {
    let place = swept();
    let dirs = shards_of(&SWEEP, place.path(), 2);
    refused(
        &merge(place.path(), [&dirs[0]]),
        &[
            "14 of 28 units are missing: number 1 (fleet.clients=100, pooler.pool_size=40, jittered, \
             replicate 0)",
            "help: play shard 1/2 to its end",
        ],
    );
    let other = ["--shard=1/2", "--out=other", "--sweep=fleet.clients=100,201"];
    run_of(&SWEEP, place.path(), &other);
    refused(
        &merge(place.path(), [&dirs[0], &"other".to_owned()]),
        &["other does not belong to 0: its scenario, overrides, sweep, policies or variants"],
    );
    let path = place.path().join("1/units.json");
    let written = fs::read_to_string(&path).unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&path, written.replace(&version, "\"version\": \"99.0.0\"")).unwrap();
    refused(&merge(place.path(), &dirs), &["1 was played by herdsim 99.0.0 for "]);
    fs::write(&path, written.replace("\"200\"", "\"300\"")).unwrap();
    refused(&merge(place.path(), [&dirs[1]]), &["1 is damaged: its scenario is not the one"]);
}

#[test]
fn a_killed_sweep_goes_on() {
    let place = swept();
    // Long enough to be killed in the middle.
    let sweep = [&SWEEP[..], &["--replicates=10"]].concat();
    let go = [&sweep[..], &["--out=r", "--keep-units", "--jobs=1"]].concat();
    let mut child = command(place.path(), &go);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let log = place.path().join("r.units/units.bin");
    while fs::metadata(&log).map_or(0, |log| log.len()) < 20_000 {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path().join("r").exists(), "nothing is written before the end");
    let output = herdsim(place.path(), &[&sweep[..], &["--out=r"]].concat());
    assert!(stderr(&output).starts_with("going on from "), "{}", stderr(&output));
    assert!(!place.path().join("r.units").exists(), "records go when the results are there");
    run_of(&sweep, place.path(), &["--out=whole"]);
    assert_eq!(files(&place.path().join("r")), files(&place.path().join("whole")));
}

#[test]
fn measured_files_travel_with_the_shards() {
    let place = tempfile::tempdir().unwrap();
    let (here, elsewhere) = (place.path().join("here"), place.path().join("elsewhere"));
    fs::create_dir_all(&here).unwrap();
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(here.join("claims.csv"), "service_ms\n10\n20\n400\n").unwrap();
    let scenario = include_str!("../scenarios/steady-state.toml");
    fs::write(here.join("mine.toml"), scenario).unwrap();
    let claim = "database.claim={empirical={file=\"claims.csv\",column=\"service_ms\"}}";
    let short = ["mine.toml", "--set", claim, "--set=run.duration=6m", "--replicates=1"];
    for more in [&["--out", "whole"][..], &["--shard", "0/1", "--out", "../elsewhere/0"]] {
        let output = herdsim(&here, &[&["run"], &short[..], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let output = herdsim(&elsewhere, &["merge", "0", "--out", "merged"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(files(&elsewhere.join("merged")), files(&here.join("whole")));
}

#[test]
fn a_missing_unit_is_named_with_the_shard_that_plays_it() {
    let place = tempfile::tempdir().unwrap();
    let dirs = shards(place.path(), 3);
    refused(
        &merge(place.path(), [&dirs[0], &dirs[2]]),
        &[
            "5 of 14 units are missing: number 1 (baseline, replicate 1), number 4 (no-retry, replicate 0)",
            "help: play shard 1/3 to its end",
        ],
    );
    // A damaged record is a missing one.
    let log = place.path().join("1/units.bin");
    let mut bytes = fs::read(&log).unwrap();
    bytes[500] ^= 1;
    fs::write(&log, bytes).unwrap();
    refused(&merge(place.path(), &dirs), &["1 of 14 units is missing: number ", "play shard 1/3"]);
    assert!(!place.path().join("merged").exists());
}

#[test]
fn a_foreign_shard_is_refused_by_name() {
    let place = tempfile::tempdir().unwrap();
    let dirs = shards(place.path(), 2);
    for (more, difference) in [
        ("--seed=1", "its seed is 1, not 20260602"),
        (
            "--set=pooler.pool_size=7",
            "its scenario, overrides, sweep, policies or variants are different",
        ),
    ] {
        run(place.path(), &["--shard=1/2", "--out=other", "--force", more]);
        refused(
            &merge(place.path(), [&dirs[0], &"other".to_owned()]),
            &[&format!("other does not belong to 0: {difference}"), "help: leave it out"],
        );
    }
}

#[test]
fn another_version_or_target_is_refused_by_name() {
    let place = tempfile::tempdir().unwrap();
    let dirs = shards(place.path(), 2);
    let path = place.path().join("1/units.json");
    let written = fs::read_to_string(&path).unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&path, written.replace(&version, "\"version\": \"99.0.0\"")).unwrap();
    refused(
        &merge(place.path(), &dirs),
        &["1 was played by herdsim 99.0.0 for ", "and this is ", "help: merge with that one"],
    );
}

#[test]
fn shards_that_contradict_each_other_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let mut dirs = shards(place.path(), 2);
    // Another world's records under this one's name, checksums and all.
    run(place.path(), &["--shard=1/2", "--out=other", "--seed=1"]);
    let digest = |dir: &str| {
        let bytes = fs::read(place.path().join(dir).join("units.json")).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        json["digest"].as_str().unwrap().to_owned()
    };
    let log = place.path().join("other/units.bin");
    let mut bytes = fs::read(&log).unwrap();
    let at = bytes.windows(64).position(|part| part == digest("other").as_bytes()).unwrap();
    bytes[at..at + 64].copy_from_slice(digest("1").as_bytes());
    fs::write(&log, bytes).unwrap();
    fs::copy(place.path().join("1/units.json"), place.path().join("other/units.json")).unwrap();
    dirs.push("other".to_owned());
    refused(
        &merge(place.path(), &dirs),
        &["1 and other do not agree about baseline, replicate 1", "help: one of them"],
    );
}

#[test]
fn a_changed_manifest_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let dirs = shards(place.path(), 1);
    let path = place.path().join("0/units.json");
    let written = fs::read_to_string(&path).unwrap();
    fs::write(&path, written.replace("fleet.clients=200", "fleet.clients=201")).unwrap();
    refused(&merge(place.path(), &dirs), &["0 is damaged: its scenario is not the one", "help"]);
    fs::write(&path, &written[..written.len() / 2]).unwrap();
    refused(&merge(place.path(), &dirs), &["0/units.json is damaged: EOF", "help"]);
    fs::remove_file(&path).unwrap();
    refused(&merge(place.path(), &dirs), &["0 holds no unit records of herdsim", "help"]);
}

#[test]
fn a_folder_keeps_one_shard() {
    let place = tempfile::tempdir().unwrap();
    shards(place.path(), 2);
    let other = [&RUN[..], &["--shard=0/2", "--out=1"]].concat();
    refused(&herdsim(place.path(), &other), &["it is shard 1/2, not shard 0/2", "--force"]);
    let bad = [&RUN[..], &["--shard=2/2", "--out=1"]].concat();
    refused(&herdsim(place.path(), &bad), &["of 2 there are 0/2 to 1/2"]);
    refused(&herdsim(place.path(), &[&RUN[..], &["--shard=0/2"]].concat()), &["--out <DIR>"]);
}

#[test]
fn the_plan_says_what_each_shard_plays() {
    let place = tempfile::tempdir().unwrap();
    let plan = |more: &[&str]| {
        let args =
            ["plan", "deriver-restart", "--replicates=2", "--policy=baseline", "--policy=jittered"];
        stdout(&herdsim(place.path(), &[&args[..], more].concat()))
    };
    assert_eq!(
        plan(&["--shards=3"]),
        "                       unit\n\
policy    replicate  number  shard
──────────────────────────────────
baseline          0       0      0
baseline          1       1      1
jittered          0       2      2
jittered          1       3      0

4 units in 3 shards of 1 or 2
"
    );
    assert_eq!(
        plan(&["--format=csv"]),
        "number,policy,replicate\n0,baseline,0\n1,baseline,1\n2,jittered,0\n3,jittered,1\n"
    );
    let json: serde_json::Value =
        serde_json::from_str(&plan(&["--shards=3", "--format=json"])).unwrap();
    assert_eq!(json["count"], 4);
    assert_eq!(json["shards"], serde_json::json!([2, 1, 1]));
    assert_eq!(json["units"][3]["shard"], 0);
}

#[test]
fn the_plan_of_a_sweep_has_all_its_points() {
    let place = swept();
    let plan = |more: &[&str]| {
        let args = ["plan", "sweep.toml", "--policy=baseline"];
        stdout(&herdsim(place.path(), &[&args[..], more].concat()))
    };
    assert_eq!(
        plan(&["--shards=2"]),
        "            fleet               unit
policy    clients  replicate  number  shard
───────────────────────────────────────────
baseline      100          0       0      0
baseline      200          0       1      1

2 units in 2 shards of 1
"
    );
    assert_eq!(
        plan(&["--sweep=run.replicates=1,2", "--format=csv"]),
        "number,fleet.clients,run.replicates,policy,replicate\n\
         0,100,1,baseline,0\n1,100,2,baseline,0\n2,100,2,baseline,1\n\
         3,200,1,baseline,0\n4,200,2,baseline,0\n5,200,2,baseline,1\n"
    );
    let json: serde_json::Value = serde_json::from_str(&plan(&["--format=json"])).unwrap();
    assert_eq!(json["units"][1]["values"]["fleet.clients"], "200");
}
