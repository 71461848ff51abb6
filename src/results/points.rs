//! What came of a scenario at every combination of values of some of its keys: a sweep, or a map.

use super::tables::{self, Table};
use crate::metrics::{Metric, Outcome};
use crate::scenario::Axis;

/// The points of a sweep.
#[derive(Clone, Debug)]
pub struct Points {
    /// The keys with their values.
    pub axes: Vec<Axis>,
    /// By combination, in the order of [`Axis::combinations`]: the policies and variants there.
    pub outcomes: Vec<Vec<Outcome>>,
}

impl Points {
    /// The policies and variants, in order; each point has them all.
    pub fn cases(&self) -> &[Outcome] {
        self.outcomes.first().map_or(&[], |point| point)
    }

    /// The points in order: the values of the keys, and what came of them.
    pub fn iter(&self) -> impl Iterator<Item = (Vec<&str>, &[Outcome])> {
        let values = |combination: Vec<usize>| {
            let values = self.axes.iter().zip(combination);
            values.map(|(axis, index)| &*axis.values[index]).collect()
        };
        let combinations = Axis::combinations(&self.axes).into_iter();
        combinations.map(values).zip(self.outcomes.iter().map(|point| &point[..]))
    }

    /// A row per point, policy and metric: the estimate with its interval.
    pub fn summary(&self) -> Vec<u8> {
        let mut table = self.table(tables::FIGURES);
        for (keys, outcome) in self.rows() {
            for &metric in Metric::ALL {
                table.row(keys.iter().cloned().chain(tables::figures(&outcome.estimate(metric))));
            }
        }
        table.bytes()
    }

    /// A row per point, policy and replicate: every metric.
    pub(super) fn replicates(&self) -> Vec<u8> {
        let metrics = Metric::ALL.iter().map(|metric| metric.name());
        let mut table = self.table(["replicate"].into_iter().chain(metrics));
        for (keys, outcome) in self.rows() {
            for (number, values) in outcome.replicates.iter().enumerate() {
                let values = values.iter().map(|&value| tables::value(value));
                table.row(keys.iter().cloned().chain([number.to_string()]).chain(values));
            }
        }
        table.bytes()
    }

    pub(super) fn table<'a>(&'a self, columns: impl IntoIterator<Item = &'a str>) -> Table {
        let variants = self.cases().iter().any(|case| case.variant.is_some());
        let keys = self.axes.iter().map(|axis| &*axis.key);
        Table::with(variants, keys.chain(["policy"]).chain(columns))
    }

    /// What identifies each row, and what it is about.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Vec<String>, &Outcome)> {
        self.iter().flat_map(|(values, point)| {
            point.iter().map(move |outcome| {
                let keys = values.iter().map(|&value| value.to_owned());
                let names = tables::names(&outcome.policy, outcome.variant.as_deref());
                (keys.chain(names).collect(), outcome)
            })
        })
    }
}
