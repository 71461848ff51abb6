//! The catalogue: retry policies of real libraries under `library-policy@version`.
//!
//! A preset holds for a range of versions: libraries change under their users. Its parameters have the
//! library's defaults and may be given beside its name. `policies/` has a file for each family; in it a
//! value `"$cap"` stands for the parameter `cap`. A preset without `hint` ignores what a server says.

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

use super::diagnostic::{Problems, ScenarioError, nearest};
use super::lower;
use super::reader::{Choice, Fields, count, each, list, text};
use super::tree::{self, Entry, Node, Value};
use super::{Place, Source};
use crate::policy::{Acquire, Guard, Retry};

/// A policy of a library.
#[derive(Clone, Debug)]
pub struct Preset {
    /// `library-policy`.
    pub name: String,
    /// The versions for which it holds.
    pub versions: Versions,
    /// Row of the reference table that it comes from, if it has one.
    pub row: Option<u32>,
    /// The delay before the k-th retry, in one line.
    pub formula: String,
    /// Where the formula stands.
    pub source: String,
    /// How far it has been checked.
    pub evidence: Evidence,
    /// What the library does besides and this preset does not.
    pub lacks: Option<String>,
    /// Names and defaults of what may be given beside its name.
    pub(super) parameters: Vec<Entry>,
    pub(super) delay: Node,
    pub(super) stop: Node,
    pub(super) hint: Node,
    pub(super) guards: Option<Node>,
}

/// Versions, both ends included. An end such as `1.43` covers every `1.43.x`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    first: String,
    last: String,
}

/// How far a preset has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Its draws were compared with what the library itself drew.
    Run,
    /// Its draws were compared with those of the formula, copied from the library's source.
    Replica,
    /// Its formula was read in the library's source.
    Read,
}

/// A retry rule and what it is called.
#[derive(Clone, Debug)]
pub struct Backoff {
    /// As it was asked for.
    pub name: String,
    /// The preset whose delay it has.
    pub preset: Option<&'static Preset>,
    /// The rule.
    pub retry: Retry,
    /// What holds it back.
    pub guards: Vec<Guard>,
}

/// A rule as it is written: its `acquire`, and the `guards` beside that.
struct Written {
    name: String,
    acquire: Node,
    guards: Option<Node>,
}

const FAMILIES: [&str; 6] = [
    include_str!("policies/aws.toml"),
    include_str!("policies/python.toml"),
    include_str!("policies/javascript.toml"),
    include_str!("policies/rust.toml"),
    include_str!("policies/jvm.toml"),
    include_str!("policies/services.toml"),
];

static PRESETS: LazyLock<Vec<Preset>> =
    LazyLock::new(|| FAMILIES.into_iter().flat_map(family).collect());

/// All presets, family by family.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

/// The retry rules that `wanted` names: a preset's with its defaults; else each of a TOML file, whose
/// tables are written as the `acquire` of a policy, or of a scenario's policies.
///
/// # Errors
///
/// If there is neither such a preset nor such a file, or all that is wrong with the file.
pub fn backoffs(wanted: &str) -> Result<Vec<Backoff>, ScenarioError> {
    if wanted.contains('@') && !std::path::Path::new(wanted).exists() {
        let text = format!("preset = {}", toml::Value::from(wanted));
        let source = Source { origin: "preset".into(), text, ..Source::default() };
        let mut found = read_backoffs(source, |root, _| {
            vec![Written { name: wanted.to_owned(), acquire: root, guards: None }]
        })?;
        return Ok(found.pop().into_iter().collect());
    }
    let text = std::fs::read_to_string(wanted).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ScenarioError::plain(
            format!("there is no file and no preset `{wanted}`"),
            format!(
                "{}a preset is library-policy@version: see `herdsim list policies`",
                nearest_preset(wanted)
            ),
        ),
        _ => ScenarioError::unreadable(wanted, &error),
    })?;
    parse_backoffs(wanted, &text)
}

/// The retry rules of a TOML text; problems call it `origin`.
///
/// # Errors
///
/// All that is wrong with it.
pub fn parse_backoffs(origin: &str, text: &str) -> Result<Vec<Backoff>, ScenarioError> {
    let source = Source { origin: origin.to_owned(), text: text.to_owned(), ..Source::default() };
    read_backoffs(source, |root, problems| {
        let Value::Table(entries) = root.value else { return Vec::new() };
        let policies = entries.iter().find(|entry| entry.key == "policy");
        match policies.map(|entry| &entry.node.value) {
            Some(Value::Table(policies)) => {
                let written = policies.iter().filter_map(|policy| match &policy.node.value {
                    Value::Table(keys) => {
                        let acquire = keys.iter().find(|key| key.key == "acquire")?.node.clone();
                        let guards = lower::inherited(policy, policies, "guards", problems);
                        let name = policy.key.clone();
                        Some(Written { name, acquire, guards: guards.cloned() })
                    }
                    _ => None,
                });
                written.collect()
            }
            _ => {
                let written =
                    |entry: Entry| Written { name: entry.key, acquire: entry.node, guards: None };
                entries.into_iter().map(written).collect()
            }
        }
    })
}

