//! What people get wrong, and what they are told: `tests/data/mistakes.txt` is a session of commands, each
//! with what it says on stderr. `HERDSIM_ACCEPT=1 cargo test mistakes` writes it anew, to be read again.

use std::collections::BTreeSet;
use std::fs;

use crate::cli::{herdsim, stderr, stdout};

/// Columns that are compared: what comes behind are lists that grow.
const COLUMNS: usize = 100;

/// What the commands find in their folder.
const FILES: [(&str, &str); 3] = [
    ("broken.toml", "[run]\nduration = 10m\n[fleet\n"),
    ("header.csv", "active,calls\n"),
    ("seen.csv", "active\n1\n"),
];

#[test]
fn every_mistake_is_answered_word_for_word() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mistakes.txt");
    let session = fs::read_to_string(path).unwrap();
    let place = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        fs::write(place.path().join(name), text).unwrap();
    }
    let (mut again, mut answers) = (String::new(), BTreeSet::new());
    let commands: Vec<&str> = session.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    for command in &commands {
        let output = herdsim(place.path(), &words(command)[1..]);
        let said: Vec<String> = stderr(&output).lines().map(cut).collect();
        let said = said.join("\n");
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert_eq!(stdout(&output), "", "{command}");
        let remedy = ["help: ", "tip: ", "try '--help'"].iter().any(|sign| said.contains(sign));
        assert!(said.starts_with("error: ") && remedy, "{command}: {said}");
        answers.insert(said.lines().next().unwrap().to_owned());
        again.push_str(&format!("$ {command}\n{}\n", said.trim_end()));
    }
    assert!(answers.len() >= 60, "{} different answers", answers.len());
    if std::env::var_os("HERDSIM_ACCEPT").is_some() {
        fs::write(path, &again).unwrap();
        return;
    }
    for (command, (was, is)) in commands.iter().zip(session.split("\n$ ").zip(again.split("\n$ ")))
    {
        assert!(was.trim() == is.trim(), "{command} is answered otherwise:\n{is}\nand was:\n{was}");
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), FILES.len(), "nothing was written");
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(COLUMNS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The words of a command, as a shell splits them; quotes are single ones.
fn words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}
