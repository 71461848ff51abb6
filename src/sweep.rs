//! All units of a plan, in parallel, folded in plan order. The only threads that play anything.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::engine;
use crate::metrics::{Outcome, PolicySummary, Recorder, Trace, UnitRecord};
use crate::plan::{self, Unit};
use crate::results::{Folding, FoldingPoints};
use crate::scenario::Scenario;
use crate::units::Span;

/// Records that wait for an earlier unit, a megabyte or two each, in memory.
const MOST_EARLY: usize = 128;

/// What a sweep has got done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Units finished.
    pub units: usize,
    /// Simulated time, summed over finished units.
    pub simulated: Span,
    /// Events handled in finished units.
    pub events: u64,
}

/// One sitting at a run: how it is played, and what it has to do with other sittings.
#[derive(Clone, Copy)]
pub struct Sitting<'a> {
    /// Threads.
    pub jobs: usize,
    /// Called after each finished unit, from any thread.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Whether no more units are to be begun; those under way are finished.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// The record of a unit that was played before, in this sitting or an earlier one.
    pub load: &'a (dyn Fn(Unit) -> Option<UnitRecord> + Sync),
    /// Called with the record of each unit that this one plays, from any thread.
    pub keep: &'a (dyn Fn(Unit, &UnitRecord) + Sync),
}

