//! Retries cost tokens and successes give some back: the retry quota of the AWS SDKs.
//!
//! A client starts with a full bucket. Each retry takes the cost of the failure before it and is
//! refused where fewer tokens are left. A call that succeeds with a retry gives back what its last
//! retry cost, one that succeeds at once gives back a little, one that fails gives back nothing
//! (botocore's `retries/quota.py` and `RetryQuotaChecker` in `retries/standard.py`). Nothing depends
//! on time.
//!
//! Left out: a long poll that finds the bucket empty sleeps its backoff before it fails; the Go SDK
//! gives a successful retry `reward` on top of its cost.

use serde::Serialize;

use super::{Ending, Meter, Ticket};
use crate::policy::{ByFailure, Failure};
use crate::units::{SimTime, Span};

/// A bucket of tokens for retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quota {
    /// Tokens at the start, and at most.
    pub capacity: u32,
    /// Tokens that a retry takes, by the failure before it.
    pub cost: ByFailure<u32>,
    /// Tokens that a call brings which succeeds at its first try.
    pub reward: u32,
}

#[derive(Clone, Debug)]
pub(super) struct QuotaMeter {
    limit: Quota,
    tokens: u32,
}

impl Quota {
    /// Standard retries of version 2.0: 5 of 500 tokens, 10 after a time-out (botocore before 1.44).
    pub fn aws_2_0() -> Quota {
        Quota { capacity: 500, cost: ByFailure::all(5).with(Failure::TimedOut, 10), reward: 1 }
    }

    /// Standard retries of version 2.1: 14 of 500 tokens, 5 after throttling (botocore since 1.44).
    pub fn aws_2_1() -> Quota {
        Quota { capacity: 500, cost: ByFailure::all(14).with(Failure::Throttled, 5), reward: 1 }
    }

    pub(super) fn meter(self) -> QuotaMeter {
        QuotaMeter { limit: self, tokens: self.capacity }
    }
}

impl Meter for QuotaMeter {
    fn end(&mut self, _: SimTime, ticket: &mut Ticket, ending: Ending) {
        if ending == Ending::Good {
            let back = if ticket.retry { ticket.paid } else { self.limit.reward };
            self.tokens = self.tokens.saturating_add(back).min(self.limit.capacity);
        }
    }

    fn retry(
        &mut self,
        _: SimTime,
        ticket: &mut Ticket,
        failure: Failure,
        delay: Span,
    ) -> Option<Span> {
        let cost = self.limit.cost.of(failure);
        self.tokens = self.tokens.checked_sub(cost)?;
        ticket.paid = cost;
        Some(delay)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Verdict;
    use super::super::rehearsal::{Call, DELAY, Happening, cues, play};
    use super::*;

    const NOW: SimTime = SimTime::ZERO;

    fn retries_from_full(quota: Quota, failure: Failure) -> u32 {
        let mut meter = quota.meter();
        let retries = (0..).take_while(|_| {
            let mut call = Call::default();
            call.fail(&mut meter, NOW, failure) == Some(DELAY)
        });
        retries.count() as u32
    }

    #[test]
    fn under_sustained_failure_a_client_has_100_or_50_or_35_retries() {
        assert_eq!(retries_from_full(Quota::aws_2_0(), Failure::Refused), 100);
        assert_eq!(retries_from_full(Quota::aws_2_0(), Failure::TimedOut), 50);
        assert_eq!(retries_from_full(Quota::aws_2_1(), Failure::Dropped), 35);
        assert_eq!(retries_from_full(Quota::aws_2_1(), Failure::Throttled), 100);
    }

    /// After botocore's `RetryQuotaChecker.release_retry_quota`: the amount of the last acquisition.
    #[test]
    fn a_call_gives_back_what_its_last_retry_cost_and_nothing_of_those_before() {
        let mut meter = Quota::aws_2_0().meter();
        let mut call = Call::default();
        assert_eq!(call.fail(&mut meter, NOW, Failure::TimedOut), Some(DELAY));
        assert_eq!(meter.tokens, 490);
        assert_eq!(call.fail(&mut meter, NOW, Failure::Refused), Some(DELAY));
        assert_eq!(meter.tokens, 485);
        call.succeed(&mut meter, NOW);
        assert_eq!(meter.tokens, 490);

        Call::default().succeed(&mut meter, NOW);
        assert_eq!(meter.tokens, 491);

        let mut call = Call::default();
        assert_eq!(call.fail(&mut meter, NOW, Failure::Refused), Some(DELAY));
        assert_eq!(call.set_out(&mut meter, NOW), Verdict::Go);
        call.end(&mut meter, NOW, Ending::Cancelled);
        assert_eq!(meter.tokens, 486, "nobody knows how it would have ended");
    }

    #[test]
    fn a_full_bucket_takes_no_more() {
        let mut meter = Quota::aws_2_0().meter();
        Call::default().succeed(&mut meter, NOW);
        assert_eq!(meter.tokens, 500);
    }

    #[test]
    fn a_retry_that_is_refused_takes_nothing() {
        let mut meter = Quota { capacity: 13, ..Quota::aws_2_1() }.meter();
        let mut call = Call::default();
        assert_eq!(call.fail(&mut meter, NOW, Failure::Refused), None);
        assert_eq!(meter.tokens, 13);
        assert_eq!(call.fail(&mut meter, NOW, Failure::Throttled), Some(DELAY));
        assert_eq!(meter.tokens, 8);
    }

    /// The Java SDK's legacy mode does not charge for throttling.
    #[test]
    fn a_retry_that_costs_nothing_gives_nothing_back() {
        let free =
            Quota { cost: ByFailure::all(5).with(Failure::Throttled, 0), ..Quota::aws_2_0() };
        let mut meter = free.meter();
        let mut call = Call::default();
        call.fail(&mut meter, NOW, Failure::Refused);
        call.fail(&mut meter, NOW, Failure::Throttled);
        call.succeed(&mut meter, NOW);
        assert_eq!(meter.tokens, 495);
    }

    proptest! {
        #[test]
        fn the_tokens_stay_between_none_and_the_capacity(
            capacity in prop_oneof![0..100u32, any::<u32>()],
            cost in prop::array::uniform5(prop_oneof![0..30u32, any::<u32>()]),
            reward in prop_oneof![0..5u32, any::<u32>()],
            cues in cues(),
        ) {
            let quota = Quota { capacity, cost: ByFailure(cost), reward };
            let mut meter = quota.meter();
            let mut before = capacity;
            play(&mut meter, &cues, |meter, scene| {
                assert!(meter.tokens <= capacity);
                match scene.happening {
                    Happening::Ended(Ending::Good) => assert!(meter.tokens >= before),
                    Happening::Retried(Some(delay)) => {
                        assert_eq!(delay, DELAY);
                        assert!(meter.tokens <= before);
                    }
                    _ => assert_eq!(meter.tokens, before),
                }
                before = meter.tokens;
            });
        }
    }
}
