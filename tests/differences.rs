//! Policies held against a reference in the same worlds.

use std::fs;

use herdsim::metrics::{Metric, Value};
use herdsim::report::{Glyphs, Ink, Style, json, markdown, terminal};
use herdsim::results::{Results, digest};

use crate::cli::{herdsim, stdout};
use crate::sample;
use crate::watch::{play, shipped};

const PLAIN: Style = Style { width: 80, ink: Ink::Plain, glyphs: Glyphs::Unicode };

/// Five replicates of two policies; active backends on average are those of the unit test of paired
/// intervals, attempts differ by the same everywhere.
fn compared() -> Results {
    let mut results = sample::restarted(&[("old", &[Some(30); 5]), ("new", &[Some(20); 5])]);
    for (policy, means) in
        [(0, [10.0, 12.0, 14.0, 16.0, 18.0]), (1, [13.0, 11.0, 15.0, 19.0, 17.0])]
    {
        let rows = results.policies[policy].replicates.iter_mut();
        for (row, mean) in rows.zip(means) {
            row[Metric::SvActiveMean as usize] = Value::Number(mean);
            row[Metric::Attempts as usize] = Value::Number(2e6 - 1_500.0 * policy as f64);
            row[Metric::WaitP99 as usize] = Value::Number(2.0 + mean * policy as f64);
        }
    }
    results.loaded.scenario.reference = Some("old".into());
    results
}

fn file(results: &Results) -> Option<String> {
    let file = results.files().into_iter().find(|file| file.name == "differences.csv");
    file.map(|file| String::from_utf8(file.bytes).unwrap())
}

#[test]
fn each_mean_is_a_row_of_the_file() {
    let text = file(&compared()).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    let header =
        "policy,metric,unit,method,difference,ci_low,ci_high,replicates,pairing_factor,verdict";
    assert_eq!(rows[0], header);
    assert!(rows.contains(&"new,attempts,count,paired-t,-1500,-1500,-1500,5,,lower"), "{text}");
    // 1 ± 2.483328, and 4.612008 / 2.483328.
    assert!(
        rows.contains(
            &"new,sv_active_mean,backends,paired-t,1,-1.483328,3.483328,5,1.857189,undecided"
        ),
        "{text}"
    );
    assert!(text.contains("\nnew,time_to_drain_s,s,medians,-10,,,5,,undecided\n"), "{text}");
    assert!(!text.contains("\nold,"), "the reference does not differ from itself");
    assert_eq!(file(&sample::steady(&["old", "new"])), None);
}

#[test]
fn a_short_table_stands_below_the_figures() {
    let text = terminal::render(&compared(), &PLAIN);
    let heading = "\n\ndifference to old in the same worlds, with half its 95 % interval\n";
    assert!(text.contains(heading), "{text}");
    assert!(
        text.contains(
            "\nnew     −1 500 ± 0  +1 ± 2.5   0 ± 0       0 ± 0  +15 ms ± 3.9 ms        1.9×\n"
        ),
        "{text}"
    );
    let ascii = terminal::render(&compared(), &Style { glyphs: Glyphs::Ascii, ..PLAIN });
    assert!(ascii.is_ascii() && ascii.contains(" +1 +/- 2.5 "), "{ascii}");
    for width in 48..=120 {
        let text = terminal::render(&compared(), &Style { width, ..PLAIN });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
    }
    assert!(!terminal::render(&sample::steady(&["old"]), &PLAIN).contains("difference"));
    let markdown = markdown::render(&compared());
    assert!(markdown.contains("\n| new | −1 500 ± 0 | +1 ± 2.5 | 0 ± 0 |"), "{markdown}");
}

