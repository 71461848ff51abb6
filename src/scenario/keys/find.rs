//! Finding a key by the path that a user types.

use super::{Form, Key, Shape, shape, shapes};
use crate::scenario::{alternatives, nearest};

/// A key that a path leads to.
#[derive(Clone, Debug)]
pub struct Found {
    /// The path without names and indices of the user's, or the shape and the key.
    pub path: String,
    /// The shape that it is in.
    pub within: &'static Shape,
    /// The key.
    pub key: &'static Key,
}

/// The key that a dotted path leads to: `fleet.clients`. Names of policies and indices may be left out:
/// `policy.baseline.poll.0.exponential.base` and `policy.poll.exponential.base` are the same. The last
/// part alone leads to every place that has such a key.
///
/// # Errors
///
/// What else could have been meant.
pub fn find_key(path: &str) -> Result<Vec<Found>, String> {
    let segments: Vec<&str> = path.split('.').map(str::trim).collect();
    if let Some(found) = descend(&segments, &[&shapes()[0]], "") {
        return Ok(vec![found]);
    }
    let named = |shape: &'static Shape| {
        let keys = shape.keys.iter().filter(|key| key.name == path);
        keys.map(move |key| Found {
            path: format!("‹{}›.{}", shape.name, key.name),
            within: shape,
            key,
        })
    };
    let found: Vec<Found> = shapes().iter().flat_map(named).collect();
    if found.is_empty() { Err(instead(path, &segments)) } else { Ok(found) }
}

/// Follows a path from one of several shapes, over names and indices.
fn descend(segments: &[&str], within: &[&'static Shape], path: &str) -> Option<Found> {
    let (first, rest) = segments.split_first()?;
    for &place in within {
        let Some(key) = place.keys.iter().find(|key| key.name == *first) else { continue };
        let path = if path.is_empty() { key.name.clone() } else { format!("{path}.{}", key.name) };
        if rest.is_empty() {
            return Some(Found { path, within: place, key });
        }
        let below: Vec<&'static Shape> = key.kind.shapes().into_iter().map(shape).collect();
        let skipped = || descend(&rest[1..], &below, &path);
        if let Some(found) = descend(rest, &below, &path).or_else(skipped) {
            return Some(found);
        }
    }
    None
}

/// The keys that could have been meant: those of the place that the path's beginning leads to.
fn instead(path: &str, segments: &[&str]) -> String {
    let known = (1..segments.len()).rev().find_map(|length| {
        let found = descend(&segments[..length], &[&shapes()[0]], "")?;
        let below = found.key.kind.shapes();
        (!below.is_empty()).then(|| (segments[length], found.path, below))
    });
    match known {
        Some((wrong, place, below)) => {
            let names = below.into_iter().flat_map(|name| &shape(name).keys);
            let names = names.map(|key| key.name.as_str());
            alternatives(wrong, &format!("keys of `{place}`"), names)
        }
        None => {
            let last = segments.last().copied().unwrap_or(path);
            let all = shapes().iter().flat_map(|shape| &shape.keys).map(|key| key.name.as_str());
            let near = nearest(last, all);
            let sections = shapes()[0].keys.iter().map(|key| key.name.as_str());
            format!("{near}sections are: {}", sections.collect::<Vec<_>>().join(", "))
        }
    }
}

impl Found {
    /// Whether it stands by itself, in place of the other keys of its shape.
    pub fn is_choice(&self) -> bool {
        self.within.form == Form::Choice
    }
}
