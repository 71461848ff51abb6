//! All units of a plan, in parallel, folded in plan order. The only threads of the program.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::engine;
use crate::metrics::{Outcome, PolicySummary, Recorder, Trace, UnitRecord};
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
    let mut summaries = Vec::new();
    extend(&mut summaries, scenario, jobs, progress);
    summaries
}

/// Plays the replicates of `scenario` that `summaries` do not have yet and folds them in: what comes of
/// it is what [`play`] gives.
pub fn extend(
    summaries: &mut Vec<PolicySummary>,
    scenario: &Scenario,
    jobs: usize,
    progress: &(dyn Fn(Progress) + Sync),
) {
    let first = summaries.first().map_or(0, |summary| summary.replicates.len() as u32);
    let (units, courses) = (plan::units_from(scenario, first), scenario.courses());
    let done = |record: &UnitRecord| (scenario.run.duration, record.events);
    let play = |index: usize| play_unit(&courses[units[index].variant], units[index]);
    in_order(units.len(), jobs, play, progress, done, |index, record| {
        let Unit { policy, variant, .. } = units[index];
        match summaries.get_mut(policy * courses.len() + variant) {
            Some(summary) => summary.add(&record),
            None => {
                let policy = &scenario.policies[policy].name;
                let variant = scenario.variants.get(variant).map(|variant| &variant.name);
                summaries.push(PolicySummary::new(policy, variant.cloned(), record));
            }
        }
    });
}

/// Plays every unit of several scenarios, all on the same threads, and keeps the metrics alone: by
/// scenario, those of its policies and variants.
pub fn outcomes(
    scenarios: &[Scenario],
    jobs: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Vec<Vec<Outcome>> {
    let courses: Vec<Vec<Scenario>> = scenarios.iter().map(Scenario::courses).collect();
    let units = scenarios.iter().enumerate();
    let units: Vec<(usize, Unit)> = units
        .flat_map(|(index, scenario)| {
            plan::units(scenario).into_iter().map(move |unit| (index, unit))
        })
        .collect();
    let mut outcomes: Vec<Vec<Outcome>> = vec![Vec::new(); scenarios.len()];
    let play = |index: usize| {
        let (scenario, unit) = units[index];
        let record = play_unit(&courses[scenario][unit.variant], unit);
        (scenarios[scenario].run.duration, record.events, record.values())
    };
    let done = |&(simulated, events, _): &(Span, u64, _)| (simulated, events);
    in_order(units.len(), jobs, play, progress, done, |index, (.., values)| {
        let (number, Unit { policy, variant, replicate }) = units[index];
        let scenario = &scenarios[number];
        match outcomes[number].last_mut() {
            Some(outcome) if replicate > 0 => outcome.replicates.push(values),
            _ => outcomes[number].push(Outcome {
                policy: scenario.policies[policy].name.clone(),
                variant: scenario.variants.get(variant).map(|variant| variant.name.clone()),
                replicates: vec![values],
            }),
        }
    });
    outcomes
}

/// Does `work` for each of `count` units on `jobs` threads and hands what comes of it to `take` in
/// order; `done` says how much was simulated.
fn in_order<T: Send>(
    count: usize,
    jobs: usize,
    work: impl Fn(usize) -> T + Sync,
    progress: &(dyn Fn(Progress) + Sync),
    done: impl Fn(&T) -> (Span, u64) + Sync,
    take: impl FnMut(usize, T) + Send,
) {
    let fold =
        Mutex::new(Fold { take, taken: 0, early: BTreeMap::new(), progress: Progress::default() });
    let next = AtomicUsize::new(0);
    // Each thread takes the next unit of the plan, so that few finished ones wait for an earlier one.
    let work = || {
        while let index = next.fetch_add(1, Ordering::Relaxed)
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
            pool.broadcast(|_| work());
        }
        // A machine that gives no more threads still has the one that asks.
        Err(_) => work(),
    }
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
struct Fold<T, F> {
    take: F,
    /// Units handed on so far: the index of the next.
    taken: usize,
    early: BTreeMap<usize, T>,
    progress: Progress,
}

impl<T, F: FnMut(usize, T)> Fold<T, F> {
    fn put(&mut self, index: usize, result: T) {
        self.early.insert(index, result);
        while let Some(result) = self.early.remove(&self.taken) {
            (self.take)(self.taken, result);
            self.taken += 1;
        }
    }
}
