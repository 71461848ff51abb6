//! Whatever a user can get wrong: each mistake names its place and its remedy, all of them at once.

use herdsim::scenario::{self, Arrivals, ScenarioError};
use proptest::prelude::*;

const MAIN: &str = include_str!("../scenarios/deriver-restart.toml");

fn read(text: &str, overrides: &[&str]) -> Result<(), ScenarioError> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    scenario::parse("mine", "mine.toml", text, &overrides).map(drop)
}

/// What a user sees of a text with these problems.
#[track_caller]
fn shown(text: &str, overrides: &[&str]) -> String {
    let error = read(text, overrides).expect_err("the scenario is wrong");
    for problem in error.problems() {
        assert!(!problem.message.is_empty() && !problem.help.is_empty(), "{problem:?}");
    }
    error.render(false)
}

/// Asserts that replacing `right` by `wrong` in the main scenario shows the wrong line under a caret,
/// the message and the remedy.
#[track_caller]
fn refused(right: &str, wrong: &str, message: &str, remedy: &str) {
    assert!(MAIN.contains(right), "the main scenario has no {right:?}");
    let shown = shown(&MAIN.replacen(right, wrong, 1), &[]);
    for part in [message, "--> mine.toml:", "^", remedy, "help:"] {
        assert!(shown.contains(part), "no {part:?} in:\n{shown}");
    }
}

#[test]
fn the_main_scenario_is_valid() {
    read(MAIN, &[]).unwrap();
}

#[test]
fn a_bare_number_is_shown_with_its_remedy_word_for_word() {
    let text = MAIN.replace("duration = \"32m\"", "duration = 32");
    assert_eq!(
        shown(&text, &[]),
        "error: a bare number is no duration: its unit is missing
  --> mine.toml:31:12
   |
31 | duration = 32
   |            ^^
   |
   = help: write \"32s\" for seconds or \"32ms\" for milliseconds
"
    );
}

#[test]
fn sizes_and_numbers_have_ranges() {
    refused("clients = 11_543", "clients = -5", "-5 is negative", "from 1 to");
    refused("clients = 11_543", "clients = 0", "0 is too small", "from 1 to");
    refused("clients = 11_543", "clients = 5_000_000_000", "too large", "from 1 to 4294967295");
    refused("clients = 11_543", "clients = 99999999999999999999", "too large", "from 1 to");
    refused("clients = 11_543", "clients = 11_543.5", "a whole number is due", "from 1 to");
    refused("clients = 11_543", "clients = \"many\"", "a whole number is due", "from 1 to");
    refused("pool_size = 368", "pool_size = 0", "0 is too small", "from 1 to");
    refused("max_client_conn = 9_000", "max_client_conn = 0", "0 is too small", "from 1 to");
    refused("cores = 100", "cores = 0", "0 is too small", "from 1 to");
    refused("replicates = 5", "replicates = 0", "0 is too small", "from 1 to");
    refused("clients = 1.0", "clients = 1.5", "out of range", "a share from 0 to 1");
    refused("factor = 2", "factor = 0.5", "out of range", "at least 1");
    refused("factor = 2", "factor = inf", "out of range", "at least 1");
    refused(
        "transactions_per_poll = 1",
        "transactions_per_poll = 256",
        "too large",
        "from 1 to 255",
    );
}

#[test]
fn durations_need_a_unit_and_a_length() {
    refused("\"20ms\"", "\"20\"", "time unit needed", "with its unit");
    refused("\"20ms\"", "\"-20ms\"", "cannot be negative", "with its unit");
    refused("\"20ms\"", "\"soon\"", "`soon` is no duration", "with its unit");
    refused("\"20ms\"", "\"20ns\"", "one microsecond", "with its unit");
    refused("\"20ms\"", "true", "a duration is due here", "with its unit");
    refused("duration = \"32m\"", "duration = \"0s\"", "longer than zero", "write the time");
    refused("patience = \"2s\"", "patience = \"0s\"", "longer than zero", "leave the key out");
    refused("wait_timeout = \"60s\"", "wait_timeout = \"0s\"", "longer than zero", "no limit");
}

#[test]
fn a_mistyped_name_is_answered_with_the_nearest() {
    refused(
        "pool_size =",
        "pool_sze =",
        "unknown key `pool_sze` in [pooler]",
        "did you mean `pool_size`?",
    );
    refused("[fleet]", "[fleat]", "unknown key `fleat`", "did you mean `fleet`?");
    refused("cores = 100", "core = 100", "`core` is no choice here", "did you mean `cores`?");
    refused("sleep = \"none\"", "sleep = \"non\"", "`non` is no choice", "did you mean `none`?");
    refused(
        "extends = \"jittered\"",
        "extends = \"jitered\"",
        "no policy `jitered`",
        "did you mean `jittered`?",
    );
    refused(
        "stop = \"never\"",
        "stop = \"nevr\"",
        "`nevr` is no choice here",
        "did you mean `never`?",
    );
    refused("title =", "titel =", "unknown key `titel`", "did you mean `title`?");
}

