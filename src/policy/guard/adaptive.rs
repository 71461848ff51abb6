//! Tries at a rate that falls when they are throttled and grows when they are not: the adaptive mode of
//! the AWS SDKs.
//!
//! Until the first throttling nothing is held back. From then on each try, a first one too, needs a
//! token of a bucket that fills at a rate which each response sets anew (botocore's
//! `retries/adaptive.py`, `throttling.py`, `bucket.py`):
//!
//! - The *measured rate* is that of responses: at the first one after a half second is over, all since
//!   the last such, by the half seconds gone by, with weight 0.8, and the old rate with weight 0.2.
//! - *Throttled*: `w = min(measured rate, fill rate)`, the measured rate alone at the first time; the new
//!   rate is `0.7 w`.
//! - *Any other response*: `0.4 (t − K)³ + w`, with `t` the seconds since throttling and
//!   `K = ∛(0.3 w / 0.4)`, after which `w` is reached again (CUBIC).
//! - The *fill rate* is the new rate, but no more than twice the measured one and at least 0.5 a second;
//!   the bucket holds what it brings in a second, at least 1.
//!
//! All this starts with the first try that asks, which stands for the making of the client.
//!
//! A waiting try does not learn of a rate that rises meanwhile, as one of botocore's waiters does; none
//! waits longer than 2 s for one token.

use serde::Serialize;

use super::{Ending, Meter, Ticket, Verdict};
use crate::policy::{ByFailure, Failure};
use crate::units::{SimTime, Span, TICKS_PER_SECOND};

/// A rate of tries that is learnt. Its numbers are those of all AWS SDKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Adaptive {
    /// Which failures are throttling.
    pub on: ByFailure<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct AdaptiveMeter {
    on: ByFailure<bool>,
    /// Whether any try has asked.
    started: bool,
    /// Whether there has been any throttling.
    enabled: bool,
    clock: Clock,
    cubic: Cubic,
    bucket: TokenBucket,
}

/// Measures the rate of responses.
#[derive(Clone, Debug)]
struct Clock {
    /// Responses a second.
    rate: f64,
    responses: u32,
    /// The half second of the last measurement.
    measured: u64,
}

/// The rate after throttling.
#[derive(Clone, Debug)]
struct Cubic {
    /// The rate at which there was throttling.
    most: f64,
    since: SimTime,
}

/// Tokens that tries take.
#[derive(Clone, Debug)]
struct TokenBucket {
    tokens: f64,
    /// Tokens a second, at least [`LEAST_RATE`].
    rate: f64,
    /// Tokens at most, at least 1.
    capacity: f64,
    at: SimTime,
}

const HALF_SECOND: u64 = TICKS_PER_SECOND / 2;
const NEW_WEIGHT: f64 = 0.8;
const BETA: f64 = 0.7;
const SCALE: f64 = 0.4;
const MOST_OF_MEASURED: f64 = 2.0;
const LEAST_RATE: f64 = 0.5;

impl Adaptive {
    /// As the AWS SDKs: on throttling only.
    pub fn aws() -> Adaptive {
        Adaptive { on: ByFailure::all(false).with(Failure::Throttled, true) }
    }

    pub(super) fn meter(self) -> AdaptiveMeter {
        AdaptiveMeter {
            on: self.on,
            started: false,
            enabled: false,
            clock: Clock { rate: 0.0, responses: 0, measured: 0 },
            cubic: Cubic { most: 0.0, since: SimTime::ZERO },
            bucket: TokenBucket { tokens: 0.0, rate: 1.0, capacity: 1.0, at: SimTime::ZERO },
        }
    }
}

impl Meter for AdaptiveMeter {
    fn ask(&mut self, now: SimTime) -> Verdict {
        if !self.started {
            self.start(now);
        }
        if self.enabled { self.bucket.ask(now) } else { Verdict::Go }
    }

    fn depart(&mut self, now: SimTime, _: &mut Ticket, _: bool) {
        if self.enabled {
            self.bucket.take(now);
        }
    }

    fn end(&mut self, now: SimTime, _: &mut Ticket, ending: Ending) {
        let throttled = match ending {
            Ending::Cancelled => return,
            Ending::Good => false,
            Ending::Failed(failure) => self.on.of(failure),
        };
        self.clock.record(now);
        let measured = self.clock.rate;
        let rate = if throttled {
            let most = if self.enabled { measured.min(self.bucket.rate) } else { measured };
            self.enabled = true;
            self.cubic.throttle(now, most)
        } else {
            self.cubic.rate(now)
        };
        self.bucket.fill_at(now, rate.min(MOST_OF_MEASURED * measured));
    }
}

