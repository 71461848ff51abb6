//! The course of the level of active backends through a window: which levels there are, and for how long.

use std::ops::Range;

use crate::units::{SimTime, Span};

/// A change of the level of active backends: earlier ones are less, and of those at one instant completions,
/// but of claims that began at it: these are the greatest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step(u64);

impl Step {
    const ARRIVES: u64 = 1;
    const ENDS_AT_ONCE: u64 = 2;

    /// The least that there could be at that instant.
    pub fn first(at: SimTime) -> Step {
        Step(at.ticks() << 2)
    }

    /// An attempt arrives then and is served at once.
    pub fn arrival(at: SimTime) -> Step {
        Step(at.ticks() << 2 | Step::ARRIVES)
    }

    /// A claim that `started` earlier, or then, is completed then.
    #[inline]
    pub fn completion(started: SimTime, at: SimTime) -> Step {
        let kind = if started == at { Step::ENDS_AT_ONCE } else { 0 };
        Step(at.ticks() << 2 | kind)
    }

    /// When it is.
    #[inline]
    pub fn time(self) -> SimTime {
        SimTime::from_ticks(self.0 >> 2)
    }

    /// Whether it is an arrival.
    #[inline]
    fn arrives(self) -> bool {
        self.0 & Step::ARRIVES != 0
    }

    /// How many backends are active after it, if so many were before.
    #[inline]
    pub fn level_after(self, level: u32) -> u32 {
        level + 2 * u32::from(self.arrives()) - 1
    }

    /// Whether it is the completion of a claim that began at the same instant.
    #[inline]
    pub fn ends_at_once(self) -> bool {
        self.0 & Step::ENDS_AT_ONCE != 0
    }
}

impl From<Step> for u64 {
    fn from(step: Step) -> u64 {
        step.0
    }
}

/// What the steps of a window lead through.
#[derive(Debug, Default)]
pub struct Course {
    began: SimTime,
    /// By level, twice the ticks for which it was held, and one if it was reached at all; else zero.
    levels: Vec<u64>,
    reached: Range<usize>,
    /// The last step, and the level after it.
    last: SimTime,
    level: u32,
    /// When attempts arrived, in order, and room for more.
    arrivals: Vec<SimTime>,
    arrived: usize,
}

impl Course {
    const REACHED: u64 = 1;

    /// Follows `steps` from a level on, at which it begins, if no level is above `limit`; whether that is so.
    pub(super) fn follow(&mut self, began: SimTime, from: u32, steps: &[Step], limit: u32) -> bool {
        self.levels[std::mem::take(&mut self.reached)].fill(0);
        self.levels.resize(limit as usize + 1, 0);
        self.arrivals.resize(self.arrivals.len().max(steps.len()), began);
        let (levels, arrivals) = (&mut self.levels[..], &mut self.arrivals[..steps.len()]);
        let (mut level, mut last, mut arrived) = (from, began, 0);
        for step in steps {
            let Some(held) = levels.get_mut(level as usize) else { break };
            let now = step.time();
            *held = (*held + 2 * (now.ticks() - last.ticks())) | Course::REACHED;
            last = now;
            // Which of the two it is nobody could foretell, and a branch would have to.
            arrivals[arrived] = now;
            arrived += usize::from(step.arrives());
            level = step.level_after(level);
        }
        let Some(held) = levels.get_mut(level as usize) else {
            levels.fill(0);
            return false;
        };
        *held |= Course::REACHED;
        // They differ by one from step to step, so none is left out.
        let reached = |held: &&u64| **held != 0;
        let from = from as usize;
        let above = levels[from..].iter().take_while(reached).count();
        let below = levels[..from].iter().rev().take_while(reached).count();
        self.reached = from - below..from + above;
        (self.began, self.last, self.level, self.arrived) = (began, last, level, arrived);
        true
    }

    /// When it begins.
    pub fn began(&self) -> SimTime {
        self.began
    }

    /// When its last step is; when it begins if there is none.
    pub fn last(&self) -> SimTime {
        self.last
    }

    /// The level after the last step.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The lowest level, that at the beginning included.
    pub fn lowest(&self) -> u32 {
        self.reached.start as u32
    }

    /// The highest level, that at the beginning included.
    pub fn highest(&self) -> u32 {
        self.reached.end as u32 - 1
    }

    /// For how long each of the levels was held up to the last step.
    pub fn held(&self) -> impl Iterator<Item = (u32, Span)> {
        let ticks = |level: usize| self.levels[level] >> 1;
        self.reached.clone().map(move |level| (level as u32, Span::from_ticks(ticks(level))))
    }

    /// When attempts arrived, in order.
    pub fn arrivals(&self) -> &[SimTime] {
        &self.arrivals[..self.arrived]
    }
}
