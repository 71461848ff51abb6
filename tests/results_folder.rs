//! The results folder: exact bytes, and what may be replaced.

use std::fs;
use std::path::{Path, PathBuf};

use herdsim::metrics::Metric;
use herdsim::results::{Results, ResultsError, digest, folder};

use crate::sample;

fn text(results: &Results, name: &str) -> String {
    let file = results.files().into_iter().find(|file| file.name == name).unwrap();
    String::from_utf8(file.bytes).unwrap()
}

fn lines(results: &Results, name: &str, count: usize) -> Vec<String> {
    text(results, name).lines().take(count).map(str::to_owned).collect()
}

fn small() -> Results {
    sample::restarted(&[("slow, but sure", &[Some(90), None])])
}

#[test]
fn summary_has_a_row_per_policy_and_metric() {
    let text = text(&small(), "summary.csv");
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(rows.len(), 1 + Metric::ALL.len());
    assert_eq!(rows[0], "scenario,policy,metric,unit,estimate,ci_low,ci_high,replicates,censored");
    assert_eq!(rows[1], "sample,\"slow, but sure\",polls,count,0,0,0,2,0");
    let of = |metric: &str| rows.iter().find(|row| row.contains(metric)).unwrap().to_string();
    assert_eq!(
        of("time_to_drain_s"),
        "sample,\"slow, but sure\",time_to_drain_s,s,,,,2,1",
        "a censored median is no number"
    );
    assert_eq!(
        of("amplification"),
        "sample,\"slow, but sure\",amplification,ratio,22.14,22.14,22.14,2,0"
    );
}

#[test]
fn replicates_leave_censored_fields_empty() {
    let rows = lines(&small(), "replicates.csv", 3);
    let column = |row: &str, name: &str| {
        let at = rows[0].split(',').position(|head| head == name).unwrap();
        // The policy's name holds a comma of its own.
        row.replace("slow, but sure", "").split(',').nth(at).unwrap().to_owned()
    };
    assert!(rows[0].starts_with("scenario,policy,replicate,polls,acquisitions,"));
    assert_eq!(column(&rows[1], "time_to_drain_s"), "90");
    assert_eq!(column(&rows[2], "time_to_drain_s"), "");
    assert_eq!(column(&rows[2], "drained_share"), "0");
    assert_eq!(column(&rows[2], "served_50_s"), "");
}

#[test]
fn drain_tells_censored_from_drained() {
    assert_eq!(
        lines(&small(), "drain.csv", 9),
        [
            "policy,replicate,trigger,at_s,drain_s,censored",
            "\"slow, but sure\",0,0,120,90,0",
            "\"slow, but sure\",1,0,120,,1",
        ]
    );
}

#[test]
fn variants_have_a_column_after_the_policy_where_there_are_any() {
    let results = sample::in_variants(&["baseline"], &[("nothing", &[None; 2])]);
    for (name, header, row) in [
        ("summary.csv", "scenario,policy,variant,metric,", "sample,baseline,nothing,polls,count,"),
        ("replicates.csv", "scenario,policy,variant,replicate,", "sample,baseline,nothing,0,"),
        ("drain.csv", "policy,variant,replicate,trigger,", "baseline,nothing,0,0,120,,1"),
        ("concurrency.csv", "policy,variant,kind,", "baseline,nothing,all,0,"),
        ("timeline.csv", "policy,variant,t_s,", "baseline,nothing,0,1.5,"),
        ("latency.csv", "policy,variant,kind,", "baseline,nothing,wait,0.5,2"),
    ] {
        let lines = lines(&results, name, 2);
        assert!(lines[0].starts_with(header), "{name}: {}", lines[0]);
        assert!(lines[1].starts_with(row), "{name}: {}", lines[1]);
    }
    let manifest: serde_json::Value =
        serde_json::from_str(&text(&results, "manifest.json")).unwrap();
    assert_eq!(manifest["units"][1]["variant"], "nothing");
    assert_eq!(manifest["effective"]["variants"][0]["name"], "nothing");
}

#[test]
fn concurrency_gives_every_level_and_no_share_of_nothing() {
    assert_eq!(
        lines(&sample::steady(&["a"]), "concurrency.csv", 99),
        [
            "policy,kind,active,share,cumulative,sampled_share",
            "a,all,0,0.333333,0.333333,0.5",
            "a,all,1,0,0.333333,0",
            "a,all,2,0.666667,1,0.5",
            "a,good,0,1,1,",
            "a,good,1,0,1,",
            "a,good,2,0,1,",
            "a,wasted,0,,,",
            "a,wasted,1,,,",
            "a,wasted,2,,,",
        ]
    );
}

