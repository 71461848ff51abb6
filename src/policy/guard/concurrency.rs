//! Retries up to a share of what is under way: Envoy's retry budget.
//!
//! A retry is allowed while fewer than `max(⌊share · tries under way⌋, least)` retries are, where a retry
//! is under way from when it is decided on, its delay included, until it ends (Envoy's
//! `RetryStateImpl::shouldRetry` and `RetryBudgetImpl::max` in `upstream/resource_manager_impl.h`). With
//! a share of 0 it is the plain limit of retries of Envoy's circuit breaker.
//!
//! The try that has just failed no longer counts; in Envoy it may still, until its stream is closed.
//! Left out: `budget_interval` of newer versions, which counts the requests of that long instead of
//! those under way.

use serde::Serialize;

use super::{Ending, Meter, Ticket};
use crate::policy::Failure;
use crate::units::{SimTime, Span};

/// So many retries at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Concurrency {
    /// Retries for each try under way: 0..=1.
    pub share: f64,
    /// Retries however few tries are under way.
    pub least: u32,
}

#[derive(Clone, Debug)]
pub(super) struct ConcurrencyMeter {
    limit: Concurrency,
    tries: u32,
    retries: u32,
}

impl Concurrency {
    /// The defaults of Envoy's retry budget: a fifth of what is under way, or 3.
    pub fn envoy_budget() -> Concurrency {
        Concurrency { share: 0.2, least: 3 }
    }

    /// The default of Envoy's circuit breaker, where no budget is set: `max_retries` is 3.
    pub fn envoy_max_retries() -> Concurrency {
        Concurrency { share: 0.0, least: 3 }
    }

    pub(super) fn meter(self) -> ConcurrencyMeter {
        ConcurrencyMeter { limit: self, tries: 0, retries: 0 }
    }
}

impl ConcurrencyMeter {
    /// Retries that there may be now.
    fn most(&self) -> u32 {
        ((self.limit.share * self.tries as f64) as u32).max(self.limit.least)
    }
}

impl Meter for ConcurrencyMeter {
    fn depart(&mut self, _: SimTime, _: &mut Ticket, _: bool) {
        self.tries += 1;
    }

    fn end(&mut self, _: SimTime, ticket: &mut Ticket, _: Ending) {
        if ticket.open {
            self.tries -= 1;
        }
        if ticket.retry {
            self.retries -= 1;
        }
    }

    fn retry(&mut self, _: SimTime, _: &mut Ticket, _: Failure, delay: Span) -> Option<Span> {
        if self.retries >= self.most() {
            return None;
        }
        self.retries += 1;
        Some(delay)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Verdict;
    use super::super::rehearsal::{Call, DELAY, Happening, any_rate, cues, play};
    use super::*;

    const NOW: SimTime = SimTime::ZERO;

    fn set_out(meter: &mut ConcurrencyMeter, calls: usize) -> Vec<Call> {
        let mut calls: Vec<Call> = std::iter::repeat_with(Call::default).take(calls).collect();
        for call in &mut calls {
            assert_eq!(call.set_out(meter, NOW), Verdict::Go);
        }
        calls
    }

    /// The default of `max_retries` in Envoy's `circuit_breaker.proto`.
    #[test]
    fn a_fourth_retry_has_to_wait_for_the_end_of_one_of_three() {
        let mut meter = Concurrency::envoy_max_retries().meter();
        let mut calls = set_out(&mut meter, 100);
        for (i, call) in calls.iter_mut().enumerate().take(4) {
            call.end(&mut meter, NOW, Ending::Failed(Failure::TimedOut));
            let retry = call.retry(&mut meter, NOW, Failure::TimedOut);
            assert_eq!(retry.is_some(), i < 3, "retries count from the decision on");
        }
        assert_eq!((meter.tries, meter.retries), (96, 3));
        assert_eq!(calls[0].set_out(&mut meter, NOW), Verdict::Go);
        assert_eq!((meter.tries, meter.retries), (97, 3));
        calls[0].end(&mut meter, NOW, Ending::Failed(Failure::TimedOut));
        assert_eq!((meter.tries, meter.retries), (96, 2));
        assert_eq!(calls[0].retry(&mut meter, NOW, Failure::TimedOut), Some(DELAY));
        assert_eq!(meter.retries, 3);
    }

    #[test]
    fn a_fifth_of_what_is_under_way_may_be_retries() {
        let mut meter = Concurrency::envoy_budget().meter();
        let mut calls = set_out(&mut meter, 30);
        assert_eq!(meter.most(), 6);
        let mut allowed = 0;
        for call in calls.iter_mut().take(11) {
            call.end(&mut meter, NOW, Ending::Failed(Failure::Dropped));
            allowed += call.retry(&mut meter, NOW, Failure::Dropped).is_some() as u32;
        }
        assert_eq!((meter.tries, meter.most(), meter.retries), (19, 3, 5));
        assert_eq!(allowed, 5, "at 25 tries the fifth was the last");
    }

    #[test]
    fn a_retry_that_never_set_out_is_taken_off() {
        let mut meter = Concurrency::envoy_max_retries().meter();
        let mut call = Call::default();
        assert_eq!(call.fail(&mut meter, NOW, Failure::Dropped), Some(DELAY));
        assert_eq!((meter.tries, meter.retries), (0, 1));
        call.end(&mut meter, NOW, Ending::Cancelled);
        assert_eq!((meter.tries, meter.retries), (0, 0));
    }

    proptest! {
        #[test]
        fn the_counts_are_exact_and_end_at_none(
            share in any_rate(),
            least in prop_oneof![0..5u32, any::<u32>()],
            cues in cues(),
        ) {
            let mut meter = Concurrency { share, least }.meter();
            play(&mut meter, &cues, |meter, scene| {
                assert_eq!(meter.tries as usize, scene.open());
                assert_eq!(meter.retries as usize, scene.retries());
                if scene.happening == Happening::Retried(None) {
                    assert!(meter.retries >= meter.most());
                }
            });
            prop_assert_eq!((meter.tries, meter.retries), (0, 0));
        }
    }
}