#[test]
fn a_missing_key_is_asked_for() {
    refused("pool_size = 368\n", "", "[pooler] lacks `pool_size`", "add `pool_size = 20`");
    refused("at = \"2m\"\n", "", "[[disturbance]] lacks `at`", "add `at = \"2m\"`");
    refused("stop = { elapsed = \"10s\" }", "stop = {}", "no limit is given", "stop = \"never\"");
    let shown = shown("title = 'nothing'", &[]);
    for table in ["[run]", "[fleet]", "[pooler]", "[database]", "[policy.NAME]"] {
        assert!(shown.contains(&format!("add `{table}`")), "{shown}");
    }
}

#[test]
fn a_delay_is_a_growth_and_then_stages() {
    let growth = "{ exponential = { base = \"1s\", factor = 2 } },\n  { clamp = \"30s\" },\n]";
    refused(growth, "{ clamp = \"30s\" } ]", "begins with how it grows", "put one of these first");
    refused(
        growth,
        "\"1s\", { uniform = [\"1s\", \"2s\"] } ]",
        "it comes first",
        "stages after it",
    );
    refused(growth, "]", "at least one entry", "[\"30s\"]");
    refused("scale = [0.5, 1.5]", "scale = [1.5, 0.5]", "above the upper one", "swap them");
    refused("scale = [0.5, 1.5]", "scale = [0.5]", "two bounds are due", "[low, high]");
    refused("scale = [0.5, 1.5]", "scale = [-0.5, 1.5]", "out of range", "at least 0");
    refused("scale = [0.5, 1.5]", "scale = [0, nan]", "out of range", "at least 0");
    refused("add = [\"0s\", \"1s\"]", "add = [\"2s\", \"1s\"]", "above the upper one", "swap them");
    refused(
        "{ clamp = \"30s\" },\n  { after = { retries = 10, then = [{ uniform = [\"24s\", \"30s\"] }] } },",
        "{ after = { retries = 10, then = [\"1s\"] } }, { clamp = \"30s\" },",
        "`after` must be the last entry",
        "move it to the end",
    );
}

#[test]
fn what_does_not_fit_together_is_refused() {
    refused(
        "warm_up = \"2m\"",
        "warm_up = \"32m\"",
        "nothing would be measured",
        "shorter than the run's 32m",
    );
    refused("at = \"2m\"", "at = \"40m\"", "comes after the run", "make the run longer");
    refused("at = \"2m\"", "at = \"32m\"", "comes after the run", "make the run longer");
    refused("duration = \"32m\"", "duration = \"9years\"", "is too long", "at most 4years");
    let at_once = MAIN.replace("round_trip = \"20ms\"", "round_trip = \"0s\"");
    let at_once = at_once.replacen("sleep = \"current\"", "sleep = \"none\"", 1);
    let shown = shown(&at_once, &[]);
    assert!(shown.contains("policy `baseline` may act without any time passing"), "{shown}");
    assert!(shown.contains("give the fleet a round_trip"), "{shown}");
}

