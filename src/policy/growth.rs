//! How a delay grows with the step, before any stage works on it.
//!
//! Most growths are functions of the step. Some draw; some of these also look back: at the delay
//! before (decorrelated jitter, random walks), at the draw of the attempt before (windows, Polly), or
//! at the time since the first attempt (Jedis). What a client remembers is passed in as [`Past`];
//! draws of earlier attempts are drawn again, since a [`Site`] is stateless.

use serde::Serialize;

use crate::random::Site;
use crate::units::Span;

/// How the delay grows with the step k = 0, 1, 2, …; step 0 comes before the first retry.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// The same at every step.
    Constant(Span),
    /// `start + step·k`.
    Linear {
        /// The delay of step 0.
        start: Span,
        /// What each step adds.
        step: Span,
    },
    /// `scale·(k + first)^power`.
    Polynomial {
        /// The delay where the power is 1.
        scale: Span,
        /// Exponent, from 0 to 16.
        power: f64,
        /// What step 0 counts as.
        first: u32,
    },
    /// `base·factor^(k + first)`.
    Exponential(Exponential),
    /// `base·(factor^(k + first) − 1)`.
    ExponentialLessOne(Exponential),
    /// `first·factorᵏ`, cut to whole quanta at every step, as integer arithmetic does
    /// (Resilience4j).
    Chain {
        /// The delay of step 0.
        first: Span,
        /// Growth a step, at least 1.
        factor: f64,
        /// What is cut to, longer than zero.
        quantum: Span,
    },
    /// `unit` times the (k + first)-th of 1, 1, 2, 3, 5, ….
    Fibonacci {
        /// What 1 stands for.
        unit: Span,
        /// What step 0 counts as.
        first: u32,
    },
    /// These in order, then the last for ever; not empty.
    Table(Vec<Span>),
    /// Uniform between two spans at every step.
    Uniform(Span, Span),
    /// One retry in each of a row of windows, uniform in it: the rest of the window before and a
    /// place in the next. Window k lasts `window·factorᵏ`. N clients in a window of N/c never exceed
    /// a capacity c for long.
    Windowed {
        /// The first window.
        window: Span,
        /// Growth a window, at least 1.
        factor: f64,
    },
    /// `base/1.4·(f(k + rₖ) − f(k − 1 + rₖ₋₁))` with `f(t) = 2ᵗ·tanh √(4t)`: Polly's
    /// `DecorrelatedJitterV2`, whose sum is smooth.
    Polly {
        /// The median of the first delay.
        base: Span,
    },
    /// `base·factorᵏ` times U(1, 2), rounded to milliseconds and clamped, drawn for all retries
    /// beforehand and sorted (node-retry).
    Sorted {
        /// The shortest first delay.
        base: Span,
        /// Growth a step, at least 1.
        factor: f64,
        /// No delay is longer.
        cap: Span,
        /// How many are drawn, at most 200; later ones are drawn one by one.
        retries: u32,
    },
    /// `U(0, time left/attempts left²)` until a deadline (Jedis).
    TimeLeft {
        /// The deadline, counted from the first attempt.
        budget: Span,
        /// Attempts until then.
        attempts: u32,
    },
    /// `U(base, max(base, factor·previous))`: decorrelated jitter. Where nothing came before,
    /// `first` stands for it.
    Decorrelated {
        /// The shortest delay.
        base: Span,
        /// How far it may grow at once.
        factor: f64,
        /// What stands for the delay before the first.
        first: Span,
    },
    /// `U(previous, min(factor·previous, cap))`: it never shrinks (Finagle's decorrelated).
    Rising {
        /// The delay of step 0, exactly.
        first: Span,
        /// How far it may grow at once.
        factor: f64,
        /// It ends glued to this.
        cap: Span,
    },
    /// `factor·previous`, so that what the stages did to a delay feeds forward.
    Walk {
        /// The delay of step 0, before the stages.
        first: Span,
        /// Growth a step, at least 1.
        factor: f64,
    },
    /// `U(0, previous·2ᵏ)` until `previous·2ᵏ` reaches the cap, then exactly that (Finagle's
    /// `exponentialJittered`).
    Widening {
        /// The delay of step 0, exactly.
        first: Span,
        /// Where it ends.
        cap: Span,
    },
}

