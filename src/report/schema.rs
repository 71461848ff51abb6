//! The table of keys as a JSON Schema (draft-07), which editors read.

use serde_json::{Map, Value, json};

use crate::metric::Metric;
use crate::scenario::keys::{Absent, Form, Key, Kind, Plain, Range, Shape, shapes};

/// A duration as [`crate::units::Span`] reads it, roughly: numbers with units.
const DURATION: &str = r"^\s*([0-9.]+\s*[a-zµ]+\s*)+$";
const RATE: &str = r"^\s*[0-9.eE+-]+\s*/s$";
/// A count beyond what is handy as a number.
const COUNT: &str = r"^\s*[0-9][0-9_]*(\.[0-9_]*[0-9])?[kM]?\s*$";
const COMPARISON: &str = r"^\s*[<>]=?\s*[-+]?[0-9.eE+-]+\s*$";

/// The schema of a scenario.
pub fn scenario() -> Value {
    let (whole, others) = shapes().split_first().expect("there is a scenario");
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A scenario of herdsim",
        "definitions": others
            .iter()
            .map(|shape| (shape.name.clone(), shape_schema(shape)))
            .collect::<Map<String, Value>>(),
    });
    let Value::Object(whole) = shape_schema(whole) else { unreachable!("a table is an object") };
    schema.as_object_mut().expect("it is one").extend(whole);
    schema
}

fn shape_schema(shape: &Shape) -> Value {
    match shape.form {
        Form::Choice => choice(shape),
        Form::Table | Form::Open => table(shape),
    }
}

fn table(shape: &Shape) -> Value {
    let properties: Map<String, Value> =
        shape.keys.iter().map(|key| (key.name.clone(), described(key))).collect();
    let required: Vec<&str> = shape
        .keys
        .iter()
        .filter(|key| matches!(key.absent, Absent::Required(_)) && !may_be_inherited(shape, key))
        .map(|key| key.name.as_str())
        .collect();
    let mut table = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": shape.form == Form::Open,
    });
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table
}

/// A policy takes from the one that it extends what it lacks, and a pooler from its preset.
fn may_be_inherited(shape: &Shape, key: &Key) -> bool {
    matches!((shape.name.as_str(), key.name.as_str()), ("policy", "poll") | ("pooler", "pool_size"))
}

/// A name, or a table with one key.
fn choice(shape: &Shape) -> Value {
    let branches = shape.keys.iter().flat_map(|key| {
        let alone = key.kind.alternatives().contains(&Kind::Alone);
        let name = alone.then(|| json!({ "const": key.name, "description": key.means }));
        let takes_value = key.kind != Kind::Alone;
        let with_value = takes_value.then(|| {
            json!({
                "type": "object",
                "properties": { key.name.as_str(): described(key) },
                "required": [key.name],
                "additionalProperties": false,
            })
        });
        name.into_iter().chain(with_value)
    });
    json!({ "anyOf": branches.collect::<Vec<_>>() })
}

/// What may stand at a key, with what it means.
fn described(key: &Key) -> Value {
    let default = match &key.absent {
        Absent::Default(default) => format!("\n\nDefault: {default}"),
        Absent::Required(_) | Absent::Unsaid => String::new(),
    };
    let unit = key.unit.as_ref().map_or(String::new(), |unit| format!("\n\nUnit: {unit}"));
    let mut schema = of_kind(&key.kind, &key.range);
    // Beside a `$ref` draft-07 ignores everything.
    if schema.get("$ref").is_some() {
        schema = json!({ "allOf": [schema] });
    }
    schema["description"] = json!(format!("{}{unit}{default}", key.means));
    schema
}

fn of_kind(kind: &Kind, range: &Range) -> Value {
    let inner = |kind| of_kind(kind, range);
    match kind {
        Kind::Alone => json!(false),
        Kind::Plain(plain) => of_plain(*plain, range),
        Kind::Word(word) => json!({ "const": word }),
        Kind::Shape(name) => json!({ "$ref": format!("#/definitions/{name}") }),
        Kind::List(kind) => json!({ "type": "array", "items": inner(kind) }),
        Kind::Pair(kind) => {
            json!({ "type": "array", "items": inner(kind), "minItems": 2, "maxItems": 2 })
        }
        Kind::Sequence(first, rest) => json!({
            "type": "array",
            "items": [inner(first)],
            "additionalItems": inner(rest),
            "minItems": 1,
        }),
        Kind::Named(kind) => json!({ "type": "object", "additionalProperties": inner(kind) }),
        Kind::Either(kinds) => {
            let kinds = kinds.iter().filter(|kind| **kind != Kind::Alone);
            json!({ "anyOf": kinds.map(inner).collect::<Vec<_>>() })
        }
    }
}

fn of_plain(plain: Plain, range: &Range) -> Value {
    match plain {
        Plain::Text => json!({ "type": "string" }),
        Plain::Boolean => json!({ "type": "boolean" }),
        Plain::Count => {
            let mut count = number("integer", range);
            count["type"] = json!(["integer", "string"]);
            count["pattern"] = json!(COUNT);
            count
        }
        Plain::Number | Plain::Share => number("number", range),
        Plain::Duration => json!({ "type": "string", "pattern": DURATION }),
        Plain::Rate => json!({ "type": "string", "pattern": RATE }),
        Plain::Values => json!({}),
        Plain::Metrics => {
            let of_policy = json!({
                "type": "object",
                "properties": metrics(),
                "additionalProperties": false,
            });
            json!({ "type": "object", "properties": metrics(), "additionalProperties": of_policy })
        }
    }
}

fn number(kind: &str, range: &Range) -> Value {
    let mut number = json!({ "type": kind });
    let whole = |bound: f64| if bound.fract() == 0.0 { json!(bound as i64) } else { json!(bound) };
    let bounds =
        [("minimum", range.from), ("exclusiveMinimum", range.above), ("maximum", range.to)];
    for (name, bound) in bounds {
        if let Some(bound) = bound {
            number[name] = whole(bound);
        }
    }
    number
}

/// Each metric with a comparison.
fn metrics() -> Map<String, Value> {
    let comparison = |metric: &Metric| {
        let description = format!("{}\n\nUnit: {}", metric.means(), metric.unit());
        let schema = json!({ "type": "string", "pattern": COMPARISON, "description": description });
        (metric.name().to_owned(), schema)
    };
    Metric::ALL.iter().map(comparison).collect()
}
