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

fn run(folder: &Path, more: &[&str]) {
    let output = herdsim(folder, &[&RUN[..], more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
}

/// Plays all shards of `count` into folders `0`, `1`, …, which are returned.
fn shards(folder: &Path, count: usize) -> Vec<String> {
    let dirs: Vec<String> = (0..count).map(|index| index.to_string()).collect();
    for dir in &dirs {
        run(folder, &["--shard", &format!("{dir}/{count}"), "--out", dir]);
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
    let output = merge(folder, dirs);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let whole = herdsim(folder, &[&RUN[..], &["--out", "whole"]].concat());
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
    fs::remove_dir_all(place.path().join("1")).unwrap();
    let shard = [&RUN[..], &["--shard", "1/3", "--out", "1", "--jobs", "1"]].concat();
    let mut command = command(place.path(), &shard);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let log = place.path().join("1/units.bin");
    while fs::metadata(&log).map_or(0, |log| log.len()) < 5_000 {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    run(place.path(), &["--shard", "1/3", "--out", "1"]);
    assert_merged(place.path(), &dirs);
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
        ("--set=pooler.pool_size=7", "its scenario, overrides, policies or variants are different"),
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
