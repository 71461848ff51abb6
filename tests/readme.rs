//! What the README and the pages of `docs/` show works as shown. The README's commands and its table are
//! checked where they are slow: in `.ci/run`.

use std::path::Path;
use std::process::{Command, Output};

use crate::cli::{herdsim, stdout};
use herdsim::scenario;

const README: &str = include_str!("../README.md");
const GUIDE: &str = include_str!("../docs/guide.md");
const POLICIES: &str = include_str!("../docs/policies.md");

/// The fenced blocks of a language.
fn blocks(page: &'static str, language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let mut blocks = page.split(&fence[..]);
    blocks.next();
    blocks.filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn its_scenario_is_valid_and_so_are_the_overrides_beside_it() {
    let [text] = blocks(README, "toml")[..] else { panic!("one scenario is shown") };
    let overrides: Vec<String> = README
        .split("`--set ")
        .skip(1)
        .filter_map(|rest| rest.split('`').next())
        .filter(|shown| shown.contains('.'))
        .map(str::to_owned)
        .collect();
    assert!(overrides.len() >= 2, "{overrides:?}");
    if let Err(error) = scenario::parse("readme", "README.md", text, &overrides) {
        panic!("{error}");
    }
}

#[test]
fn a_new_user_meets_exactly_two_commands() {
    let commands = ["cargo run --release -- run deriver-restart\n", "cargo test\n"];
    assert_eq!(blocks(README, "sh"), commands);
}

#[test]
fn the_page_of_policies_shows_what_its_commands_print() {
    prints_what_it_shows(POLICIES);
}

#[test]
fn the_page_of_policies_shows_what_its_picture_command_draws() {
    let place = tempfile::tempdir().unwrap();
    let line = POLICIES.lines().find(|line| line.contains("--svg")).expect("a picture is shown");
    let command = line.split('`').nth(1).unwrap();
    let args: Vec<&str> = command.split_whitespace().skip(1).collect();
    herdsim(place.path(), &args);
    let drawn = std::fs::read_to_string(place.path().join("botocore-standard.svg")).unwrap();
    roxmltree::Document::parse(&drawn).unwrap();
    assert!(drawn == include_str!("../docs/botocore-standard.svg"), "{drawn}");
}

#[test]
fn the_guide_shows_what_its_commands_print() {
    prints_what_it_shows(GUIDE);
}

#[test]
#[expect(clippy::disallowed_macros, reason = "a test says what it skips")]
fn the_recipes_run_where_their_tools_are() {
    const RECIPES: &str = include_str!("../docs/recipes.md");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/reference/deriver-restart");
    let place = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, place.path().join(path.file_name().unwrap())).unwrap();
    }
    let run = |program: &str, args: &[&str]| {
        Command::new(program).args(args).current_dir(place.path()).output().ok()
    };
    let works = |output: Option<Output>| output.is_some_and(|output| output.status.success());
    // What runs the file of a block, and what tells whether it is there.
    let sql = "import duckdb, sys; print(duckdb.sql(open(sys.argv[1]).read()))";
    for (language, program, before, probe) in [
        ("gnuplot", "gnuplot", &[][..], &["--version"][..]),
        ("python", "python3", &[], &["-c", "import pandas"]),
        ("sql", "python3", &["-c", sql], &["-c", "import duckdb"]),
    ] {
        let blocks = blocks(RECIPES, language);
        assert!(!blocks.is_empty(), "{language}");
        if !works(run(program, probe)) {
            eprintln!("skipped the recipes in {language}: {program} {} fails", probe.join(" "));
            continue;
        }
        for block in blocks {
            std::fs::write(place.path().join("block"), block).unwrap();
            let output = run(program, &[before, &["block"]].concat()).unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{language}:\n{block}\n{said}");
            let shown = String::from_utf8_lossy(&output.stdout);
            assert!(language == "gnuplot" || shown.contains("baseline"), "{shown}");
        }
    }
}

/// Below each `$ command` of a console block stands what it prints; all run in one folder.
#[track_caller]
fn prints_what_it_shows(page: &'static str) {
    let blocks = blocks(page, "console").join("\n");
    let blocks = format!("\n{blocks}");
    let shown: Vec<_> = blocks.split("\n$ ").skip(1).collect();
    assert!(!shown.is_empty(), "no command is shown");
    let place = tempfile::tempdir().unwrap();
    for shown in shown {
        let (command, printed) = shown.split_once('\n').unwrap();
        let args: Vec<&str> =
            command.split_whitespace().map(|word| word.trim_matches('\'')).collect();
        assert_eq!(args[0], "herdsim", "{command}");
        let output = stdout(&herdsim(place.path(), &args[1..]));
        assert!(printed.trim_end() == output.trim_end(), "{command} prints\n{output}");
    }
}
