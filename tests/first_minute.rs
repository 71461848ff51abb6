//! The first minute: a scenario of one's own, what its keys mean, and what the shell completes.

use std::fs;
use std::path::Path;
use std::process::Command;

use herdsim::metric::Metric;
use herdsim::report::explain;
use herdsim::scenario::keys;

use crate::cli::{command, herdsim, refused, skipped, stderr, stdout};

const INI: &str = "\
;; what an operator has
[databases]
main = host=10.0.0.5 dbname=main

[pgbouncer]
listen_port = 6432
auth_type = scram-sha-256
pool_mode = transaction
default_pool_size = 80
max_db_connections = 60
max_client_conn = 2000
query_wait_timeout = 15
reserve_pool_size = 5
server_lifetime = 1800
server_idle_timeout = 0
";

#[test]
fn the_program_alone_shows_three_examples() {
    let place = tempfile::tempdir().unwrap();
    let output = herdsim(place.path(), &[]);
    refused(&output, &["Usage", "herdsim run deriver-restart", "herdsim new mine"]);
    let examples = stderr(&output).lines().filter(|line| line.starts_with("  herdsim ")).count();
    assert_eq!(examples, 3);
}

#[test]
fn a_new_scenario_is_checked_and_runs_at_once() {
    let place = tempfile::tempdir().unwrap();
    let new =
        ["new", "mine", "--clients", "5000", "--pool", "100", "--poll", "30s", "--service", "40ms"];
    assert_eq!(herdsim(place.path(), &new).status.code(), Some(0));
    let check = herdsim(place.path(), &["check", "mine.toml"]);
    assert!(stdout(&check).starts_with("mine is valid."), "{}", stderr(&check));
    assert!(stdout(&check).contains("2500 claims/s"), "100 backends at 40 ms");
    let run = herdsim(place.path(), &["run", "mine.toml", "--replicates", "1"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    assert!(stdout(&run).contains("5 000 clients · pool 100 · claim 40 ms"), "{}", stdout(&run));
}

#[test]
fn a_new_scenario_replaces_a_file_only_when_told_to() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("mine.toml");
    fs::write(&file, "mine").unwrap();
    refused(&herdsim(place.path(), &["new", "mine"]), &["mine.toml is there already", "--force"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(herdsim(place.path(), &["new", "mine", "--force"]).status.code(), Some(0));
    assert_ne!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left beside it");
    refused(&herdsim(place.path(), &["new", "a/b"]), &["`a/b` is no name", "--out"]);
    refused(&herdsim(place.path(), &["new", "b", "--out", "no/b.toml"]), &["no/b.toml"]);
    refused(&herdsim(place.path(), &["new", "b", "--poll", "30"]), &["--poll", "30s"]);
    refused(&herdsim(place.path(), &["new", "b", "--pool", "0"]), &["--pool"]);
}

#[test]
fn caps_and_timeouts_come_from_a_pgbouncer_ini() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("pgbouncer.ini"), INI).unwrap();
    let output = herdsim(place.path(), &["new", "mine", "--from", "pgbouncer.ini"]);
    let said = stderr(&output);
    assert!(said.contains("not taken: main of [databases], listen_port, auth_type\n"), "{said}");
    let text = fs::read_to_string(place.path().join("mine.toml")).unwrap();
    for line in [
        "preset = \"pgbouncer@1.25\"",
        "pool_size = 60",
        "mode = \"transaction\"",
        "max_client_conn = 2000",
        "query_wait_timeout = \"15s\"",
        "reserve_pool_size = 5",
        "reserve_pool_timeout = \"5s\"",
        "server_lifetime = \"30m\"",
        "server_idle_timeout = \"never\"",
    ] {
        assert!(text.lines().any(|other| other == line), "no {line} in:\n{text}");
    }
    let check = herdsim(place.path(), &["check", "mine.toml"]);
    assert_eq!(check.status.code(), Some(0), "{}", stderr(&check));
}

#[test]
fn a_broken_ini_is_refused_at_its_line() {
    let place = tempfile::tempdir().unwrap();
    for (ini, what) in [
        ("[pgbouncer]\nmax_client_conn = many\n", "line 2: `many` is no whole number"),
        ("[pgbouncer]\nquery_wait_timeout = -1\n", "line 2: `-1` is no number of seconds"),
        ("[pgbouncer]\npool size 20\n", "line 2: `pool size 20` is no `key = value`"),
    ] {
        fs::write(place.path().join("p.ini"), ini).unwrap();
        refused(&herdsim(place.path(), &["new", "mine", "--from", "p.ini"]), &["p.ini", what]);
    }
    refused(&herdsim(place.path(), &["new", "mine", "--from", "no.ini"]), &["cannot read no.ini"]);
}

#[test]
fn timeouts_come_from_a_url_and_its_password_goes_nowhere() {
    let place = tempfile::tempdir().unwrap();
    let url = "postgresql://app:secret@db:6432/main?connect_timeout=10&sslmode=require";
    let output = herdsim(place.path(), &["new", "mine", "--from-url", url]);
    let said = stderr(&output);
    assert!(said.contains("not taken: user and password, sslmode\n"), "{said}");
    let text = fs::read_to_string(place.path().join("mine.toml")).unwrap();
    assert!(text.contains("preset = \"pgbouncer@1.25\"\n"), "{text}");
    assert!(text.contains("connect_timeout = \"10s\"\n"), "{text}");
    assert!(!text.contains("secret") && !said.contains("secret"));
    let check = herdsim(place.path(), &["check", "mine.toml"]);
    assert_eq!(check.status.code(), Some(0), "{}", stderr(&check));
    let mysql =
        herdsim(place.path(), &["new", "other", "--from-url", "mysql://app:secret@db/main"]);
    refused(&mysql, &["does not begin with postgresql://"]);
    assert!(!stderr(&mysql).contains("secret"));
}

#[test]
fn explain_tells_of_keys_and_metrics() {
    let place = tempfile::tempdir().unwrap();
    let explain = |key: &str| stdout(&herdsim(place.path(), &["explain", key]));
    let clients = explain("fleet.clients");
    for words in
        ["fleet.clients\n", "whole number (clients), from 1 to 4294967295", "clients = 1_000"]
    {
        assert!(clients.contains(words), "{clients}");
    }
    let timeout = explain("pooler.query_wait_timeout");
    assert!(timeout.contains("default  \"never\""), "{timeout}");
    assert!(timeout.contains("source   PgBouncer"), "{timeout}");
    assert!(explain("policy.acquire.retry.stop").contains("elapsed_with_delay"));
    assert!(explain("time_to_drain_s").contains("From the first trigger until"));
    let wrong = |key: &str| herdsim(place.path(), &["explain", key]);
    refused(&wrong("fleet.client"), &["no key and no metric", "did you mean `clients`?"]);
    refused(&wrong("time_to_drain"), &["did you mean `time_to_drain_s`?"]);
    refused(&wrong("nonsense"), &["sections are: title, run, fleet"]);
}

#[test]
fn an_explanation_fits_its_width() {
    let keys = keys::shapes()[0].keys.iter().map(|key| key.name.as_str());
    for key in keys.chain(["pooler.dead_waiters", "policy.acquire.retry", "policy.guards"]) {
        for width in [60, 80, 100] {
            for found in keys::find_key(key).unwrap() {
                let text = explain::key(&found, width);
                let longest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
                // One word may be longer than what is left beside a name.
                let fits = longest.chars().count() <= width || !longest.trim().contains(' ');
                assert!(fits, "{width}: {longest}");
            }
        }
    }
    for metric in Metric::ALL {
        assert!(explain::metric(*metric, 80).lines().all(|line| line.chars().count() <= 80));
    }
}

#[test]
fn whole_numbers_may_be_written_short() {
    let place = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let args = ["plan", "deriver-restart", "--policy", "no-retry", "--format", "csv"];
        stdout(&herdsim(place.path(), &[&args[..], more].concat())).lines().count() - 1
    };
    assert_eq!(run(&["--replicates", "1.5k"]), 1_500);
    assert_eq!(run(&["--replicates", "1_000"]), 1_000);
    assert_eq!(run(&["--set", "run.replicates=2k"]), 2_000);
    let new = ["new", "mine", "--clients", "10k", "--pool", "1_00", "--poll", "60s"];
    assert_eq!(herdsim(place.path(), &new).status.code(), Some(0));
    let file = place.path().join("mine.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("clients = 10000\n") && text.contains("pool_size = 100\n"), "{text}");
    fs::write(&file, text.replace("clients = 10000\n", "clients = \"10k\"\n")).unwrap();
    let check = herdsim(place.path(), &["check", "mine.toml"]);
    assert!(stdout(&check).starts_with("mine is valid."), "{}", stderr(&check));
    for wrong in ["10K", "10 k", "1.5", "0", "5G", "99999999999"] {
        refused(
            &herdsim(place.path(), &["new", "b", "--clients", wrong]),
            &["as in 500, 1_000 or 10k"],
        );
    }
    let set = |value: &str| {
        herdsim(place.path(), &["check", "mine.toml", "--set", &format!("fleet.clients={value}")])
    };
    refused(&set("10K"), &["a whole number is due here", "from 1 to 4294967295"]);
    refused(&set("5000M"), &["5000000000 is too large"]);
}

/// What a shell is offered for the last of these words.
fn offered(place: &Path, shell: &str, words: &[&str]) -> String {
    let asked = [&["--", "herdsim"], words].concat();
    let mut command = command(place, &asked);
    let index = words.len().to_string();
    command.env("HERDSIM_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", index);
    stdout(&command.env("_CLAP_IFS", "\n").output().unwrap())
}

#[test]
fn a_shell_is_told_scenarios_flags_and_keys() {
    let place = tempfile::tempdir().unwrap();
    let complete = |words: &[&str]| offered(place.path(), "bash", words);
    fs::write(place.path().join("demo.toml"), "").unwrap();
    assert_eq!(complete(&["run", "der"]).trim(), "deriver-restart");
    assert_eq!(complete(&["check", "dem"]).trim(), "demo.toml");
    assert_eq!(complete(&["expl"]).trim(), "explain");
    assert_eq!(complete(&["explain", "fleet.cl"]).trim(), "fleet.clients");
    assert!(complete(&["run", "--rep"]).contains("--replicates"));
}

#[test]
fn a_shell_is_told_the_policies_of_the_scenario_and_presets() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(herdsim(place.path(), &["new", "mine"]).status.code(), Some(0));
    fs::write(place.path().join("broken.toml"), "[").unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let complete = |words: &[&str]| offered(place.path(), shell, words);
        let names = |text: String| -> Vec<String> {
            // Zsh and fish show what each is behind its name.
            let name = |line: &str| line.split(['\t', ':']).next().unwrap().trim().to_owned();
            text.lines().map(name).collect()
        };
        let builtin = names(complete(&["run", "deriver-restart", "--policy", "j"]));
        assert_eq!(builtin, ["jittered", "jittered-no-retry"], "{shell}");
        let own = names(complete(&["run", "--policy", "as-it-is", "mine.toml", "--reference", ""]));
        assert_eq!(own, ["as-it-is", "spread", "spread-and-jitter"], "{shell}");
        let variants = names(complete(&["run", "recovery-actions", "--variant", "noth"]));
        assert_eq!(variants, ["nothing"], "{shell}");
        assert_eq!(names(complete(&["run", "broken.toml", "--policy", "j"])).concat(), "");
        let presets = names(complete(&["backoff", "botocore-standard@"]));
        let known = ["botocore-standard@1.34.106", "botocore-standard@1.34.107"];
        assert!(presets.iter().any(|name| known.contains(&&**name)), "{shell}: {presets:?}");
    }
}

