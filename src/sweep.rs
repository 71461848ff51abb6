//! All units of a plan, in parallel, folded in plan order. The only threads of the program.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::engine;
use crate::metrics::{PolicySummary, Recorder, Trace, UnitRecord};
use crate::plan::{self, Unit};
use crate::scenario::Scenario;
use crate::units::Span;

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

/// Plays every unit of `scenario`, each in the course of its variant, on `jobs` threads and folds
/// the records in plan order; `progress` is called after each finished unit, from any thread.
pub fn play(
    scenario: &Scenario,
    jobs: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Vec<PolicySummary> {
    let (units, courses) = (plan::units(scenario), scenario.courses());
    let fold = Mutex::new(Fold::default());
    let next = AtomicUsize::new(0);
    // Each thread takes the next unit of the plan, so that few finished ones wait for an earlier one.
    let work = || {
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(&unit) = units.get(index)
        {
            let record = play_unit(&courses[unit.variant], unit);
            let mut fold = fold.lock().expect("no unit panics while it folds");
            fold.take(scenario, &units, index, record);
            progress(fold.progress);
        }
    };
    match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
        Ok(pool) => {
            pool.broadcast(|_| work());
        }
        // A machine that gives no more threads still has the one that asks.
        Err(_) => work(),
    }
    fold.into_inner().expect("no unit panics while it folds").summaries
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

/// Records folded in plan order, whatever the order in which they come.
#[derive(Default)]
struct Fold {
    summaries: Vec<PolicySummary>,
    /// Units folded so far: the index of the next.
    folded: usize,
    early: BTreeMap<usize, UnitRecord>,
    progress: Progress,
}

impl Fold {
    fn take(&mut self, scenario: &Scenario, units: &[Unit], index: usize, record: UnitRecord) {
        self.progress.units += 1;
        self.progress.simulated += scenario.run.duration;
        self.progress.events += record.events;
        self.early.insert(index, record);
        while let Some(record) = self.early.remove(&self.folded) {
            let Unit { policy, variant, replicate } = units[self.folded];
            match self.summaries.last_mut() {
                Some(summary) if replicate > 0 => summary.add(&record),
                _ => {
                    let policy = &scenario.policies[policy].name;
                    let variant = scenario.variants.get(variant).map(|variant| &variant.name);
                    self.summaries.push(PolicySummary::new(policy, variant.cloned(), record));
                }
            }
            self.folded += 1;
        }
    }
}
