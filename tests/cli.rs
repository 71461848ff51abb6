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

pub fn command(folder: &Path, args: &[&str]) -> Command {
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

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Says what was not tested, and why.
pub fn skipped(why: &str) {
    #[expect(clippy::disallowed_macros, reason = "who runs the tests is to know")]
    {
        eprintln!("skipped: {why}");
    }
}

#[track_caller]
pub fn refused(output: &Output, with: &[&str]) {
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

/// What a terminal of 60 columns gets with these variables set; `None` where there is no `script`
/// that could pretend to be one.
#[cfg(target_os = "linux")]
fn at_a_terminal(folder: &Path, variables: &str, args: &[&str]) -> Option<String> {
    let (program, args) = (env!("CARGO_BIN_EXE_herdsim"), args.join(" "));
    let run = format!("stty rows 40 cols 60; {variables} {program} {args}");
    let mut command = Command::new("script");
    command.args(["-qec", &run, "/dev/null"]).current_dir(folder).stdin(Stdio::null());
    command.env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8").env("TERM", "xterm-256color");
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).unwrap().replace('\r', ""))
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::disallowed_macros, reason = "a test says what it skips")]
fn a_terminal_gets_its_width_and_colours_that_mean_something() {
    let place = tempfile::tempdir().unwrap();
    let quiet = [&SHORT[..], &["-q"]].concat();
    let shown = |variables: &str| at_a_terminal(place.path(), variables, &quiet);
    let Some(coloured) = shown("") else {
        return eprintln!("skipped: there is no `script` to pretend to be a terminal");
    };
    assert!(coloured.contains("\x1b[32m"), "green drains: {coloured}");
    let plain = anstream::adapter::strip_str(&coloured).to_string();
    assert!(plain.lines().all(|line| line.chars().count() <= 60), "{plain}");
    assert_eq!(shown("NO_COLOR=1").unwrap(), plain);
    let dumb = shown("CI=true TERM=dumb").unwrap();
    assert!(dumb.is_ascii() && !dumb.contains('\x1b'), "{dumb}");
    let help = at_a_terminal(place.path(), "CI=true TERM=dumb", &["--help"]).unwrap();
    assert!(!help.contains('\x1b'), "{help}");
    assert_eq!(dumb.lines().count(), plain.lines().count());

    let piped = stdout(&short(place.path(), &["-q"]));
    assert!(piped.lines().any(|line| line.chars().count() > 60) && !piped.contains('\x1b'));
    let mut dumb = command(place.path(), &quiet);
    let dumb = stdout(&dumb.env("TERM", "dumb").output().unwrap());
    assert!(dumb.is_ascii() && dumb.lines().count() == piped.lines().count(), "{dumb}");
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
        "   guard: 500 tokens for each client, a retry costs 5, after a time-out 10\n   stops after 3 attempts; exact\n",
        "\n2          1.00   1.80     0 %    1.00   1.80     0 %  0.500  0.900     0 %\n",
        "\n3        · 2.00   3.60     0 %  · 2.00   3.60     0 %   1.00   1.80     0 %\n",
        "\n9        · 19.2   20.0    92 %  · 10.0   18.0     0 %   15.0   27.0     0 %\n",
        "\n12       · 19.9   20.0  > 99 %  · 10.0   18.0     0 %   27.0   29.4     0 %\n",
        "- A: jitter vanishes at the cap: from attempt 9 on, beyond its stop, 90 % of",
        "- A: overflow: at attempt 1025, beyond its stop, the code would raise.",
    ] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
    assert!(text.contains("· is beyond the rule's stop: what it"), "{text}");
    assert!(!text.contains("- B:") && !text.contains("- C:"), "{text}");
}