#[test]
fn a_script_is_one_that_its_shell_reads() {
    let place = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&herdsim(place.path(), &["completions", shell]));
        assert!(script.contains("HERDSIM_COMPLETE"), "{script}");
        let file = place.path().join(shell);
        fs::write(&file, script).unwrap();
        match Command::new(shell).arg("-n").arg(&file).output() {
            Ok(output) => assert!(output.status.success(), "{shell}: {}", stderr(&output)),
            Err(_) => skipped(&format!("{shell} is not installed: its script was not read")),
        }
    }
}

#[test]
fn bash_itself_completes_with_the_script() {
    let place = tempfile::tempdir().unwrap();
    let script = stdout(&herdsim(place.path(), &["completions", "bash"]));
    let asks = "\nCOMP_WORDS=(herdsim backoff tenacity-exponential-j) COMP_CWORD=2 COMP_TYPE=9\n\
                _clap_complete_herdsim herdsim \"${COMP_WORDS[2]}\" backoff\n\
                echo \"${COMPREPLY[@]}\"\n";
    let program = Path::new(env!("CARGO_BIN_EXE_herdsim")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    let bash = bash.args(["--norc", "-c", &format!("{script}{asks}")]).env("PATH", path);
    match bash.current_dir(place.path()).output() {
        Ok(output) => {
            let preset = stdout(&output);
            assert!(
                preset.starts_with("tenacity-exponential-jitter@"),
                "{preset}{}",
                stderr(&output)
            );
        }
        Err(_) => skipped("bash is not installed"),
    }
}

#[test]
fn manual_pages_are_one_for_each_command() {
    let place = tempfile::tempdir().unwrap();
    let page = stdout(&herdsim(place.path(), &["man"]));
    assert!(page.contains(".TH herdsim 1"), "{page}");
    assert_eq!(herdsim(place.path(), &["man", "pages"]).status.code(), Some(0));
    assert!(place.path().join("pages/herdsim-run.1").is_file());
}

#[test]
fn the_environment_says_what_flags_say() {
    let place = tempfile::tempdir().unwrap();
    let run = |name: &str, value: &str| {
        let args = ["run", "deriver-restart", "--replicates", "1", "--set", "fleet.clients=100"];
        command(place.path(), &args).env(name, value).output().unwrap()
    };
    refused(&run("HERDSIM_JOBS", "none"), &["--jobs"]);
    assert!(stdout(&run("HERDSIM_COLOR", "always")).contains('\x1b'));
}
