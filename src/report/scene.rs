//! A finished run, arranged to be looked at: its cases under their names, each with what happens to it and
//! what came of it.

use super::numbers::{self, count};
use super::rows::Rows;
use crate::metrics::{Metric, Value};
use crate::results::Archive;
use crate::results::archive::Record;
use crate::scenario::{Candidate, Scenario};

/// What pictures and pages are made from.
pub(super) struct Scene<'a> {
    /// The run.
    pub archive: &'a Archive,
    /// What its cases are.
    pub rows: Rows,
    /// The cases in the order they were played.
    pub cases: Vec<Case<'a>>,
}

/// A policy, or a policy in one variant.
pub(super) struct Case<'a> {
    /// What it is called.
    pub name: String,
    /// What is known of it.
    pub record: &'a Record,
    /// What its clients follow.
    pub candidate: Option<&'a Candidate>,
    /// The most backends that it may have connected.
    pub capacity: f64,
    /// When something happens, in seconds from the start.
    pub marks: Vec<f64>,
    /// What became of the fleet.
    pub outcome: Outcome,
}

/// What became of the fleet after the first trigger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    /// Nothing happened that it could drain after.
    Undisturbed,
    /// It drained in every replicate; the median in seconds.
    Drained(f64),
    /// It drained in so many of all replicates.
    Sometimes(usize, usize),
    /// It did not in any, for as many seconds as there were.
    Never(f64),
}

impl<'a> Scene<'a> {
    pub fn of(archive: &'a Archive) -> Scene<'a> {
        let scenario = &archive.loaded.scenario;
        let rows = Rows::of(scenario);
        let case = |record: &'a Record| {
            let variant = record.outcome.variant.as_deref();
            let course = scenario.course(variant);
            Case {
                name: rows.of_case(&record.outcome.policy, variant),
                record,
                candidate: scenario.candidate(&record.outcome.policy),
                capacity: f64::from(course.most_backends()),
                marks: course.happenings().map(|happening| happening.at.as_secs_f64()).collect(),
                outcome: Outcome::of(record, scenario),
            }
        };
        Scene { archive, rows, cases: archive.records.iter().map(case).collect() }
    }

    pub fn scenario(&self) -> &'a Scenario {
        &self.archive.loaded.scenario
    }

    /// The length of the run in seconds.
    pub fn duration(&self) -> f64 {
        self.scenario().run.duration.as_secs_f64()
    }

    /// The most backends that any case may have connected.
    pub fn most_backends(&self) -> f64 {
        self.cases.iter().map(|case| case.capacity).fold(0.0, f64::max)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.cases.iter().map(|case| &*case.name)
    }

    pub fn has_trigger(&self) -> bool {
        self.cases.iter().any(|case| case.outcome != Outcome::Undisturbed)
    }
}

impl Outcome {
    fn of(record: &Record, scenario: &Scenario) -> Outcome {
        let Some(Some(at)) = record.drains.get("at_s").first().copied() else {
            return Outcome::Undisturbed;
        };
        let times = record.outcome.values(Metric::TimeToDrain);
        let drained = times.iter().filter(|time| matches!(time, Value::Number(_))).count();
        match record.estimate(Metric::TimeToDrain) {
            Some(median) if drained == times.len() => Outcome::Drained(median),
            _ if drained > 0 => Outcome::Sometimes(drained, times.len()),
            _ => Outcome::Never(scenario.run.duration.as_secs_f64() - at),
        }
    }

    /// In a few words.
    pub fn words(self) -> String {
        match self {
            Outcome::Undisturbed => String::new(),
            Outcome::Drained(seconds) => format!("drains in {}", numbers::span(seconds)),
            Outcome::Sometimes(some, all) => {
                format!("drains in {} of {}", count(some as f64), count(all as f64))
            }
            Outcome::Never(seconds) => format!("not within {}", numbers::span(seconds)),
        }
    }

    /// How it is marked: `good`, `mixed`, `bad`, or nothing.
    pub fn class(self) -> &'static str {
        match self {
            Outcome::Undisturbed => "plain",
            Outcome::Drained(_) => "good",
            Outcome::Sometimes(..) => "mixed",
            Outcome::Never(_) => "bad",
        }
    }
}
