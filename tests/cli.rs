//! The program as it is used: exit codes, and which stream says what.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A short run of a built-in scenario, in a folder of its own.
const SHORT: [&str; 6] =
    ["run", "deriver-restart", "--replicates", "1", "--set", "fleet.clients=100"];

/// The program, run in a folder, with its output in a pipe.
pub fn herdsim(folder: &Path, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herdsim"));
    command.args(args).current_dir(folder).env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8");
    command
}

fn short(folder: &Path, more: &[&str]) -> Output {
    herdsim(folder, &[&SHORT[..], more].concat())
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[track_caller]
fn refused(output: &Output, with: &[&str]) {
    let stderr = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert_eq!(stdout(output), "");
    for words in with {
        assert!(stderr.contains(words), "no `{words}` in: {stderr}");
    }
}

#[test]
fn a_run_writes_its_folder_and_shows_a_table() {
    let place = tempfile::tempdir().unwrap();
    let output = short(place.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("deriver-restart: "));
    assert!(!stdout(&output).contains('\x1b'), "no colours in a pipe");
    assert!(stderr(&output).starts_with("wrote results/deriver-restart in "));
    assert!(place.path().join("results/deriver-restart/manifest.json").is_file());
}

#[test]
fn each_format_goes_to_stdout_whole() {
    let place = tempfile::tempdir().unwrap();
    let printed = |format: &str| stdout(&short(place.path(), &["-q", "--format", format]));
    let summary = fs::read_to_string(place.path().join("results/deriver-restart/summary.csv"));
    assert!(summary.is_err(), "nothing has run yet");
    let csv = printed("csv");
    let summary = fs::read_to_string(place.path().join("results/deriver-restart/summary.csv"));
    assert_eq!(csv, summary.unwrap());
    let json: serde_json::Value = serde_json::from_str(&printed("json")).unwrap();
    assert_eq!(json["replicates"], 1);
    assert!(json["policies"][0]["metrics"]["polls"]["estimate"].is_number());
    assert!(printed("markdown").starts_with("### deriver-restart: "));
}

#[test]
fn quiet_leaves_stderr_empty() {
    let place = tempfile::tempdir().unwrap();
    let output = short(place.path(), &["--quiet"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
    assert_ne!(stdout(&output), "");
}

#[test]
fn colours_come_when_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let always = short(place.path(), &["--color", "always"]);
    assert!(stdout(&always).contains('\x1b'));
    let never = short(place.path(), &["--color", "never", "--out", "/dev/null"]);
    assert!(!stderr(&never).contains('\x1b'));
}

#[test]
fn flags_are_overrides_in_the_manifest() {
    let place = tempfile::tempdir().unwrap();
    let output = short(place.path(), &["--seed", "9", "--policy", "baseline", "--out", "here"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let manifest = fs::read(place.path().join("here/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(
        manifest["overrides"],
        serde_json::json!(["fleet.clients=100", "run.replicates=1", "run.seed=9"])
    );
    assert_eq!(manifest["seed"], 9);
    assert_eq!(manifest["units"], serde_json::json!([{ "policy": "baseline", "replicate": 0 }]));
}

#[test]
fn wrong_usage_is_refused_with_two() {
    let place = tempfile::tempdir().unwrap();
    refused(&herdsim(place.path(), &[]), &["Usage"]);
    refused(&short(place.path(), &["--speed", "9"]), &["--speed"]);
    refused(&short(place.path(), &["--jobs", "0"]), &["--jobs"]);
    refused(&short(place.path(), &["--format", "xml"]), &["xml", "markdown"]);
    refused(&herdsim(place.path(), &["run", "no-such-scenario"]), &["no-such-scenario"]);
    refused(&short(place.path(), &["--policy", "no-such-policy"]), &["no-such-policy"]);
    refused(&short(place.path(), &["--set", "fleet.colour=1"]), &["colour"]);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing was written");
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_the_run() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("file"), "mine").unwrap();
    refused(&short(place.path(), &["--out", "file"]), &["not a folder", "--out"]);
    refused(&short(place.path(), &["--out", "file/in"]), &["file/in", "--out"]);
    refused(&short(place.path(), &["--out", "."]), &["current folder"]);
    fs::create_dir(place.path().join("full")).unwrap();
    fs::write(place.path().join("full/notes.txt"), "mine").unwrap();
    refused(&short(place.path(), &["--out", "full", "--force"]), &["not empty"]);
}

#[test]
fn results_of_another_run_ask_for_force() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(short(place.path(), &["--seed", "1"]).status.code(), Some(0));
    refused(&short(place.path(), &["--seed", "2"]), &["another run", "help:", "--force"]);
    assert_eq!(short(place.path(), &["--seed", "2", "--force"]).status.code(), Some(0));
    assert_eq!(short(place.path(), &["--seed", "2"]).status.code(), Some(0), "the same again");
}

#[test]
fn a_trace_follows_one_policy() {
    let place = tempfile::tempdir().unwrap();
    refused(&short(place.path(), &["--trace", "t.csv"]), &["one policy", "--policy baseline"]);
    let one = ["--policy", "baseline", "--trace"];
    refused(&short(place.path(), &[&one[..], &["no/t.csv"]].concat()), &["no/t.csv"]);
    refused(&short(place.path(), &[&one[..], &["/dev/null"]].concat()), &["no ordinary file"]);
    let output = short(place.path(), &[&one[..], &["t.csv"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(fs::metadata(place.path().join("t.csv")).unwrap().len() > 0);
}

#[test]
fn variants_are_played_chosen_and_traced_like_policies() {
    let place = tempfile::tempdir().unwrap();
    let small = ["--replicates", "1", "--set", "fleet.clients=100", "-q", "--out", "here"];
    let run = |more: &[&str]| {
        let args = [&["run", "recovery-actions"], &small[..], more].concat();
        herdsim(place.path(), &args)
    };
    refused(&run(&["--variant", "no-rety"]), &["no variant `no-rety`", "did you mean `no-retry`?"]);
    let one = ["--trace", "t.csv"];
    refused(&run(&one), &["one variant", "--variant nothing"]);
    let one = run(&[&one[..], &["--variant", "no-retry"]].concat());
    assert_eq!(one.status.code(), Some(0), "{}", stderr(&one));
    let trace = fs::read_to_string(place.path().join("t.csv")).unwrap();
    assert!(trace.contains(",disturbed,,disturbance=1,"), "the trace follows the variant");
    let summary = fs::read_to_string(place.path().join("here/summary.csv")).unwrap();
    assert!(summary.starts_with("scenario,policy,variant,metric,"), "{summary}");
    assert!(summary.contains("\nrecovery-actions,baseline,no-retry,polls,"), "{summary}");
    assert!(!summary.contains("baseline,nothing,"), "{summary}");
}

#[test]
fn a_run_that_cannot_fit_is_refused_before_it_starts() {
    let place = tempfile::tempdir().unwrap();
    let of = |clients: &str| {
        let clients = format!("fleet.clients={clients}");
        let many = ["run", "deriver-restart", "--jobs", "1000", "--set", &clients];
        herdsim(place.path(), &many)
    };
    refused(&of("1000000000"), &["GiB of memory", "GiB are available", "--jobs 1"]);
    refused(&of("4000000000"), &["a run of 32m is too long", "duration = \"32m\"", "at most 8m"]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = tempfile::tempdir().unwrap();
    let mut child = command(place.path(), &SHORT)
        .args(["--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn list_names_what_run_takes() {
    let place = tempfile::tempdir().unwrap();
    let output = herdsim(place.path(), &["list"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    let names: Vec<&str> =
        text.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(names.contains(&"deriver-restart"), "{text}");
}

#[test]
fn list_prints_every_pooler_with_its_sources() {
    let place = tempfile::tempdir().unwrap();
    let text = stdout(&herdsim(place.path(), &["list", "poolers"]));
    for part in ["\"pgbouncer@1.25\"", "\"supavisor@2.9\"", "\"none\"", "server_login_retry", "# "]
    {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn check_says_what_may_surprise() {
    let place = tempfile::tempdir().unwrap();
    let check = |arguments: &[&str]| stdout(&herdsim(place.path(), arguments));
    let text = check(&["check", "retrograde-database"]);
    assert!(text.starts_with("retrograde-database is valid."), "{text}");
    assert!(text.contains("Completed with the pool full: 307 claims/s."), "{text}");
    assert!(text.contains("retry, single, jittered, no-ramp: less is completed"), "{text}");
    assert!(text.contains("jittered: the schedule starts at its base interval"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(check(&["check", "steady-state"]).contains("Nothing about it stands out."));
    let saturated = check(&["check", "steady-state", "--set", "pooler.pool_size=60"]);
    assert!(saturated.contains("saturated at rest"), "{saturated}");
    let api = check(&["check", "api-burst", "--set", "background.rate=800/s"]);
    assert!(api.contains("takes 40 % of what is completed at best"), "{api}");
    assert!(api.contains("nobody-retries: 1.05"), "{api}");
    let work = check(&["check", "items-survive", "--set", "work.arrivals=20000/s"]);
    assert!(work.contains("items arrive 3.55 times as fast"), "{work}");
    let sessions = ["pooler.mode=session", "fleet.transactions_per_poll=2"];
    let sessions = check(&["check", "steady-state", "--set", sessions[0], "--set", sessions[1]]);
    assert!(sessions.contains("360 ms at best, and 368 backends"), "{sessions}");
    let pool = "policy.jittered.client_pool={ clients = 100, connections = 2 }";
    let pools = check(&["check", "steady-state", "--set", pool]);
    assert!(pools.contains("have 232 connections together"), "{pools}");
    let storm = "deploy-reconnect-storm";
    let kept = check(&["check", storm, "--set", "pooler.max_client_conn=3_000"]);
    assert!(kept.contains("the pooler has 3000 client slots"), "{kept}");
    assert_eq!(herdsim(place.path(), &["check", "no-such"]).status.code(), Some(2));
}

#[test]
fn help_leads_with_examples() {
    let place = tempfile::tempdir().unwrap();
    let text = stdout(&herdsim(place.path(), &["--help"]));
    assert!(text.find("Examples:").unwrap() < text.find("Usage:").unwrap(), "{text}");
}

#[test]
fn backoff_says_side_by_side_in_80_columns_where_jitter_vanishes() {
    let place = tempfile::tempdir().unwrap();
    let three = [
        "backoff",
        "botocore-standard@1.34.106",
        "botocore-standard@1.34.107",
        "deadline-no-overflow@8e776e1+botocore-1.34.162",
        "--attempts",
        "14",
    ];
    let output = herdsim(place.path(), &three);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for words in [
        "A  botocore-standard@1.34.106\n   min(r·base·2^(k−1+first), cap); raises at attempt 1025 − first\n",
        "   stops after 3 attempts; exact\n",
        "\n9         19.2   20.0    92 %   10.0   18.0     0 %   15.0   27.0     0 %\n",
        "\n12        19.9   20.0  > 99 %   10.0   18.0     0 %   27.0   29.4     0 %\n",
        "- A: jitter vanishes at the cap: from attempt 9 on, 90 % of the delays or more",
        "- A: overflow: the code raises at attempt 1025",
    ] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
    assert!(!text.contains("- B:") && !text.contains("- C:"), "{text}");
}

#[test]
fn backoff_writes_each_format() {
    let place = tempfile::tempdir().unwrap();
    let printed = |format: &str| {
        let args = ["backoff", "stripe-node@23.1.0", "--attempts", "2", "--format", format];
        stdout(&herdsim(place.path(), &args))
    };
    assert_eq!(
        printed("csv"),
        "policy,attempt,min_s,p10_s,p50_s,mean_s,p90_s,max_s,cap_share,cumulative_mean_s\n\
         stripe-node@23.1.0,1,0.5,0.5,0.5,0.5,0.5,0.5,0,0.5\n\
         stripe-node@23.1.0,2,0.5,0.55,0.75,0.75,0.95,1,0,1.25\n"
    );
    let json: serde_json::Value = serde_json::from_str(&printed("json")).unwrap();
    assert_eq!(json[0]["attempts"][1]["mean_s"], 0.75);
    assert_eq!(json[0]["surprises"].as_array().unwrap().len(), 1);
    let markdown = printed("markdown");
    assert!(markdown.contains("| 2 | 0.500 | 0.550 | 0.750 | 0.750 | 0.950 | 1.00 | 0 % | 1.25 |"));
    assert!(markdown.contains("- the first retry has no jitter: it comes after exactly 0.500 s."));
}

#[test]
fn backoff_reads_rules_and_policies_from_a_file() {
    let place = tempfile::tempdir().unwrap();
    let rules = "[mine]\npreset = \"kazoo-retry@2.11.0\"\nmax = \"5s\"\n\
                 [other.retry]\ndelay = [\"1s\"]\nstop = \"never\"\n";
    fs::write(place.path().join("rules.toml"), rules).unwrap();
    let text = stdout(&herdsim(place.path(), &["backoff", "rules.toml"]));
    for words in ["A  mine\n", "sampled from 20 000 clients", "B  other\n   never stops; exact"] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
    assert!(text.contains("- A: may exceed its cap of 5.00 s"), "{text}");
    assert!(text.contains("- B: no jitter"), "{text}");
    let scenario = include_str!("../scenarios/deriver-restart.toml");
    fs::write(place.path().join("scenario.toml"), scenario).unwrap();
    let text = stdout(&herdsim(place.path(), &["backoff", "scenario.toml"]));
    assert!(text.contains("A  baseline\n") && text.contains("botocore\n"), "{text}");
}

#[test]
fn backoff_says_what_there_is_where_a_name_is_wrong() {
    let place = tempfile::tempdir().unwrap();
    let wrong = |name: &str| herdsim(place.path(), &["backoff", name]);
    refused(
        &wrong("botocore-standrad@1.34.106"),
        &["no preset", "did you mean `botocore-standard`?"],
    );
    refused(
        &wrong("botocore-standard@1.9"),
        &["not known at version `1.9`", "1.31.21 to 1.34.106"],
    );
    refused(&wrong("botocore-standard"), &["there is no file and no preset", "list policies"]);
    fs::write(place.path().join("empty.toml"), "").unwrap();
    refused(&wrong("empty.toml"), &["has no retry rule"]);
}

#[test]
fn list_shows_each_preset_with_its_formula_and_evidence() {
    let place = tempfile::tempdir().unwrap();
    let text = stdout(&herdsim(place.path(), &["list", "policies"]));
    for words in [
        "botocore-standard (1.31.21 to 1.34.106)\n    min(r·base·2^(k−1+first), cap); raises at attempt 1025 − first\n",
        "base = \"1s\", cap = \"20s\", first = 0, stop = { attempts = 3 }",
        "    run: botocore/retries/standard.py",
        "    without the retry quota of 500 tokens",
    ] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
}
