//! Time to drain.
//!
//! After a trigger, the first instant t, not before the disturbance has run its course, such that
//! throughout [t, t + hold] no attempt fails (refusal, timeout, abandonment) and no living client has
//! waited longer than the limit in its present attempt, and no response is under way: a fleet that
//! was told to stay away has not recovered. Counted from the trigger. If no such window ends before
//! the run does, the drain is censored: no number stands for it.

use serde::{Deserialize, Serialize};

use crate::units::{SimTime, Span};

/// The outcome of one trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drain {
    /// When the disturbance began.
    pub at: SimTime,
    /// How long after it the fleet had drained; `None` is censored.
    pub after: Option<Span>,
}

/// The times at which the fleet was not at rest, as disjoint closed intervals in order. Gaps shorter
/// than the hold cannot be a drain and are closed, so there are at most run / hold of them.
#[derive(Clone, Debug)]
pub struct BadTimes {
    hold: Span,
    intervals: Vec<(SimTime, SimTime)>,
}

impl BadTimes {
    /// None yet.
    pub fn new(hold: Span) -> BadTimes {
        BadTimes { hold, intervals: Vec::new() }
    }

    /// Books [`from`, `to`]. Calls come in the order of `to`.
    #[inline]
    pub fn book(&mut self, mut from: SimTime, to: SimTime) {
        if let Some((start, end)) = self.intervals.last_mut()
            && *start <= from
            && from.since(*end) < self.hold
        {
            *end = to;
            return;
        }
        while let Some(&(start, end)) = self.intervals.last()
            && from < end + self.hold
        {
            from = from.min(start);
            self.intervals.pop();
        }
        self.intervals.push((from, to));
    }

    /// The drain after a trigger `at` whose disturbance had run its course at `over`, in a run that
    /// ends at `end` and in which responses were under way in the intervals `busy`.
    pub fn drain(
        &self,
        at: SimTime,
        over: SimTime,
        end: SimTime,
        busy: &[(SimTime, SimTime)],
    ) -> Drain {
        let mut candidate = over;
        let mut intervals = [&self.intervals, busy].concat();
        intervals.sort_unstable();
        for (from, to) in intervals {
            // An instant of trouble ends before the next tick: the window may begin right after it.
            let clear = to + Span::from_ticks(1);
            if clear <= candidate {
                continue;
            }
            if from > candidate + self.hold {
                break;
            }
            candidate = clear;
        }
        let drained = candidate + self.hold <= end;
        Drain { at, after: drained.then(|| candidate.since(at)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SimTime {
        SimTime::ZERO + Span::from_secs(seconds)
    }

    fn drained(bad: &[(u64, u64)], trigger: u64, over: u64, end: u64) -> Option<f64> {
        let mut times = BadTimes::new(Span::from_secs(60));
        for &(from, to) in bad {
            times.book(at(from), at(to));
        }
        let drain = times.drain(at(trigger), at(over), at(end), &[]);
        drain.after.map(|span| span.as_secs_f64().floor())
    }

    #[test]
    fn it_is_the_first_clean_window_after_the_disturbance() {
        assert_eq!(drained(&[], 120, 150, 1_000), Some(30.0));
        assert_eq!(drained(&[(130, 130), (180, 200)], 120, 150, 1_000), Some(80.0));
        // Clean for 60 s between two troubles is enough; 59 s is not.
        assert_eq!(drained(&[(200, 200), (261, 261)], 120, 121, 1_000), Some(1.0));
        assert_eq!(drained(&[(170, 170), (229, 229)], 120, 121, 1_000), Some(109.0));
        // Trouble before the trigger does not count.
        assert_eq!(drained(&[(10, 20)], 120, 121, 1_000), Some(1.0));
    }

    #[test]
    fn a_response_under_way_is_no_recovery() {
        let times = BadTimes::new(Span::from_secs(60));
        let drain = |busy: &[(SimTime, SimTime)]| {
            let drain = times.drain(at(120), at(121), at(1_000), busy);
            drain.after.map(|span| span.as_secs_f64().floor())
        };
        assert_eq!(drain(&[(at(150), at(400))]), Some(280.0));
        assert_eq!(drain(&[(at(150), at(400)), (at(160), at(300))]), Some(280.0));
        assert_eq!(drain(&[(at(200), at(400))]), Some(1.0));
        assert_eq!(drain(&[(at(150), SimTime::NEVER)]), None);
    }

    #[test]
    fn without_a_whole_window_before_the_end_it_is_censored() {
        assert_eq!(drained(&[(130, 995)], 120, 121, 1_000), None);
        assert_eq!(drained(&[(130, 950)], 120, 121, 1_000), None);
        assert_eq!(drained(&[(130, 930)], 120, 121, 1_000), Some(810.0));
        assert_eq!(drained(&[], 120, 950, 1_000), None);
    }

    #[test]
    fn a_long_wait_reaches_back_over_what_was_booked_before_it_ended() {
        // Booked at 300: a wait that had been too long since 140.
        assert_eq!(drained(&[(200, 200), (140, 300)], 120, 130, 1_000), Some(180.0));
        assert_eq!(drained(&[(10, 10), (200, 200), (150, 300)], 120, 130, 1_000), Some(180.0));
    }
}
