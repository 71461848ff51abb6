//! Reading nodes: each function turns one node into a value, or says what is wrong with it.

use std::ops::RangeInclusive;

use super::diagnostic::{Problems, alternatives, nearest};
use super::tree::{Entry, Node, Value};
use crate::units::{self, Ratio, Span};

/// The keys of a table, being read.
pub(super) struct Fields<'a> {
    /// What the table is called, `[run]`.
    name: String,
    node: &'a Node,
    /// Its own entries first, then what it inherits.
    entries: Vec<&'a Entry>,
    own: usize,
    known: Vec<&'static str>,
}

/// `"name"`, or `{ name = … }`.
pub(super) struct Choice<'a> {
    pub name: &'a str,
    pub payload: Option<&'a Node>,
    pub node: &'a Node,
}

impl<'a> Fields<'a> {
    pub fn of(
        name: impl Into<String>,
        node: &'a Node,
        problems: &mut Problems,
    ) -> Option<Fields<'a>> {
        let name = name.into();
        match &node.value {
            Value::Table(entries) => Some(Fields {
                name,
                node,
                entries: entries.iter().collect(),
                own: entries.len(),
                known: Vec::new(),
            }),
            _ => {
                let message = format!("{name} must be a table, not {}", node.kind());
                problems.add(message, node.place.clone(), "write its keys in a table");
                None
            }
        }
    }

    /// Takes from `parent` what is not given here.
    pub fn inherit(&mut self, parent: &[&'a Entry]) {
        for entry in parent {
            if self.entries.iter().all(|own| own.key != entry.key) {
                self.entries.push(entry);
            }
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn entries(&self) -> &[&'a Entry] {
        &self.entries
    }

    pub fn get(&mut self, key: &'static str) -> Option<&'a Node> {
        self.known.push(key);
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The value of a key that may be left out: `None` if its value is wrong, `Some(None)` if there is
    /// none.
    pub fn optional<T>(
        &mut self,
        key: &'static str,
        problems: &mut Problems,
        read: impl FnOnce(&'a Node, &mut Problems) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.get(key) {
            None => Some(None),
            Some(node) => read(node, problems).map(Some),
        }
    }

    /// The value of a key with a default.
    pub fn or<T>(
        &mut self,
        key: &'static str,
        default: T,
        problems: &mut Problems,
        read: impl FnOnce(&'a Node, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        Some(self.optional(key, problems, read)?.unwrap_or(default))
    }

    /// The value of a key that must be there; `example` shows how.
    pub fn required<T>(
        &mut self,
        key: &'static str,
        example: &str,
        problems: &mut Problems,
        read: impl FnOnce(&'a Node, &mut Problems) -> Option<T>,
    ) -> Option<T> {
        let value = self.optional(key, problems, read)?;
        if value.is_none() {
            let message = format!("{} lacks `{key}`", self.name);
            problems.add(message, self.node.place.clone(), format!("add `{example}`"));
        }
        value
    }

    /// Reports the keys that nobody asked for. Inherited ones are reported where they stand.
    pub fn finish(self, problems: &mut Problems) {
        for entry in &self.entries[..self.own] {
            if !self.known.contains(&entry.key.as_str()) {
                let known = self.known.iter().copied();
                let help = alternatives(&entry.key, "known keys", known);
                let message = format!("unknown key `{}` in {}", entry.key, self.name);
                problems.add(message, entry.place.clone(), help);
            }
        }
    }
}

impl<'a> Choice<'a> {
    pub fn of(node: &'a Node, problems: &mut Problems) -> Option<Choice<'a>> {
        match &node.value {
            Value::Text(name) => Some(Choice { name, payload: None, node }),
            Value::Table(entries) => match &entries[..] {
                [entry] => Some(Choice { name: &entry.key, payload: Some(&entry.node), node }),
                _ => {
                    let message = format!("one choice is due here, not {}", entries.len());
                    problems.add(message, node.place.clone(), "keep one key of this table");
                    None
                }
            },
            _ => {
                let message =
                    format!("a name or a table with one key is due here, not {}", node.kind());
                problems.add(message, node.place.clone(), "write `\"name\"` or `{ name = … }`");
                None
            }
        }
    }

    /// What is chosen is none of these.
    pub fn unknown<T>(&self, choices: &[&str], problems: &mut Problems) -> Option<T> {
        let plain = |choice: &&str| choice.split(' ').next().unwrap_or_default().to_owned();
        let names: Vec<String> = choices.iter().map(plain).collect();
        let help = if self.payload.is_none() && names.iter().any(|name| name == self.name) {
            format!("`{}` takes a value; choices are: {}", self.name, choices.join(", "))
        } else {
            let nearest = nearest(self.name, names.iter().map(String::as_str));
            format!("{nearest}choices are: {}", choices.join(", "))
        };
        let message = format!("`{}` is no choice here", self.name);
        problems.add(message, self.node.place.clone(), help);
        None
    }
}

/// A text.
pub(super) fn text(node: &Node, problems: &mut Problems) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        _ => {
            let message = format!("a text is due here, not {}", node.kind());
            problems.add(message, node.place.clone(), "put it in quotes");
            None
        }
    }
}

/// `true` or `false`.
pub(super) fn boolean(node: &Node, problems: &mut Problems) -> Option<bool> {
    match node.value {
        Value::Boolean(boolean) => Some(boolean),
        _ => {
            let message = format!("`true` or `false` is due here, not {}", node.kind());
            problems.add(message, node.place.clone(), "write it without quotes");
            None
        }
    }
}

/// A whole number within a range; as a text it may end in `k` or `M`.
pub(super) fn integer(
    range: RangeInclusive<u64>,
) -> impl FnOnce(&Node, &mut Problems) -> Option<u64> {
    move |node, problems| {
        let (low, high) = (*range.start(), *range.end());
        let help = format!("write a whole number from {low} to {high}");
        let number = match &node.value {
            Value::Integer(integer) => u64::try_from(*integer).ok(),
            Value::Text(text) => units::count(text),
            _ => None,
        };
        let message = match (number, &node.value) {
            (Some(number), _) if range.contains(&number) => return Some(number),
            (Some(number), _) if number < low => format!("{number} is too small"),
            (Some(number), _) => format!("{number} is too large"),
            (None, Value::Integer(integer)) => format!("{integer} is negative"),
            (None, Value::Huge) => "this number is too large".to_owned(),
            _ => format!("a whole number is due here, not {}", node.kind()),
        };
        problems.add(message, node.place.clone(), help);
        None
    }
}

/// A whole number within a range of 32 bits.
pub(super) fn count(
    range: RangeInclusive<u32>,
) -> impl FnOnce(&Node, &mut Problems) -> Option<u32> {
    let range = u64::from(*range.start())..=u64::from(*range.end());
    move |node, problems| Some(integer(range)(node, problems)? as u32)
}

/// A finite number that `allowed` accepts; `rule` says which.
pub(super) fn number(
    rule: &'static str,
    allowed: impl Fn(f64) -> bool,
) -> impl FnOnce(&Node, &mut Problems) -> Option<f64> {
    move |node, problems| {
        let message = match node.value {
            Value::Integer(integer) if allowed(integer as f64) => return Some(integer as f64),
            Value::Float(float) if float.is_finite() && allowed(float) => return Some(float),
            Value::Integer(_) | Value::Float(_) | Value::Huge => {
                "this number is out of range".to_owned()
            }
            _ => format!("a number is due here, not {}", node.kind()),
        };
        problems.add(message, node.place.clone(), format!("write {rule}"));
        None
    }
}

/// A share between 0 and 1.
pub(super) fn share(node: &Node, problems: &mut Problems) -> Option<Ratio> {
    Ratio::new(number("a share from 0 to 1", |x| (0.0..=1.0).contains(&x))(node, problems)?)
}

/// A duration with its unit.
pub(super) fn span(node: &Node, problems: &mut Problems) -> Option<Span> {
    const EXAMPLES: &str = "write it with its unit, for example \"30s\", \"170ms\" or \"1m 30s\"";
    let (message, help) = match &node.value {
        Value::Text(text) => match text.parse() {
            Ok(span) => return Some(span),
            Err(error) => (format!("`{text}` is no duration: {error}"), EXAMPLES.to_owned()),
        },
        Value::Integer(number) if *number >= 0 => (
            "a bare number is no duration: its unit is missing".to_owned(),
            format!("write \"{number}s\" for seconds or \"{number}ms\" for milliseconds"),
        ),
        Value::Integer(_) | Value::Float(_) | Value::Huge => {
            ("a bare number is no duration: its unit is missing".to_owned(), EXAMPLES.to_owned())
        }
        _ => (format!("a duration is due here, not {}", node.kind()), EXAMPLES.to_owned()),
    };
    problems.add(message, node.place.clone(), help);
    None
}

/// A rate, `"900/s"`, as the time that each takes.
pub(super) fn rate(node: &Node, problems: &mut Problems) -> Option<Span> {
    rate_per_second(node, problems).map(|rate| Span::from_ticks_f64(1e6 / rate))
}

/// A rate, `"900/s"`, as how many a second.
pub(super) fn rate_per_second(node: &Node, problems: &mut Problems) -> Option<f64> {
    const EXAMPLE: &str = "write how many a second, as in \"900/s\"";
    if let Value::Integer(_) | Value::Float(_) | Value::Huge = node.value {
        let message = "a bare number is no rate: its unit is missing";
        problems.add(message, node.place.clone(), EXAMPLE);
        return None;
    }
    let written = text(node, problems)?;
    let number = written.strip_suffix("/s").and_then(|number| number.trim().parse::<f64>().ok());
    match number {
        Some(rate) if (1e-3..=1e6).contains(&rate) => Some(rate),
        Some(_) => {
            let help = "write a rate from 0.001/s to 1000000/s";
            problems.add("this rate is out of range", node.place.clone(), help);
            None
        }
        None => {
            problems.add(format!("`{written}` is no rate"), node.place.clone(), EXAMPLE);
            None
        }
    }
}

/// A duration longer than none.
pub(super) fn positive_span(node: &Node, problems: &mut Problems) -> Option<Span> {
    let span = span(node, problems)?;
    if span == Span::ZERO {
        problems.add(
            "this duration must be longer than zero",
            node.place.clone(),
            "write the time it takes, or leave the key out for no limit",
        );
        return None;
    }
    Some(span)
}

/// What `read` reads, or `"never"`.
pub(super) fn or_never<T>(
    read: impl FnOnce(&Node, &mut Problems) -> Option<T>,
) -> impl FnOnce(&Node, &mut Problems) -> Option<Option<T>> {
    move |node, problems| match &node.value {
        Value::Text(text) if text == "never" => Some(None),
        _ => read(node, problems).map(Some),
    }
}

/// The items of a list.
pub(super) fn list<'a>(node: &'a Node, problems: &mut Problems) -> Option<&'a [Node]> {
    match &node.value {
        Value::List(items) => Some(items),
        _ => {
            let message = format!("a list is due here, not {}", node.kind());
            problems.add(message, node.place.clone(), "write it in square brackets");
            None
        }
    }
}

/// The items of a list, each read; all are read even if one is wrong.
pub(super) fn each<T>(
    node: &Node,
    problems: &mut Problems,
    read: impl Fn(&Node, &mut Problems) -> Option<T>,
) -> Option<Vec<T>> {
    let items: Vec<_> = list(node, problems)?.iter().map(|item| read(item, problems)).collect();
    items.into_iter().collect()
}

/// Two values in order, `[low, high]`.
pub(super) fn pair<T: PartialOrd>(
    node: &Node,
    problems: &mut Problems,
    read: impl Fn(&Node, &mut Problems) -> Option<T>,
) -> Option<(T, T)> {
    match list(node, problems)? {
        [low, high] => {
            let (low, high) = (read(low, problems), read(high, problems));
            let (low, high) = (low?, high?);
            if low > high {
                let message = "the lower bound is above the upper one";
                problems.add(message, node.place.clone(), "swap them: [low, high]");
                return None;
            }
            Some((low, high))
        }
        items => {
            let message = format!("two bounds are due here, not {}", items.len());
            problems.add(message, node.place.clone(), "write [low, high]");
            None
        }
    }
}
