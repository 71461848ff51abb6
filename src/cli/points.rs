//! A scenario at every combination of values of some keys.

use super::played::Played;
use super::{Console, Failure, memory};
use crate::results::Points;
use crate::scenario::{Axis, Loaded, Scenario};
use crate::units::Span;
use crate::{plan, sweep};

/// Simulations on one machine beyond which a mistake is likelier than a wish.
const MOST_UNITS: usize = 5_000;

/// Combinations beyond which not even `--force` helps: each is a scenario in memory.
const MOST_POINTS: usize = 1_000_000;

/// How much may be played.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// So much for each of some machines.
    Machines(usize),
    /// What memory holds.
    Force,
}

impl Limit {
    /// That of one machine of `machines`, unless it is lifted.
    pub fn of(machines: usize, force: bool) -> Limit {
        if force { Limit::Force } else { Limit::Machines(machines) }
    }

    fn most(self, least: usize) -> usize {
        match self {
            Limit::Machines(machines) => machines.saturating_mul(MOST_UNITS).min(least),
            Limit::Force => least,
        }
    }
}

/// Lets keys take several values, `key=a,b,c` or `key=from..to:n`, beside those that the file sweeps.
pub(super) fn sweep_over(loaded: &mut Loaded, sweep: &[String]) -> Result<(), Failure> {
    for axis in sweep {
        loaded.scenario.sweep_over(Axis::parse(axis)?);
    }
    Ok(())
}

/// The scenario at every combination of values of `axes`, which are not too many; without any, at its one
/// point.
pub(super) fn of(
    loaded: &mut Loaded,
    axes: &[Axis],
    limit: Limit,
) -> Result<Vec<Scenario>, Failure> {
    let too_many = |what: String| {
        let help = format!(
            "ask for fewer values, policies or --replicates; above {MOST_UNITS} simulations say --force"
        );
        Err(Failure::Usage { what, help })
    };
    let count = Axis::count(axes);
    if count > limit.most(MOST_POINTS) {
        return too_many(format!("the keys have {count} combinations of values"));
    }
    let points = loaded.points(axes)?;
    let units = plan::of_points(&points).len();
    if !axes.is_empty() && units > limit.most(usize::MAX) {
        return too_many(format!("{count} combinations of values take {units} simulations"));
    }
    Ok(points)
}

/// Plays what was asked for at every combination; also says how long the longest run lasts.
pub(super) fn play(
    played: &Played,
    axes: Vec<Axis>,
    force: bool,
    console: &Console,
) -> Result<(Points, Span), Failure> {
    let jobs = played.jobs();
    let points = of(&mut played.load(&[])?, &axes, Limit::of(1, force))?;
    points.iter().try_for_each(|point| memory::check(point, jobs))?;
    let units = plan::of_points(&points).len();
    let bar = console.progress(units);
    let outcomes = sweep::outcomes(&points, jobs, &|progress| bar.update(progress));
    console.say(&told(units, points.len(), bar.finish()));
    let longest = points.iter().map(|point| point.run.duration).max().unwrap_or_default();
    Ok((Points { axes, outcomes }, longest))
}

/// What was played, and in which time.
pub(super) fn told(units: usize, points: usize, seconds: f64) -> String {
    format!("{units} simulations at {points} points in {seconds:.1} s")
}
