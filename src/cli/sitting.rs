//! One sitting at a run: it goes on from the records of earlier ones and keeps its own, until all is
//! played or a signal comes.

use std::path::{Path, PathBuf};

use super::interrupt::Interrupt;
use super::{Console, Failure};
use crate::plan::{self, Shard};
use crate::records::{Manifest, Records};
use crate::results::Partial;
use crate::scenario::{Loaded, Scenario};
use crate::sweep::{self, Sitting};

/// A run that takes less is as soon played again as gone on with: it keeps no records.
const LONG_SECONDS: f64 = 2.0;

/// How a run is sat at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Habits {
    /// Units at once.
    pub jobs: usize,
    /// Whether records of another run may be deleted.
    pub force: bool,
    /// Whether all records stay when it is over.
    pub keep_units: bool,
}

/// What came of it.
pub(super) struct Sat<T> {
    /// The first of its units, folded.
    pub folded: T,
    /// How far it got, if it was interrupted.
    pub partial: Option<Partial>,
    /// What was kept.
    pub records: Records,
    /// How long it took.
    pub seconds: f64,
}

/// Plays a run of so many units whose results go to `out`; `play` does so in a sitting, and also returns
/// how many units are done.
pub(super) fn play<T>(
    loaded: &Loaded,
    planned: usize,
    out: &Path,
    habits: Habits,
    console: &Console,
    play: impl FnOnce(Sitting<'_>) -> (T, usize),
) -> Result<Sat<T>, Failure> {
    let manifest = Manifest::new(loaded, planned, None);
    let records = Records::open(&beside(out), manifest, habits.force)?;
    say_found(&records, console);
    let interrupt = Interrupt::watch(*console);
    if habits.keep_units {
        records.begin();
    }
    let bar = console.progress(planned);
    let (folded, done) = play(Sitting {
        jobs: habits.jobs,
        progress: &|progress| bar.update(progress),
        stop: &|| interrupt.came(),
        load: &|unit| records.load(unit),
        keep: &|unit, record| {
            if bar.seconds() >= LONG_SECONDS {
                records.begin();
            }
            records.keep(unit, record);
        },
    });
    let partial = (done < planned).then_some(Partial { done, planned });
    Ok(Sat { folded, partial, seconds: bar.finish(), records })
}

/// Plays one shard of a run with these points, whose records go to `out`.
pub(super) fn play_shard(
    loaded: &Loaded,
    points: &[Scenario],
    shard: Shard,
    out: &Path,
    habits: Habits,
    console: &Console,
) -> Result<(), Failure> {
    let units = plan::of_points(points);
    let planned = units.len();
    let manifest = Manifest::new(loaded, planned, Some(shard));
    let records = Records::open(out, manifest, habits.force)?;
    say_found(&records, console);
    records.begin();
    let mut missing = shard.part(units);
    let part = missing.len();
    missing.retain(|&unit| !records.has(unit));
    let (interrupt, bar) = (Interrupt::watch(*console), console.progress(missing.len()));
    let progress = |progress| bar.update(progress);
    let sitting = Sitting {
        stop: &|| interrupt.came() || records.have_failed(),
        keep: &|unit, record| records.keep(unit, record),
        ..Sitting::alone(habits.jobs, &progress)
    };
    let done = sweep::record(points, &missing, sitting);
    let (seconds, left) = (bar.finish(), missing.len() - done);
    records.close()?;
    if left > 0 {
        let partial = Partial { done: part - left, planned: part };
        return Err(Failure::Interrupted { partial, on_record: partial.done, dir: out.to_owned() });
    }
    console.say(&format!(
        "wrote {}: shard {shard}, {part} of {planned} units, in {seconds:.1} s",
        out.display()
    ));
    Ok(())
}

/// After whole results: the records have done their work, unless they are to stay. What could not be
/// written can be made again from them.
pub(super) fn end(
    records: Records,
    finished: &Result<(), Failure>,
    habits: Habits,
    console: &Console,
) {
    if !matches!(finished, Ok(()) | Err(Failure::ClosedPipe | Failure::Thresholds { .. })) {
        return;
    }
    let ended = if habits.keep_units { records.close() } else { records.remove() };
    // The results are there all the same.
    if let Err(error) = ended {
        console.say(&format!("warning: {error}"));
    }
}

/// The interruption of a run that got so far, its records kept.
pub(super) fn interrupted(partial: Partial, records: Records, console: &Console) -> Failure {
    let (dir, on_record) = (records.dir().to_owned(), records.count());
    if let Err(error) = records.close() {
        console.say(&format!("warning: {error}"));
    }
    Failure::Interrupted { partial, on_record, dir }
}

/// Where a run whose results go to `out` keeps its records.
fn beside(out: &Path) -> PathBuf {
    // Without a slash at its end.
    let mut name = out.components().as_path().as_os_str().to_owned();
    name.push(".units");
    name.into()
}

fn say_found(records: &Records, console: &Console) {
    let dir = records.dir().display();
    if records.damaged() > 0 {
        console.say(&format!(
            "warning: a part of {dir} is damaged: what cannot be read is played again"
        ));
    }
    match records.found() {
        0 => {}
        1 => console.say(&format!("going on from 1 unit on record in {dir}")),
        found => console.say(&format!("going on from {found} units on record in {dir}")),
    }
}
