//! The results that a circuit breaker judges by: those of the last so many tries or of the last so long.

use std::collections::VecDeque;

use serde::Serialize;

use crate::units::{SimTime, Span, TICKS_PER_SECOND};

/// Which results count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// The last so many, at least 1 (Resilience4j's count-based window).
    Calls(u32),
    /// Those of the present second of the clock and of the seconds before it, so many in all, at least 1
    /// (Resilience4j's time-based window).
    Seconds(u32),
    /// Those of the last so long, above 0, by slices of a tenth of it: a slice begins with the first
    /// result after the end of the one before, and is forgotten as a whole (Polly's sampling duration;
    /// below 200 ms it has a single slice).
    Sampled(Span),
}

/// Results, in the window.
#[derive(Clone, Debug)]
pub(super) struct Results {
    window: Window,
    slices: VecDeque<Slice>,
    good: u32,
    failed: u32,
}

/// Results that are forgotten together.
#[derive(Clone, Copy, Debug)]
struct Slice {
    began: SimTime,
    good: u32,
    failed: u32,
}

const SECOND: Span = Span::from_secs(1);
/// Ten times the 20 ms that Polly takes for the resolution of its clock.
const SHORTEST_SLICED: Span = Span::from_millis(200);

impl Window {
    pub(super) fn results(self) -> Results {
        Results { window: self, slices: VecDeque::new(), good: 0, failed: 0 }
    }

    /// Whether a good result may trip the breaker, by completing the number that it needs: Resilience4j
    /// judges after each result, Polly after failures only.
    pub(super) fn judges_the_good(self) -> bool {
        !matches!(self, Window::Sampled(_))
    }

    /// When a slice begins that holds a result of now, unless the last one still does.
    fn begins(self, now: SimTime, last: Option<&Slice>) -> Option<SimTime> {
        let over = |length| last.is_none_or(|last| now.since(last.began) >= length);
        match self {
            Window::Calls(_) => Some(now),
            Window::Seconds(_) => over(SECOND)
                .then(|| SimTime::from_ticks(now.ticks() - now.ticks() % TICKS_PER_SECOND)),
            Window::Sampled(span) if span < SHORTEST_SLICED => over(span).then_some(now),
            Window::Sampled(span) => over(Span::from_ticks(span.ticks() / 10)).then_some(now),
        }
    }

    /// Whether the oldest of so many slices is to be forgotten; the last one never is.
    fn forgets(self, now: SimTime, oldest: &Slice, slices: usize) -> bool {
        let age = now.since(oldest.began);
        slices > 1
            && match self {
                Window::Calls(calls) => slices > calls as usize,
                Window::Seconds(seconds) => age >= Span::from_secs(seconds as u64),
                Window::Sampled(span) => age >= span,
            }
    }
}

impl Results {
    pub(super) fn add(&mut self, now: SimTime, failed: bool) {
        if let Some(began) = self.window.begins(now, self.slices.back()) {
            self.slices.push_back(Slice { began, good: 0, failed: 0 });
        }
        if let Some(slice) = self.slices.back_mut() {
            let (of_slice, of_all) = match failed {
                true => (&mut slice.failed, &mut self.failed),
                false => (&mut slice.good, &mut self.good),
            };
            *of_slice += 1;
            *of_all += 1;
        }
        while let Some(oldest) = self.slices.front()
            && self.window.forgets(now, oldest, self.slices.len())
        {
            self.good -= oldest.good;
            self.failed -= oldest.failed;
            self.slices.pop_front();
        }
    }

    pub(super) fn total(&self) -> u32 {
        self.good + self.failed
    }

    pub(super) fn failed(&self) -> u32 {
        self.failed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(results: &mut Results, millis: u64, failed: bool) -> (u32, u32) {
        results.add(SimTime::ZERO + Span::from_millis(millis), failed);
        (results.failed(), results.total())
    }

    #[test]
    fn of_so_many_calls_the_oldest_gives_way() {
        let mut results = Window::Calls(3).results();
        assert_eq!(after(&mut results, 0, true), (1, 1));
        assert_eq!(after(&mut results, 0, true), (2, 2));
        assert_eq!(after(&mut results, 900_000, false), (2, 3));
        assert_eq!(after(&mut results, 900_000, false), (1, 3));
        assert_eq!(after(&mut results, 900_000, false), (0, 3));
    }

    /// `SlidingTimeWindowMetrics`: a bucket for each second of the clock, the present one included.
    #[test]
    fn seconds_are_those_of_the_clock() {
        let mut results = Window::Seconds(2).results();
        assert_eq!(after(&mut results, 900, true), (1, 1));
        assert_eq!(after(&mut results, 1_100, true), (2, 2));
        assert_eq!(after(&mut results, 1_999, true), (3, 3));
        assert_eq!(after(&mut results, 2_000, true), (3, 3), "that of 900 ms is gone");
        assert_eq!(after(&mut results, 3_000, false), (1, 2));
        assert_eq!(after(&mut results, 9_000, false), (0, 1));
    }

    /// `RollingHealthMetrics`: slices begin with a result and not with the clock.
    #[test]
    fn a_sampled_slice_begins_with_the_first_result_after_the_last() {
        let mut results = Window::Sampled(Span::from_secs(30)).results();
        assert_eq!(after(&mut results, 1_000, true), (1, 1));
        assert_eq!(after(&mut results, 3_999, true), (2, 2));
        assert_eq!(after(&mut results, 4_500, false), (2, 3));
        assert_eq!(results.slices.len(), 2);
        assert_eq!(after(&mut results, 30_999, false), (2, 4));
        assert_eq!(after(&mut results, 31_000, false), (0, 3), "the slice of 1 s goes as a whole");
        assert_eq!(after(&mut results, 34_499, true), (1, 4));
        assert_eq!(after(&mut results, 34_500, true), (2, 4));
    }

    /// `SingleHealthMetrics`.
    #[test]
    fn a_short_sample_is_one_slice() {
        let mut results = Window::Sampled(Span::from_millis(199)).results();
        assert_eq!(after(&mut results, 0, true), (1, 1));
        assert_eq!(after(&mut results, 198, true), (2, 2));
        assert_eq!(after(&mut results, 199, true), (1, 1));
    }

    proptest! {
        #[test]
        fn the_totals_are_those_of_the_slices_and_these_stay_few(
            window in prop_oneof![
                (0..20u32).prop_map(Window::Calls),
                (0..20u32).prop_map(Window::Seconds),
                (0..30_000_000u64).prop_map(|ticks| Window::Sampled(Span::from_ticks(ticks))),
            ],
            added in prop::collection::vec((0..3_000_000u64, any::<bool>()), 1..200),
        ) {
            let mut results = window.results();
            let mut now = SimTime::ZERO;
            for (ticks, failed) in added {
                now = now + Span::from_ticks(ticks);
                results.add(now, failed);
                let sum = |of: fn(&Slice) -> u32| results.slices.iter().map(of).sum::<u32>();
                prop_assert_eq!(results.good, sum(|slice| slice.good));
                prop_assert_eq!(results.failed, sum(|slice| slice.failed));
                prop_assert!(results.total() > 0 && results.slices.len() <= 20);
            }
        }
    }
}