#[test]
fn backoff_ends_where_a_rule_stops_unless_more_attempts_are_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let two = ["backoff", "botocore-standard@1.34.106", "honcho-database@396976db"];
    let text = stdout(&herdsim(place.path(), &two));
    // honcho's shortest delays are 0.1, 0.2, 0.4, 0.8, 1.6 and then 2 s: 11.1 s before attempt 10.
    for row in [
        "\n2       0.200  1.00  1.00  1.80    0 %  1.50 0.300 0.700 0.700 1.10    0 %  1.30\n",
        "\n3       stops     –     –     –      –     – 0.500 0.900 0.900 1.30    0 %  2.20\n",
        "\n9           –     –     –     –      –     –  2.00  2.00  2.00 2.00  100 %  13.4\n",
        "\n10          –     –     –     –      –     – stops     –     –    –      –     –\n\n",
    ] {
        assert!(text.contains(row), "no {row:?} in:\n{text}");
    }
    let elapsed = "stops when an attempt fails 10s after the first: at attempt 10 at the latest";
    assert!(text.contains(elapsed) && text.contains("--attempts N looks beyond a stop."), "{text}");
    // With one attempt there is no delay at all.
    let kazoo = ["backoff", "kazoo-retry@2.11.0"];
    let text = stdout(&herdsim(place.path(), &kazoo));
    assert!(text.contains("   stops after 1 attempt\n"), "{text}");
    assert!(text.contains("\n1        stops    –"), "{text}");
    let printed = |more: &[&str]| stdout(&herdsim(place.path(), &[&kazoo[..], more].concat()));
    assert_eq!(printed(&["--format", "csv"]).lines().count(), 1);
    let markdown = printed(&["--format", "markdown", "--attempts", "1"]);
    assert!(markdown.contains("| 1 | · 0.060 | 0.068 |"), "{markdown}");
}

