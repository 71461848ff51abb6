//! The table of keys and the reader agree: each knows what the other knows.

use std::collections::BTreeSet;

use herdsim::report::{explain, schema};
use herdsim::scenario::keys::{Form, Kind, Shape, find_key, shape, shapes};
use herdsim::scenario::{self, POOLERS, Place, Problem, ScenarioError};
use toml::{Table, Value};

/// A valid scenario, in which everything else is tried.
const BASE: &str = r#"
[run]
duration = "10m"
[fleet]
clients = 10
[pooler]
pool_size = 2
[database]
claim = "10ms"
[background]
rate = "1/s"
claim = "10ms"
[policy.mine]
poll = ["1s"]
"#;

/// What no reader takes: no key of a scenario is a date.
const WRONG: &str = "2026-06-02";

/// A step from the whole scenario to a value.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    /// The only element of a list, or the one after a growth.
    Item,
    Second,
}

/// Every place of every shape, each shape once.
fn places() -> Vec<(&'static Shape, Vec<Step>)> {
    let mut places: Vec<(&Shape, Vec<Step>)> = vec![(&shapes()[0], Vec::new())];
    let mut next = 0;
    while let Some((within, path)) = places.get(next).cloned() {
        next += 1;
        // What an open shape holds is reached without it too.
        for key in within.keys.iter().filter(|_| within.form != Form::Open) {
            let mut path = path.clone();
            path.push(Step::Key(key.name.clone()));
            for (name, steps) in below(&key.kind) {
                if places.iter().all(|(known, _)| known.name != name) {
                    places.push((shape(name), [&path[..], &steps].concat()));
                }
            }
        }
    }
    places
}

/// The shapes of a kind, and how they are reached.
fn below(kind: &Kind) -> Vec<(&str, Vec<Step>)> {
    let through = |step: Step, kind| {
        let steps = below(kind).into_iter();
        steps.map(|(name, rest)| (name, [vec![step.clone()], rest].concat())).collect()
    };
    match kind {
        Kind::Shape(name) => vec![(name, Vec::new())],
        Kind::List(kind) => through(Step::Item, kind),
        Kind::Named(kind) => through(Step::Key("mine".to_owned()), kind),
        Kind::Sequence(first, rest) => {
            [through(Step::Item, first), through(Step::Second, rest)].concat()
        }
        Kind::Either(kinds) => kinds.iter().flat_map(below).collect(),
        Kind::Alone | Kind::Plain(_) | Kind::Word(_) | Kind::Pair(_) => Vec::new(),
    }
}

/// A value at the end of a path of its own.
fn wrapped(path: &[Step], value: Value) -> Value {
    match path.split_first() {
        None => value,
        Some((Step::Item, rest)) => Value::Array(vec![wrapped(rest, value)]),
        Some((Step::Second, rest)) => {
            Value::Array(vec![Value::String("1s".to_owned()), wrapped(rest, value)])
        }
        Some((Step::Key(key), rest)) => {
            Value::Table(Table::from_iter([(key.clone(), wrapped(rest, value))]))
        }
    }
}

/// The problems of the base with one key put into the table at the end of a path.
fn problems(within: &Shape, path: &[Step], key: &str, value: Value) -> (String, Vec<Problem>) {
    let mut table = Table::from_iter([(key.to_owned(), value)]);
    if within.form == Form::Open && key != "preset" && key != "retry" {
        let preset = "botocore-standard@1.34.107".to_owned();
        table.insert("preset".to_owned(), Value::String(preset));
    }
    problems_with(path, Value::Table(table))
}

/// The problems of the base with one value put at the end of a path.
fn problems_with(path: &[Step], value: Value) -> (String, Vec<Problem>) {
    let mut root: Table = BASE.parse().unwrap();
    if let Value::Table(whole) = wrapped(path, value) {
        root.extend(whole);
    }
    let text = root.to_string();
    let problems = match scenario::parse("mine", "mine.toml", &text, &[]) {
        Ok(_) => Vec::new(),
        Err(error) => error.problems().to_vec(),
    };
    (text, problems)
}

#[test]
fn the_reader_looks_at_every_key_of_the_table() {
    let wrong = Value::Datetime(WRONG.parse().unwrap());
    for (within, path) in places() {
        for key in within.keys.iter().filter(|key| key.kind != Kind::Alone) {
            let (text, problems) = problems(within, &path, &key.name, wrong.clone());
            let start = text.find(WRONG).unwrap();
            let at = Some(Place::File(start..start + WRONG.len()));
            let seen =
                problems.iter().any(|problem| problem.place == at && !problem.help.is_empty());
            assert!(seen, "`{}` of {} is not read:\n{text}{problems:?}", key.name, within.name);
        }
    }
}

#[test]
fn the_table_has_every_key_that_the_reader_knows() {
    for (within, path) in places() {
        let (text, problems) = problems(within, &path, "zzz", Value::Integer(1));
        let complaints = problems.iter().filter(|problem| problem.message.contains("`zzz`"));
        let known: BTreeSet<&str> = complaints
            .filter_map(|problem| problem.help.split_once(" are: "))
            .flat_map(|(_, choices)| names(choices))
            .collect();
        let parameters = within.form == Form::Open;
        assert!(!known.is_empty(), "{}:\n{text}{problems:?}", within.name);
        for name in known.into_iter().filter(|_| !parameters) {
            let named = within.keys.iter().any(|key| key.name == name);
            // `acquire` takes either shape, and the reader shows both.
            let beside = within.name == "acquisition" && name == "preset";
            assert!(named || beside, "{} lacks `{name}`", within.name);
        }
    }
}

