//! Two results folders side by side: what is paired, what is said, and what is refused.

use std::fs;
use std::path::Path;

use herdsim::report::compare::{self, Extent};
use herdsim::report::{Glyphs, Ink, Style};
use herdsim::results::comparison::{Comparison, Scenarios};
use herdsim::results::read;

use crate::cli::{herdsim, refused, stderr, stdout};

/// Writes the results of a small fleet into `out`.
#[track_caller]
fn run(place: &Path, out: &str, more: &[&str]) {
    let small = ["run", "deriver-restart", "-q", "--set", "fleet.clients=60"];
    let size = ["--set", "pooler.pool_size=4", "--set", "run.duration=5m", "--out", out];
    let policies = ["--policy", "baseline", "--policy", "no-retry"];
    let worlds: &[&str] = if more.contains(&"--replicates") { &[] } else { &["--replicates", "3"] };
    let policies: &[&str] = if more.contains(&"--policy") { &[] } else { &policies };
    let output = herdsim(place, &[&small[..], &size, policies, worlds, more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[track_caller]
fn compared(place: &Path, more: &[&str]) -> String {
    let output = herdsim(place, &[&["compare", "a", "b"], more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    stdout(&output)
}

/// The rows of a CSV as fields.
fn rows(csv: &str) -> Vec<Vec<String>> {
    csv.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn the_same_run_twice_is_the_same_in_everything() {
    let place = tempfile::tempdir().unwrap();
    run(place.path(), "a", &[]);
    run(place.path(), "b", &[]);
    let table = compared(place.path(), &[]);
    assert!(table.starts_with("2 policies in common: everything is the same in every replicate."));
    assert!(table.contains("The same in every metric and replicate: baseline, no-retry."));
    let csv = compared(place.path(), &["--format", "csv"]);
    let rows = rows(&csv);
    assert_eq!(rows.len(), 1 + 2 * herdsim::metrics::Metric::ALL.len());
    assert!(rows[1..].iter().all(|row| row.last().unwrap() == "same"), "{csv}");
    assert!(compared(place.path(), &["--all"]).contains("pickup_p99_s"));
}

#[test]
fn a_change_is_judged_in_pairs_where_the_seeds_are_equal() {
    let place = tempfile::tempdir().unwrap();
    run(place.path(), "a", &["--replicates", "4"]);
    let changed = ["--set", "database.claim.exponential.mean=1s", "--policy", "baseline"];
    run(place.path(), "b", &changed);
    let table = compared(place.path(), &[]);
    assert!(table.starts_with("1 policy in common; under 1 of them something differs."), "{table}");
    assert!(table.contains("Only A has no-retry."), "{table}");
    assert!(table.contains("3 replicates met the same random worlds"), "{table}");
    assert!(table.contains("mean from 170ms to 1s"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(!table.contains(" same\n"), "{table}");
    let csv = compared(place.path(), &["--format", "csv"]);
    let rows = rows(&csv);
    let of = |metric: &str, column: &str| {
        let column = rows[0].iter().position(|name| name == column).unwrap();
        rows.iter().find(|row| row[1] == metric).unwrap()[column].clone()
    };
    assert_eq!(of("sv_active_mean", "verdict"), "higher");
    assert_eq!(of("sv_active_mean", "method"), "paired-t");
    assert_eq!(
        (of("polls", "replicates_a"), of("polls", "replicates_b")),
        ("3".into(), "3".into())
    );
    assert_eq!(
        (of("time_to_drain_s", "method"), of("time_to_drain_s", "ci_low")),
        ("medians".into(), String::new())
    );
}

#[test]
fn different_seeds_are_independent_samples() {
    let place = tempfile::tempdir().unwrap();
    run(place.path(), "a", &["--seed", "1"]);
    run(place.path(), "b", &["--seed", "2", "--replicates", "4"]);
    assert!(compared(place.path(), &[]).contains("Different seeds"));
    let json = compared(place.path(), &["--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["design"], "unpaired");
    let metrics = json["policies"][0]["metrics"].as_array().unwrap();
    let of = |name: &str| metrics.iter().find(|metric| metric["metric"] == name).unwrap();
    assert_eq!(of("polls")["method"], "welch-t");
    assert_eq!(of("polls")["b"]["replicates"], 4);
    assert_eq!(of("drained_share")["method"], "newcombe");
    assert_eq!(of("items")["verdict"], "same", "no world has any");
}

#[test]
fn what_cannot_be_compared_is_refused_with_its_remedy() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path();
    run(path, "a", &["--replicates", "1"]);
    run(path, "longer", &["--replicates", "1", "--set", "run.duration=6m"]);
    run(path, "colder", &["--replicates", "1", "--set", "run.warm_up=1m"]);
    run(path, "other", &["--replicates", "1", "--policy", "jittered"]);
    fs::create_dir(path.join("empty")).unwrap();
    let against = |b: &str| herdsim(path, &["compare", "a", b]);
    refused(&against("nowhere"), &["nowhere", "no finished results", "herdsim run"]);
    refused(&against("empty"), &["empty", "no finished results", "herdsim run"]);
    refused(&against("a/summary.csv"), &["no finished results"]);
    refused(&against("longer"), &["run.duration", "5m", "6m", "--set"]);
    refused(&against("colder"), &["run.warm_up", "2m", "1m", "--set"]);
    refused(&against("other"), &["no policy in common", "baseline, no-retry", "jittered", "help:"]);

    let manifest = fs::read_to_string(path.join("a/manifest.json")).unwrap();
    let rewritten = |from: &str, to: &str| {
        assert!(manifest.contains(from), "{from}");
        fs::create_dir_all(path.join("b")).unwrap();
        fs::copy(path.join("a/replicates.csv"), path.join("b/replicates.csv")).unwrap();
        fs::write(path.join("b/manifest.json"), manifest.replacen(from, to, 1)).unwrap();
        against("b")
    };
    refused(&rewritten("\"tool\": \"herdsim\"", "\"tool\": \"k6\""), &["another tool", "k6"]);
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    refused(&rewritten(&version, "\"version\": \"99.0.0\""), &["newer", "99.0.0"]);
    refused(&rewritten("\"seed\"", "\"sead\""), &["manifest.json is damaged", "seed"]);
    refused(&rewritten("{", "["), &["manifest.json is damaged", "run the scenario again"]);
    let renamed = rewritten("\"scenario\": \"deriver-restart\"", "\"scenario\": \"another\"");
    refused(&renamed, &["different scenarios", "another", "--any-scenario"]);
    assert_eq!(herdsim(path, &["compare", "a", "b", "--any-scenario"]).status.code(), Some(0));
    fs::remove_file(path.join("b/replicates.csv")).unwrap();
    refused(&against("b"), &["cannot read", "replicates.csv"]);
}

/// Reads, compares and shows in every way; whether it could be read.
fn survives(a: &Path, b: &Path) -> bool {
    let (Ok(a), Ok(b)) = (read::read(a), read::read(b)) else { return false };
    let Ok(comparison) = Comparison::of(a, b, Scenarios::Any) else { return false };
    let style = Style { width: 80, ink: Ink::Plain, glyphs: Glyphs::Ascii };
    for extent in [Extent::All, Extent::WhatMayDiffer] {
        assert!(!compare::render(&comparison, extent, &style).contains('\x1b'));
    }
    assert!(!compare::csv(&comparison).is_empty() && !compare::json(&comparison).is_empty());
    true
}

#[test]
fn garbage_in_a_folder_is_refused_or_shown_but_stops_nothing() {
    let place = tempfile::tempdir().unwrap();
    run(place.path(), "a", &["--replicates", "2", "--policy", "baseline"]);
    let (a, b) = (place.path().join("a"), place.path().join("b"));
    fs::create_dir(&b).unwrap();
    let (mut shown, mut refused) = (0, 0);
    for name in ["manifest.json", "replicates.csv"] {
        for other in ["manifest.json", "replicates.csv"] {
            fs::copy(a.join(other), b.join(other)).unwrap();
        }
        assert!(survives(&a, &b));
        let whole = fs::read(a.join(name)).unwrap();
        let mut attempts: Vec<Vec<u8>> =
            [&b""[..], b"\0\xff\xfe", b"{}", b"[]", b"null", b"\"\n\"\"", b",,,\n,,"]
                .map(<[u8]>::to_vec)
                .to_vec();
        let step = whole.len() / 60 + 1;
        for at in (0..whole.len()).step_by(step) {
            attempts.push(whole[..at].to_vec());
            for byte in [b'9', b'-', b',', b'"', b'\n', 0, 0x1b, 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                attempts.push(changed);
            }
        }
        let text = String::from_utf8(whole).unwrap();
        for (from, to) in [
            (",1,", ",1e308,"),
            (",1,", ",-1e308,"),
            (",1,", ",NaN,"),
            (",1,", ",inf,"),
            (",0,", ",,"),
        ] {
            attempts.push(text.replace(from, to).into_bytes());
            attempts.push(text.replacen(from, to, 2).into_bytes());
        }
        for bytes in attempts {
            fs::write(b.join(name), bytes).unwrap();
            match survives(&a, &b) {
                true => shown += 1,
                false => refused += 1,
            }
            survives(&b, &a);
            survives(&b, &b);
        }
    }
    assert!(shown > 20 && refused > 100, "{shown} shown, {refused} refused");
}

#[test]
fn a_line_of_the_table_that_is_no_number_is_named() {
    let place = tempfile::tempdir().unwrap();
    run(place.path(), "a", &["--replicates", "2", "--policy", "baseline"]);
    run(place.path(), "b", &["--replicates", "2", "--policy", "baseline"]);
    let path = place.path().join("b/replicates.csv");
    let text = fs::read_to_string(&path).unwrap();
    let refused_with = |text: String, words: &[&str]| {
        fs::write(&path, text).unwrap();
        refused(&herdsim(place.path(), &["compare", "a", "b"]), words);
    };
    let lines: Vec<&str> = text.lines().collect();
    let fields: Vec<&str> = lines[2].split(',').collect();
    let nan = [&fields[..3], &["NaN"], &fields[4..]].concat().join(",");
    refused_with([lines[0], lines[1], &nan].join("\n"), &["line 3", "polls", "NaN"]);
    refused_with([lines[0], lines[1]].join("\n"), &["replicate 1 of baseline"]);
    refused_with([lines[0], lines[1], lines[1]].join("\n"), &["line 3", "twice"]);
}