fn read_backoffs(
    source: Source,
    rules: impl FnOnce(Node, &mut Problems) -> Vec<Written>,
) -> Result<Vec<Backoff>, ScenarioError> {
    let mut problems = Problems::default();
    let root = tree::parse(&source.text, &mut problems);
    let written = root.map(|root| rules(root, &mut problems)).unwrap_or_default();
    let mut found = Vec::new();
    for Written { name, acquire: node, guards } in written {
        let acquire = lower::acquire_under(Some(&node), guards.as_ref(), &mut problems);
        if let Some((retry, guards)) = acquire.as_ref().and_then(innermost) {
            let (preset, retry, guards) = (preset_of(&node), retry.clone(), guards.to_vec());
            found.push(Backoff { name, preset, retry, guards });
        }
    }
    if found.is_empty() && problems.is_empty() {
        return Err(ScenarioError::plain(
            format!("`{}` has no retry rule", source.origin),
            "write tables such as [mine] with preset = \"library-policy@version\"".into(),
        ));
    }
    if problems.is_empty() { Ok(found) } else { Err(ScenarioError::new(source, problems)) }
}

/// The innermost rule of an acquisition, and its guards.
fn innermost(acquire: &Acquire) -> Option<(&Retry, &[Guard])> {
    match acquire {
        Acquire::Once => None,
        Acquire::Retry(retry) => Some((retry, &[])),
        Acquire::Layers(layers) => {
            layers.iter().find_map(|layer| Some((layer.retry.as_ref()?, &layer.guards[..])))
        }
    }
}

/// The preset that an `acquire` names, or that the delay of its `retry` does.
fn preset_of(acquire: &Node) -> Option<&'static Preset> {
    let Value::Table(entries) = &acquire.value else { return None };
    entries.iter().find_map(|entry| match (entry.key.as_str(), &entry.node.value) {
        ("preset", Value::Text(wanted)) => Preset::named(wanted),
        ("retry" | "delay", Value::Table(_)) => preset_of(&entry.node),
        _ => None,
    })
}

impl Preset {
    /// The preset that `library-policy@version` names.
    pub fn named(wanted: &str) -> Option<&'static Preset> {
        let (name, version) = wanted.split_once('@')?;
        let is_it = |preset: &&Preset| preset.name == name && preset.versions.contain(version);
        presets().iter().find(is_it)
    }

    /// The same, written at `node`.
    pub(super) fn find(
        wanted: &str,
        node: &Node,
        problems: &mut Problems,
    ) -> Option<&'static Preset> {
        if let Some(preset) = Preset::named(wanted) {
            return Some(preset);
        }
        let (name, version) = wanted.split_once('@').unwrap_or((wanted, ""));
        let of_name = presets().iter().filter(|preset| preset.name == name);
        let known: Vec<String> = of_name.map(|preset| preset.versions.to_string()).collect();
        let (message, help) = if known.is_empty() {
            let help = format!("{}`herdsim list policies` shows them all", nearest_preset(wanted));
            (format!("there is no preset `{wanted}`"), help)
        } else if version.is_empty() {
            let message = format!("the preset `{name}` needs a version: libraries change");
            (message, format!("write `{name}@…`; known are: {}", known.join(", ")))
        } else {
            let message = format!("the preset `{name}` is not known at version `{version}`");
            (message, format!("known are: {}", known.join(", ")))
        };
        problems.add(message, node.place.clone(), help);
        None
    }

    /// Its name with the first version for which it holds.
    pub fn reference(&self) -> String {
        format!("{}@{}", self.name, self.versions.first)
    }

    /// What holds its retries back, with the defaults of its parameters.
    pub fn guards(&self) -> Vec<Guard> {
        let Some(node) = &self.guards else { return Vec::new() };
        let mut problems = Problems::default();
        let guards = lower::guards(&substitute(node, &self.parameters, &DEFAULT), &mut problems);
        guards.unwrap_or_else(|| panic!("the guards of {} are valid: {problems:?}", self.name))
    }

    /// Its parameters with their defaults as they would be written, where it stops and what it makes of a
    /// server's hint.
    pub fn defaults(&self) -> String {
        let put = |node: &Node| substitute(node, &self.parameters, &DEFAULT);
        let own = self.parameters.iter().map(|entry| (entry.key.as_str(), entry.node.clone()));
        let rest = [("stop", put(&self.stop)), ("hint", put(&self.hint))];
        let written =
            own.chain(rest).map(|(key, node)| format!("{key} = {}", node.value.written()));
        written.collect::<Vec<_>>().join(", ")
    }
}

