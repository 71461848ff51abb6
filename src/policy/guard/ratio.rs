//! Retries up to a share of recent calls, and a few more: Finagle's `RetryBudget`.
//!
//! The first try of a call deposits, a retry withdraws `1/ratio` deposits or is refused. What is put in
//! and taken out is forgotten after `ttl`, and on top of it there are always `reserve · ttl` retries
//! (finagle `service/RetryBudget.scala` over util's `TokenBucket.newLeakyBucket`). As there, time is cut
//! into ten slices of `ttl / 10`: the present one, which lasts until something happens after its end,
//! and nine before it. The balance may fall below zero, where deposits are forgotten before the
//! withdrawals that they paid for.
//!
//! tower's `TpsBudget`, which Linkerd took, is the same with the same defaults, but keeps ten slices
//! beside the present one, and rounds the price of a retry to whole deposits where `ratio` is below 1:
//! with 0.3 it is 3 deposits, here 3.333.

use serde::Serialize;

use super::{Meter, Ticket};
use crate::policy::Failure;
use crate::units::{SimTime, Span};

/// A budget of retries that calls pay into.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Retries for each call: 0..=1000.
    pub ratio: f64,
    /// Retries a second without any call: at least 0.
    pub reserve: f64,
    /// How long a deposit or a withdrawal counts (Finagle: 1 s to 60 s).
    pub ttl: Span,
}

/// Tokens are thousandths of a deposit.
#[derive(Clone, Debug)]
pub(super) struct RatioMeter {
    deposit: i64,
    price: i64,
    reserve: i64,
    /// How long a slice lasts, in ticks.
    slice: u64,
    /// What the slices before the present one brought, as a ring that `next` is the oldest of.
    past: [i64; SLICES - 1],
    next: usize,
    present: i64,
    began: SimTime,
}

const DEPOSIT: i64 = 1_000;
const SLICES: usize = 10;

impl Ratio {
    /// The defaults of Finagle, tower and Linkerd: a fifth of all calls, 10 a second, 10 s.
    pub fn finagle() -> Ratio {
        Ratio { ratio: 0.2, reserve: 10.0, ttl: Span::from_secs(10) }
    }

    pub(super) fn meter(self) -> RatioMeter {
        let (deposit, price) = match self.ratio > 0.0 {
            true => (DEPOSIT, ((DEPOSIT as f64 / self.ratio) as i64).max(1)),
            false => (0, 1),
        };
        let spare = self.reserve.max(0.0) * self.ttl.as_secs_f64();
        RatioMeter {
            deposit,
            price,
            reserve: (spare * price as f64) as i64,
            slice: (self.ttl.ticks() / SLICES as u64).max(1),
            past: [0; SLICES - 1],
            next: 0,
            present: 0,
            began: SimTime::ZERO,
        }
    }
}

impl RatioMeter {
    fn balance(&self) -> i64 {
        let known = self.past.iter().fold(self.present, |sum, slice| sum.saturating_add(*slice));
        known.saturating_add(self.reserve)
    }

    fn advance(&mut self, now: SimTime) {
        let slices = now.since(self.began).ticks() / self.slice;
        if slices == 0 {
            return;
        }
        self.shift();
        for _ in 1..slices.min(SLICES as u64) {
            self.shift();
        }
        self.began = now;
    }

    /// The present slice is over.
    fn shift(&mut self) {
        self.past[self.next] = std::mem::take(&mut self.present);
        self.next = (self.next + 1) % self.past.len();
    }
}

impl Meter for RatioMeter {
    fn depart(&mut self, now: SimTime, _: &mut Ticket, first: bool) {
        if first {
            self.advance(now);
            self.present = self.present.saturating_add(self.deposit);
        }
    }

    fn retry(&mut self, now: SimTime, _: &mut Ticket, _: Failure, delay: Span) -> Option<Span> {
        self.advance(now);
        if self.balance() < self.price {
            return None;
        }
        self.present = self.present.saturating_sub(self.price);
        Some(delay)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rehearsal::{Call, DELAY, Happening, any_rate, cues, play};
    use super::super::{Ending, Verdict};
    use super::*;

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + Span::from_millis(millis)
    }

    fn deposit(meter: &mut RatioMeter, now: SimTime) {
        let mut call = Call::default();
        assert_eq!(call.set_out(meter, now), Verdict::Go);
        call.end(meter, now, Ending::Good);
    }

    fn withdraw(meter: &mut RatioMeter, now: SimTime) -> bool {
        Call::default().retry(meter, now, Failure::Dropped) == Some(DELAY)
    }

    fn balance(meter: &mut RatioMeter, now: SimTime) -> i64 {
        meter.advance(now);
        meter.balance()
    }

    #[test]
    fn by_default_five_calls_pay_for_a_retry_and_a_hundred_are_there_from_the_start() {
        let mut meter = Ratio::finagle().meter();
        assert_eq!((meter.deposit, meter.price, meter.reserve), (1_000, 5_000, 500_000));
        for left in (0..100).rev() {
            assert!(withdraw(&mut meter, at(0)));
            assert_eq!(meter.balance(), left * 5_000);
        }
        assert!(!withdraw(&mut meter, at(0)));
        for _ in 0..4 {
            deposit(&mut meter, at(0));
        }
        assert!(!withdraw(&mut meter, at(0)));
        deposit(&mut meter, at(0));
        assert!(withdraw(&mut meter, at(0)));
        assert_eq!(meter.balance(), 0);
    }

