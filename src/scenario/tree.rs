//! A document as a tree of nodes that know where they were written.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::diagnostic::{Place, Problems};

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub place: Place,
    pub value: Value,
}

/// What can be written.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    /// An integer beyond 64 bits.
    Huge,
    Float(f64),
    Boolean(bool),
    Date,
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    /// Where the key was written.
    pub place: Place,
    pub node: Node,
}

impl Node {
    /// What kind of thing was written, with its article.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) | Value::Huge => "an integer",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "true or false",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

impl Value {
    /// As it would be written in TOML, in one line.
    pub fn written(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match self {
            Value::Text(text) => format!("\"{text}\""),
            Value::Integer(integer) => integer.to_string(),
            Value::Float(float) => float.to_string(),
            Value::Boolean(boolean) => boolean.to_string(),
            Value::List(items) => {
                format!("[{}]", joined(items.iter().map(|item| item.value.written()).collect()))
            }
            Value::Table(entries) => {
                let entry =
                    |entry: &Entry| format!("{} = {}", entry.key, entry.node.value.written());
                format!("{{ {} }}", joined(entries.iter().map(entry).collect()))
            }
            Value::Huge | Value::Date => "…".to_owned(),
        }
    }
}

/// Parses TOML; all syntax errors at once.
pub(super) fn parse(text: &str, problems: &mut Problems) -> Option<Node> {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let end = text.len();
        let span = error.span().unwrap_or(end..end);
        let (message, help) = explain(error.message());
        problems.add(message, Place::File(span), help);
    }
    let place = |span| Place::File(span);
    let root = Value::Table(entries(table.get_ref(), &place));
    errors.is_empty().then_some(Node { place: Place::File(0..0), value: root })
}

/// Parses one TOML value written in override `index` from byte `offset` on; what is no TOML value is
/// taken as text.
pub(super) fn parse_value(text: &str, index: usize, offset: usize) -> Node {
    let place = |span: Range<usize>| Place::Override {
        index,
        span: span.start + offset..span.end + offset,
    };
    match DeValue::parse(text) {
        Ok(value) if !text.is_empty() => node(value.get_ref(), value.span(), &place),
        _ => Node { place: place(0..text.len()), value: Value::Text(text.to_owned()) },
    }
}

/// The parser's message for people, and what to do about it.
fn explain(message: &str) -> (String, &'static str) {
    if message.contains("duplicate key") {
        return (
            "a name is given twice".to_owned(),
            "each key, and so each policy, may stand once: rename or remove one of the two",
        );
    }
    let help = if message.contains("quoted") {
        "put texts, and so durations, in quotes: \"30s\""
    } else {
        "see https://toml.io for how TOML is written"
    };
    (format!("this is not TOML: {message}"), help)
}

fn entries(table: &DeTable<'_>, place: &impl Fn(Range<usize>) -> Place) -> Vec<Entry> {
    let mut entries: Vec<(usize, Entry)> = table
        .iter()
        .map(|(key, value)| {
            let entry = Entry {
                key: key.get_ref().to_string(),
                place: place(key.span()),
                node: node(value.get_ref(), value.span(), place),
            };
            (key.span().start, entry)
        })
        .collect();
    // As written: policies keep the order of the file.
    entries.sort_by_key(|&(start, _)| start);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

fn node(value: &DeValue<'_>, span: Range<usize>, place: &impl Fn(Range<usize>) -> Place) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => {
            let digits = integer.as_str();
            i64::from_str_radix(digits, integer.radix()).map_or(Value::Huge, Value::Integer)
        }
        DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| node(item.get_ref(), item.span(), place)).collect())
        }
        DeValue::Table(table) => Value::Table(entries(table, place)),
    };
    Node { place: place(span), value }
}