#[test]
fn the_timeline_is_a_mean_over_replicates() {
    let mut results = small();
    results.policies[0].timeline.buckets[1].polls = 3;
    assert_eq!(
        lines(&results, "timeline.csv", 3),
        [
            "policy,t_s,polls,attempts,connects,refused,timed_out,abandoned,good,wasted,\
             requests_served,requests_failed,backlog_mean,oldest_item_s,logins,backends_lost,sv_active_mean,sv_active_max,clients_max,cl_waiting_mean,\
             cl_waiting_max,cl_dead_mean,sv_short_s,phase_coherence",
            "\"slow, but sure\",0,1.5,0,0,0,0,0,0,0,0,0,0,0,0,0,40,0,0,0,0,0,0,0",
            "\"slow, but sure\",1,1.5,0,0,0,0,0,0,0,0,0,0,0,0,0,40,0,0,0,0,0,0,0",
        ]
    );
}

#[test]
fn a_latency_without_observations_is_empty() {
    let rows = lines(&sample::steady(&["a"]), "latency.csv", 8);
    assert_eq!(rows[..2], ["policy,kind,quantile,ms", "a,wait,0.5,2"]);
    assert_eq!(rows[6..], ["a,wait,1,2", "a,wait_abandoned,0.5,"]);
}

#[test]
fn the_manifest_says_what_ran_but_not_where() {
    let results = small();
    let text = text(&results, "manifest.json");
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["tool"], "herdsim");
    assert_eq!(manifest["origin"], "sample.toml");
    assert_eq!(manifest["text"], "title = \"Nothing happens\"\n");
    assert_eq!(manifest["overrides"][0], "run.seed=7");
    assert_eq!(manifest["effective"]["run"]["duration"], "32m");
    assert_eq!(manifest["units"][1]["policy"], "slow, but sure");
    assert_eq!(manifest["units"][1]["replicate"], 1);
    assert_eq!(manifest["digest"], digest(&results.loaded).as_str());
    assert!(!text.contains("/home/someone"));
}

#[test]
fn the_digest_depends_on_everything_that_decides_the_bytes() {
    let base = small().loaded;
    let mut others = [base.clone(), base.clone(), base.clone()];
    others[0].source.text.push('#');
    others[1].source.overrides.push("run.seed=8".into());
    others[2].scenario.policies.clear();
    for other in others {
        assert_ne!(digest(&other), digest(&base));
    }
    let mut elsewhere = base.clone();
    elsewhere.source.origin = "another/place.toml".into();
    assert_eq!(digest(&elsewhere), digest(&base));
}

fn content(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

fn entries(dir: &Path) -> usize {
    fs::read_dir(dir).unwrap().count()
}

/// Results of another digest than [`small`]'s.
fn other() -> Results {
    let mut results = small();
    results.loaded.source.text = "title = \"Something else\"\n".into();
    results
}

#[test]
fn a_finished_run_is_run_again_to_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("deep/results");
    small().write(&dir, false).unwrap();
    let first = content(&dir);
    assert_eq!(first.len(), 8);
    small().write(&dir, false).unwrap();
    assert_eq!(content(&dir), first);
    assert_eq!(entries(dir.parent().unwrap()), 1, "nothing temporary is left beside it");
}

#[test]
fn results_of_another_run_are_replaced_by_force_only() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("results");
    small().write(&dir, false).unwrap();
    let first = content(&dir);
    let refused = other().write(&dir, false).unwrap_err();
    assert!(matches!(refused, ResultsError::OtherDigest(_)), "{refused}");
    assert!(refused.help().contains("--force"));
    assert_eq!(content(&dir), first);
    other().write(&dir, true).unwrap();
    assert_ne!(content(&dir), first);
    assert_eq!(entries(place.path()), 1);
}

#[test]
fn what_is_not_ours_is_never_replaced() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("results");
    fs::create_dir(&dir).unwrap();
    small().write(&dir, false).expect("an empty folder is nobody's");
    fs::write(dir.join("notes.txt"), "mine").unwrap();
    for force in [false, true] {
        let refused = small().write(&dir, force).unwrap_err();
        assert!(matches!(refused, ResultsError::Mixed { .. }), "{refused}");
        assert!(refused.to_string().contains("notes.txt"));
    }
    for manifest in [None, Some("{}"), Some("{\"tool\":\"k6\",\"digest\":\"\",\"files\":[]}")] {
        let dir = tempfile::tempdir_in(place.path()).unwrap();
        fs::write(dir.path().join("a.txt"), "mine").unwrap();
        if let Some(manifest) = manifest {
            fs::write(dir.path().join("manifest.json"), manifest).unwrap();
        }
        let before = content(dir.path());
        let refused = small().write(dir.path(), true).unwrap_err();
        assert!(matches!(refused, ResultsError::Foreign(_)), "{refused}");
        assert_eq!(content(dir.path()), before);
    }
}

#[test]
fn a_check_creates_nothing_and_finds_what_will_not_work() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("a/b/c");
    folder::check(&dir, "", false).unwrap();
    assert_eq!(entries(place.path()), 0);

    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(folder::check(&file, "", true), Err(ResultsError::NotAFolder(_))));
    assert!(matches!(folder::check(&file.join("in"), "", true), Err(ResultsError::Io { .. })));
    assert!(matches!(folder::check(Path::new("."), "", true), Err(ResultsError::InUse(_))));
    assert!(matches!(folder::check(Path::new("/"), "", true), Err(ResultsError::InUse(_))));
    assert_eq!(entries(place.path()), 1);
}