impl AdaptiveMeter {
    /// The client is made: its clock starts with the whole second that this lies in.
    fn start(&mut self, now: SimTime) {
        self.started = true;
        self.clock.measured = now.ticks() / TICKS_PER_SECOND * (TICKS_PER_SECOND / HALF_SECOND);
        self.cubic.since = now;
        self.bucket.at = now;
    }
}

impl Clock {
    fn record(&mut self, now: SimTime) {
        self.responses = self.responses.saturating_add(1);
        let half_second = now.ticks() / HALF_SECOND;
        if half_second > self.measured {
            let rate = self.responses as f64 / ((half_second - self.measured) as f64 / 2.0);
            self.rate = NEW_WEIGHT * rate + (1.0 - NEW_WEIGHT) * self.rate;
            self.responses = 0;
            self.measured = half_second;
        }
    }
}

impl Cubic {
    fn throttle(&mut self, now: SimTime, most: f64) -> f64 {
        *self = Cubic { most, since: now };
        BETA * most
    }

    fn rate(&self, now: SimTime) -> f64 {
        let recovered = libm::cbrt(self.most * (1.0 - BETA) / SCALE);
        let past = now.since(self.since).as_secs_f64() - recovered;
        SCALE * past * past * past + self.most
    }
}

impl TokenBucket {
    fn ask(&mut self, now: SimTime) -> Verdict {
        self.refill(now);
        if self.tokens >= 1.0 {
            return Verdict::Go;
        }
        let ticks = (1.0 - self.tokens) / self.rate * TICKS_PER_SECOND as f64;
        Verdict::Wait(Span::from_ticks((ticks.ceil() as u64).max(1)))
    }

    fn take(&mut self, now: SimTime) {
        self.refill(now);
        self.tokens = (self.tokens - 1.0).max(0.0);
    }

    fn refill(&mut self, now: SimTime) {
        let filled = self.tokens + now.since(self.at).as_secs_f64() * self.rate;
        self.tokens = filled.min(self.capacity);
        self.at = now;
    }

    /// Fills at `rate` from now on.
    fn fill_at(&mut self, now: SimTime, rate: f64) {
        self.refill(now);
        self.rate = rate.max(LEAST_RATE);
        self.capacity = rate.max(1.0);
        self.tokens = self.tokens.min(self.capacity);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rehearsal::{Call, Happening, cues, play};
    use super::*;

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + Span::from_millis(millis)
    }

    fn respond(meter: &mut AdaptiveMeter, now: SimTime, ending: Ending) {
        let mut ticket = Ticket { open: true, ..Ticket::default() };
        meter.end(now, &mut ticket, ending);
    }

    const THROTTLED: Ending = Ending::Failed(Failure::Throttled);

