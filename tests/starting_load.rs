//! `herdsim new --stats`: a first scenario under the load that a database's own counters tell of. The truth
//! of each file stands in tests/data/stats/README.md.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::cli::{herdsim, refused, stderr, stdout};

fn data(name: &str) -> String {
    format!("{}/tests/data/stats/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn new(place: &Path, more: &[&str]) -> Output {
    herdsim(place, &[&["new", "mine", "--force"], more].concat())
}

/// The scenario that was written, which is valid.
fn written(place: &Path, output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    let check = herdsim(place, &["check", "mine.toml"]);
    assert_eq!(check.status.code(), Some(0), "{}", stderr(&check));
    fs::read_to_string(place.join("mine.toml")).unwrap()
}

#[track_caller]
fn holds(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|other| other.starts_with(line)), "no {line} in:\n{text}");
    }
}

#[test]
fn rate_and_time_come_from_show_stats() {
    let place = tempfile::tempdir().unwrap();
    let output = new(place.path(), &["--stats", &data("show_stats.csv")]);
    let said = stderr(&output);
    assert!(said.contains("taken: 40ms a transaction, 200.0 transactions a second\n"), "{said}");
    assert!(said.contains("not taken: total_server_assignment_count, "), "{said}");
    assert!(said.contains("the database pgbouncer\n"), "{said}");
    let text = written(place.path(), &output);
    // 200/s × (30 s + 40 ms + 1 ms of round trip)
    holds(
        &text,
        &["clients = 6008", "poll = [\"30s\"]", "claim = { exponential = { mean = \"40ms\" } }"],
    );
    assert!(text.contains("avg_xact_count, avg_xact_time of 2 databases."), "{text}");
    // So it is played: 200 × 40 ms are 8 backends.
    let run = herdsim(place.path(), &["check", "mine.toml"]);
    assert!(
        stdout(&run).contains("200 claims/s") || stdout(&run).contains("200.0"),
        "{}",
        stdout(&run)
    );
}

#[test]
fn what_is_said_stays_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let stats = data("show_stats.csv");
    let clients = new(place.path(), &["--stats", &stats, "--clients", "2k", "--pool", "12"]);
    // 2,000 / 200/s − 41 ms
    holds(
        &written(place.path(), &clients),
        &["clients = 2000", "poll = [\"9s 959ms\"]", "pool_size = 12"],
    );
    let poll = new(place.path(), &["--stats", &stats, "--poll", "10s", "--service", "99ms"]);
    assert!(stderr(&poll).contains("the time of a transaction"), "{}", stderr(&poll));
    holds(
        &written(place.path(), &poll),
        &["clients = 2020", "claim = { exponential = { mean = \"99ms\""],
    );
    let both = new(place.path(), &["--stats", &stats, "--poll", "10s", "--clients", "7"]);
    assert!(stderr(&both).contains("the rate: --clients and --poll say it"), "{}", stderr(&both));
    holds(&written(place.path(), &both), &["clients = 7", "poll = [\"10s\"]"]);
    refused(
        &new(place.path(), &["--stats", &stats, "--clients", "4"]),
        &["4 clients cannot make 200"],
    );
}

#[test]
fn totals_are_a_rate_only_if_they_were_read_twice() {
    let place = tempfile::tempdir().unwrap();
    let (first, second) = (data("totals_first.csv"), data("totals_second.csv"));
    let once = new(place.path(), &["--stats", &first]);
    assert!(stderr(&once).contains("no rate: "), "{}", stderr(&once));
    assert!(
        stderr(&once).contains("--stats FIRST --stats SECOND --apart 60s"),
        "{}",
        stderr(&once)
    );
    // 78,000 s over 1,700,000 transactions; the clients are those of every first scenario.
    holds(
        &written(place.path(), &once),
        &["clients = 1000", "claim = { exponential = { mean = \"45ms 882us\""],
    );

    let twice = ["--stats", &first, "--stats", &second, "--apart", "60s"];
    holds(
        &written(place.path(), &new(place.path(), &twice)),
        &["clients = 4508", "claim = { exponential = { mean = \"50ms\""],
    );
    let reversed = ["--stats", &second, "--stats", &first, "--apart", "60s"];
    refused(&new(place.path(), &reversed), &["wrong order, or were reset"]);
    refused(&new(place.path(), &twice[..4]), &["--apart", "--apart 60s"]);
    refused(&new(place.path(), &["--stats", &first, "--apart", "60s"]), &["--apart"]);
    let mixed = ["--stats", &first, "--stats", &data("pg_stat_statements.csv"), "--apart", "60s"];
    refused(&new(place.path(), &mixed), &["one is of databases, the other of statements"]);
}

#[test]
fn the_time_comes_from_pg_stat_statements() {
    let place = tempfile::tempdir().unwrap();
    let output = new(place.path(), &["--stats", &data("pg_stat_statements.csv")]);
    assert!(stderr(&output).contains("taken: 25ms a transaction\n"), "{}", stderr(&output));
    assert!(stderr(&output).contains("no rate: "), "{}", stderr(&output));
    let text = written(place.path(), &output);
    holds(&text, &["claim = { exponential = { mean = \"25ms\""]);
    assert!(text.contains("calls and the time of all of 2 statements"), "{text}");

    // Means alone are weighted by their calls.
    let means = "query,calls,mean_exec_time\nSELECT 1,9000,30\nSELECT 2,3000,10\n";
    fs::write(place.path().join("means.csv"), means).unwrap();
    let text = written(place.path(), &new(place.path(), &["--stats", "means.csv"]));
    holds(&text, &["claim = { exponential = { mean = \"25ms\""]);
}

#[test]
fn a_pool_from_its_ini_goes_with_a_load_from_its_counters() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("p.ini"), "[pgbouncer]\ndefault_pool_size = 12\n").unwrap();
    let output = new(place.path(), &["--from", "p.ini", "--stats", &data("show_stats.csv")]);
    let lines = ["pool_size = 12", "clients = 6008", "preset = \"pgbouncer@1.25\""];
    holds(&written(place.path(), &output), &lines);
}

#[test]
fn counters_that_cannot_be_read_are_refused_with_their_line() {
    let place = tempfile::tempdir().unwrap();
    for (text, what) in [
        ("", "neither the column total_xact_count"),
        ("database,total_requests\nshop,5\n", "neither the column total_xact_count"),
        (" database | total_xact_count\n----\n shop | 5\n", "neither the column"),
        ("database,total_xact_count,total_xact_time\n", "it has no databases"),
        (
            "database,total_xact_count\nshop,many\n",
            "line 2: `many` is no number for total_xact_count",
        ),
        ("database,total_xact_count\nshop,-1\n", "line 2: `-1` is no number"),
        ("database,total_xact_count\nshop,1e400\n", "line 2: `1e400` is no number"),
        ("database,total_xact_count\nshop,1\nshop\n", "line: 3"),
        ("query,calls,total_exec_time\nSELECT 1,5,NaN\n", "line 2: `NaN` is no number"),
    ] {
        fs::write(place.path().join("s.csv"), text).unwrap();
        refused(&new(place.path(), &["--stats", "s.csv"]), &["s.csv: ", what, "psql --csv"]);
    }
    refused(&new(place.path(), &["--stats", "no.csv"]), &["cannot read no.csv", "psql --csv"]);
    let idle = "database,avg_xact_count,avg_xact_time\nshop,0,0\n";
    fs::write(place.path().join("s.csv"), idle).unwrap();
    let output = new(place.path(), &["--stats", "s.csv"]);
    assert!(stderr(&output).contains("no transaction was counted"), "{}", stderr(&output));
    written(place.path(), &output);
}
