//! The import rule: the table in `src/lib.rs` is read, and every path of the code is held to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What metrics may know of the engine: what an observer is told, not how it comes about.
const OBSERVER: [&str; 1] = ["observer"];

/// Crates that one room alone may use.
const RESERVED: [(&str, &str); 10] = [
    ("clap", "cli"),
    ("clap_complete", "cli"),
    ("clap_mangen", "cli"),
    ("anstream", "cli"),
    ("indicatif", "cli"),
    ("terminal_size", "cli"),
    ("signal_hook", "cli"),
    ("rayon", "sweep"),
    ("postcard", "records"),
    ("toml", "scenario"),
];

/// What each room may import.
type Rule = BTreeMap<String, Vec<Import>>;

#[derive(Clone, Debug, PartialEq)]
enum Import {
    Everything,
    Room(String),
    Observer,
}

#[test]
fn every_import_is_in_the_table() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rule = rule(&fs::read_to_string(source.join("lib.rs")).unwrap());
    let mut files = Vec::new();
    collect(&source, &mut files);
    assert!(files.len() > rule.len(), "there is code to check");
    let mut problems = Vec::new();
    for path in files {
        let name = path.strip_prefix(&source).unwrap().to_str().unwrap().replace('\\', "/");
        if name != "lib.rs" && name != "main.rs" {
            problems.extend(check(&rule, &name, &fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn the_table_is_read_as_it_is_meant() {
    let rule = rule(
        "//! | [`units`] | spans | – |\n\
         //! | [`metrics`] | figures | engine's observer, units |\n\
         //! | [`cli`] | the command line | everything |\n",
    );
    assert_eq!(rule["units"], []);
    assert_eq!(rule["metrics"], [Import::Observer, Import::Room("units".into())]);
    assert_eq!(rule["cli"], [Import::Everything]);
}

#[test]
fn an_offence_is_found_in_its_line() {
    let rule = rule(
        "//! | [`units`] | spans | – |\n\
         //! | [`engine`] | one unit | units |\n\
         //! | [`metrics`] | figures | engine's observer, units |\n\
         //! | [`report`] | views | metrics, units |\n",
    );
    let found = |file: &str, code: &str| check(&rule, file, code);
    let clean: [String; 0] = [];

    assert_eq!(found("report/a.rs", "use crate::units::Span;\nuse crate::report::b;"), clean);
    assert_eq!(
        found("report/a.rs", "use crate::units;\nuse crate::engine::play;"),
        ["src/report/a.rs:2: report may not import engine::play"]
    );
    assert_eq!(
        found("report/a.rs", "use crate::{\n    units::{Span, SimTime},\n    engine,\n};"),
        ["src/report/a.rs:1: report may not import engine"]
    );
    assert_eq!(
        found("units.rs", "fn f() {\n    super::metrics::f();\n}"),
        ["src/units.rs:2: units may not import metrics::f"]
    );
    assert_eq!(
        found("report/a/b.rs", "use super::super::super::engine;\nuse super::super::engine;"),
        ["src/report/a/b.rs:1: report may not import engine"]
    );
    assert_eq!(found("metrics/a.rs", "use crate::engine::observer::{Event, End};"), clean);
    assert_eq!(
        found("metrics/mod.rs", "use crate::engine::{observer::Event, play};"),
        ["src/metrics/mod.rs:1: metrics may not import engine::play"]
    );
    assert_eq!(
        found("metrics/a.rs", "let pool = rayon::ThreadPoolBuilder::new();\nuse toml;"),
        [
            "src/metrics/a.rs:1: only sweep may use rayon",
            "src/metrics/a.rs:2: only scenario may use toml",
        ]
    );
    assert_eq!(
        found("gossip.rs", "use crate::units::Span;"),
        ["src/gossip.rs:1: gossip is not in the table of src/lib.rs"]
    );
}

#[test]
fn comments_texts_and_tests_may_name_anything() {
    let rule = rule("//! | [`units`] | spans | – |\n");
    let code = r##"
        //! See [`crate::engine`].
        /* crate::engine::play */
        const A: &str = "crate::engine \" toml::de";
        const B: &str = r#"crate::"engine""#;
        const C: char = '"';
        fn quoted<'a>(text: &'a str) -> char { '\'' }
        #[cfg(test)]
        mod tests {
            use crate::engine::play;
            fn f() { if true { toml::from_str("}") } }
        }
    "##;
    assert_eq!(check(&rule, "units.rs", code), Vec::<String>::new());
    let after = format!("{code}\nuse crate::engine;");
    let line = after.lines().count();
    assert_eq!(
        check(&rule, "units.rs", &after),
        [format!("src/units.rs:{line}: units may not import engine")]
    );
}

/// The rows `| [`room`] | what | imports |` of the table.
fn rule(lib: &str) -> Rule {
    let row = |line: &str| -> Option<(String, Vec<Import>)> {
        let cells: Vec<&str> = line.strip_prefix("//! |")?.split('|').map(str::trim).collect();
        let room = cells[0].strip_prefix("[`")?.strip_suffix("`]")?;
        let imports =
            cells[2].split(", ").filter(|import| *import != "–").map(|import| match import {
                "everything" => Import::Everything,
                "engine's observer" => Import::Observer,
                room => Import::Room(room.to_owned()),
            });
        Some((room.to_owned(), imports.collect()))
    };
    lib.lines().filter_map(row).collect()
}

/// Every offence of a file, whose `name` is its path below `src`.
fn check(rule: &Rule, name: &str, source: &str) -> Vec<String> {
    let parts: Vec<&str> = name.trim_end_matches(".rs").split('/').collect();
    let room = parts[0];
    let depth = parts.iter().filter(|part| **part != "mod").count();
    let Some(allowed) = rule.get(room) else {
        return vec![format!("src/{name}:1: {room} is not in the table of src/lib.rs")];
    };
    let code = Code::of(source);
    let mut problems = Vec::new();
    for (line, path) in code.paths_from_the_root(depth) {
        let may = path[0] == room
            || allowed.iter().any(|import| match import {
                Import::Everything => true,
                Import::Room(room) => path[0] == *room,
                Import::Observer => {
                    path[0] == "engine"
                        && path.get(1).is_some_and(|item| OBSERVER.contains(&item.as_str()))
                }
            });
        if !may {
            problems.push(format!("src/{name}:{line}: {room} may not import {}", path.join("::")));
        }
    }
    for (krate, owner) in RESERVED {
        for line in code.uses_of(krate).filter(|_| room != owner) {
            problems.push(format!("src/{name}:{line}: only {owner} may use {krate}"));
        }
    }
    problems
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

/// The words and signs of a file, without comments, texts and test modules, each with its line.
struct Code(Vec<(usize, String)>);

impl Code {
    fn of(source: &str) -> Code {
        let mut code = Code(tokens(source));
        code.drop_tests();
        code
    }

    fn at(&self, index: usize) -> &str {
        self.0.get(index).map_or("", |(_, token)| token)
    }

    /// Takes out every `#[cfg(test)] mod … { … }`.
    fn drop_tests(&mut self) {
        const MARK: [&str; 8] = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
        let mut index = 0;
        while index < self.0.len() {
            if (0..MARK.len()).any(|offset| self.at(index + offset) != MARK[offset]) {
                index += 1;
                continue;
            }
            let mut end = index + MARK.len();
            let mut open = 0;
            loop {
                match self.at(end) {
                    "{" => open += 1,
                    "}" => open -= 1,
                    "" => break,
                    _ => {}
                }
                end += 1;
                if open == 0 && matches!(self.at(end - 1), "}" | ";") {
                    break;
                }
            }
            self.0.drain(index..end.min(self.0.len()));
        }
    }

    /// Every path that begins at the crate's root, for a module `depth` levels below it.
    fn paths_from_the_root(&self, depth: usize) -> Vec<(usize, Vec<String>)> {
        let mut found = Vec::new();
        for (index, (line, token)) in self.0.iter().enumerate() {
            if index > 0 && self.at(index - 1) == "::" {
                continue;
            }
            let mut next = index;
            let mut ups = usize::from(token == "self");
            if token == "self" {
                next += 2;
                ups = 0;
            }
            while self.at(next) == "super" && self.at(next + 1) == "::" {
                ups += 1;
                next += 2;
            }
            let start = match token.as_str() {
                "crate" if self.at(index + 1) == "::" => index + 2,
                "self" | "super" if ups >= depth => next,
                _ => continue,
            };
            let mut leaves = Vec::new();
            self.leaves(start, &mut Vec::new(), &mut leaves);
            found.extend(leaves.into_iter().map(|leaf| (*line, leaf)));
        }
        found
    }

    /// The paths of the tree at `index`, `{…}` opened up; returns the index after it.
    fn leaves(&self, index: usize, stem: &mut Vec<String>, out: &mut Vec<Vec<String>>) -> usize {
        if self.at(index) == "{" {
            let mut next = index + 1;
            while !matches!(self.at(next), "}" | "") {
                next = self.leaves(next, stem, out);
                if self.at(next) == "as" {
                    next += 2;
                }
                if self.at(next) == "," {
                    next += 1;
                }
            }
            return next + 1;
        }
        stem.push(self.at(index).to_owned());
        let next = match self.at(index + 1) {
            "::" if self.at(index + 2) != "<" => self.leaves(index + 2, stem, out),
            _ => {
                out.push(stem.clone());
                index + 1
            }
        };
        stem.pop();
        next
    }

    /// Lines where a path begins with `krate`.
    fn uses_of(&self, krate: &str) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter_map(move |(index, (line, token))| {
            let before = if index > 0 { self.at(index - 1) } else { "" };
            let begins = self.at(index + 1) == "::" || matches!(before, "use" | "crate");
            // `::krate` is the crate as well, `a::krate` is not.
            let inner = before == "::" && index > 1 && is_word(self.at(index - 2));
            (token == krate && begins && !inner).then_some(*line)
        })
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|sign: char| sign.is_alphanumeric() || sign == '_')
}

fn tokens(source: &str) -> Vec<(usize, String)> {
    let signs: Vec<char> = source.chars().collect();
    let at = |index: usize| signs.get(index).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let (mut index, mut line) = (0, 1);
    while index < signs.len() {
        let start = index;
        match at(index) {
            '/' if at(index + 1) == '/' => {
                while index < signs.len() && at(index) != '\n' {
                    index += 1;
                }
            }
            '/' if at(index + 1) == '*' => {
                index += 2;
                while index < signs.len() && !(at(index) == '*' && at(index + 1) == '/') {
                    index += 1;
                }
                index += 2;
            }
            'r' if at(index + 1) == '"' || (at(index + 1) == '#' && at(index + 2) != '_') => {
                let hashes = signs[index + 1..].iter().take_while(|sign| **sign == '#').count();
                if at(index + 1 + hashes) == '"' {
                    index += 2 + hashes;
                    let closes = |from: usize| {
                        at(from) == '"' && (1..=hashes).all(|offset| at(from + offset) == '#')
                    };
                    while index < signs.len() && !closes(index) {
                        index += 1;
                    }
                    index += 1 + hashes;
                } else {
                    index += 1 + hashes;
                }
            }
            '"' => {
                index += 1;
                while index < signs.len() && at(index) != '"' {
                    index += if at(index) == '\\' { 2 } else { 1 };
                }
                index += 1;
            }
            '\'' if at(index + 1) == '\\' => {
                index += 3;
                while index < signs.len() && at(index) != '\'' {
                    index += 1;
                }
                index += 1;
            }
            '\'' if at(index + 2) == '\'' => index += 3,
            ':' if at(index + 1) == ':' => {
                tokens.push((line, "::".to_owned()));
                index += 2;
            }
            sign if sign.is_alphanumeric() || sign == '_' => {
                while at(index).is_alphanumeric() || at(index) == '_' {
                    index += 1;
                }
                tokens.push((line, signs[start..index].iter().collect()));
            }
            sign => {
                if !sign.is_whitespace() {
                    tokens.push((line, sign.to_string()));
                }
                index += 1;
            }
        }
        let end = index.min(signs.len());
        line += signs[start..end].iter().filter(|sign| **sign == '\n').count();
    }
    tokens
}
