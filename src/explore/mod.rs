//! Questions that need many runs: sweeps and maps, where the edge of something lies, and how many replicates
//! a figure takes.
//!
//! A *point* is a scenario with some of its keys changed. Every point meets the same random worlds, so
//! that neighbouring points differ by what was changed.

pub mod precision;
mod tune;

pub use precision::Precision;
pub use tune::{Question, tune};

use crate::scenario::{Axis, Scenario};

/// A scenario at every combination of values of some keys, in the order of [`Axis::combinations`]; `at`
/// reads it with such overrides.
///
/// # Errors
///
/// If it is not valid at one of the points.
pub fn points<E>(
    axes: &[Axis],
    at: impl Fn(&[String]) -> Result<Scenario, E>,
) -> Result<Vec<Scenario>, E> {
    let combinations = Axis::combinations(axes).into_iter();
    combinations
        .map(|combination| {
            let values = axes.iter().zip(combination);
            at(&values.map(|(axis, index)| axis.set(index)).collect::<Vec<_>>())
        })
        .collect()
}