/// An exponential law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Exponential {
    /// The delay where the exponent is 0.
    pub base: Span,
    /// Growth a step, at least 1.
    pub factor: f64,
    /// The exponent of step 0.
    #[serde(skip_serializing_if = "is_default")]
    pub first: i32,
    /// What the code does whose power is no longer a finite double.
    #[serde(skip_serializing_if = "is_default")]
    pub overflow: Overflow,
}

/// What happens where `factor^exponent` is no longer a finite double: for factor 2 from exponent 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// The delay saturates.
    #[default]
    Saturates,
    /// The code raises, and its caller has failed.
    Raises,
}

/// What a client remembers of the acquisition that it retries.
#[derive(Clone, Copy, Debug, Default)]
pub struct Past {
    /// The delay before, if there was one and it was kept.
    pub previous: Option<Span>,
    /// Time since the first attempt began.
    pub elapsed: Span,
}

/// The draws of one delay, each on a lane of its own.
#[derive(Debug)]
pub(super) struct Draws {
    pub site: Site,
    lane: u8,
}

/// Spans as floats: no delay is longer.
pub(super) const MOST: f64 = Span::MAX.ticks() as f64;

/// Steps of a chain that are followed one by one; beyond, whole quanta no longer matter.
const LONGEST_CHAIN: u32 = 1_024;

impl Growth {
    /// `base·factorᵏ`, saturating.
    pub fn exponential(base: Span, factor: f64) -> Growth {
        Growth::Exponential(Exponential::new(base, factor))
    }

    /// Whether it depends on more than the step, the site and the draws of this attempt.
    pub fn looks_back(&self) -> bool {
        self.remembers()
            || matches!(
                self,
                Growth::Windowed { .. }
                    | Growth::Polly { .. }
                    | Growth::Sorted { .. }
                    | Growth::TimeLeft { .. }
            )
    }

    /// Whether the delay before must be kept for it.
    pub fn remembers(&self) -> bool {
        matches!(
            self,
            Growth::Decorrelated { .. }
                | Growth::Rising { .. }
                | Growth::Walk { .. }
                | Growth::Widening { .. }
        )
    }

    /// Whether no span bounds it, however long it goes on.
    pub fn is_unbounded(&self) -> bool {
        match *self {
            Growth::Linear { step, .. } => step > Span::ZERO,
            Growth::Polynomial { scale, power, .. } => scale > Span::ZERO && power > 0.0,
            Growth::Exponential(law) | Growth::ExponentialLessOne(law) => {
                law.base > Span::ZERO && law.factor > 1.0
            }
            Growth::Chain { factor, .. } | Growth::Windowed { factor, .. } => factor > 1.0,
            Growth::Walk { factor, .. } => factor > 1.0,
            Growth::Decorrelated { base, factor, .. } => base > Span::ZERO && factor > 1.0,
            Growth::Fibonacci { .. } | Growth::Polly { .. } => true,
            Growth::Sorted { factor, cap, .. } => factor > 1.0 && cap == Span::MAX,
            Growth::Constant(_)
            | Growth::Table(_)
            | Growth::Uniform(..)
            | Growth::TimeLeft { .. }
            | Growth::Rising { .. }
            | Growth::Widening { .. } => false,
        }
    }

    /// The longest that it may become, where it has such a limit itself.
    pub fn cap(&self) -> Option<Span> {
        match *self {
            Growth::Sorted { cap, .. }
            | Growth::Rising { cap, .. }
            | Growth::Widening { cap, .. } => Some(cap).filter(|&cap| cap < Span::MAX),
            _ => None,
        }
    }

    /// Whether the code that it stands for raises at `step`.
    pub fn raises(&self, step: u32) -> bool {
        match self {
            Growth::Exponential(law) | Growth::ExponentialLessOne(law) => {
                law.overflow == Overflow::Raises && !law.power(step).is_finite()
            }
            _ => false,
        }
    }