#[test]
fn contradictions_of_pooler_database_and_disturbances_are_refused() {
    let pooler = "query_wait_timeout = \"60s\"";
    let with = |more: &str| format!("{pooler}\n{more}");
    let more = with("reserve_pool_size = 5");
    refused(pooler, &more, "a reserve pool needs its timeout", "reserve_pool_timeout");
    let more = with("reserve_pool_timeout = \"5s\"");
    refused(pooler, &more, "no reserve", "reserve_pool_size");
    let more = with("handshake = { rate = \"0/s\", count = \"accept\" }");
    refused(pooler, &more, "this rate is out of range", "from 0.001/s");
    let more = with("handshake = { rate = \"fast\", count = \"accept\" }");
    refused(pooler, &more, "`fast` is no rate", "900/s");
    let more = with("preset = \"pgbouncr@1.25\"");
    refused(pooler, &more, "no pooler preset", "did you mean `pgbouncer@1.25`?");
    refused("kept = { demand", "kept = \"login\" }\n#", "logins take no time", "[pooler.logins]");
    refused(pooler, &with("mode = \"statement\""), "is no choice", "transaction, session");
    let api = with("[background]\nrate = \"5/s\"");
    refused(pooler, &api, "[background] needs one of `claim`", "claim = \"170ms\"");
    let api = with("[background]\nrate = \"5\"\nclaim = \"1ms\"");
    refused(pooler, &api, "`5` is no rate", "900/s");
    let api = with("[background]\nrate = \"5/s\"\nclaim = \"1ms\"\nserver = { poll = [\"1s\"] }");
    refused(pooler, &api, "unknown key `poll` in `server`", "known keys are: connect_timeout");
    let own = "patience = \"2s\"\nbackground = { retry_after = \"1s\" }";
    refused("patience = \"2s\"", own, "no background load to handle", "add [background]");
    let restart = "restart = { clients = 1.0, over = \"200ms\", database = true }";
    let burst = "burst = { factor = 5, over = \"1m\" }";
    refused(restart, burst, "no load to burst", "add [background]");
    let pool = |table| format!("patience = \"2s\"\nclient_pool = {table}");
    refused("patience = \"2s\"", &pool("{ clients = 9 }"), "connections", "connections = 2");
    let kept = |table| format!("patience = \"2s\"\nconnection = {table}");
    refused("patience = \"2s\"", &kept("\"30m\""), "must be a table", "keys in a table");
    refused("patience = \"2s\"", &kept("{}"), "lacks `lifetime`", "lifetime = \"30m\"");
    let redrawn = kept("{ lifetime = \"30m\", redrawn = true }");
    refused("patience = \"2s\"", &redrawn, "however often it is drawn", "uniform = [");
    let endless = kept("{ lifetime = \"never\", redrawn = true }");
    refused("patience = \"2s\"", &endless, "however often it is drawn", "leave `redrawn` out");
    let none = kept("{ lifetime = \"0s\" }");
    refused("patience = \"2s\"", &none, "longer than zero", "leave `connection` out");
    let none = kept("{ lifetime = { uniform = [\"0s\", \"0s\"] } }");
    refused("patience = \"2s\"", &none, "longer than zero", "leave `connection` out");
    let sessions = MAIN.replace(pooler, &with("mode = \"session\""));
    let sessions =
        shown(&sessions.replace("patience = \"2s\"", &kept("{ lifetime = \"30m\" }")), &[]);
    assert!(sessions.contains("`baseline` would keep a backend with its connection"), "{sessions}");
    assert!(sessions.contains("leave `connection` out"), "{sessions}");
    assert_eq!(sessions.matches("error:").count(), 1, "heirs are not told again: {sessions}");
    let none = pool("{ clients = 9, connections = 0 }");
    refused("patience = \"2s\"", &none, "0 is too small", "from 1 to");
    refused(
        "max_client_conn = 9_000",
        "handshake = { rate = \"900/s\", count = \"accept\" }",
        "counts clients at accept, but there is no limit",
        "max_client_conn",
    );
    let contention = "contention = { cores = 100 }";
    let table = |rows: &str| format!("contention = {{ table = {rows} }}");
    refused(contention, &table("[[5, 9.0], [2, 4.0]]"), "table is not sorted", "sort its rows");
    refused(contention, &table("[[5, 0.0]]"), "out of range", "a throughput above 0");
    refused(contention, &table("[[5]]"), "two numbers", "[100, 588]");
    refused(contention, &table("[]"), "table is empty", "write its rows");
    refused(contention, "claims = [\"1ms\"]", "one of `claim` and `claims`", "claims = [");
    let restart = "restart = { clients = 1.0, over = \"200ms\", database = true }";
    refused(restart, "", "does nothing", "slow = ");
    let two = format!("{restart}\nslow = {{ factor = 2, over = \"5s\" }}");
    refused(restart, &two, "does two things", "of its own");
    refused(restart, "slow = { factor = 0, over = \"5s\" }", "out of range", "from 1 to");
    refused("database = true", "database = \"5s\"", "logins take no time", "[pooler.logins]");
}

#[test]
fn waves_of_a_restart_are_complete_and_cover_the_fleet() {
    let restart = "restart = { clients = 1.0, over = \"200ms\", database = true }";
    let wrong = |keys: &str, message, remedy| {
        refused(restart, &format!("restart = {{ {keys} }}"), message, remedy);
    };
    let cohorts = "cohorts = [0.1, 0.4], every = \"1m\"";
    wrong(cohorts, "do not cover the fleet: they add up to 0.5", "that add up to 1");
    wrong("cohorts = [], every = \"1m\"", "add up to 0", "that add up to 1");
    wrong("cohorts = [0.1, 0.9]", "needs their distance", "every = \"5m\"");
    wrong("batch = 20", "needs their distance", "every = \"5m\"");
    wrong("batch = 0, every = \"5m\"", "0 is too small", "from 1 to");
    wrong("every = \"5m\"", "in one go has no `every`", "`every` beside `at`");
    let both = "batch = 20, cohorts = [1.0], every = \"5m\"";
    wrong(both, "in batches or in cohorts", "keep `batch` or `cohorts`");
    let share = "clients = 0.5, cohorts = [1.0], every = \"5m\"";
    wrong(share, "say already which clients", "leave `clients` out");
    wrong("to = \"jitered\"", "no policy `jitered` to follow", "did you mean `jittered`?");
    let mixed = MAIN.replace(restart, "restart = { to = \"mixed\" }")
        + "[policy.mixed]\nmix = { no-retry = 0.5, baseline = 0.5 }";
    let shown = shown(&mixed, &[]);
    assert!(shown.contains("`mixed` is a mixed fleet"), "{shown}");
    assert!(shown.contains("name one of its parts"), "{shown}");
}

#[test]
fn a_disturbance_says_all_that_it_needs() {
    let restart = "restart = { clients = 1.0, over = \"200ms\", database = true }";
    let wrong = |action: &str, message, remedy| refused(restart, action, message, remedy);
    wrong("switch = {}", "`switch` lacks `to`", "to = \"POLICY\"");
    wrong("switch = { to = \"nobody\" }", "no policy `nobody`", "policies to follow are");
    wrong("change = {}", "changes nothing", "pool_size = 500");
    wrong("change = { over = \"5m\" }", "changes nothing", "max_client_conn = 2_000");
    wrong("change = { pool_size = 0 }", "0 is too small", "from 1 to");
    wrong("change = { contention = { core = 5 } }", "`core` is no choice", "`cores`");
    wrong("pause = {}", "`pause` lacks `over`", "over = \"1m\"");
    wrong("stop = { clients = 0.9 }", "`stop` lacks `over`", "over = \"10m\"");
    wrong("stop = { over = \"0s\" }", "longer than zero", "write the time");
    let recurs = |every: &str| format!("{restart}\nevery = \"{every}\"");
    wrong(&recurs("0s"), "longer than zero", "write the time");
    wrong(&recurs("1s"), "recurs 1800 times", "at most 1000 are played: write 1s 800ms or more");
    let often = format!("{restart}\nevery = \"2s\"\n[[disturbance]]\nat = \"3m\"");
    let often = format!("{often}\nevery = \"5s\"\nslow = {{ factor = 2, over = \"1s\" }}");
    wrong(&often, "1248 disturbances are too many", "let them recur less often");
}

