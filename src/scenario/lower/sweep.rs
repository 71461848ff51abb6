//! `[sweep]`: keys of the scenario with the values that they take.
//!
//! A key stands as it does in the file, `fleet.clients`, or in quotes. Its values are a list, a range
//! `{ from, to, step }`, or so many evenly apart, `"1s..5s:5"`.

use super::super::axis::Axis;
use super::super::diagnostic::Problems;
use super::super::reader::Fields;
use super::super::tree::{Node, Value};

/// All keys in the file's order.
pub(super) fn axes(node: &Node, problems: &mut Problems) -> Option<Vec<Axis>> {
    Fields::of("[sweep]", node, problems)?;
    let mut axes = Vec::new();
    collect("", node, &mut axes, problems).then_some(axes)
}

/// Whether all below `key` could be read.
fn collect(key: &str, node: &Node, axes: &mut Vec<Axis>, problems: &mut Problems) -> bool {
    let values = match &node.value {
        Value::Table(entries) if key.is_empty() || entries.iter().all(|e| e.key != "from") => {
            let below = entries.iter().map(|entry| {
                let dot = if key.is_empty() { "" } else { "." };
                collect(&format!("{key}{dot}{}", entry.key), &entry.node, axes, problems)
            });
            return below.fold(true, |all, read| all & read);
        }
        Value::Table(_) => range(key, node, problems),
        Value::List(items) if !items.is_empty() => {
            Some(items.iter().map(|item| written(&item.value)).collect())
        }
        Value::Text(text) => Axis::parse(&format!("{key}={text}")).ok().map(|axis| axis.values),
        _ => None,
    };
    match values {
        Some(values) if values.len() <= Axis::MOST_VALUES => {
            axes.push(Axis { key: key.to_owned(), values });
            true
        }
        _ => {
            let message = format!("`{key}` gets no values that could be swept");
            let help = format!(
                "write a list of at most {}, a range as in {{ from = \"1s\", to = \"5s\", step = \"1s\" }}, or \
                 \"1s..5s:5\"",
                Axis::MOST_VALUES
            );
            problems.add(message, node.place.clone(), help);
            false
        }
    }
}

/// The values from one to another, a step apart.
fn range(key: &str, node: &Node, problems: &mut Problems) -> Option<Vec<String>> {
    let mut fields = Fields::of(format!("`{key}`"), node, problems)?;
    let ends = [("from", "from = 1"), ("to", "to = 5"), ("step", "step = 1")];
    let ends = ends.map(|(name, example)| {
        fields.required(name, example, problems, |node, _| Some(written(&node.value)))
    });
    fields.finish(problems);
    let [Some(from), Some(to), Some(step)] = ends else { return None };
    let [(low, unit), (high, of_high), (step, of_step)] =
        [Axis::number(&from)?, Axis::number(&to)?, Axis::number(&step)?];
    let steps = ((high - low) / step + 1e-9).floor();
    let sound =
        unit == of_high && unit == of_step && (0.0..Axis::MOST_VALUES as f64).contains(&steps);
    let value = |index: u32| format!("{}{unit}", Axis::written(low + step * f64::from(index)));
    sound.then(|| (0..=steps as u32).map(value).collect())
}

/// A value as an override has it.
fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        value => value.written(),
    }
}
