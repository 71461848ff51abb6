//! One sitting at a run: it goes on from the records of earlier ones and keeps its own, until all is
//! played or a signal comes.

use std::path::{Path, PathBuf};

use super::interrupt::Interrupt;
use super::{Console, Failure};
use crate::metrics::PolicySummary;
use crate::plan::{self, Shard};
use crate::records::{Manifest, Records};
use crate::results::Partial;
use crate::scenario::Loaded;
use crate::sweep;

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
pub(super) struct Sat {
    /// What was played.
    pub policies: Vec<PolicySummary>,
    /// How far it got, if it was interrupted.
    pub partial: Option<Partial>,
    /// What was kept.
    pub records: Records,
    /// How long it took.
    pub seconds: f64,
}

/// Plays a run whose results go to `out`.
pub(super) fn play(
    loaded: &Loaded,
    out: &Path,
    habits: Habits,
    console: &Console,
) -> Result<Sat, Failure> {
    let records = Records::open(&beside(out), Manifest::new(loaded, None), habits.force)?;
    say_found(&records, console);
    let interrupt = Interrupt::watch(*console);
    if habits.keep_units {
        records.begin();
    }
    let planned = plan::units(&loaded.scenario).len();
    let bar = console.progress(planned);
    let sitting = sweep::Sitting {
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
    };
    let (policies, done) = sweep::resume(&loaded.scenario, sitting);
    let partial = (done < planned).then_some(Partial { done, planned });
    Ok(Sat { policies, partial, seconds: bar.finish(), records })
}

/// Plays one shard of a run, whose records go to `out`.
pub(super) fn play_shard(
    loaded: &Loaded,
    shard: Shard,
    out: &Path,
    habits: Habits,
    console: &Console,
) -> Result<(), Failure> {
    let records = Records::open(out, Manifest::new(loaded, Some(shard)), habits.force)?;
    say_found(&records, console);
    records.begin();
    let units = plan::units(&loaded.scenario);
    let planned = units.len();
    let mut missing = shard.part(units);
    let part = missing.len();
    missing.retain(|&unit| !records.has(unit));
    let (interrupt, bar) = (Interrupt::watch(*console), console.progress(missing.len()));
    let progress = |progress| bar.update(progress);
    let sitting = sweep::Sitting {
        stop: &|| interrupt.came() || records.have_failed(),
        keep: &|unit, record| records.keep(unit, record),
        ..sweep::Sitting::alone(habits.jobs, &progress)
    };
    let done = sweep::record(&loaded.scenario, &missing, sitting);
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

/// After whole results: the records have done their work, unless they are to stay.
pub(super) fn end(records: Records, habits: Habits, console: &Console) {
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