#[test]
fn contradictory_disturbances_are_refused_by_their_times() {
    let restart = "restart = { clients = 1.0, over = \"200ms\", database = true }";
    let pair = |first: &str, at: &str, second: &str| {
        MAIN.replace(restart, &format!("{first}\n[[disturbance]]\nat = \"{at}\"\n{second}"))
    };
    let change = |keys: &str| format!("change = {{ {keys} }}");
    let outage = |failure: &str| format!("outage = {{ over = \"5m\", failure = {failure} }}");
    let stop = "stop = { over = \"5m\", back_over = \"2m\" }";
    let switch = |to: &str| format!("switch = {{ to = \"{to}\" }}");
    let smaller = change("pool_size = 5, over = \"5m\"");
    for (first, at, second, what) in [
        (&smaller, "6m", change("pool_size = 9"), "both set `pool_size`"),
        (&change("pool_size = 5"), "2m", change("pool_size = 9"), "both set `pool_size`"),
        (
            &change("max_client_conn = 5, over = \"5m\""),
            "3m",
            change("pool_size = 9, max_client_conn = 9, over = \"1s\""),
            "both set `max_client_conn`",
        ),
        (
            &change("contention = \"none\", over = \"5m\""),
            "3m",
            change("contention = { cores = 9 }"),
            "both set `contention`",
        ),
        (&outage("\"hanging\""), "3m", outage("{ refusing = \"1s\" }"), "differ in their failure"),
        (&stop.to_owned(), "8m", stop.to_owned(), "told to stop twice"),
        (&switch("jittered"), "2m", switch("no-retry"), "follow different policies"),
    ] {
        let shown = shown(&pair(first, at, &second), &[]);
        let message = format!("the disturbances at 2m and at {at} contradict: ");
        for part in [&message, what, "-->", "help: let one begin when the other is over"] {
            assert!(shown.contains(part), "no {part:?} in:\n{shown}");
        }
    }
    // One after the other, for good after for good, or of different things: all is well.
    for (first, at, second) in [
        (&smaller, "7m", change("pool_size = 9")),
        (&change("pool_size = 5"), "3m", change("pool_size = 9")),
        (&change("pool_size = 5"), "3m", change("pool_size = 9, over = \"1m\"")),
        (&smaller, "3m", change("max_client_conn = 9")),
        (&outage("\"hanging\""), "3m", outage("\"hanging\"")),
        (&stop.to_owned(), "9m", stop.to_owned()),
        (&stop.to_owned(), "3m", restart.to_owned()),
        (&switch("jittered"), "3m", switch("no-retry")),
    ] {
        read(&pair(first, at, &second), &[]).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_variant_names_something_and_contradicts_nothing() {
    let with = |variant: &str| format!("{MAIN}\n{variant}");
    for (variant, message, remedy) in [
        ("[variant.calm]", "variant `calm` names nothing", "`disturbance = []` for doing nothing"),
        ("[variant.calm]\nreplace = false", "variant `calm` names nothing", "variant.calm.dist"),
        ("[variant]", "there is no variant to play", "or leave it out"),
        ("[variant.\"\"]\nreplace = true", "a variant needs a printable name", "letters"),
        ("[variant.a]\nreplaces = true", "unknown key `replaces`", "did you mean `replace`?"),
        ("[variant.a]\nreplace = 1", "`true` or `false` is due", "without quotes"),
        ("[variant]\na = 1", "[variant.a] must be a table", "write its keys"),
        ("[[variant.a.disturbance]]\nat = '9m'", "this disturbance does nothing", "restart = "),
        (
            "[[variant.a.disturbance]]\nat = '40m'\npause = { over = '1m' }",
            "comes after the run",
            "make the run longer",
        ),
        (
            "[[variant.a.disturbance]]\nat = '2m'\nrestart = { to = 'jittered' }\n
             [[variant.a.disturbance]]\nat = '2m'\nswitch = { to = 'no-retry' }",
            "the disturbances at 2m and at 2m contradict",
            "leave one of them out",
        ),
    ] {
        let shown = shown(&with(variant), &[]);
        for part in [message, remedy, "--> mine.toml:", "^"] {
            assert!(shown.contains(part), "no {part:?} in:\n{shown}");
        }
    }
    // What a variant adds must go with the scenario's own, unless it takes their place.
    let slow = "at = \"2m\"\noutage = { over = \"5m\", failure = \"hanging\" }";
    let text = MAIN.replace(
        "at = \"2m\"\nrestart = { clients = 1.0, over = \"200ms\", database = true }",
        slow,
    );
    let added = "[[variant.a.disturbance]]\nat = '3m'\n
                 outage = { over = '5m', failure = { refusing = '1s' } }";
    let contradicting = shown(&format!("{text}\n{added}"), &[]);
    assert!(contradicting.contains("at 2m and at 3m contradict"), "{contradicting}");
    assert_eq!(contradicting.matches("error:").count(), 1, "{contradicting}");
    read(&format!("{text}\n[variant.a]\nreplace = true\n{added}"), &[]).unwrap();
}

#[test]
fn variants_are_chosen_and_changed_like_policies() {
    let text = format!(
        "{MAIN}\n[variant.nothing]\ndisturbance = []\n[[variant.raise.disturbance]]\nat = '9m'\n
         change = {{ pool_size = 500 }}"
    );
    let changed = ["variant.raise.disturbance.0.change.pool_size=600".to_owned()];
    let mut scenario = scenario::parse("mine", "mine.toml", &text, &changed).unwrap().scenario;
    assert_eq!(scenario.courses()[1].largest_pool(), 600);
    assert_eq!(scenario.courses()[0].largest_pool(), 368);
    let error = scenario.select_variants(&["rais".to_owned()]).unwrap_err().render(false);
    assert!(error.contains("has no variant `rais`"), "{error}");
    assert!(error.contains("did you mean `raise`?"), "{error}");
    scenario.select_variants(&["raise".to_owned()]).unwrap();
    assert_eq!(scenario.variants.len(), 1);
    let none = effective(&[]).select_variants(&["raise".to_owned()]).unwrap_err().render(false);
    assert!(none.contains("it has no variants at all"), "{none}");
    let mistyped = shown(&text, &["variant.rais.replace=true"]);
    for part in ["there is no variant `rais`", "did you mean `raise`?", "--> --set:1:"] {
        assert!(mistyped.contains(part), "no {part:?} in:\n{mistyped}");
    }
}

#[test]
fn measured_demands_are_read_from_a_file_and_a_bad_row_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let load = |rows: &str, column: &str| {
        std::fs::write(folder.path().join("claims.csv"), rows).unwrap();
        let law = format!("{{ empirical = {{ file = \"claims.csv\", column = \"{column}\" }} }}");
        let text = MAIN
            .replace("claim = { exponential = { mean = \"170ms\" } }", &format!("claim = {law}"));
        let path = folder.path().join("mine.toml");
        std::fs::write(&path, text).unwrap();
        scenario::load(path.to_str().unwrap(), &[])
    };
    let rows = "when,service_ms,took\n1,12.5,1s\n2,300,20ms\n";
    let demand = |column| load(rows, column).unwrap().scenario.database.claim(0).mean_secs();
    assert_eq!(demand("service_ms"), 0.156_25);
    assert_eq!(demand("took"), 0.51);
    let problem = |rows, column| load(rows, column).unwrap_err().render(false);
    let bad = problem("when,service_ms\n1,12\n2,soon\n", "service_ms");
    assert!(bad.contains("`claims.csv`, line 3, column `service_ms`: `soon` is no"), "{bad}");
    let bad = problem(rows, "servce_ms");
    assert!(bad.contains("did you mean `service_ms`?"), "{bad}");
    assert!(problem("service_ms\n", "service_ms").contains("has no rows"));
    assert!(problem("service_ms\n-1\n", "service_ms").contains("line 2"));
    std::fs::remove_file(folder.path().join("claims.csv")).unwrap();
    let path = folder.path().join("mine.toml");
    let bad = scenario::load(path.to_str().unwrap(), &[]).unwrap_err().render(false);
    assert!(bad.contains("cannot read `claims.csv`"), "{bad}");
    assert_eq!(bad.matches("error:").count(), 1, "{bad}");
}

#[test]
fn a_trace_of_items_is_read_from_a_file_and_a_bad_row_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let work = "[work]\narrivals = { trace = \"items.csv\" }\ntenants = 100\n[fleet]";
    std::fs::write(&path, MAIN.replace("[fleet]", work)).unwrap();
    let load = |rows: &str| {
        std::fs::write(folder.path().join("items.csv"), rows).unwrap();
        scenario::load(path.to_str().unwrap(), &[])
    };
    let work = load("tenant,t_s\n7,1.5\n99,2\n7,2\n").unwrap().scenario.work.unwrap();
    let Arrivals::Trace(rows) = work.arrivals else { panic!("a trace was given") };
    let rows: Vec<_> = rows.iter().map(|&(tenant, at)| (tenant, at.as_secs_f64())).collect();
    assert_eq!(rows, [(7, 1.5), (99, 2.0), (7, 2.0)]);
    let problem = |rows| load(rows).unwrap_err().render(false);
    for (rows, part) in [
        ("tenant,t_s\n7,1\n7,soon\n", "`items.csv`, line 3, column `t_s`: `soon` is no duration"),
        ("tenant,t_s\n7,2\n7,1\n", "line 3, column `t_s`: `1` comes before the row above"),
        ("tenant,t_s\nseven,1\n", "line 2, column `tenant`: `seven` is no number"),
        ("tenant,t_s\n100,1\n", "100 is too large"),
        ("tenants,t_s\n1,1\n", "no column `tenant`"),
        ("tenant,t_s\n1\n", "is no CSV"),
    ] {
        let bad = problem(rows);
        assert!(bad.contains(part), "no {part} in {bad}");
        let problems = bad.lines().filter(|line| line.starts_with("error:")).count();
        assert_eq!(problems, 1, "{bad}");
    }
}