#[test]
fn every_key_that_lacks_a_letter_is_recognised() {
    let mut asked = 0;
    let mut unanswered = Vec::new();
    for (within, path) in places().iter().filter(|(within, _)| within.form != Form::Open) {
        for name in within.keys.iter().map(|key| &key.name).filter(|name| name.len() > 4) {
            let mistyped = format!("{}{}", &name[..2], &name[3..]);
            let (_, problems) = problems(within, path, &mistyped, Value::Integer(1));
            let remedy = format!("did you mean `{name}`?");
            let mut about = problems.iter().filter(|problem| problem.message.contains(&mistyped));
            if !about.any(|problem| problem.help.starts_with(&remedy)) {
                unanswered.push(format!("{}.{name}", within.name));
            }
            asked += 1;
        }
    }
    // A guard is told by its limit, and so is a mistake in one.
    assert_eq!(unanswered, ["guard.scope"]);
    assert!(asked > 200, "{asked} mistakes were made");
}

/// The names of keys and choices, which are shown with an example: `cores = 100, table = [[1, 5.9]]`.
fn names(choices: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let choices = choices.split(move |sign| {
        match sign {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        depth == 0 && sign == ','
    });
    let plain = choices.map(str::trim).filter(|choice| !choice.starts_with("a rate such as"));
    plain.filter_map(|choice| choice.split(' ').next())
}

#[test]
fn every_choice_without_a_value_is_one() {
    for (within, path) in places().iter().filter(|(within, _)| within.form == Form::Choice) {
        for key in within.keys.iter().filter(|key| key.kind.alternatives().contains(&Kind::Alone)) {
            let (_, problems) = problems_with(path, Value::String(key.name.clone()));
            let wrong =
                problems.iter().find(|problem| problem.message.contains("is no choice here"));
            assert!(wrong.is_none(), "`{}` of {}: {wrong:?}", key.name, within.name);
        }
    }
}

#[test]
fn the_table_has_every_pooler() {
    let [preset] = &find_key("pooler.preset").unwrap()[..] else { panic!("it is one key") };
    let words = preset.key.kind.alternatives();
    let poolers = POOLERS.iter().map(|pooler| Kind::Word(pooler.name.to_owned()));
    assert_eq!(words, poolers.collect::<Vec<_>>());
}

#[test]
fn the_committed_schema_is_that_of_the_table() {
    let made = format!("{:#}\n", schema::scenario());
    let committed = include_str!("../scenarios/schema.json");
    assert!(made == committed, "run `herdsim schema > scenarios/schema.json`");
}

#[test]
fn the_page_of_keys_is_that_of_the_table() {
    let committed = include_str!("../docs/scenario.md");
    assert!(explain::page() == committed, "run `herdsim explain --all > docs/scenario.md`");
}

#[test]
fn shipped_scenarios_are_valid_under_the_schema() {
    let schema = schema::scenario();
    let validator = jsonschema::draft7::new(&schema).unwrap();
    for builtin in scenario::builtins() {
        let written: Table = builtin.text.parse().unwrap();
        let written = serde_json::to_value(written).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&written)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}: {}", builtin.name, errors.join("\n"));
        let first = builtin.text.lines().next();
        assert_eq!(first, Some("#:schema ./schema.json"), "{}", builtin.name);
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let schema = schema::scenario();
    let validator = jsonschema::draft7::new(&schema).unwrap();
    let base: Table = BASE.parse().unwrap();
    assert!(validator.is_valid(&serde_json::to_value(&base).unwrap()));
    let mistakes = [
        ("run", "duration = 32"),
        ("run", "duration = \"32m\"\nreplicates = 0"),
        ("run", "duration = \"32m\"\nsed = 1"),
        ("fleet", "clients = -5"),
        ("pooler", "pool_size = 2\ndead_waiters = \"keep\""),
        ("database", "claim = { exponental = { mean = \"1s\" } }"),
        ("drain", "wait = true"),
        ("thresholds", "polls = \"about 5\""),
    ];
    for (section, mistake) in mistakes {
        let mut wrong = base.clone();
        wrong.insert(section.to_owned(), Value::Table(mistake.parse().unwrap()));
        assert!(!validator.is_valid(&serde_json::to_value(&wrong).unwrap()), "{mistake}");
        let read: Result<_, ScenarioError> =
            scenario::parse("mine", "mine.toml", &wrong.to_string(), &[]);
        assert!(read.is_err(), "{mistake}");
    }
}

#[test]
fn a_key_is_found_with_and_without_the_names_of_a_user() {
    for (typed, path) in [
        ("fleet.clients", "fleet.clients"),
        ("policy.acquire.retry.stop", "policy.acquire.retry.stop"),
        ("policy.baseline.acquire.retry.stop.elapsed", "policy.acquire.retry.stop.elapsed"),
        ("policy.baseline.poll.0.exponential.base", "policy.poll.exponential.base"),
        ("disturbance.restart.over", "disturbance.restart.over"),
        ("pooler.query_wait_timeout", "pooler.query_wait_timeout"),
    ] {
        let [found] = &find_key(typed).unwrap()[..] else { panic!("{typed} is one key") };
        assert_eq!(found.path, path);
    }
    let help = find_key("fleet.client").unwrap_err();
    assert!(help.starts_with("did you mean `clients`? keys of `fleet` are: clients, "), "{help}");
    assert!(find_key("query_wait_timout").unwrap_err().contains("`query_wait_timeout`"));
}