impl<'a> Sitting<'a> {
    /// The only one at its run.
    pub fn alone(jobs: usize, progress: &'a (dyn Fn(Progress) + Sync)) -> Sitting<'a> {
        Sitting { jobs, progress, stop: &|| false, load: &|_| None, keep: &|_, _| {} }
    }

    /// The record of `unit`, played unless it was before; `course` is that of its variant.
    fn record_of(&self, course: &Scenario, unit: Unit) -> UnitRecord {
        (self.load)(unit).unwrap_or_else(|| {
            let record = play_unit(course, unit);
            (self.keep)(unit, &record);
            record
        })
    }
}

/// Plays every unit of `scenario`, each in the course of its variant, on `jobs` threads and folds
/// the records in plan order; `progress` is called after each finished unit, from any thread.
pub fn play(
    scenario: &Scenario,
    jobs: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Vec<PolicySummary> {
    resume(scenario, Sitting::alone(jobs, progress)).0
}

/// The same in one sitting of perhaps several; also returns how many units are done. Where it was
/// stopped, these are the first of the plan, and summaries are of them alone.
pub fn resume(scenario: &Scenario, sitting: Sitting<'_>) -> (Vec<PolicySummary>, usize) {
    extend(Vec::new(), scenario, sitting)
}

/// The same where `summaries` have the first replicates already.
pub fn extend(
    summaries: Vec<PolicySummary>,
    scenario: &Scenario,
    sitting: Sitting<'_>,
) -> (Vec<PolicySummary>, usize) {
    let first = summaries.first().map_or(0, |summary| summary.replicates.len() as u32);
    let (units, courses) = (plan::units_from(scenario, first), scenario.courses());
    let mut folding = Folding::onto(summaries, scenario);
    let work = |index: usize| {
        let unit = units[index];
        sitting.record_of(&courses[unit.variant], unit)
    };
    let done = |record: &UnitRecord| (scenario.run.duration, record.events);
    let done = in_order(units.len(), MOST_EARLY, sitting, work, done, |index, record| {
        folding.add(units[index], record);
    });
    (folding.finish(), done)
}

/// Plays `units` of a sweep with these `points` for their records alone, which `sitting` keeps; returns how
/// many are done.
pub fn record(points: &[Scenario], units: &[Unit], sitting: Sitting<'_>) -> usize {
    let courses: Vec<Vec<Scenario>> = points.iter().map(Scenario::courses).collect();
    let work = |index: usize| {
        let unit = units[index];
        let record = play_unit(&courses[unit.point][unit.variant], unit);
        (sitting.keep)(unit, &record);
        (points[unit.point].run.duration, record.events)
    };
    in_order(units.len(), usize::MAX, sitting, work, |&done| done, |_, _| {})
}

/// Plays every unit of a sweep with these `points`, all on the same threads, and keeps the metrics alone: by
/// point, those of its policies and variants.
pub fn outcomes(
    points: &[Scenario],
    jobs: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Vec<Vec<Outcome>> {
    resume_points(points, Sitting::alone(jobs, progress)).0
}

/// The same in one sitting of perhaps several; also returns how many units are done.
pub fn resume_points(points: &[Scenario], sitting: Sitting<'_>) -> (Vec<Vec<Outcome>>, usize) {
    let courses: Vec<Vec<Scenario>> = points.iter().map(Scenario::courses).collect();
    let units = plan::of_points(points);
    let mut folding = FoldingPoints::new(points);
    let work = |index: usize| {
        let unit = units[index];
        let record = sitting.record_of(&courses[unit.point][unit.variant], unit);
        (points[unit.point].run.duration, record.events, record.values())
    };
    let done = |&(simulated, events, _): &(Span, u64, _)| (simulated, events);
    let done = in_order(units.len(), usize::MAX, sitting, work, done, |index, (.., values)| {
        folding.add(units[index], values);
    });
    (folding.finish(), done)
}

/// Does `work` for each of `count` units and hands what comes of it to `take` in order; `done` says how
/// much was simulated. What waits for an earlier unit is held in memory if it is among the first
/// `most_early` to do so; else the work is done a second time, which is cheap where units are on record.
/// Returns for how many units it was done: fewer if it was stopped, and then the first.
fn in_order<T: Send>(
    count: usize,
    most_early: usize,
    sitting: Sitting<'_>,
    work: impl Fn(usize) -> T + Sync,
    done: impl Fn(&T) -> (Span, u64) + Sync,
    take: impl FnMut(usize, T) + Send,
) -> usize {
    let Sitting { jobs, progress, stop, .. } = sitting;
    let fold = Mutex::new(Fold {
        work: &work,
        take,
        taken: 0,
        early: BTreeMap::new(),
        most_early,
        progress: Progress::default(),
    });
    let next = AtomicUsize::new(0);
    // Each thread takes the next unit of the plan, so that few finished ones wait for an earlier one.
    let take_part = || {
        while !stop()
            && let index = next.fetch_add(1, Ordering::Relaxed)
            && index < count
        {
            let result = work(index);
            let (simulated, events) = done(&result);
            let mut fold = fold.lock().expect("no unit panics while it folds");
            fold.progress.units += 1;
            fold.progress.simulated += simulated;
            fold.progress.events += events;
            fold.put(index, result);
            progress(fold.progress);
        }
    };
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => {
            pool.broadcast(|_| take_part());
        }
        // A machine that gives no more threads still has the one that asks.
        Err(_) => take_part(),
    }
    fold.into_inner().expect("no unit panics while it folds").taken
}

/// Plays one unit, `course` being that of its variant.
pub fn play_unit(course: &Scenario, unit: Unit) -> UnitRecord {
    let mut recorder = Recorder::new(course, unit.policy);
    let end = engine::play(course, unit.policy, unit.replicate, &mut recorder);
    recorder.finish(&end)
}

/// Plays one unit, `course` being that of its variant, and writes every event of it to `writer`.
///
/// # Errors
///
/// If writing fails.
pub fn trace(course: &Scenario, unit: Unit, writer: impl io::Write) -> io::Result<()> {
    let mut trace = Trace::new(writer);
    engine::play(course, unit.policy, unit.replicate, &mut trace);
    trace.finish()
}

/// Hands results on in plan order, whatever the order in which they come.
struct Fold<'a, T, W, F> {
    work: &'a W,
    take: F,
    /// Units handed on so far: the index of the next.
    taken: usize,
    /// Results that came before their turn; `None` where they were too many to hold.
    early: BTreeMap<usize, Option<T>>,
    most_early: usize,
    progress: Progress,
}

impl<T, W: Fn(usize) -> T, F: FnMut(usize, T)> Fold<'_, T, W, F> {
    fn put(&mut self, index: usize, result: T) {
        let held = index == self.taken || self.early.len() < self.most_early;
        self.early.insert(index, held.then_some(result));
        while let Some(early) = self.early.remove(&self.taken) {
            let result = early.unwrap_or_else(|| (self.work)(self.taken));
            (self.take)(self.taken, result);
            self.taken += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_early_waits_for_its_turn_or_is_done_again() {
        let (mut taken, again) = (Vec::new(), AtomicUsize::new(0));
        let work = |index| {
            again.fetch_add(1, Ordering::Relaxed);
            index
        };
        let mut fold = Fold {
            work: &work,
            take: |index, result: usize| taken.push((index, result)),
            taken: 0,
            early: BTreeMap::new(),
            most_early: 2,
            progress: Progress::default(),
        };
        for index in [3, 1, 4, 2, 0] {
            fold.put(index, index);
        }
        assert_eq!(taken, [0, 1, 2, 3, 4].map(|index| (index, index)));
        assert_eq!(again.into_inner(), 2);
    }
}
