//! No retries while too many tries fail: gRPC's retry throttling.
//!
//! The count starts at its maximum. A failed try takes one token, a successful one brings `ratio` of
//! one, and retries are allowed only while more than half the maximum is left (gRPC proposal A6,
//! "Throttling Configuration"; grpc-go's `retryThrottler`). So retries stop where failures outnumber
//! successes by more than `ratio` to one. All in thousandths of a token, as the proposal counts.
//!
//! Left out: failures that the service config does not call retryable, which gRPC does not count, and
//! transparent retries, which it does not count either.

use serde::Serialize;

use super::{Ending, Meter, Ticket};
use crate::policy::Failure;
use crate::units::{SimTime, Span};

/// A count of tokens that stops retries when it falls to one half.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Throttle {
    /// Tokens at the start, and at most (gRPC: 1..=1000, no default; its example has 10).
    pub max: u32,
    /// Tokens that a success brings: above 0, with three decimals (gRPC has no default; its example
    /// has 0.1).
    pub ratio: f64,
}

#[derive(Clone, Debug)]
pub(super) struct ThrottleMeter {
    /// Thousandths of a token: at most, for a success, and now.
    max: u64,
    ratio: u64,
    tokens: u64,
}

const TOKEN: u64 = 1_000;

impl Throttle {
    /// The example of the proposal: 10 tokens, a tenth of one for a success.
    pub fn grpc() -> Throttle {
        Throttle { max: 10, ratio: 0.1 }
    }

    pub(super) fn meter(self) -> ThrottleMeter {
        let max = self.max as u64 * TOKEN;
        let ratio = (self.ratio * TOKEN as f64).round() as u64;
        ThrottleMeter { max, ratio, tokens: max }
    }
}

impl Meter for ThrottleMeter {
    fn end(&mut self, _: SimTime, _: &mut Ticket, ending: Ending) {
        self.tokens = match ending {
            Ending::Good => self.tokens.saturating_add(self.ratio).min(self.max),
            Ending::Failed(_) => self.tokens.saturating_sub(TOKEN),
            Ending::Cancelled => self.tokens,
        };
    }

    fn retry(&mut self, _: SimTime, _: &mut Ticket, _: Failure, delay: Span) -> Option<Span> {
        (self.tokens > self.max / 2).then_some(delay)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rehearsal::{Call, DELAY, Happening, any_rate, cues, play};
    use super::*;

    const NOW: SimTime = SimTime::ZERO;

    #[test]
    fn of_ten_tokens_the_fifth_failure_is_the_last_straw() {
        let mut meter = Throttle::grpc().meter();
        let mut call = Call::default();
        for left in [9_000, 8_000, 7_000, 6_000] {
            assert_eq!(call.fail(&mut meter, NOW, Failure::Dropped), Some(DELAY));
            assert_eq!(meter.tokens, left);
        }
        for left in [5_000, 4_000, 3_000, 2_000, 1_000, 0, 0] {
            let mut call = Call::default();
            assert_eq!(call.fail(&mut meter, NOW, Failure::Dropped), None);
            assert_eq!(meter.tokens, left);
        }
    }

    #[test]
    fn successes_bring_retries_back_a_tenth_of_a_token_at_a_time() {
        let mut meter = Throttle::grpc().meter();
        for _ in 0..5 {
            Call::default().fail(&mut meter, NOW, Failure::Dropped);
        }
        assert_eq!(meter.tokens, 5_000);
        for success in 1..=10 {
            Call::default().succeed(&mut meter, NOW);
            assert_eq!(meter.tokens, 5_000 + 100 * success);
        }
        assert_eq!(Call::default().fail(&mut meter, NOW, Failure::Dropped), None);
        for _ in 0..11 {
            Call::default().succeed(&mut meter, NOW);
        }
        assert_eq!(meter.tokens, 6_100);
        assert_eq!(Call::default().fail(&mut meter, NOW, Failure::Dropped), Some(DELAY));
        assert_eq!(meter.tokens, 5_100);
    }

    #[test]
    fn an_odd_maximum_has_its_half_between_two_tokens() {
        let mut meter = Throttle { max: 3, ratio: 0.57 }.meter();
        assert_eq!(Call::default().fail(&mut meter, NOW, Failure::Dropped), Some(DELAY));
        assert_eq!(Call::default().fail(&mut meter, NOW, Failure::Dropped), None);
        Call::default().succeed(&mut meter, NOW);
        assert_eq!(meter.tokens, 1_570);
        Call::default().end(&mut meter, NOW, Ending::Cancelled);
        assert_eq!(meter.tokens, 1_570, "who was cut off says nothing");
        for _ in 0..9 {
            Call::default().succeed(&mut meter, NOW);
        }
        assert_eq!(meter.tokens, 3_000);
    }

    proptest! {
        #[test]
        fn the_tokens_stay_between_none_and_the_maximum(
            max in prop_oneof![0..20u32, any::<u32>()],
            ratio in any_rate(),
            cues in cues(),
        ) {
            let mut meter = Throttle { max, ratio }.meter();
            play(&mut meter, &cues, |meter, scene| {
                assert!(meter.tokens <= max as u64 * TOKEN);
                if let Happening::Retried(retry) = scene.happening {
                    assert_eq!(retry.is_some(), 2 * meter.tokens > meter.max);
                }
            });
        }
    }
}