    /// The delay in ticks where it depends on the step alone: finite, not negative.
    pub(super) fn at(&self, step: u32) -> Option<f64> {
        let k = f64::from(step);
        let ticks = match *self {
            Growth::Constant(span) => ticks(span),
            Growth::Linear { start, step } => ticks(start) + ticks(step) * k,
            Growth::Polynomial { scale, power, first } => {
                ticks(scale) * libm::pow(k + f64::from(first), power)
            }
            Growth::Exponential(law) => ticks(law.base) * law.power(step),
            Growth::ExponentialLessOne(law) => ticks(law.base) * (law.power(step) - 1.0),
            Growth::Chain { first, factor, quantum } => chain(first, factor, quantum, step),
            Growth::Fibonacci { unit, first } => ticks(unit) * fibonacci(step, first),
            Growth::Table(ref spans) => {
                let last = spans.len().saturating_sub(1);
                ticks(spans.get(last.min(step as usize)).copied().unwrap_or_default())
            }
            Growth::Uniform(low, high) if low == high => ticks(low),
            _ => return None,
        };
        // Zero times infinity, as in `grown`.
        Some(if ticks.is_nan() { 0.0 } else { ticks.clamp(0.0, MOST) })
    }

    /// The delay in ticks that is drawn at `step`.
    pub(super) fn draw(&self, step: u32, past: Past, draws: &mut Draws) -> f64 {
        if let Some(ticks) = self.at(step) {
            return ticks;
        }
        match *self {
            Growth::Uniform(low, high) => draws.uniform(ticks(low), ticks(high)),
            Growth::Windowed { window, factor } => {
                let (now, before) = draws.unit_and_before(step);
                let length = |k: f64| grown(window, factor, k);
                let k = f64::from(step);
                before.map_or(0.0, |before| (1.0 - before) * length(k - 1.0)) + now * length(k)
            }
            Growth::Polly { base } => {
                let (now, before) = draws.unit_and_before(step);
                let sum = |t: f64| (libm::exp2(t) * libm::tanh(libm::sqrt(4.0 * t))).min(MOST);
                let k = f64::from(step);
                let begun = before.map_or(0.0, |before| sum(k - 1.0 + before));
                ticks(base) / 1.4 * (sum(k + now) - begun).max(0.0)
            }
            Growth::Sorted { base, factor, cap, retries } => {
                let site = draws.site.sequence();
                let delay = |index: u32, r: f64| {
                    let grown = grown(base, factor, f64::from(index));
                    round((1.0 + r) * grown, Span::from_millis(1)).min(ticks(cap))
                };
                if step >= retries {
                    return delay(step, draws.uniform(0.0, 1.0));
                }
                let lane = |index: u32| site.uniform(index as u8);
                let mut all: Vec<f64> =
                    (0..retries.min(200)).map(|index| delay(index, lane(index))).collect();
                all.sort_by(f64::total_cmp);
                all.get(step as usize).copied().unwrap_or(ticks(cap))
            }
            Growth::TimeLeft { budget, attempts } => {
                let left = (ticks(budget) - ticks(past.elapsed)).max(0.0);
                let attempts = f64::from(attempts.saturating_sub(step).saturating_sub(1).max(1));
                draws.uniform(0.0, left / (attempts * attempts))
            }
            Growth::Decorrelated { base, factor, first } => {
                let previous = ticks(past.previous.unwrap_or(first));
                let most = (factor * previous).clamp(ticks(base), MOST);
                draws.uniform(ticks(base), most)
            }
            Growth::Rising { first, factor, cap } => match past.previous.map(ticks) {
                None => ticks(first),
                Some(previous) => {
                    let most = (factor * previous).min(ticks(cap)).max(previous);
                    draws.uniform(previous, most)
                }
            },
            Growth::Walk { first, factor } => {
                past.previous.map_or(ticks(first), |previous| grown(previous, factor, 1.0))
            }
            Growth::Widening { first, cap } => match past.previous.map(ticks) {
                None => ticks(first),
                Some(previous) => {
                    let widest = previous * libm::exp2(f64::from(step.min(1_000)));
                    let cap = ticks(cap);
                    if widest >= cap { cap } else { draws.uniform(0.0, widest) }
                }
            },
            _ => unreachable!("the others depend on the step alone"),
        }
    }

