//! `--set key=value`: changes to the document before it is read.
//!
//! A key is the dotted path in the file: a list element by its zero-based index
//! (`policy.jittered.start_up.uniform.1`), a pipeline stage also by its kind
//! (`policy.baseline.poll.clamp`). Overrides come before `extends` is resolved, so heirs follow.

use super::diagnostic::{Place, Problems, alternatives};
use super::tree::{self, Entry, Node, Value};

/// Parts of a key; no key of a scenario has half as many.
const LONGEST_PATH: usize = 32;

/// Applies override number `index`, written as `key=value`.
pub(super) fn apply(root: &mut Node, index: usize, text: &str, problems: &mut Problems) {
    let Some((path, value)) = text.split_once('=') else {
        let place = Place::Override { index, span: 0..text.len() };
        problems.add("an override needs a value", place, "write key=value, as in run.seed=7");
        return;
    };
    let offset = path.len() + 1 + (value.len() - value.trim_start().len());
    let value = tree::parse_value(value.trim(), index, offset);
    let mut segments = Vec::new();
    let mut start = 0;
    for segment in path.split('.') {
        segments.push((segment.trim(), start..start + segment.len()));
        start += segment.len() + 1;
    }
    if segments.len() > LONGEST_PATH {
        let place = Place::Override { index, span: 0..path.len() };
        problems.add("this key is too long", place, "write a dotted path, as in fleet.clients");
        return;
    }
    if let Err((span, message, help)) = set(root, &segments, value, index) {
        problems.add(message, Place::Override { index, span }, help);
    }
}

/// What stands at the end of a path, unless it is a table or a list.
pub(super) fn written(root: &mut Node, path: &str) -> Option<String> {
    let mut node = root;
    for segment in path.split('.').map(str::trim) {
        node = match &mut node.value {
            Value::Table(entries) => {
                &mut entries.iter_mut().find(|entry| entry.key == segment)?.node
            }
            Value::List(items) => element(items, segment)?,
            _ => return None,
        };
    }
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Table(_) | Value::List(_) => None,
        value => Some(value.written()),
    }
}

type Segment<'a> = (&'a str, std::ops::Range<usize>);
type Complaint = (std::ops::Range<usize>, String, String);

/// Puts `value` at the end of a path, creating tables on the way.
fn set(root: &mut Node, path: &[Segment<'_>], value: Node, index: usize) -> Result<(), Complaint> {
    let mut node = root;
    for (depth, (segment, span)) in path.iter().enumerate() {
        if segment.is_empty() {
            let help = "write a dotted path, as in fleet.clients".to_owned();
            return Err((span.clone(), "a part of the key is empty".to_owned(), help));
        }
        let complain = |message: String, help: String| Err((span.clone(), message, help));
        let last = depth + 1 == path.len();
        let place = Place::Override { index, span: span.clone() };
        let kind = node.kind();
        node = match &mut node.value {
            Value::Table(entries) => {
                let found = match entries.iter().position(|entry| entry.key == *segment) {
                    Some(found) => found,
                    None => {
                        may_create(entries, &path[..depth], segment, last)
                            .or_else(|(message, help)| complain(message, help))?;
                        let node = Node { place: place.clone(), value: Value::Table(Vec::new()) };
                        entries.push(Entry { key: (*segment).to_owned(), place, node });
                        entries.len() - 1
                    }
                };
                &mut entries[found].node
            }
            Value::List(items) => {
                let count = items.len();
                match element(items, segment) {
                    Some(item) => item,
                    None => {
                        return complain(
                            format!("this list has no element `{segment}`"),
                            format!(
                                "write its index, 0 to {}, or the kind of a stage",
                                count.max(1) - 1
                            ),
                        );
                    }
                }
            }
            _ => {
                let help = "end the key before it".to_owned();
                return complain(format!("there is nothing within {kind}"), help);
            }
        };
    }
    *node = value;
    Ok(())
}

/// Whether `segment` may be made below `path`: any key of a known table may (the reader checks them),
/// but no policy, no variant, and nothing below what a policy inherits.
fn may_create(
    siblings: &[Entry],
    path: &[Segment<'_>],
    segment: &str,
    last: bool,
) -> Result<(), (String, String)> {
    let names = siblings.iter().map(|entry| entry.key.as_str());
    match path {
        [(kind @ ("policy" | "variant"), _)] => {
            let many = if *kind == "policy" { "the policies" } else { "the variants" };
            Err((format!("there is no {kind} `{segment}`"), alternatives(segment, many, names)))
        }
        [("policy", _), (policy, _)] if !last && names.clone().any(|key| key == "extends") => {
            Err((
                format!("policy `{policy}` has no `{segment}` of its own: it inherits it"),
                "set it where it is written, heirs follow; or set the whole value".to_owned(),
            ))
        }
        _ => Ok(()),
    }
}

/// An element by its index, or the value of a stage by its kind.
fn element<'a>(items: &'a mut [Node], segment: &str) -> Option<&'a mut Node> {
    if let Ok(index) = segment.parse::<usize>() {
        return items.get_mut(index);
    }
    items.iter_mut().find_map(|item| match &mut item.value {
        Value::Table(entries) => match &mut entries[..] {
            [entry] if entry.key == segment => Some(&mut entry.node),
            _ => None,
        },
        _ => None,
    })
}
