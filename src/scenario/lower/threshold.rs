//! `[thresholds]`: figures by name with their comparisons, and tables of them under a policy's name.

use super::super::condition::{Comparison, Condition};
use super::super::diagnostic::{Problems, alternatives};
use super::super::model::Candidate;
use super::super::reader::Fields;
use super::super::threshold::Threshold;
use super::super::tree::{Entry, Node, Value};
use crate::metric::Metric;

/// All thresholds in the file's order. `policies` are all that have a name, `None` where they are
/// wrong themselves: then no name is held against them.
pub(super) fn thresholds(
    node: &Node,
    policies: Option<&[Candidate]>,
    problems: &mut Problems,
) -> Option<Vec<Threshold>> {
    let mut read = Some(Vec::new());
    for entry in entries("[thresholds]", node, problems)? {
        let found = match &entry.node.value {
            Value::Table(_) => of_policy(entry, policies, problems),
            _ => threshold(entry, None, policies, problems).map(|threshold| vec![threshold]),
        };
        match (&mut read, found) {
            (Some(read), Some(found)) => read.extend(found),
            _ => read = None,
        }
    }
    read
}

/// The thresholds of `[thresholds.POLICY]`.
fn of_policy(
    entry: &Entry,
    policies: Option<&[Candidate]>,
    problems: &mut Problems,
) -> Option<Vec<Threshold>> {
    let name = &entry.key;
    let known = is_policy(name, policies);
    if let Some(policies) = policies
        && !known
    {
        let names = policies.iter().map(|policy| policy.name.as_str());
        let help = alternatives(name, "policies", names);
        problems.add(format!("there is no policy `{name}`"), entry.place.clone(), help);
    }
    let entries = entries(&format!("[thresholds.{name}]"), &entry.node, problems)?;
    let read: Vec<_> =
        entries.iter().map(|entry| threshold(entry, Some(name), policies, problems)).collect();
    read.into_iter().collect::<Option<Vec<Threshold>>>().filter(|_| known)
}

fn threshold(
    entry: &Entry,
    policy: Option<&str>,
    policies: Option<&[Candidate]>,
    problems: &mut Problems,
) -> Option<Threshold> {
    let key = &entry.key;
    let Some(metric) = Metric::named(key) else {
        let (message, help) = if policy.is_none() && is_policy(key, policies) {
            let help = format!("write `[thresholds.{key}]`, and below it what is asked of it");
            (format!("`{key}` is a policy: a table is due here"), help)
        } else {
            let names = Metric::ALL.iter().map(|metric| metric.name());
            (format!("there is no metric `{key}`"), alternatives(key, "metrics", names))
        };
        problems.add(message, entry.place.clone(), help);
        return None;
    };
    let comparison = comparison(metric, &entry.node, problems)?;
    Some(Threshold {
        policy: policy.map(str::to_owned),
        condition: Condition { metric, comparison },
    })
}

fn comparison(metric: Metric, node: &Node, problems: &mut Problems) -> Option<Comparison> {
    let message = match &node.value {
        Value::Text(text) => match text.parse() {
            Ok(comparison) => return Some(comparison),
            Err(_) => format!("`{text}` is no comparison"),
        },
        _ => format!("a comparison is due here, not {}", node.kind()),
    };
    let unit = metric.unit();
    let help = format!(
        "write <, <=, > or >= and a number, as in \"< 120\"; the unit of `{metric}` is {unit}"
    );
    problems.add(message, node.place.clone(), help);
    None
}

fn is_policy(name: &str, policies: Option<&[Candidate]>) -> bool {
    policies.is_some_and(|policies| policies.iter().any(|policy| policy.name == name))
}

/// The entries of a table whose keys are names.
fn entries<'a>(name: &str, node: &'a Node, problems: &mut Problems) -> Option<&'a [Entry]> {
    match &node.value {
        Value::Table(entries) => Some(entries),
        _ => {
            Fields::of(name, node, problems)?;
            None
        }
    }
}