#[test]
fn json_holds_both_half_widths() {
    let shown: serde_json::Value = serde_json::from_str(&json::render(&compared())).unwrap();
    assert_eq!(shown["reference"], "old");
    assert_eq!(shown["differences"].as_array().unwrap().len(), 1);
    let mean = &shown["differences"][0]["metrics"]["sv_active_mean"];
    assert_eq!((&mean["difference"], &mean["replicates"]), (&1.0.into(), &5.into()));
    let close = |value: &serde_json::Value, expected: f64| {
        assert!((value.as_f64().unwrap() - expected).abs() < 1e-5, "{value}");
    };
    close(&mean["pairing_factor"], 1.857_188);
    let attempts = &shown["differences"][0]["metrics"]["attempts"];
    assert_eq!(attempts["pairing_factor"], serde_json::Value::Null);
}

#[test]
fn each_variant_is_held_against_itself() {
    let variants: &[(&str, &[Option<u64>])] = &[("nothing", &[None; 2]), ("pause", &[None; 2])];
    let mut results = sample::in_variants(&["old", "new"], variants);
    for (summary, polls) in results.policies.iter_mut().zip([1.0, 10.0, 3.0, 30.0]) {
        for row in &mut summary.replicates {
            row[Metric::Polls as usize] = Value::Number(polls);
        }
    }
    results.loaded.scenario.reference = Some("old".into());
    let text = file(&results).unwrap();
    assert!(text.starts_with("policy,variant,metric,"), "{text}");
    for row in [
        "\nnew,nothing,polls,count,paired-t,2,2,2,2,,higher\n",
        "\nnew,pause,polls,count,paired-t,20,20,20,2,,higher\n",
    ] {
        assert!(text.contains(row), "no {row:?} in:\n{text}");
    }
}

#[test]
fn the_digest_depends_on_the_reference() {
    let (with, mut without) = (compared().loaded, compared().loaded);
    without.scenario.reference = None;
    assert_ne!(digest(&with), digest(&without));
}

/// Client by client the claims are the same, and their lengths are most of what the mean occupancy varies
/// by: over several seeds pairing made this interval 3.5 to 4.7 times narrower.
#[test]
fn the_same_claims_under_two_jitters_narrow_the_difference_in_occupancy() {
    let mut scenario = shipped("steady-state", &["fleet.clients=2_000", "run.replicates=20"]);
    scenario.compare_with("unjittered").unwrap();
    let mut results = sample::steady(&[]);
    results.policies = play(&scenario);
    results.loaded.scenario = scenario;
    let compared = results.against_reference();
    let difference = compared[0].difference(Metric::SvActiveMean);
    let factor = difference.pairing_factor.unwrap();
    assert!(factor > 2.0, "pairing bought {factor}");
    // Jitter that leaves the mean interval as it is leaves the mean occupancy as it is.
    assert!(difference.low < Some(0.0) && difference.high > Some(0.0), "{difference:?}");
}

#[test]
fn a_reference_must_be_one_of_the_policies_played() {
    let place = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let short = ["run", "deriver-restart", "-q", "--replicates", "2"];
        herdsim(place.path(), &[&short[..], &["--set", "fleet.clients=100"], more].concat())
    };
    let refused = |more: &[&str], words: &[&str]| {
        let output = run(more);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(words.iter().all(|words| stderr.contains(words)), "{stderr}");
    };
    refused(&["--reference", "baselin"], &["no policy `baselin`", "did you mean `baseline`?"]);
    let alone = ["--policy", "baseline", "--reference"];
    refused(&[&alone[..], &["jittered"]].concat(), &["no policy `jittered`"]);
    refused(&[&alone[..], &["baseline"]].concat(), &["nothing to hold", "another policy"]);

    let two = ["--policy", "baseline", "--policy", "no-retry"];
    let output = run(&[&two[..], &["--reference", "baseline"]].concat());
    assert!(stdout(&output).contains("\ndifference to baseline in the same worlds"));
    let dir = place.path().join("results/deriver-restart");
    let text = fs::read_to_string(dir.join("differences.csv")).unwrap();
    assert!(text.contains("\nno-retry,attempts,count,"), "{text}");
    let manifest = fs::read(dir.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["effective"]["reference"], "baseline");
    refused(&two, &["another run"]);
}