    /// The least and the largest delay in ticks that `step` can give, whatever came before.
    pub(super) fn range(&self, step: u32) -> (f64, f64) {
        if let Some(ticks) = self.at(step) {
            return (ticks, ticks);
        }
        let k = f64::from(step);
        match *self {
            Growth::Uniform(low, high) => (ticks(low), ticks(high)),
            Growth::Windowed { window, factor } => {
                let before = if step == 0 { 0.0 } else { grown(window, factor, k - 1.0) };
                (0.0, (before + grown(window, factor, k)).min(MOST))
            }
            Growth::Polly { base } => (0.0, grown(base, 2.0, k + 1.0)),
            Growth::Sorted { base, factor, cap, .. } => {
                let rounded = |ticks: f64| round(ticks, Span::from_millis(1)).min(MOST);
                let low = rounded(grown(base, factor, k)).min(ticks(cap));
                (low, rounded(2.0 * grown(base, factor, k)).min(ticks(cap)))
            }
            Growth::TimeLeft { budget, .. } => (0.0, ticks(budget)),
            Growth::Decorrelated { base, factor, first } => {
                let high = grown(first, factor, 1.0).clamp(ticks(base), MOST);
                (ticks(base), if step == 0 { high } else { MOST })
            }
            Growth::Rising { first, .. } if step == 0 => (ticks(first), ticks(first)),
            Growth::Rising { first, cap, .. } => (ticks(first), ticks(cap).max(ticks(first))),
            Growth::Walk { first, .. } if step == 0 => (ticks(first), ticks(first)),
            Growth::Walk { .. } => (0.0, MOST),
            Growth::Widening { first, .. } if step == 0 => (ticks(first), ticks(first)),
            Growth::Widening { cap, .. } => (0.0, ticks(cap)),
            _ => unreachable!("the others depend on the step alone"),
        }
    }
}

impl Exponential {
    /// `base·factorᵏ`, saturating.
    pub fn new(base: Span, factor: f64) -> Exponential {
        Exponential { base, factor, first: 0, overflow: Overflow::Saturates }
    }

    fn power(&self, step: u32) -> f64 {
        libm::pow(self.factor, f64::from(step) + f64::from(self.first))
    }
}

impl Draws {
    pub fn new(site: Site) -> Draws {
        Draws { site, lane: 0 }
    }

    /// Uniform between two bounds.
    #[inline]
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        let lane = self.lane;
        self.lane = lane.wrapping_add(1);
        low + (high - low) * self.site.uniform(lane)
    }

    /// The same between 0 and 1, and what the attempt before drew in this place, if there was one.
    fn unit_and_before(&mut self, step: u32) -> (f64, Option<f64>) {
        let before = (step > 0).then(|| self.site.before().uniform(self.lane));
        (self.uniform(0.0, 1.0), before)
    }
}

pub(super) fn ticks(span: Span) -> f64 {
    span.ticks() as f64
}

/// To the nearest whole multiple of `step`.
pub(super) fn round(value: f64, step: Span) -> f64 {
    libm::floor(value / ticks(step) + 0.5) * ticks(step)
}

/// Down to a whole multiple of `step`.
pub(super) fn floor(value: f64, step: Span) -> f64 {
    libm::floor(value / ticks(step)) * ticks(step)
}

/// `base·factor^exponent`, saturating.
fn grown(base: Span, factor: f64, exponent: f64) -> f64 {
    let grown = ticks(base) * libm::pow(factor, exponent);
    // Zero times infinity, where a factor overflows before its base counts.
    if grown.is_nan() { 0.0 } else { grown.min(MOST) }
}

fn chain(first: Span, factor: f64, quantum: Span, step: u32) -> f64 {
    let mut value = floor(ticks(first), quantum);
    for _ in 0..step.min(LONGEST_CHAIN) {
        let next = floor(value * factor, quantum).min(MOST);
        if next == value {
            return value;
        }
        value = next;
    }
    let rest = step.saturating_sub(LONGEST_CHAIN);
    grown(Span::from_ticks_f64(value), factor, f64::from(rest))
}

/// The number at `step + first` of 1, 1, 2, 3, 5, …, saturating far beyond any span.
fn fibonacci(step: u32, first: u32) -> f64 {
    let (mut one, mut next) = (1.0, 1.0);
    for _ in 0..step.saturating_add(first).min(100) {
        (one, next) = (next, one + next);
    }
    one
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
