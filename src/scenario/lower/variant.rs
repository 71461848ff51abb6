//! Variants: other courses of events for the same system.

use super::super::diagnostic::Problems;
use super::super::disturbance::Variant;
use super::super::reader::{Fields, boolean};
use super::super::tree::{Entry, Node, Value};
use super::disturbance::{Context, Placed, contradictions, disturbances};
use super::policy::check_name;

/// A variant and where its disturbances were written.
pub(super) struct PlacedVariant {
    pub name: String,
    pub replace: bool,
    pub disturbances: Vec<Placed>,
}

/// All variants in the file's order, of a scenario with disturbances of its `own`.
pub(super) fn variants(
    node: &Node,
    own: Option<&[Placed]>,
    context: Context<'_>,
    problems: &mut Problems,
) -> Option<Vec<PlacedVariant>> {
    let Value::Table(entries) = &node.value else {
        Fields::of("[variant]", node, problems)?;
        return None;
    };
    if entries.is_empty() {
        let help =
            "add a table [variant.NAME] with a [[variant.NAME.disturbance]], or leave it out";
        problems.add("there is no variant to play", node.place.clone(), help);
        return None;
    }
    let read: Vec<_> = entries.iter().map(|entry| variant(entry, own, context, problems)).collect();
    read.into_iter().collect()
}

fn variant(
    entry: &Entry,
    own: Option<&[Placed]>,
    context: Context<'_>,
    problems: &mut Problems,
) -> Option<PlacedVariant> {
    let name = &entry.key;
    let named = check_name("variant", entry, problems);
    let mut fields = Fields::of(format!("[variant.{name}]"), &entry.node, problems)?;
    let replace = fields.or("replace", false, problems, boolean);
    let added = fields
        .optional("disturbance", problems, |node, problems| disturbances(node, context, problems));
    fields.finish(problems);
    let (replace, added) = (replace?, added?);
    if added.is_none() && !replace {
        let help = format!(
            "add a [[variant.{name}.disturbance]], or `disturbance = []` for doing nothing"
        );
        problems.add(format!("variant `{name}` names nothing"), entry.place.clone(), help);
        return None;
    }
    let disturbances = added.unwrap_or_default();
    let own = own.filter(|_| !replace).unwrap_or_default();
    contradictions(&own.iter().chain(&disturbances).collect::<Vec<_>>(), own.len(), problems);
    named.then(|| PlacedVariant { name: name.clone(), replace, disturbances })
}

impl PlacedVariant {
    pub fn lowered(self) -> Variant {
        let PlacedVariant { name, replace, disturbances } = self;
        let disturbances = disturbances.into_iter().map(|placed| placed.disturbance).collect();
        Variant { name, replace, disturbances }
    }
}
