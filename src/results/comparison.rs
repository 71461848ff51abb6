//! Two finished runs side by side: A, and B against it.
//!
//! Policies are matched by name, in their variants where there are any. Where the seeds are equal,
//! replicate r of both met the same random world, so the replicates that both have make pairs.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::read::{Case, Finished, Row};
use crate::metrics::{Design, Difference, Metric, Value};

/// Why two runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// They are of different scenarios.
    #[error("the folders hold different scenarios: A {a}, B {b}")]
    Scenario {
        /// The scenario of A.
        a: String,
        /// The scenario of B.
        b: String,
    },
    /// They measured different spans of time.
    #[error("the folders measured different windows: {key} is {a} in A and {b} in B")]
    Window {
        /// The key that differs.
        key: &'static str,
        /// Its value in A.
        a: String,
        /// Its value in B.
        b: String,
    },
    /// There is nothing to set side by side.
    #[error("the folders have no {what} in common: A has {a}; B has {b}")]
    NothingCommon {
        /// Of what there is none.
        what: &'static str,
        /// What A has.
        a: String,
        /// What B has.
        b: String,
    },
}

impl Mismatch {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Mismatch::Scenario { .. } => "if that is meant, say `--any-scenario`",
            Mismatch::Window { .. } => {
                "run both with the same `--set run.duration=…` and `--set run.warm_up=…`"
            }
            Mismatch::NothingCommon { .. } => {
                "run both scenarios with a policy (and variant) of the same name"
            }
        }
    }
}

/// Whether runs of scenarios of different names may be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenarios {
    /// The names must be equal.
    Same,
    /// Any will do.
    Any,
}

/// B against A.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The first run.
    pub a: Finished,
    /// The second.
    pub b: Finished,
    /// How their replicates belong together.
    pub design: Design,
    /// What both have, in A's order.
    pub cases: Vec<Compared>,
    /// What A alone has.
    pub only_a: Vec<Case>,
    /// What B alone has.
    pub only_b: Vec<Case>,
    /// Values of the scenario that differ, as `key: A, B`.
    pub changes: Vec<Change>,
}

/// One policy, or policy in a variant, of both runs.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Which.
    pub case: Case,
    /// The replicates that were used of A and of B.
    pub replicates: [usize; 2],
    /// Each metric that both have.
    pub differences: Vec<Difference>,
}

/// A value of the scenario that is not the same in both.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where, such as `pooler.pool_size`.
    pub key: String,
    /// In A; `None` where it is not there.
    pub a: Option<Json>,
    /// In B.
    pub b: Option<Json>,
}

impl Comparison {
    /// Sets `b` against `a`.
    ///
    /// # Errors
    ///
    /// If figures of the two do not mean the same, or there are none in common.
    pub fn of(a: Finished, b: Finished, scenarios: Scenarios) -> Result<Comparison, Mismatch> {
        if a.scenario != b.scenario && scenarios == Scenarios::Same {
            return Err(Mismatch::Scenario { a: a.scenario, b: b.scenario });
        }
        for (key, of_a, of_b) in
            [("run.duration", a.duration, b.duration), ("run.warm_up", a.warm_up, b.warm_up)]
        {
            if of_a != of_b {
                let [a, b] = [of_a, of_b].map(|span| span.to_string());
                return Err(Mismatch::Window { key, a, b });
            }
        }
        let design = if a.seed == b.seed { Design::Paired } else { Design::Unpaired };
        let common = |case: &&Case| a.cases.contains_key(case) && b.cases.contains_key(case);
        let (in_both, only_a): (Vec<&Case>, Vec<&Case>) = a.order.iter().partition(common);
        let only_b = b.order.iter().filter(|case| !common(case));
        if in_both.is_empty() {
            let list = |order: &[Case]| match order {
                [] => "none".to_owned(),
                _ => order.iter().map(Case::to_string).collect::<Vec<_>>().join(", "),
            };
            let variants = a.order.iter().chain(&b.order).any(|case| case.variant.is_some());
            let what = if variants { "policy and variant" } else { "policy" };
            return Err(Mismatch::NothingCommon { what, a: list(&a.order), b: list(&b.order) });
        }
        let cases = in_both.into_iter();
        let cases = cases.map(|case| compared(case, &a.cases[case], &b.cases[case], design));
        Ok(Comparison {
            design,
            cases: cases.collect(),
            only_a: only_a.into_iter().cloned().collect(),
            only_b: only_b.cloned().collect(),
            changes: changes(&a.effective, &b.effective),
            a,
            b,
        })
    }
}

fn compared(
    case: &Case,
    a: &BTreeMap<u32, Row>,
    b: &BTreeMap<u32, Row>,
    design: Design,
) -> Compared {
    let used = |rows: &BTreeMap<u32, Row>, others: &BTreeMap<u32, Row>| -> Vec<Row> {
        let used = |number: &u32| design == Design::Unpaired || others.contains_key(number);
        rows.iter().filter(|(number, _)| used(number)).map(|(_, row)| row.clone()).collect()
    };
    let (a, b) = (used(a, b), used(b, a));
    let column = |rows: &[Row], metric: Metric| -> Option<Vec<Value>> {
        rows.iter().map(|row| row.get(metric as usize).copied().flatten()).collect()
    };
    let difference = |&metric: &Metric| {
        Some(Difference::of(metric, design, &column(&a, metric)?, &column(&b, metric)?))
    };
    let differences = Metric::ALL.iter().filter_map(difference).collect();
    Compared { case: case.clone(), replicates: [a.len(), b.len()], differences }
}

/// The values that differ, each by its key.
fn changes(a: &Json, b: &Json) -> Vec<Change> {
    let mut changes = Vec::new();
    collect("", Some(a), Some(b), &mut changes);
    changes
}

fn collect(key: &str, a: Option<&Json>, b: Option<&Json>, out: &mut Vec<Change>) {
    if a == b {
        return;
    }
    match a.and_then(members).zip(b.and_then(members)) {
        Some((a, b)) => {
            let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                collect(&key, a.get(name).copied(), b.get(name).copied(), out);
            }
        }
        None => out.push(Change { key: key.to_owned(), a: a.cloned(), b: b.cloned() }),
    }
}

/// The members of an object, of a list of what has names, or of another list; `None` for a value.
fn members(json: &Json) -> Option<BTreeMap<String, &Json>> {
    let name = |(index, item): (usize, &Json)| {
        let name = item.get("name").and_then(Json::as_str);
        name.map_or_else(|| index.to_string(), str::to_owned)
    };
    match json {
        Json::Object(map) => Some(map.iter().map(|(key, item)| (key.clone(), item)).collect()),
        Json::Array(list) => {
            Some(list.iter().enumerate().map(|(index, item)| (name((index, item)), item)).collect())
        }
        _ => None,
    }
}