#[test]
fn work_has_ranges() {
    let with = |work: &str| format!("[work]\n{work}\n[fleet]");
    refused("[fleet]", &with("arrivals = \"10\""), "`10` is no rate", "900/s");
    refused("[fleet]", &with("arrivals = { renewal = \"0s\" }"), "come too fast", "at least 1ms");
    refused("[fleet]", &with("arrivals = { bursts = 3 }"), "is no choice", "trace = \"items.csv\"");
    let more = |key: &str| with(&format!("arrivals = \"10/s\"\n{key}"));
    refused("[fleet]", &more("tenants = 20_000"), "20000 is too large", "from 1 to 11543");
    refused("[fleet]", &more("failure = 1.5"), "out of range", "a share from 0 to 1");
    refused("[fleet]", &more("daily = { amplitude = 1, peak = \"14h\" }"), "out of range", "0.99");
    refused("[fleet]", &more("workers = 0"), "0 is too small", "from 1 to 65535");
}

#[test]
fn a_mix_adds_up_and_a_boot_check_has_a_supervisor() {
    let plain = "[policy.no-retry]\nextends = \"baseline\"\nacquire = \"once\"";
    let mixed = |mix: &str| format!("{plain}\n[policy.mixed]\nmix = {mix}");
    refused(plain, &mixed("{ no-retry = 0.9, baseline = 0.2 }"), "add up to 1", "add up to 1");
    refused(plain, &mixed("{ no-rety = 1.0 }"), "no policy `no-rety`", "did you mean `no-retry`?");
    refused(plain, &mixed("{ no-retry = 1.0 }\npatience = \"2s\""), "unknown key", "mix");
    let boot = format!("{plain}\nboot_check = {{ attempts = 3, delay = \"1s\" }}");
    refused(plain, &boot, "needs a supervisor", "supervisor = {");
    let rules = format!("{plain}\nloop = \"honcho@3.0.6\"");
    refused(plain, &rules, "no choice here", "honcho@3.0.7");
}

