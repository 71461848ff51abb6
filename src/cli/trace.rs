//! `--trace FILE`: every event of one unit, written whole or not at all.

use std::path::Path;

use super::{Failure, whole};
use crate::plan;
use crate::scenario::Scenario;
use crate::sweep;

/// Whether a trace of `scenario` can be written to `path`, before anything is run.
pub(super) fn check(scenario: &Scenario, path: &Path) -> Result<(), Failure> {
    let one = |kind: &str, count: usize, flag: &str, first: &str| match count {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage {
            what: format!("`--trace` follows one {kind}, and {count} would be played"),
            help: format!("choose one, as in `{flag} {first}`"),
        }),
    };
    let (policies, variants) = (&scenario.policies, &scenario.variants);
    one("policy", policies.len(), "--policy", &policies[0].name)?;
    let first = variants.first().map_or("", |variant| &variant.name);
    one("variant", variants.len(), "--variant", first)?;
    whole::check(path)
}

/// Plays the first unit of `scenario` and writes every event of it to `path`.
pub(super) fn write(scenario: &Scenario, path: &Path) -> Result<(), Failure> {
    let (unit, course) = (plan::units(scenario)[0], &scenario.courses()[0]);
    whole::write(path, |writer| sweep::trace(course, unit, writer)).map_err(Failure::file(path))
}
