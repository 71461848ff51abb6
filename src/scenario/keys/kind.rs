//! What may stand at a key: `duration | 'never'`, `[demand]`, `{policy}`.

use std::collections::BTreeMap;
use std::fmt;

/// What may stand at a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: the choice stands by its name alone.
    Alone,
    /// A plain value.
    Plain(Plain),
    /// This word.
    Word(String),
    /// What stands in the shape of this name.
    Shape(String),
    /// A list of such.
    List(Box<Kind>),
    /// Two of such: a lower and an upper bound, or a row.
    Pair(Box<Kind>),
    /// One of the first kind, then any number of the second.
    Sequence(Box<Kind>, Box<Kind>),
    /// Such, each under a name of the user's.
    Named(Box<Kind>),
    /// One of these.
    Either(Vec<Kind>),
}

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// Any text.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// A share of a whole.
    Share,
    /// A time with its unit.
    Duration,
    /// How many a second.
    Rate,
    /// Metrics with a comparison each, and tables of them under a policy's name.
    Metrics,
    /// Values of other keys.
    Values,
}

impl Plain {
    const ALL: [Plain; 9] = [
        Plain::Text,
        Plain::Boolean,
        Plain::Count,
        Plain::Number,
        Plain::Share,
        Plain::Duration,
        Plain::Rate,
        Plain::Metrics,
        Plain::Values,
    ];

    fn name(self) -> &'static str {
        match self {
            Plain::Text => "text",
            Plain::Boolean => "boolean",
            Plain::Count => "count",
            Plain::Number => "number",
            Plain::Share => "share",
            Plain::Duration => "duration",
            Plain::Rate => "rate",
            Plain::Metrics => "metrics",
            Plain::Values => "values",
        }
    }
}

impl Kind {
    /// Reads a kind; `aliases` are short for others.
    pub(super) fn parse(written: &str, aliases: &BTreeMap<String, String>) -> Kind {
        let parts = split(written, '|');
        if parts.len() > 1 {
            let kinds = parts.into_iter().flat_map(|part| match Kind::parse(part, aliases) {
                Kind::Either(kinds) => kinds,
                kind => vec![kind],
            });
            return Kind::Either(kinds.collect());
        }
        let written = written.trim();
        let inside = |open, close| written.strip_prefix(open)?.strip_suffix(close);
        if let Some(word) = inside('\'', '\'') {
            return Kind::Word(word.to_owned());
        }
        if let Some(named) = inside('{', '}') {
            return Kind::Named(Box::new(Kind::parse(named, aliases)));
        }
        if let Some(items) = inside('[', ']') {
            if let Some(both) = items.strip_suffix("; 2") {
                return Kind::Pair(Box::new(Kind::parse(both, aliases)));
            }
            return match split(items, ',')[..] {
                [first, rest] => Kind::Sequence(
                    Box::new(Kind::parse(first, aliases)),
                    Box::new(Kind::parse(rest, aliases)),
                ),
                _ => Kind::List(Box::new(Kind::parse(items, aliases))),
            };
        }
        if let Some(long) = aliases.get(written) {
            return Kind::parse(long, aliases);
        }
        match Plain::ALL.into_iter().find(|plain| plain.name() == written) {
            Some(plain) => Kind::Plain(plain),
            None if written == "alone" => Kind::Alone,
            None => Kind::Shape(written.to_owned()),
        }
    }

    /// The kinds of which one stands here.
    pub fn alternatives(&self) -> &[Kind] {
        match self {
            Kind::Either(kinds) => kinds,
            kind => std::slice::from_ref(kind),
        }
    }

    /// The shapes that are reached from here, through lists and names.
    pub fn shapes(&self) -> Vec<&str> {
        match self {
            Kind::Shape(name) => vec![name],
            Kind::List(kind) | Kind::Pair(kind) | Kind::Named(kind) => kind.shapes(),
            Kind::Sequence(first, rest) => [first.shapes(), rest.shapes()].concat(),
            Kind::Either(kinds) => kinds.iter().flat_map(Kind::shapes).collect(),
            Kind::Alone | Kind::Plain(_) | Kind::Word(_) => Vec::new(),
        }
    }
}

/// The parts between separators that stand in no brackets.
fn split(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0;
    text.split(|sign| {
        match sign {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        depth == 0 && sign == separator
    })
    .collect()
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Alone => f.write_str("alone"),
            Kind::Plain(Plain::Count) => f.write_str("whole number"),
            Kind::Plain(Plain::Boolean) => f.write_str("true or false"),
            Kind::Plain(plain) => f.write_str(plain.name()),
            Kind::Word(word) => write!(f, "\"{word}\""),
            Kind::Shape(name) => write!(f, "‹{name}›"),
            Kind::List(kind) => write!(f, "list of {kind}"),
            Kind::Pair(kind) => write!(f, "[{kind}, {kind}]"),
            Kind::Sequence(first, rest) => write!(f, "list of {first}, then any of {rest}"),
            Kind::Named(kind) => write!(f, "{kind} for each name"),
            Kind::Either(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(Kind::to_string).collect();
                f.write_str(&kinds.join(" or "))
            }
        }
    }
}
