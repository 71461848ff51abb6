//! A map: what came of a scenario at each pair of values of two keys.

use super::tables;
use crate::metrics::{Metric, Outcome};
use crate::scenario::Axis;

/// The cells of a map.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The key that changes along a row.
    pub x: Axis,
    /// The key that changes from row to row.
    pub y: Axis,
    /// What is shown of each cell.
    pub metric: Metric,
    /// By row, then along it: the policies and variants of the scenario there.
    pub cells: Vec<Vec<Vec<Outcome>>>,
}

impl Grid {
    /// The policies and variants, in order; each cell has them all.
    pub fn rows(&self) -> &[Outcome] {
        self.cells.first().and_then(|row| row.first()).map_or(&[], |cell| cell)
    }

    /// As `map.csv`: a row per cell and policy, every metric with its interval.
    pub fn to_csv(&self) -> Vec<u8> {
        let mut table = csv::Writer::from_writer(Vec::new());
        let written = "a table in memory can be written";
        let keys = [self.x.key.as_str(), self.y.key.as_str(), "policy", "variant"];
        let figures = ["metric", "unit", "estimate", "ci_low", "ci_high", "replicates", "censored"];
        table.write_record(keys.iter().chain(&figures)).expect(written);
        for (y, row) in self.y.values.iter().zip(&self.cells) {
            for (x, cell) in self.x.values.iter().zip(row) {
                for outcome in cell {
                    let variant = outcome.variant.clone().unwrap_or_default();
                    let keys = [x.clone(), y.clone(), outcome.policy.clone(), variant];
                    for &metric in Metric::ALL {
                        let figures = tables::figures(&outcome.estimate(metric));
                        table.write_record(keys.iter().chain(&figures)).expect(written);
                    }
                }
            }
        }
        table.into_inner().expect(written)
    }
}
