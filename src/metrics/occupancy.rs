//! The concurrent-claim distribution: time spent with exactly n active backends.
//!
//! Exact, in integer microseconds, over the measured window; beside it the same as a monitor would see
//! it that looks once a second. Good and wasted claims apart.

use serde::{Deserialize, Serialize};

use crate::units::SimTime;

/// How long (or in how many samples) each level 0, 1, 2, … was held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Levels {
    /// Microseconds, or samples, at each level.
    pub held: Vec<u64>,
}

/// Levels of one kind of claim: exact and sampled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// All active backends.
    pub all: Levels,
    /// Those whose client waits for the answer.
    pub good: Levels,
    /// Those that work for nobody.
    pub wasted: Levels,
    /// The three as sampled once a second: all, good, wasted.
    pub sampled: [Levels; 3],
}

/// A level that changes in time, being measured.
#[derive(Clone, Debug)]
pub(super) struct Gauge {
    pub held: Vec<u64>,
    pub level: u32,
    since: SimTime,
}

impl Levels {
    /// Levels 0..=`highest`, none held yet.
    pub fn new(highest: u32) -> Levels {
        Levels { held: vec![0; highest as usize + 1] }
    }

    /// Time (or samples) at all levels.
    pub fn total(&self) -> u64 {
        self.held.iter().sum()
    }

    /// Mean level; `None` if nothing was held.
    pub fn mean(&self) -> Option<f64> {
        let total = self.total();
        let weighted: u128 =
            self.held.iter().enumerate().map(|(n, &held)| n as u128 * u128::from(held)).sum();
        (total > 0).then(|| weighted as f64 / total as f64)
    }

    /// The lowest level that is not exceeded for a share `q` of the time.
    pub fn quantile(&self, q: f64) -> Option<u32> {
        let total = self.total();
        let mut sum = 0;
        self.held.iter().enumerate().find_map(|(n, &held)| {
            sum += held;
            (held > 0 && sum as f64 >= q * total as f64).then_some(n as u32)
        })
    }

    /// The highest level held.
    pub fn max(&self) -> Option<u32> {
        self.held.iter().rposition(|&held| held > 0).map(|n| n as u32)
    }

    /// Adds another's times to this one's.
    pub fn add(&mut self, other: &Levels) {
        if self.held.len() < other.held.len() {
            self.held.resize(other.held.len(), 0);
        }
        for (sum, held) in self.held.iter_mut().zip(&other.held) {
            *sum += held;
        }
    }
}

impl Occupancy {
    /// Nothing held yet, for levels 0..=`highest`.
    pub fn new(highest: u32) -> Occupancy {
        let levels = Levels::new(highest);
        Occupancy {
            all: levels.clone(),
            good: levels.clone(),
            wasted: levels.clone(),
            sampled: [levels.clone(), levels.clone(), levels],
        }
    }

    /// Adds another's times to this one's.
    pub fn add(&mut self, other: &Occupancy) {
        self.all.add(&other.all);
        self.good.add(&other.good);
        self.wasted.add(&other.wasted);
        for (sum, sampled) in self.sampled.iter_mut().zip(&other.sampled) {
            sum.add(sampled);
        }
    }

    /// The rows of `concurrency.csv`: kind, exact levels, sampled levels.
    pub fn kinds(&self) -> [(&'static str, &Levels, &Levels); 3] {
        [
            ("all", &self.all, &self.sampled[0]),
            ("good", &self.good, &self.sampled[1]),
            ("wasted", &self.wasted, &self.sampled[2]),
        ]
    }
}

impl Gauge {
    pub fn new(highest: u32) -> Gauge {
        Gauge { held: vec![0; highest as usize + 1], level: 0, since: SimTime::ZERO }
    }

    /// Books the time at the level so far and takes the new one.
    #[inline]
    pub fn set(&mut self, now: SimTime, level: u32) {
        if level != self.level {
            self.hold(now);
            self.level = level;
        }
    }

    /// Books the time at the level up to now.
    #[inline]
    pub fn hold(&mut self, now: SimTime) {
        self.held[self.level as usize] += now.since(self.since).ticks();
        self.since = now;
    }

    /// Takes a level, all time up to now having been booked.
    pub fn move_to(&mut self, now: SimTime, level: u32) {
        (self.since, self.level) = (now, level);
    }

    /// Forgets what was held before `now`, not the level.
    pub fn restart(&mut self, now: SimTime) {
        self.held.fill(0);
        self.since = now;
    }

    /// Books the rest up to `end`.
    pub fn finish(mut self, end: SimTime) -> Levels {
        self.hold(end);
        Levels { held: self.held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_weighted_by_time() {
        let mut gauge = Gauge::new(3);
        let at = SimTime::from_ticks;
        gauge.set(at(10), 2);
        gauge.restart(at(20));
        gauge.set(at(50), 3);
        gauge.set(at(60), 0);
        let levels = gauge.finish(at(120));
        assert_eq!(levels.held, [60, 0, 30, 10]);
        assert_eq!(levels.mean(), Some(0.9));
        assert_eq!(levels.quantile(0.5), Some(0));
        assert_eq!(levels.quantile(0.6), Some(0));
        assert_eq!(levels.quantile(0.61), Some(2));
        assert_eq!(levels.quantile(1.0), Some(3));
        assert_eq!(levels.max(), Some(3));
        assert_eq!(Levels::new(3).mean(), None);
        assert_eq!(Levels::new(3).quantile(0.5), None);
    }
}
