//! Retries at a rate, and who comes too early waits: the overall limiter of Kubernetes' work queue.
//!
//! A bucket fills at `rate` up to `burst` and starts full. Each retry takes a token, also one that is
//! not there yet: its delay is the longer of its own and the time until its token is (client-go's
//! `DefaultTypedControllerRateLimiter`, a maximum of exponential backoff and a bucket, over
//! `Limiter.Reserve` of golang.org/x/time/rate). No retry is refused; a token is reserved from when the
//! retry is decided on, whatever its own delay, and is not given back.
//!
//! Left out: a `burst` of 0, with which Go's limiter grants nothing; here each retry then waits for
//! its own token.

use serde::Serialize;

use super::{Meter, Ticket};
use crate::policy::Failure;
use crate::units::{SimTime, Span, TICKS_PER_SECOND};

/// A bucket of tokens for retries, filled in time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bucket {
    /// Retries a second: above 0.
    pub rate: f64,
    /// Retries at once after a rest.
    pub burst: u32,
}

#[derive(Clone, Debug)]
pub(super) struct BucketMeter {
    /// Tokens a tick.
    rate: f64,
    burst: f64,
    /// Below 0 where tokens are promised.
    tokens: f64,
    /// When there were so many.
    at: SimTime,
}

impl Bucket {
    /// The defaults of client-go: 10 a second, 100 at once.
    pub fn kubernetes() -> Bucket {
        Bucket { rate: 10.0, burst: 100 }
    }

    pub(super) fn meter(self) -> BucketMeter {
        BucketMeter {
            rate: self.rate.max(0.0) / TICKS_PER_SECOND as f64,
            burst: self.burst as f64,
            tokens: self.burst as f64,
            at: SimTime::ZERO,
        }
    }
}

impl Meter for BucketMeter {
    fn retry(&mut self, now: SimTime, _: &mut Ticket, _: Failure, delay: Span) -> Option<Span> {
        let filled = self.tokens + now.since(self.at).ticks() as f64 * self.rate;
        // `min` also drops the NaN of no time at an infinite rate.
        self.tokens = filled.min(self.burst) - 1.0;
        self.at = now;
        if self.tokens >= 0.0 {
            return Some(delay);
        }
        Some(delay.max(Span::from_ticks_f64(-self.tokens / self.rate)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rehearsal::{Call, DELAY, Happening, any_rate, cues, play};
    use super::*;

    fn retry(meter: &mut BucketMeter, millis: u64) -> Span {
        let now = SimTime::ZERO + Span::from_millis(millis);
        Call::default().retry(meter, now, Failure::Dropped).unwrap()
    }

    #[test]
    fn after_a_hundred_at_once_retries_come_a_tenth_of_a_second_apart() {
        let mut meter = Bucket::kubernetes().meter();
        for left in (0..100).rev() {
            assert_eq!(retry(&mut meter, 0), DELAY);
            assert_eq!(meter.tokens, left as f64);
        }
        for waiting in 1..=600 {
            assert_eq!(retry(&mut meter, 0), Span::from_millis(100 * waiting));
        }
        assert_eq!(meter.tokens, -600.0);
    }

    #[test]
    fn a_delay_that_is_longer_than_the_wait_stays_and_its_token_is_taken_all_the_same() {
        let mut meter = Bucket { rate: 20.0, burst: 1 }.meter();
        assert_eq!(retry(&mut meter, 0), DELAY);
        assert_eq!(retry(&mut meter, 0), DELAY);
        assert_eq!(retry(&mut meter, 0), Span::from_millis(100));
        assert_eq!(retry(&mut meter, 75), DELAY.max(Span::from_millis(75)));
        assert_eq!(retry(&mut meter, 1_000), DELAY, "it is full again");
        assert_eq!(meter.tokens, 0.0);
        assert_eq!(retry(&mut meter, 1_000), DELAY);
    }

    #[test]
    fn without_a_rate_the_tokens_of_the_start_are_all_there_are() {
        let mut meter = Bucket { rate: 0.0, burst: 1 }.meter();
        assert_eq!(retry(&mut meter, 0), DELAY);
        assert_eq!(retry(&mut meter, 9_000), Span::MAX);
    }

    proptest! {
        #[test]
        fn no_retry_is_refused_and_none_comes_before_its_token(
            rate in any_rate(),
            burst in prop_oneof![0..5u32, any::<u32>()],
            cues in cues(),
        ) {
            let mut meter = Bucket { rate, burst }.meter();
            let mut retries = 0;
            play(&mut meter, &cues, |meter, scene| {
                assert!(meter.tokens <= burst as f64);
                if let Happening::Retried(retry) = scene.happening {
                    let delay = retry.unwrap();
                    assert!(delay >= DELAY);
                    retries += 1;
                    // All that were in the bucket, and what has been filled in by then.
                    let sets_out = (scene.now + delay).ticks() as f64;
                    let tokens = burst as f64 + (sets_out + 1.0) * meter.rate;
                    if delay < Span::MAX && rate.is_finite() {
                        assert!(retries as f64 <= tokens * (1.0 + 1e-9), "{retries} of {tokens}");
                    }
                }
            });
        }
    }
}