#[test]
fn policies_stand_once_and_extend_each_other_in_no_circle() {
    let shown = shown(&MAIN.replace("patience = \"2s\"", "extends = \"jittered\""), &[]);
    assert!(shown.contains("in a circle: baseline → jittered → baseline"), "{shown}");
    assert!(shown.contains("let one of them stand on its own"), "{shown}");
    refused("[policy.no-retry]", "[policy.jittered]", "a name is given twice", "rename or remove");
    refused("[policy.no-retry]", "[policy.\"\"]", "a printable name", "letters, digits");
    let policies = MAIN.find("# honcho 3.0.8: no jitter").unwrap();
    let none = format!("{}[policy]\n", &MAIN[..policies]);
    assert!(self::shown(&none, &[]).contains("there is no policy to play"));
}

#[test]
fn a_policy_may_be_known_and_not_played_but_not_all_of_them() {
    let quiet = |text: &str| text.replace("patience = \"2s\"", "patience = \"2s\"\nplayed = false");
    let scenario = scenario::parse("mine", "mine.toml", &quiet(MAIN), &[]).unwrap().scenario;
    let names: Vec<&str> = scenario.policies.iter().map(|policy| policy.name.as_str()).collect();
    assert_eq!(names.len(), 6, "its heirs are played");
    assert!(!names.contains(&"baseline"));
    let end = MAIN.find("# Start-up spread and jittered").unwrap();
    let shown = shown(&quiet(&MAIN[..end]), &[]);
    assert!(shown.contains("no policy is played"), "{shown}");
    assert!(shown.contains("leave `played = false` out"), "{shown}");
}

#[test]
fn broken_toml_is_shown_where_it_breaks() {
    refused("[fleet]", "[fleet", "this is not TOML", "https://toml.io");
    refused("duration = \"32m\"", "duration = 32m", "this is not TOML", "in quotes");
    refused("seed = 20260602", "seed = = 7", "this is not TOML", "https://toml.io");
    refused("title = \"", "title = \"\\q", "this is not TOML", "https://toml.io");
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_file() {
    let text = MAIN
        .replace("at = \"2m\"", "at = \"2h\"")
        .replace("warm_up = \"2m\"", "warm_up = \"40m\"")
        .replace("pool_size = 368", "pool_size = 0")
        .replace("patience = \"2s\"", "patiance = \"2s\"");
    let shown = shown(&text, &["drain.wait=x"]);
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("no {part:?} in:\n{shown}"));
    assert!(at("warm_up = \"40m\"") < at("pool_size = 0"));
    assert!(at("pool_size = 0") < at("at = \"2h\""));
    assert!(at("at = \"2h\"") < at("patiance"));
    assert!(at("patiance") < at("--> --set:1:12"));
    // Six policies inherit the mistake; it is shown once.
    assert_eq!(shown.matches("unknown key `patiance`").count(), 1, "{shown}");
}

fn effective(overrides: &[&str]) -> scenario::Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    scenario::parse("mine", "mine.toml", MAIN, &overrides).unwrap().scenario
}