    #[track_caller]
    fn assert_near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-6, "{found} is not {wanted}");
    }

    /// The common test of the AWS SDKs ("updateClientSendingRate" in that for JavaScript): after each
    /// response its time, the measured rate and the fill rate.
    const TRACE: [(u64, Ending, f64, f64); 17] = [
        (200, Ending::Good, 0.0, 0.5),
        (400, Ending::Good, 0.0, 0.5),
        (600, Ending::Good, 4.8, 0.5),
        (800, Ending::Good, 4.8, 0.5),
        (1_000, Ending::Good, 4.16, 0.5),
        (1_200, Ending::Good, 4.16, 0.6912),
        (1_400, Ending::Good, 4.16, 1.0976),
        (1_600, Ending::Good, 5.632, 1.6384),
        (1_800, Ending::Good, 5.632, 2.3328),
        (2_000, THROTTLED, 4.3264, 3.02848),
        (2_200, Ending::Good, 4.3264, 3.486639),
        (2_400, Ending::Good, 4.3264, 3.821874),
        (2_600, Ending::Good, 5.66528, 4.053386),
        (2_800, Ending::Good, 5.66528, 4.200373),
        (3_000, Ending::Good, 4.333056, 4.282037),
        (3_200, THROTTLED, 4.333056, 2.997426),
        (3_400, Ending::Good, 4.333056, 3.452226),
    ];

    #[test]
    fn the_rates_are_those_of_the_sdks_own_test_whenever_it_starts() {
        for start in [0, 7_000, 86_400_000] {
            let mut meter = Adaptive::aws().meter();
            assert_eq!(meter.ask(at(start)), Verdict::Go);
            for (millis, ending, measured, fill) in TRACE {
                respond(&mut meter, at(start + millis), ending);
                assert_near(meter.clock.rate, measured);
                assert_near(meter.bucket.rate, fill);
            }
        }
    }

    /// "cubicSuccess" of the same tests.
    #[test]
    fn after_throttling_at_ten_a_second_the_rate_is_back_after_two() {
        let cubic = Cubic { most: 10.0, since: at(5_000) };
        for (second, rate) in [
            (5, 7.0),
            (6, 9.64893601),
            (7, 10.00003085),
            (8, 10.45328452),
            (9, 13.40869703),
            (10, 21.26626836),
            (11, 36.42599853),
        ] {
            assert_near(cubic.rate(at(1_000 * second)), rate);
        }
    }

    #[test]
    fn nothing_is_held_back_before_the_first_throttling_and_then_first_tries_too() {
        let mut meter = Adaptive::aws().meter();
        for (millis, ending, ..) in TRACE.into_iter().take(9) {
            respond(&mut meter, at(millis), ending);
        }
        for failure in [Failure::Refused, Failure::TimedOut, Failure::Dropped, Failure::Rejected] {
            let mut call = Call::default();
            assert_eq!(call.set_out(&mut meter, at(1_800)), Verdict::Go);
            call.end(&mut meter, at(1_800), Ending::Failed(failure));
        }
        assert!(!meter.enabled);
        respond(&mut meter, at(1_800), THROTTLED);
        assert_eq!(Call::default().set_out(&mut meter, at(1_800)), Verdict::Go);
        assert!(matches!(meter.ask(at(1_800)), Verdict::Wait(_)));
    }

    /// In the trace 1.852 tokens have come together by 2 s: 0.2 at 1 a second, 0.1 four times at 0.5,
    /// then 0.1, 0.13824, 0.21952, 0.32768 and 0.46656.
    #[test]
    fn who_finds_less_than_a_token_waits_until_it_is_there() {
        let mut meter = Adaptive::aws().meter();
        for (millis, ending, ..) in TRACE.into_iter().take(10) {
            respond(&mut meter, at(millis), ending);
        }
        assert_near(meter.bucket.tokens, 1.852);
        let mut call = Call::default();
        assert_eq!(call.set_out(&mut meter, at(2_000)), Verdict::Go);
        assert_near(meter.bucket.tokens, 0.852);
        // 0.148 tokens at 3.02848 a second.
        let wait = Span::from_ticks(48_870);
        assert_eq!(meter.ask(at(2_000)), Verdict::Wait(wait));
        assert_eq!(meter.ask(at(2_000)), Verdict::Wait(wait), "asking takes nothing");
        let mut next = Call::default();
        assert_eq!(next.set_out(&mut meter, at(2_000) + wait), Verdict::Go);
        assert!(meter.bucket.tokens < 3.1e-6, "no more than a tick brings");
    }

    #[test]
    fn a_try_that_was_cut_off_is_no_response() {
        let mut meter = Adaptive::aws().meter();
        respond(&mut meter, at(700), Ending::Cancelled);
        assert_eq!((meter.clock.rate, meter.bucket.rate), (0.0, 1.0));
    }

    #[test]
    fn other_failures_may_be_taken_for_throttling() {
        let on = ByFailure::all(false).with(Failure::TimedOut, true);
        let mut meter = Adaptive { on }.meter();
        respond(&mut meter, at(100), THROTTLED);
        assert!(!meter.enabled);
        respond(&mut meter, at(100), Ending::Failed(Failure::TimedOut));
        assert!(meter.enabled);
    }

    proptest! {
        #[test]
        fn tokens_and_rates_keep_their_bounds_and_nobody_waits_more_than_two_seconds(
            on in prop::array::uniform5(any::<bool>()),
            cues in cues(),
        ) {
            let mut meter = Adaptive { on: ByFailure(on) }.meter();
            play(&mut meter, &cues, |meter, scene| {
                let bucket = &meter.bucket;
                assert!(bucket.rate >= LEAST_RATE && bucket.rate.is_finite());
                assert!((1.0..f64::INFINITY).contains(&bucket.capacity));
                assert!((0.0..=bucket.capacity).contains(&bucket.tokens));
                if let Happening::Asked(Verdict::Wait(span)) = scene.happening {
                    assert!(meter.enabled && span <= Span::from_secs(2));
                }
            });
        }
    }
}
