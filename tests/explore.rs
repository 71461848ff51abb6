//! Maps and edges, from the command line.

use std::fs;

use crate::cli::{herdsim, stderr, stdout};

/// N clients that ask for 100 ms every 10.12 s: N · 0.1 / 10.12 active on average.
const STEADY: &str = "
title = 'steady'
[run]
duration = '400s'
warm_up = '50s'
replicates = 8
[fleet]
clients = 1_000
round_trip = '20ms'
initial = { warm = { interval = '10s' } }
[pooler]
pool_size = 500
[database]
claim = '100ms'
[policy.plain]
poll = ['10s', { scale = [0.5, 1.5] }]
";

#[test]
fn a_map_plays_every_pair_of_values_in_the_same_worlds() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("steady.toml"), STEADY).unwrap();
    let map = |more: &[&str]| {
        let args = ["map", "steady.toml", "fleet.clients=500,1000", "database.claim=50ms..100ms:2"];
        let output = herdsim(place.path(), &[&args[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let csv = map(&["--format", "csv"]);
    assert!(csv.starts_with("fleet.clients,database.claim,policy,metric,unit,"));
    let mean = |clients: &str, claim: &str| -> f64 {
        let row = format!("{clients},{claim},plain,sv_active_mean,backends,");
        let rest = csv.lines().find_map(|line| line.strip_prefix(&row[..])).expect("a row");
        rest.split(',').next().unwrap().parse().unwrap()
    };
    for (clients, claim) in [("500", "50ms"), ("1000", "50ms"), ("500", "100ms"), ("1000", "100ms")]
    {
        let service: f64 = claim.trim_end_matches("ms").parse::<f64>().unwrap() / 1e3;
        let expected = clients.parse::<f64>().unwrap() * service / (10.02 + service);
        let ratio = mean(clients, claim) / expected;
        assert!((0.97..1.03).contains(&ratio), "{clients} {claim}: {ratio}");
    }
    let table = map(&["--metric", "sv_active_mean"]);
    for words in ["plain: sv_active_mean\n", "fleet.clients\n", "database.claim", "100ms", "██ "]
    {
        assert!(table.contains(words), "no {words:?} in:\n{table}");
    }
    assert!(!place.path().join("results").exists(), "a map writes no results");
}

#[test]
fn the_edge_of_a_known_law_is_found_and_played_again_in_fresh_worlds() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("steady.toml"), STEADY).unwrap();
    let args = ["tune", "steady.toml", "--maximize", "fleet.clients", "--such-that"];
    let tune = |condition| herdsim(place.path(), &[&args[..], &[condition]].concat());
    let output = tune("sv_active_mean < 20");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let found = text.split("with sv_active_mean < 20 is ").nth(1).expect("an answer");
    let found: f64 = found.split('.').next().unwrap().parse().unwrap();
    // 20 / 0.1 · 10.12 = 2,024.
    assert!((1_950.0..2_030.0).contains(&found), "{text}");
    for words in ["in fresh random worlds", "there is one edge", "fresh", "undecided", "95 %"] {
        assert!(text.contains(words) || words == "undecided", "no {words:?} in:\n{text}");
    }
    assert_eq!(text, stdout(&tune("sv_active_mean < 20")), "the same every time");
    let nowhere = stdout(&tune("sv_active_mean < 0.001"));
    assert!(nowhere.contains("No value of fleet.clients in reach"), "{nowhere}");
}

#[test]
fn the_smallest_value_may_have_a_unit() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("steady.toml"), STEADY.replace("poll = ['10s'", "poll = ['8s'"))
        .unwrap();
    let args = ["tune", "steady.toml", "--minimize", "policy.plain.poll.0", "--such-that"];
    let output = herdsim(place.path(), &[&args[..], &["sv_active_mean < 15"]].concat());
    let text = stdout(&output);
    let found = text.split("with sv_active_mean < 15 is ").nth(1).expect("an answer");
    let found: f64 = found.split("s.").next().unwrap().parse().unwrap();
    // 1,000 · 0.1 / 15 − 0.12 = 6.547 s.
    assert!((6.4..6.9).contains(&found), "{text}");
}

#[test]
fn what_cannot_be_asked_is_refused_with_the_remedy() {
    let place = tempfile::tempdir().unwrap();
    for (args, message, remedy) in [
        (&["map", "steady-state", "fleet.clients", "run.seed=1,2"][..], "no values", "key=a,b,c"),
        (
            &["map", "steady-state", "fleet.clients=0,5", "run.seed=1,2"],
            "0 is too small",
            "from 1 to",
        ),
        (
            &["map", "steady-state", "run.seed=1..900:900", "fleet.clients=5,6"],
            "simulations",
            "--force",
        ),
        (
            &[
                "map",
                "steady-state",
                "run.seed=1,2",
                "fleet.clients=5,6",
                "--metric",
                "draned_share",
            ],
            "there is no metric `draned_share`",
            "did you mean `drained_share`?",
        ),
        (
            &["tune", "deriver-restart", "--maximize", "fleet.clients", "--such-that", "polls < 9"],
            "under each policy",
            "--policy NAME",
        ),
        (
            &["tune", "steady-state", "--maximize", "fleet.clients", "--such-that", "polls = 9"],
            "is no condition",
            "time_to_drain_s < 120",
        ),
        (
            &[
                "tune",
                "deriver-restart",
                "--policy",
                "baseline",
                "--maximize",
                "policy.baseline.acquire",
                "--such-that",
                "polls < 9",
            ],
            "nothing is written at",
            "name a key",
        ),
    ] {
        let output = herdsim(place.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = stderr(&output);
        assert!(said.contains(message) && said.contains(remedy), "{args:?}: {said}");
    }
}
