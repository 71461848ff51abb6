//! Thresholds from the file to the exit code.

use std::fs;

use herdsim::report::{Glyphs, Ink, Style, json, markdown, terminal};
use herdsim::results::Results;
use herdsim::scenario;

use crate::cli::{herdsim, stdout};
use crate::sample;

const MAIN: &str = include_str!("../scenarios/deriver-restart.toml");

const PLAIN: Style = Style { width: 80, ink: Ink::Plain, glyphs: Glyphs::Unicode };

/// The main scenario with `[thresholds]` of these lines at its end.
fn with(lines: &str) -> String {
    format!("{MAIN}\n[thresholds]\n{lines}\n")
}

/// What is asked of a policy, as `metric comparison`.
fn asked(text: &str, policy: &str) -> Vec<String> {
    let loaded = scenario::parse("mine", "mine.toml", text, &[]).unwrap();
    let of = loaded.scenario.thresholds_of(policy);
    of.map(|threshold| threshold.condition.to_string()).collect()
}

/// Two policies of which one drains and the other does not, with a threshold of each verdict.
fn judged() -> Results {
    let drained: Vec<Option<u64>> = (90..96).map(Some).collect();
    let mut results = sample::restarted(&[("slow, but sure", &drained), ("stuck", &[None; 6])]);
    let text = with(
        "time_to_drain_s = '< 120'\ndrained_share = '>= 0.95'\noldest_item_s = '<= 1'\n\
         [thresholds.baseline]\nsv_active_max = '<= 294.5'",
    );
    let mut thresholds =
        scenario::parse("mine", "mine.toml", &text, &[]).unwrap().scenario.thresholds;
    thresholds[3].policy = Some("stuck".into());
    results.loaded.scenario.thresholds = thresholds;
    results
}

#[test]
fn a_policys_own_threshold_takes_the_place_of_the_general_one() {
    let text = with(
        "time_to_drain_s = '< 120'\nsv_active_max = '<= 294'\n\
         [thresholds.baseline]\ntime_to_drain_s = '< 600'\nattempts = '< 50_000'",
    );
    assert_eq!(asked(&text, "jittered"), ["time_to_drain_s < 120", "sv_active_max <= 294"]);
    assert_eq!(
        asked(&text, "baseline"),
        ["sv_active_max <= 294", "time_to_drain_s < 600", "attempts < 50000"]
    );
    assert!(asked(MAIN, "baseline").is_empty());
}

#[test]
fn what_is_wrong_with_a_threshold_is_shown_with_its_remedy() {
    for (lines, parts) in [
        ("time_to_drian_s = '< 120'", ["no metric `time_to_drian_s`", "mean `time_to_drain_s`?"]),
        ("time_to_drain_s = 120", ["a comparison is due here, not an integer", "as in \"< 120\""]),
        ("time_to_drain_s = '< 2m'", ["`< 2m` is no comparison", "unit of `time_to_drain_s` is s"]),
        ("attempts = '== 5'", ["`== 5` is no comparison", "<, <=, > or >="]),
        ("baseline = '< 5'", ["`baseline` is a policy", "write `[thresholds.baseline]`"]),
        ("[thresholds.baselin]\nattempts = '< 5'", ["no policy `baselin`", "mean `baseline`?"]),
        ("[thresholds.baseline]\nattemps = '< 5'", ["no metric `attemps`", "mean `attempts`?"]),
        ("[thresholds.baseline.attempts]\nmax = 5", ["not a table", "as in \"< 120\""]),
    ] {
        let error = scenario::parse("mine", "mine.toml", &with(lines), &[]).unwrap_err();
        let shown = error.render(false);
        for part in parts.iter().chain(&["--> mine.toml:", "^", "help:"]) {
            assert!(shown.contains(part), "no {part:?} for {lines} in:\n{shown}");
        }
    }
    let error = scenario::parse("mine", "mine.toml", MAIN, &["thresholds=5".into()]).unwrap_err();
    assert!(error.render(false).contains("[thresholds] must be a table"));
}

#[test]
fn verdicts_come_before_the_table() {
    let text = terminal::render(&judged(), &PLAIN);
    let expected = "
thresholds: 3 pass, 3 fail, 1 undecided
  ✓ slow, but sure: time_to_drain_s < 120 is 92.5 (90 – 95)
  ? slow, but sure: drained_share >= 0.95 is 1 (0.6097 – 1); about 73 replicates
    would decide
  ✓ slow, but sure: oldest_item_s <= 1 is 0 (0 – 0)
  ✗ stuck: time_to_drain_s < 120 is never
  ✗ stuck: drained_share >= 0.95 is 0 (0 – 0.3903)
  ✓ stuck: oldest_item_s <= 1 is 0 (0 – 0)
  ✗ stuck: sv_active_max <= 294.5 is 368 (368 – 368)

";
    assert!(text.contains(expected), "{text}");
    assert!(text.find("thresholds:") < text.find("────"), "{text}");
    let ascii = terminal::render(&judged(), &Style { glyphs: Glyphs::Ascii, ..PLAIN });
    assert!(ascii.is_ascii(), "{ascii}");
    for line in [
        "\n  pass slow, but sure: time_to_drain_s < 120 is 92.5 (90 - 95)\n",
        "\n  undecided slow, but sure: drained_share",
        "\n  fail stuck: time_to_drain_s < 120 is never\n",
    ] {
        assert!(ascii.contains(line), "no {line:?} in:\n{ascii}");
    }
    let colour = terminal::render(&judged(), &Style { ink: Ink::Colour, ..PLAIN });
    assert!(colour.contains("  \x1b[32m✓\x1b[0m slow") && colour.contains("  \x1b[31m✗\x1b[0m s"));
    for width in 48..=120 {
        let text = terminal::render(&judged(), &Style { width, ..PLAIN });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
    }
}