fn nearest_preset(wanted: &str) -> String {
    let name = wanted.split('@').next().unwrap_or_default();
    nearest(name, presets().iter().map(|preset| preset.name.as_str()))
}

impl Versions {
    /// Whether `version` is one of them. Versions with a common text before their last hyphen compare
    /// by their numbers; what is no dotted number, such as a commit, must be the same.
    pub fn contain(&self, version: &str) -> bool {
        if version == self.first || version == self.last {
            return true;
        }
        let split = |text: &'_ str| -> Option<(String, Vec<u64>)> {
            let (prefix, numbers) = text.rsplit_once('-').unwrap_or(("", text));
            let numbers: Result<_, _> = numbers.split('.').map(str::parse).collect();
            Some((prefix.to_owned(), numbers.ok()?))
        };
        let (Some(first), Some(last), Some(wanted)) =
            (split(&self.first), split(&self.last), split(version))
        else {
            return false;
        };
        let reaches = |bound: &[u64]| {
            let covered = wanted.1.iter().chain(std::iter::repeat(&0)).take(bound.len());
            covered.cmp(bound.iter())
        };
        wanted.0 == first.0
            && reaches(&first.1) != Ordering::Less
            && reaches(&last.1) != Ordering::Greater
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => f.write_str(&self.first),
            false => write!(f, "{} to {}", self.first, self.last),
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Evidence::Run => "run",
            Evidence::Replica => "replica",
            Evidence::Read => "read",
        })
    }
}

/// `node` with its parameters put in, all of it at `place` but what was given elsewhere.
pub(super) fn substitute(node: &Node, given: &[Entry], place: &Place) -> Node {
    let value = match &node.value {
        Value::Text(text) => {
            let name = text.strip_prefix('$');
            match given.iter().find(|entry| Some(entry.key.as_str()) == name) {
                Some(entry) if entry.place == DEFAULT => {
                    return substitute(&entry.node, &[], place);
                }
                Some(entry) => return entry.node.clone(),
                None => node.value.clone(),
            }
        }
        Value::List(items) => {
            Value::List(items.iter().map(|item| substitute(item, given, place)).collect())
        }
        Value::Table(entries) => {
            let put = |entry: &Entry| Entry {
                key: entry.key.clone(),
                place: place.clone(),
                node: substitute(&entry.node, given, place),
            };
            Value::Table(entries.iter().map(put).collect())
        }
        plain => plain.clone(),
    };
    Node { place: place.clone(), value }
}

/// Where a preset's own values are: nowhere in the user's file.
const DEFAULT: Place = Place::File(usize::MAX..usize::MAX);

/// The presets of a family's file.
fn family(file: &str) -> Vec<Preset> {
    let mut problems = Problems::default();
    let presets = tree::parse(file, &mut problems).and_then(|root| {
        let mut fields = Fields::of("a family", &root, &mut problems)?;
        let presets = fields.required("policy", "[[policy]]", &mut problems, |node, problems| {
            each(node, problems, preset)
        });
        fields.finish(&mut problems);
        presets
    });
    assert!(problems.is_empty(), "{problems:?}");
    presets.expect("a family without problems has presets")
}

fn preset(node: &Node, problems: &mut Problems) -> Option<Preset> {
    let raw = |node: &Node, _: &mut Problems| Some(node.clone());
    let mut fields = Fields::of("[[policy]]", node, problems)?;
    let name = fields.required("name", "name", problems, text);
    let versions = fields.required("versions", "versions", problems, versions);
    let row = fields.optional("row", problems, count(1..=1_000));
    let formula = fields.required("formula", "formula", problems, text);
    let source = fields.required("source", "source", problems, text);
    let evidence = fields.required("evidence", "evidence", problems, evidence);
    let lacks = fields.optional("lacks", problems, text);
    let parameters = fields.or("parameters", Vec::new(), problems, |node, _| {
        let Value::Table(entries) = &node.value else { return None };
        let own = |entry: &Entry| Entry { place: DEFAULT, ..entry.clone() };
        Some(entries.iter().map(own).collect())
    });
    let delay = fields.required("delay", "delay", problems, raw);
    let stop = fields.required("stop", "stop", problems, raw);
    // Most libraries retry what they are given and know nothing of what a server said.
    let ignore = Node { place: DEFAULT, value: Value::Text("ignore".into()) };
    let hint = fields.or("hint", ignore, problems, raw);
    let guards = fields.optional("guards", problems, raw);
    fields.finish(problems);
    Some(Preset {
        name: name?,
        versions: versions?,
        row: row?,
        formula: formula?,
        source: source?,
        evidence: evidence?,
        lacks: lacks?,
        parameters: parameters?,
        delay: delay?,
        stop: stop?,
        hint: hint?,
        guards: guards?,
    })
}