#[test]
fn an_override_reaches_any_value_and_heirs_follow() {
    let scenario = effective(&[
        "fleet.clients=2_000",
        "run.duration = 10m",
        "database.claim=170ms",
        "policy.baseline.poll.clamp=20s",
        "policy.jittered.start_up.uniform.1=60s",
        "disturbance.0.restart.clients=0.5",
        "drain.wait=85ms",
        "policy.baseline.patience=never",
    ]);
    assert_eq!(scenario.fleet.clients, 2_000);
    assert_eq!(scenario.run.duration.to_string(), "10m");
    assert_eq!(scenario.drain.wait.to_string(), "85ms");
    let policy = |name: &str| {
        let found = scenario.policies.iter().find(|candidate| candidate.name == name);
        &found.unwrap().parts[0].policy
    };
    assert_eq!(policy("no-retry").poll.nominal(9).to_string(), "20s");
    assert_eq!(policy("jittered").poll.nominal(9).to_string(), "30s", "it has its own");
    assert_eq!(policy("deadline").start_up.longest().to_string(), "1m");
    assert_eq!(policy("deadline").patience, None);
}

#[test]
fn a_wrong_override_is_shown_as_one() {
    for (wrong, message, remedy) in [
        ("fleet.clients", "needs a value", "key=value"),
        ("fleet.cleints=5", "unknown key `cleints`", "did you mean `clients`?"),
        ("fleet.clients=0", "0 is too small", "from 1 to"),
        ("fleet.clients.more=1", "nothing within an integer", "end the key before it"),
        ("policy.basline.patience=2s", "no policy `basline`", "did you mean `baseline`?"),
        ("policy.no-retry.poll.clamp=9s", "it inherits it", "heirs follow"),
        ("policy.baseline.poll.7=9s", "no element `7`", "0 to 1"),
        ("policy.baseline.poll.scale=9s", "no element `scale`", "the kind of a stage"),
        ("run..seed=1", "a part of the key is empty", "fleet.clients"),
        ("run.seed=-1", "-1 is negative", "from 0 to"),
        ("=1", "a part of the key is empty", "fleet.clients"),
    ] {
        let shown = shown(MAIN, &["run.replicates=2", wrong]);
        for part in [message, remedy, "--> --set:1:", "^", wrong] {
            assert!(shown.contains(part), "no {part:?} in:\n{shown}");
        }
    }
}

#[test]
fn a_missing_file_and_an_unknown_scenario_are_named() {
    let load = |wanted: &str| scenario::load(wanted, &[]).unwrap_err().render(false);
    let missing = load("no/such.toml");
    assert!(missing.contains("cannot read `no/such.toml`"), "{missing}");
    assert!(missing.contains("herdsim list scenarios"), "{missing}");
    let unknown = load("deriver-restrat");
    assert!(unknown.contains("did you mean `deriver-restart`?"), "{unknown}");
    assert!(unknown.contains("steady-state"), "{unknown}");
}

#[test]
fn an_unknown_policy_is_named_beside_the_known() {
    let mut scenario = effective(&[]);
    let error = scenario.select(&["baseline".to_owned(), "jitered".to_owned()]).unwrap_err();
    let shown = error.render(false);
    assert!(shown.contains("has no policy `jitered`"), "{shown}");
    assert!(shown.contains("did you mean `jittered`?"), "{shown}");
    assert_eq!(scenario.policies.len(), 7, "nothing is dropped");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// Whatever is cut out, doubled or put in, the answer is a scenario or a list of problems.
    #[test]
    fn no_text_makes_it_panic(
        from in 0..MAIN.len(),
        length in 0..200usize,
        put_in in prop_oneof![
            "[\\PC\n]{0,12}",
            Just("\"99999999999h\"".to_owned()),
            Just("1e999".to_owned()),
            Just("{ exponential = {} }".to_owned()),
            Just("[]".to_owned()),
        ],
        key in "[a-z.0-9_]{0,20}",
        value in "\\PC{0,12}",
    ) {
        let at = |index: usize| (0..=index.min(MAIN.len())).rev().find(|&i| MAIN.is_char_boundary(i));
        let (from, to) = (at(from).unwrap(), at(from + length).unwrap());
        let text = format!("{}{put_in}{}", &MAIN[..from], &MAIN[to..]);
        let value = format!("{key}={value}");
        for overrides in [&[][..], &[value.as_str()][..]] {
            if let Err(error) = read(&text, overrides) {
                prop_assert!(!error.render(true).is_empty());
                prop_assert!(!error.problems().is_empty());
            }
        }
    }
}

