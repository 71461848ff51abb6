//! What the README shows works as shown. Its commands and its table are checked where they are slow: in
//! `.ci/run`.

use herdsim::scenario;

const README: &str = include_str!("../README.md");

/// The fenced blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let mut blocks = README.split(&fence[..]);
    blocks.next();
    blocks.filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn its_scenario_is_valid_and_so_are_the_overrides_beside_it() {
    let [text] = blocks("toml")[..] else { panic!("one scenario is shown") };
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
    assert_eq!(blocks("sh"), ["cargo run --release -- run deriver-restart\n", "cargo test\n"],);
}