fn versions(node: &Node, problems: &mut Problems) -> Option<Versions> {
    if let Value::Text(only) = &node.value {
        return Some(Versions { first: only.clone(), last: only.clone() });
    }
    match list(node, problems)? {
        [first, last] => {
            Some(Versions { first: text(first, problems)?, last: text(last, problems)? })
        }
        _ => None,
    }
}

fn evidence(node: &Node, problems: &mut Problems) -> Option<Evidence> {
    let choice = Choice::of(node, problems)?;
    match choice.name {
        "run" => Some(Evidence::Run),
        "replica" => Some(Evidence::Replica),
        "read" => Some(Evidence::Read),
        _ => choice.unknown(&["run", "replica", "read"], problems),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_with_its_defaults() {
        for preset in presets() {
            let wanted = preset.reference();
            match backoffs(&wanted) {
                Ok(found) => assert_eq!(found.len(), 1),
                Err(error) => panic!("{wanted}: {error}"),
            }
        }
    }

    #[test]
    fn a_formula_is_written_in_the_parameters_which_are_all_used() {
        for preset in presets() {
            let word = |c: char| c.is_alphabetic() || c == '_';
            let words = preset.formula.split(|c| !word(c));
            let within = |nodes: &[&Node], key: &str| {
                let put = format!("\"${key}\"");
                nodes.iter().any(|node| node.value.written().contains(&put))
            };
            for Entry { key, .. } in &preset.parameters {
                // Those of a guard are shown with it.
                if preset.guards.as_ref().is_some_and(|guards| within(&[guards], key)) {
                    continue;
                }
                let shown = words.clone().any(|word| word == key);
                assert!(shown, "{}: `{key}` is not in {}", preset.reference(), preset.formula);
                let used = within(&[&preset.delay, &preset.stop, &preset.hint], key);
                assert!(used, "{}: {key}", preset.reference());
            }
        }
    }

    #[test]
    fn a_version_names_one_preset_at_most() {
        for (index, preset) in presets().iter().enumerate() {
            for other in &presets()[index + 1..] {
                let apart = other.name != preset.name
                    || !other.versions.contain(&preset.versions.first)
                        && !other.versions.contain(&preset.versions.last);
                assert!(apart, "{preset:?} {other:?}");
            }
        }
    }

    #[test]
    fn a_range_of_versions_is_compared_by_numbers() {
        let versions =
            |first: &str, last: &str| Versions { first: first.into(), last: last.into() };
        let plain = versions("1.15.0", "1.43");
        for inside in ["1.15.0", "1.15", "1.34.107", "1.43", "1.43.99"] {
            assert!(plain.contain(inside), "{inside}");
        }
        for outside in ["1.14.9", "1.44.0", "2", "", "latest", "8e776e1"] {
            assert!(!plain.contain(outside), "{outside}");
        }
        let pair = versions("8e776e1+botocore-1.15.0", "8e776e1+botocore-1.34.106");
        assert!(pair.contain("8e776e1+botocore-1.31.21"));
        assert!(!pair.contain("8e776e1+botocore-1.34.107") && !pair.contain("1.31.21"));
        assert!(versions("8e776e1", "8e776e1").contain("8e776e1"));
    }

    #[test]
    fn botocore_changed_between_two_patch_releases() {
        let preset = |name: &str| {
            let node = Node { place: Place::File(0..0), value: Value::Text(name.into()) };
            Preset::find(name, &node, &mut Problems::default()).unwrap().formula.clone()
        };
        let standard = |version: &str| preset(&format!("botocore-standard@{version}"));
        assert_eq!(standard("1.31.21"), standard("1.34.106"));
        assert_ne!(standard("1.34.106"), standard("1.34.107"));
        assert_eq!(standard("1.34.107"), standard("1.43.2"));
        assert_ne!(standard("1.43.2"), standard("1.44.0"));
    }
}
