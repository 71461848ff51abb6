//! Questions that need many runs: where the edge of something lies.
//!
//! A *point* is a scenario with some of its keys changed. Every point meets the same random worlds, so
//! that neighbouring points differ by what was changed.

mod tune;

pub use tune::{Question, tune};

use crate::metrics::{Metric, Outcome};
use crate::results::Grid;
use crate::scenario::{Axis, Scenario};

/// A scenario at every pair of values of two keys, row by row; `at` reads it with such overrides.
///
/// # Errors
///
/// If it is not valid at one of the points.
pub fn points<E>(
    x: &Axis,
    y: &Axis,
    at: impl Fn(&[String]) -> Result<Scenario, E>,
) -> Result<Vec<Scenario>, E> {
    let rows = 0..y.values.len();
    let pairs = rows.flat_map(|row| (0..x.values.len()).map(move |column| (row, column)));
    pairs.map(|(row, column)| at(&[x.set(column), y.set(row)])).collect()
}

/// The map of what came of such points.
pub fn grid(x: Axis, y: Axis, metric: Metric, outcomes: Vec<Vec<Outcome>>) -> Grid {
    let mut outcomes = outcomes.into_iter();
    let row = |_| outcomes.by_ref().take(x.values.len()).collect();
    let cells = (0..y.values.len()).map(row).collect();
    Grid { x, y, metric, cells }
}
