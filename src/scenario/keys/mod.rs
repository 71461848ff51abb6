//! The keys of a scenario as data: what each means, what may stand there, and what holds if nothing does.
//!
//! `keys.toml` is the one source of `herdsim explain`, of the editors' schema and of docs/scenario.md. A
//! test holds it to the reader, in both directions.

mod find;
mod kind;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

pub use find::{Found, find_key};
pub use kind::{Kind, Plain};

/// What stands in one place: a table, or one choice of several.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What the table of keys calls it.
    pub name: String,
    /// How many of its keys stand together.
    pub form: Form,
    /// Its keys.
    pub keys: Vec<Key>,
}

/// How many keys of a shape stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Any of them.
    Table,
    /// Any of them, and keys that depend on one of them: the parameters of a preset.
    Open,
    /// One.
    Choice,
}

/// A key of a scenario.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its last part.
    pub name: String,
    /// What may stand there.
    pub kind: Kind,
    /// What its number counts, where its kind does not say so.
    pub unit: Option<String>,
    /// Between which numbers.
    pub range: Range,
    /// What holds without it.
    pub absent: Absent,
    /// What it means.
    pub means: String,
    /// Where it comes from.
    pub source: Option<String>,
}

/// Which numbers may stand at a key.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// At least.
    pub from: Option<f64>,
    /// More than.
    pub above: Option<f64>,
    /// At most.
    pub to: Option<f64>,
}

/// What holds where a key is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// This, as it would be written, or in words.
    Default(String),
    /// It must be there; an example.
    Required(String),
    /// What its own keys say by default, or nothing.
    Unsaid,
}

/// All shapes; the first is the whole scenario.
pub fn shapes() -> &'static [Shape] {
    &SHAPES
}

/// The shape of a name that the table itself uses.
pub fn shape(name: &str) -> &'static Shape {
    let shape = SHAPES.iter().find(|shape| shape.name == name);
    shape.unwrap_or_else(|| panic!("keys.toml has no shape `{name}`"))
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let Written { kinds, table, choice } =
        toml::from_str(include_str!("keys.toml")).expect("keys.toml is valid");
    let shape = |shape: WrittenShape, form| Shape {
        name: shape.name,
        form,
        keys: shape.keys.into_iter().map(|key| key.read(&kinds)).collect(),
    };
    let tables = table.into_iter().map(|table| {
        let form = if table.open { Form::Open } else { Form::Table };
        shape(table, form)
    });
    tables.chain(choice.into_iter().map(|choice| shape(choice, Form::Choice))).collect()
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    kinds: BTreeMap<String, String>,
    table: Vec<WrittenShape>,
    choice: Vec<WrittenShape>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenShape {
    name: String,
    #[serde(default)]
    open: bool,
    keys: Vec<WrittenKey>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenKey {
    key: String,
    is: String,
    means: String,
    default: Option<String>,
    required: Option<String>,
    unit: Option<String>,
    source: Option<String>,
    from: Option<f64>,
    above: Option<f64>,
    to: Option<f64>,
}

impl WrittenKey {
    fn read(self, kinds: &BTreeMap<String, String>) -> Key {
        Key {
            name: self.key,
            kind: Kind::parse(&self.is, kinds),
            unit: self.unit,
            range: Range { from: self.from, above: self.above, to: self.to },
            absent: match (self.required, self.default) {
                (Some(example), _) => Absent::Required(example),
                (None, Some(default)) => Absent::Default(default),
                (None, None) => Absent::Unsaid,
            },
            means: self.means,
            source: self.source,
        }
    }
}