#[test]
fn a_figure_that_does_not_exist_is_undecided() {
    let mut results = sample::steady(&["a"]);
    let text = with("time_to_drain_s = '< 120'\nattempts = '< 9'");
    results.loaded.scenario.thresholds =
        scenario::parse("mine", "mine.toml", &text, &[]).unwrap().scenario.thresholds;
    let text = terminal::render(&results, &PLAIN);
    for line in [
        "\nthresholds: 2 undecided\n",
        "  ? a: time_to_drain_s < 120 is absent; there is nothing to measure\n",
        "  ? a: attempts < 9 is 0; about 2 replicates would decide\n",
    ] {
        assert!(text.contains(line), "no {line:?} in:\n{text}");
    }
}

#[test]
fn verdicts_are_in_every_format_where_they_were_asked_for() {
    let results = judged();
    let file = |results: &Results| {
        let file = results.files().into_iter().find(|file| file.name == "thresholds.csv");
        file.map(|file| String::from_utf8(file.bytes).unwrap())
    };
    assert_eq!(
        file(&results).unwrap(),
        "policy,metric,comparison,estimate,ci_low,ci_high,verdict,replicates_to_decide\n\
         \"slow, but sure\",time_to_drain_s,< 120,92.5,90,95,pass,\n\
         \"slow, but sure\",drained_share,>= 0.95,1,0.609666,1,undecided,73\n\
         \"slow, but sure\",oldest_item_s,<= 1,0,0,0,pass,\n\
         stuck,time_to_drain_s,< 120,,,,fail,\n\
         stuck,drained_share,>= 0.95,0,0,0.390334,fail,\n\
         stuck,oldest_item_s,<= 1,0,0,0,pass,\n\
         stuck,sv_active_max,<= 294.5,368,368,368,fail,\n"
    );
    let shown: serde_json::Value = serde_json::from_str(&json::render(&results)).unwrap();
    assert_eq!(shown["thresholds"].as_array().unwrap().len(), 7);
    assert_eq!(shown["thresholds"][1]["comparison"], ">= 0.95");
    assert_eq!(shown["thresholds"][1]["verdict"], "undecided");
    assert_eq!(shown["thresholds"][1]["replicates_to_decide"], 73);
    let markdown = markdown::render(&results);
    for line in [
        "\n| threshold | policy | figure | verdict |\n| --- | --- | ---: | --- |\n",
        "\n| drained\\_share >= 0.95 | slow, but sure | 1 (0.6097 – 1) | undecided: about 73 ",
        "\n| time\\_to\\_drain\\_s \\< 120 | stuck | never | fail |\n",
    ] {
        assert!(markdown.contains(line), "no {line:?} in:\n{markdown}");
    }
    let manifest = results.files().pop().unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest.bytes).unwrap();
    assert_eq!(manifest["effective"]["thresholds"][0]["comparison"], "< 120");
    assert_eq!(manifest["files"].as_array().unwrap().last().unwrap(), "thresholds.csv");

    let without = sample::steady(&["a"]);
    assert_eq!(file(&without), None);
    assert!(!json::render(&without).contains("thresholds"));
}

#[test]
fn a_variant_is_judged_by_itself() {
    let mut results =
        sample::in_variants(&["a"], &[("nothing", &[None; 6]), ("pause", &[None; 6])]);
    results.loaded.scenario.thresholds = judged().loaded.scenario.thresholds;
    let files = results.files();
    let file = files.iter().find(|file| file.name == "thresholds.csv").unwrap();
    let text = String::from_utf8(file.bytes.clone()).unwrap();
    assert!(text.starts_with("policy,variant,metric,comparison,"), "{text}");
    assert!(text.contains("\na,pause,time_to_drain_s,< 120,,,,fail,\n"), "{text}");
}

#[test]
fn the_exit_code_is_one_where_a_threshold_fails_and_all_is_written() {
    let place = tempfile::tempdir().unwrap();
    let run = |threshold: &str, more: &[&str]| {
        let short = ["run", "deriver-restart", "--policy", "no-retry", "--replicates", "2", "-q"];
        let set = format!("thresholds.{threshold}");
        let args = [&short[..], &["--force", "--set", "fleet.clients=100", "--set", &set], more];
        herdsim(place.path(), &args.concat())
    };
    let file = place.path().join("results/deriver-restart/thresholds.csv");

    let failed = run("polls=< 1", &[]);
    let stderr = String::from_utf8(failed.stderr.clone()).unwrap();
    assert_eq!(failed.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("1 of 1 thresholds fails") && stderr.contains("thresholds.csv says"));
    assert!(stdout(&failed).contains("  ✗ no-retry: polls < 1 is "), "{}", stdout(&failed));
    assert!(fs::read_to_string(&file).unwrap().contains("no-retry,polls,< 1,"));

    assert_eq!(run("polls=< 1", &["--format", "csv"]).status.code(), Some(1));
    let passed = run("polls=>= 1", &[]);
    assert_eq!((passed.status.code(), &passed.stderr[..]), (Some(0), &b""[..]));
    // Two replicates give a median no interval.
    assert_eq!(run("time_to_drain_s=< 0.5", &[]).status.code(), Some(0));
}

#[test]
fn the_help_names_the_exit_codes() {
    let place = tempfile::tempdir().unwrap();
    let help = stdout(&herdsim(place.path(), &["run", "--help"]));
    assert!(
        help.contains("Exit codes:\n  0 ") && help.contains("  1    a threshold fails"),
        "{help}"
    );
}