#[test]
fn a_preset_is_named_with_a_known_version_and_given_what_it_knows() {
    let acquire = |acquire: &str| {
        let text = MAIN.replacen("acquire = \"once\"", &format!("acquire = {acquire}"), 1);
        shown(&text, &[])
    };
    let refused = |written: &str, parts: &[&str]| {
        let shown = acquire(written);
        for part in parts.iter().chain(&["--> mine.toml:", "^", "help:"]) {
            assert!(shown.contains(part), "no {part:?} in:\n{shown}");
        }
    };
    refused(
        "{ preset = \"botocore-standrad@1.34.106\" }",
        &["there is no preset `botocore-standrad@1.34.106`", "did you mean `botocore-standard`?"],
    );
    refused(
        "{ preset = \"botocore-standard@1.30.0\" }",
        &["not known at version `1.30.0`", "known are: 1.31.21 to 1.34.106, 1.34.107 to 1.43"],
    );
    refused("{ preset = \"botocore-standard\" }", &["needs a version", "botocore-standard@…"]);
    refused(
        "{ preset = \"botocore-standard@1.34.106\", capp = \"30s\" }",
        &["unknown key `capp`", "did you mean `cap`?"],
    );
    refused(
        "{ preset = \"botocore-standard@1.34.106\", cap = 30 }",
        &["a bare number is no duration", "\"30s\""],
    );
    refused(
        "{ preset = \"aiohttp-retry-random@2.9.1\", min = \"10s\" }",
        &["the lower bound is above the upper one", "preset = \"aiohttp-retry-random@2.9.1\""],
    );
}

#[test]
fn a_poll_schedule_cannot_look_back() {
    let walk = "poll = [{ walk = { first = \"1s\", factor = 2 } }, { clamp = \"30s\" }]";
    refused(
        "poll = [\n  { exponential = { base = \"1s\", factor = 2 } },\n  { clamp = \"30s\" },\n]",
        walk,
        "a poll schedule cannot depend on the delays or draws before",
        "choose another growth",
    );
}

#[test]
fn a_wrong_guard_or_layer_is_shown_with_its_place() {
    let with = |keys: &str| {
        let text = MAIN.replacen("acquire = \"once\"", keys, 1);
        assert_ne!(text, MAIN);
        shown(&text, &[])
    };
    for (keys, parts) in [
        (
            "guards = [{ qouta = { capacity = 5 } }]",
            ["`qouta` is no choice here", "did you mean `quota`?"],
        ),
        ("guards = [{ quota = { capacity = 5 } }]", ["`quota` lacks `cost`", "cost = 5"]),
        (
            "guards = [{ quota = { capacity = 5, cost = { timed-out = 1 } } }]",
            ["`cost` lacks `other`", "other = 5"],
        ),
        (
            "guards = [{ quota = { capacity = 5, cost = { other = 1, timeout = 1 } } }]",
            ["unknown key `timeout` in `cost`", "timed-out"],
        ),
        (
            "guards = [{ breaker = { open = \"30s\" } }]",
            ["a breaker needs one rule when it opens", "consecutive = 5"],
        ),
        (
            "guards = [{ breaker = { failed = 0.5, calls = 9, sampled = \"9s\", open = \"30s\" } }]",
            ["a breaker needs one rule when it opens", "one of `calls = 100`"],
        ),
        (
            "guards = [{ breaker = { consecutive = 5 } }]",
            ["`breaker` lacks `open`", "open = \"60s\""],
        ),
        ("guards = [{ in-flight = 0 }]", ["0 is too small", "from 1 to"]),
        ("guards = [{ in-flight = 5, scope = \"all\" }]", ["`all` is no choice here", "fleet"]),
        (
            "guards = [{ in-flight = 5, scope = { process = 0 } }]",
            ["0 is too small", "write a whole number from 1"],
        ),
        ("guards = { in-flight = 5 }", ["a list is due here", "square brackets"]),
        (
            "guards = [{ adaptive = { on = [\"throttling\"] } }]",
            ["`throttling` is no choice here", "did you mean `throttled`?"],
        ),
        ("acquire = { layers = [{}, {}, {}, {}] }", ["from 1 to 3 layers", "from the inside out"]),
        (
            "acquire = { layers = [{ name = \"sdk\" }] }",
            ["a layer needs a rule or guards", "retry = { delay"],
        ),
        (
            "acquire = { layers = [{ guards = [{ in-flight = 1 }] }] }\nguards = [{ in-flight = 1 }]",
            ["each layer has guards of its own", "move them into one of the `layers`"],
        ),
        (
            "acquire = { retry = { delay = [\"1s\"], stop = \"never\", scope = \"fleet\" } }\n\
             guards = [{ in-flight = 1 }]",
            ["remembers one call only", "leave out its `scope`"],
        ),
        (
            "acquire = { retry = { delay = [\"1s\"], stop = { on.refusal = { attempts = 1 } } } }",
            ["unknown key `refusal`", "did you mean `refused`?"],
        ),
        (
            "acquire = { retry = { delay = [\"0s\"], stop = \"never\" } }\nguards = [{ in-flight = 1 }]",
            ["its retry delay is always zero", "leave out guards that reject"],
        ),
    ] {
        let shown = with(keys);
        for part in parts.iter().chain(&["--> mine.toml:", "^", "help:"]) {
            assert!(shown.contains(part), "no {part:?} for {keys} in:\n{shown}");
        }
    }
}

#[test]
fn of_many_mistakes_the_first_twenty_are_shown_and_the_rest_counted() {
    let mistakes: String = (0..59).map(|number| format!("mistake-{number} = 1\n")).collect();
    let shown = shown(&format!("{mistakes}{MAIN}"), &[]);
    assert_eq!(shown.matches("error: ").count(), 20);
    assert!(shown.ends_with("and 39 more: correct these first\n"), "{shown}");
}
