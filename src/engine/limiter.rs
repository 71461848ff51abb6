//! The rate limiter in front of the pooler: a token bucket that lets attempts wait a little and refuses
//! the others.

use crate::scenario::RateLimiter;
use crate::units::{SimTime, Span, TICKS_PER_SECOND};

/// What rounding may take of a token.
const LEAST: f64 = 1e-9;

/// Its tokens.
#[derive(Debug)]
pub(super) struct Limiter<'a> {
    settings: &'a RateLimiter,
    /// Tokens at an instant; below zero they are promised to those who wait.
    tokens: f64,
    at: SimTime,
    /// When the rate began, or begins, to grow from nothing.
    ramp: Option<SimTime>,
}

impl<'a> Limiter<'a> {
    pub fn new(settings: &'a RateLimiter) -> Limiter<'a> {
        let tokens = f64::from(settings.burst);
        Limiter { settings, tokens, at: SimTime::ZERO, ramp: None }
    }

    /// How long an attempt waits that arrives now; `None` if it is refused.
    pub fn arrive(&mut self, now: SimTime) -> Option<Span> {
        let most = f64::from(self.settings.burst);
        self.tokens = (self.tokens + self.filled(now) - self.filled(self.at)).min(most);
        self.at = now;
        let wait =
            if self.tokens >= 1.0 - LEAST { Span::ZERO } else { self.wait(1.0 - self.tokens) };
        (wait <= self.settings.wait).then(|| {
            self.tokens -= 1.0;
            wait
        })
    }

    /// The system comes back at an instant: the bucket is empty, and fills more and more quickly.
    pub fn restart(&mut self, at: SimTime) {
        self.tokens = 0.0;
        self.at = at;
        self.ramp = self.settings.ramp.map(|_| at);
    }

    /// Tokens that come from the ramp's beginning, or from time zero, until an instant.
    fn filled(&self, until: SimTime) -> f64 {
        let rate = self.settings.rate / TICKS_PER_SECOND as f64;
        match (self.ramp, self.settings.ramp) {
            (Some(from), Some(over)) => {
                let (passed, over) = (ticks(until.since(from)), ticks(over));
                let in_ramp = passed.min(over);
                rate * (in_ramp * in_ramp / (2.0 * over) + (passed - in_ramp))
            }
            _ => rate * until.ticks() as f64,
        }
    }

    /// How long until so many tokens more have come: the inverse of `filled`.
    fn wait(&self, tokens: f64) -> Span {
        let rate = self.settings.rate / TICKS_PER_SECOND as f64;
        let (Some(from), Some(over)) = (self.ramp, self.settings.ramp) else {
            return Span::from_ticks_f64((tokens / rate).ceil());
        };
        let over = ticks(over);
        let wanted = self.filled(self.at) + tokens;
        let in_ramp = rate * over / 2.0;
        let passed = match wanted < in_ramp {
            true => (2.0 * over * wanted / rate).sqrt(),
            false => over + (wanted - in_ramp) / rate,
        };
        let due = from + Span::from_ticks_f64(passed.ceil());
        due.since(self.at)
    }
}

fn ticks(span: Span) -> f64 {
    span.ticks() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(wait: Span, ramp: Option<Span>) -> RateLimiter {
        RateLimiter { rate: 10.0, burst: 3, wait, ramp, retry_after: None }
    }

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_burst_passes_and_then_one_in_each_tenth_of_a_second() {
        let settings = settings(Span::ZERO, None);
        let mut limiter = Limiter::new(&settings);
        let passed = |limiter: &mut Limiter<'_>, millis| limiter.arrive(at(millis)).is_some();
        assert!((0..3).all(|_| passed(&mut limiter, 0)));
        assert!(!passed(&mut limiter, 0) && !passed(&mut limiter, 99));
        assert!(passed(&mut limiter, 100) && !passed(&mut limiter, 150));
        // Unused tokens are kept up to the burst.
        assert_eq!((0..9).filter(|_| passed(&mut limiter, 10_000)).count(), 3);
    }

    #[test]
    fn who_may_wait_gets_the_tokens_to_come_in_order() {
        let settings = settings(Span::from_millis(250), None);
        let mut limiter = Limiter::new(&settings);
        let waits: Vec<_> = (0..6).map(|_| limiter.arrive(at(0))).collect();
        let millis = |wait| Some(Span::from_millis(wait));
        assert_eq!(waits, [millis(0), millis(0), millis(0), millis(100), millis(200), None]);
        assert_eq!(limiter.arrive(at(50)), millis(250));
        assert_eq!(limiter.arrive(at(50)), None);
    }

    /// The rate grows from 0 to 10/s over 4 s: t²·10/8 tokens after t seconds, 20 after the ramp.
    #[test]
    fn after_an_outage_the_rate_grows_from_nothing() {
        let settings = settings(Span::ZERO, Some(Span::from_secs(4)));
        let mut limiter = Limiter::new(&settings);
        limiter.restart(at(10_000));
        assert_eq!(limiter.arrive(at(10_000)), None);
        // The first token is there after √0.8 = 0.894 s.
        assert_eq!(limiter.arrive(at(10_894)), None);
        assert_eq!(limiter.arrive(at(10_895)), Some(Span::ZERO));
        // 11.25 tokens have come after 3 s, one of which is spent; three at most are kept.
        let passed = (0..9).filter(|_| limiter.arrive(at(13_000)).is_some()).count();
        assert_eq!(passed, 3);
        assert_eq!(limiter.arrive(at(15_000)), Some(Span::ZERO));
    }

    #[test]
    fn a_wait_in_the_ramp_ends_when_the_token_is_there() {
        let settings = settings(Span::from_secs(9), Some(Span::from_secs(4)));
        let mut limiter = Limiter::new(&settings);
        limiter.restart(at(0));
        for token in 1..=30u32 {
            let wait = limiter.arrive(at(0)).expect("it may wait");
            let seconds = wait.as_secs_f64();
            let come = if seconds < 4.0 { seconds * seconds * 1.25 } else { 10.0 * seconds - 20.0 };
            assert!((come - f64::from(token)).abs() < 1e-3, "{token}: {come} after {seconds} s");
        }
    }
}