#[test]
fn backoff_shows_eight_rules_in_80_columns_and_leaves_none_out() {
    let place = tempfile::tempdir().unwrap();
    let rules: String = (1..=9)
        .map(|n| format!("[rule{n}.retry]\ndelay = [\"{n}h\"]\nstop = \"never\"\n"))
        .collect();
    fs::write(place.path().join("nine.toml"), rules).unwrap();
    let text = stdout(&herdsim(place.path(), &["backoff", "nine.toml", "--attempts", "1"]));
    for line in [
        "\n            A     B      C      D      E      F      G      H\n",
        "\n1        3600  7200  10800  14400  18000  21600  25200  28800\n",
        "\nA  rule9\n",
        "\n1        32400  32400  32400",
    ] {
        assert!(text.contains(line), "no {line:?} in:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn backoff_writes_formulas_in_ascii_where_it_must() {
    let place = tempfile::tempdir().unwrap();
    let ascii = |args: &[&str]| {
        let output = command(place.path(), args).env("LC_ALL", "C").output().unwrap();
        let text = stdout(&output);
        assert!(text.is_ascii(), "{text}");
        text
    };
    let args = ["backoff", "sidekiq-retry@8.1.7", "botocore-standard@1.34.106", "--attempts", "3"];
    let text = ascii(&args);
    for words in [
        "   c^4 + 15 + randint(0, 10*(c + 1) - 1) in s, c = k - 1\n",
        "   min(r*base*2^(k-1+first), cap); raises at attempt 1025 - first\n",
        "0 % 90.6 | 0.400  2.00 ",
    ] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
    assert!(ascii(&["list", "policies"]).contains("    min(r*base*2^(k-1+first), cap); raises"));
}

#[test]
fn backoff_writes_each_format() {
    let place = tempfile::tempdir().unwrap();
    let printed = |format: &str| {
        let args = ["backoff", "stripe-node@23.1.0", "--attempts", "3", "--format", format];
        stdout(&herdsim(place.path(), &args))
    };
    assert_eq!(
        printed("csv"),
        "policy,attempt,min_s,p10_s,p50_s,mean_s,p90_s,max_s,cap_share,cumulative_mean_s,exact,\
         beyond_stop\n\
         stripe-node@23.1.0,1,0.5,0.5,0.5,0.5,0.5,0.5,0,0.5,true,false\n\
         stripe-node@23.1.0,2,0.5,0.55,0.75,0.75,0.95,1,0,1.25,true,false\n\
         stripe-node@23.1.0,3,1,1.1,1.5,1.5,1.9,2,0,2.75,true,true\n"
    );
    let json: serde_json::Value = serde_json::from_str(&printed("json")).unwrap();
    assert_eq!(json[0]["attempts"][1]["mean_s"], 0.75);
    assert_eq!(json[0]["surprises"].as_array().unwrap().len(), 1);
    assert_eq!((&json[0]["stops_at"], &json[0]["lacks"]), (&3.into(), &serde_json::Value::Null));
    assert_eq!(json[0]["stop"], "stops after 3 attempts");
    let beyond = |attempt: usize| json[0]["attempts"][attempt - 1]["beyond_stop"].as_bool();
    assert_eq!((beyond(2), beyond(3)), (Some(false), Some(true)));
    let markdown = printed("markdown");
    assert!(markdown.contains("| 2 | 0.500 | 0.550 | 0.750 | 0.750 | 0.950 | 1.00 | 0 % | 1.25 |"));
    assert!(markdown.contains("- the first retry has no jitter: it comes after exactly 0.500 s."));
    let markdown = "markdown";
    let finagle = ["backoff", "finagle-exponential-jittered@4feb34c", "--format"];
    let printed = |format| stdout(&herdsim(place.path(), &[&finagle[..], &[format]].concat()));
    let words = "\n- guard: retries up to 20 % of the calls of the last 10s and 10 more a second, for each \
                 client\n";
    assert!(printed(markdown).contains(words));
    let json: serde_json::Value = serde_json::from_str(&printed("json")).unwrap();
    let budget = serde_json::json!({ "ratio": 0.2, "reserve": 10.0, "ttl": "10s" });
    assert_eq!(json[0]["guards"], serde_json::json!([{ "ratio": budget, "scope": "client" }]));
    let envoy = ["backoff", "envoy-retry@1", "--format"];
    let printed = |format| stdout(&herdsim(place.path(), &[&envoy[..], &[format]].concat()));
    assert!(printed(markdown).contains("\n- left out: that it draws whole milliseconds\n"));
    let json: serde_json::Value = serde_json::from_str(&printed("json")).unwrap();
    assert_eq!(json[0]["lacks"], "that it draws whole milliseconds");
}

#[test]
fn backoff_reads_rules_and_policies_from_a_file() {
    let place = tempfile::tempdir().unwrap();
    let rules = "[mine]\npreset = \"kazoo-retry@2.11.0\"\nmax = \"5s\"\n\
                 [other.retry]\ndelay = [\"1s\"]\nstop = \"never\"\n\
                 [nested.retry]\ndelay = { preset = \"botocore-standard@1.34.107\" }\n\
                 stop = { attempts = 4 }\n";
    fs::write(place.path().join("rules.toml"), rules).unwrap();
    let text = stdout(&herdsim(place.path(), &["backoff", "rules.toml", "--attempts", "3"]));
    for words in [
        "A  mine\n   s = c·U(0.6, 1.4), c = delay, then min(2·s, max): jitter feeds forward\n",
        "   stops after 1 attempt; exact at attempt 1, else sampled from 20 000 clients\n",
        "B  other\n   never stops; exact\n",
        // Who takes the delay alone takes none of the guards.
        "C  nested\n   r·min(base·2^(k−1+first), cap)\n   stops after 4 attempts; exact\n",
    ] {
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
        "base = \"1s\", cap = \"20s\", first = 0, capacity = 500, stop = { attempts = 3 }",
        "    run: botocore/retries/standard.py",
        "\n    guard: 500 tokens for each client, a retry costs 5, after a time-out 10\n",
        "\n    left out: that it draws whole milliseconds\n",
    ] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
}
