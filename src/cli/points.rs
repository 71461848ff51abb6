//! Playing a scenario at every combination of values of some keys.

use super::played::Played;
use super::{Console, Failure, memory};
use crate::results::Points;
use crate::scenario::Axis;
use crate::units::Span;
use crate::{explore, plan, sweep};

/// Simulations beyond which a mistake is likelier than a wish.
const MOST_UNITS: usize = 5_000;

/// Combinations beyond which not even `--force` helps: each is a scenario in memory.
const MOST_POINTS: usize = 1_000_000;

/// Plays what was asked for at every combination; also says how long the longest run lasts.
pub(super) fn play(
    played: &Played,
    axes: Vec<Axis>,
    force: bool,
    console: &Console,
) -> Result<(Points, Span), Failure> {
    let jobs = played.jobs();
    let too_many = |what: String| {
        let help = format!(
            "ask for fewer values, policies or --replicates; above {MOST_UNITS} simulations say --force"
        );
        Err(Failure::Usage { what, help })
    };
    let count = Axis::count(&axes);
    if count > MOST_POINTS || count > MOST_UNITS && !force {
        return too_many(format!("the keys have {count} combinations of values"));
    }
    let points = explore::points(&axes, |more| played.scenario(more))?;
    let units: usize = points.iter().map(|point| plan::units(point).len()).sum();
    if units > MOST_UNITS && !force {
        return too_many(format!("{count} combinations of values take {units} simulations"));
    }
    points.iter().try_for_each(|point| memory::check(point, jobs))?;
    let bar = console.progress(units);
    let outcomes = sweep::outcomes(&points, jobs, &|progress| bar.update(progress));
    let seconds = bar.finish();
    console.say(&format!("{units} simulations at {count} points in {seconds:.1} s"));
    let longest = points.iter().map(|point| point.run.duration).max().unwrap_or_default();
    Ok((Points { axes, outcomes }, longest))
}