    #[test]
    fn a_retry_pays_in_nothing() {
        let mut meter = Ratio { ratio: 1.0, reserve: 0.0, ttl: Span::from_secs(10) }.meter();
        let mut call = Call::default();
        assert_eq!(call.fail(&mut meter, at(0), Failure::Dropped), Some(DELAY));
        assert_eq!(call.fail(&mut meter, at(0), Failure::Dropped), None);
    }

    /// As util's `WindowedAdderTest` "maintains a sliding window", with ten slices for its three.
    #[test]
    fn a_deposit_is_forgotten_when_ten_slices_have_passed() {
        let mut meter = Ratio { ratio: 1.0, reserve: 0.0, ttl: Span::from_secs(10) }.meter();
        deposit(&mut meter, at(0));
        for second in 1..10 {
            deposit(&mut meter, at(second * 1_000));
            assert_eq!(balance(&mut meter, at(second * 1_000)), (second as i64 + 1) * 1_000);
        }
        for second in 10..20 {
            assert_eq!(balance(&mut meter, at(second * 1_000)), (19 - second as i64) * 1_000);
        }
    }

    /// "maintains a sliding window when slices are skipped".
    #[test]
    fn slices_in_which_nothing_happens_are_skipped() {
        let mut meter = Ratio { ratio: 1.0, reserve: 0.0, ttl: Span::from_secs(10) }.meter();
        deposit(&mut meter, at(0));
        deposit(&mut meter, at(1_000));
        assert_eq!(balance(&mut meter, at(9_999)), 2_000);
        assert_eq!(balance(&mut meter, at(10_999)), 1_000, "the present slice began at 9.999 s");
        assert_eq!(balance(&mut meter, at(11_999)), 0);
        deposit(&mut meter, at(12_999));
        assert_eq!(balance(&mut meter, at(900_000)), 0);
    }

    /// The numbers of tower's `tps_slots`.
    #[test]
    fn an_old_deposit_is_gone_while_a_newer_one_pays_with_the_next() {
        let mut meter = Ratio { ratio: 0.5, reserve: 0.0, ttl: Span::from_secs(1) }.meter();
        deposit(&mut meter, at(0));
        deposit(&mut meter, at(0));
        assert!(withdraw(&mut meter, at(901)));
        deposit(&mut meter, at(2_902));
        deposit(&mut meter, at(3_203));
        deposit(&mut meter, at(4_004));
        assert_eq!(meter.balance(), 2_000);
        assert!(withdraw(&mut meter, at(4_004)));
        assert!(!withdraw(&mut meter, at(4_004)));
    }

    #[test]
    fn withdrawals_are_forgotten_too_so_the_reserve_comes_back() {
        let mut meter = Ratio { ratio: 0.0, reserve: 5.0, ttl: Span::from_secs(1) }.meter();
        for _ in 0..5 {
            assert!(withdraw(&mut meter, at(0)));
        }
        deposit(&mut meter, at(500));
        assert!(!withdraw(&mut meter, at(999)), "where nothing is a share, calls pay in nothing");
        assert!(withdraw(&mut meter, at(2_000)));
    }

    #[test]
    fn a_debt_may_be_left_when_its_deposits_are_forgotten() {
        let mut meter = Ratio { ratio: 1.0, reserve: 0.0, ttl: Span::from_secs(10) }.meter();
        deposit(&mut meter, at(0));
        assert!(withdraw(&mut meter, at(9_000)));
        assert_eq!(balance(&mut meter, at(10_000)), -1_000);
        deposit(&mut meter, at(10_000));
        assert!(!withdraw(&mut meter, at(10_000)));
    }

    #[test]
    fn the_price_is_cut_to_a_thousandth_of_a_deposit() {
        let price = |ratio| Ratio { ratio, ..Ratio::finagle() }.meter().price;
        assert_eq!(price(0.3), 3_333);
        assert_eq!(price(2.0), 500);
        assert_eq!(price(1_000.0), 1);
    }

    proptest! {
        #[test]
        fn no_retry_is_allowed_that_the_balance_does_not_pay_for(
            ratio in any_rate(),
            reserve in any_rate(),
            ttl in prop_oneof![Just(0), 0..100_000_000u64, any::<u64>()],
            cues in cues(),
        ) {
            let mut meter = Ratio { ratio, reserve, ttl: Span::from_ticks(ttl) }.meter();
            let (mut calls, mut retries) = (0u32, 0u32);
            play(&mut meter, &cues, |meter, scene| match scene.happening {
                Happening::SetOut { first: true } => calls += 1,
                Happening::Retried(Some(delay)) => {
                    assert_eq!(delay, DELAY);
                    assert!(meter.balance() >= 0);
                    retries += 1;
                }
                Happening::Retried(None) => assert!(meter.balance() < meter.price),
                _ => {}
            });
            if reserve == 0.0 && ratio <= 1_000.0 {
                let paid = calls as i64 * meter.deposit / meter.price;
                prop_assert!(retries as i64 <= paid, "each deposit pays once");
            }
        }
    }
}
