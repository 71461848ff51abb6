//! The stages of a delay: what is done to the delay so far, in the order in which they are written.

use serde::Serialize;

use super::Pipeline;
use super::growth::{Draws, Past, floor, round, ticks};
use crate::units::Span;

/// One stage of a pipeline, applied to the delay v so far. Every uniform number is a draw of its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// At most this.
    Clamp(Span),
    /// At least this.
    AtLeast(Span),
    /// Times a uniform number between two.
    Scale(f64, f64),
    /// Plus a uniform span between two.
    Add(Span, Span),
    /// Uniform between this and v.
    Between(Span),
    /// Plus this times the square of a uniform number (aiohttp-retry).
    AddSquare(Span),
    /// Plus another delay of the same step, with stages of its own; none that looks back.
    Plus(Box<Pipeline>),
    /// Times a uniform number between two that is drawn once for all retries of an acquisition.
    ScalePerSequence(f64, f64),
    /// Times a uniform number between two that a client draws once and for all.
    ScalePerClient(f64, f64),
    /// Where v is above `cap`, that times a uniform number instead (dramatiq).
    Rejitter {
        /// The most that v may be.
        cap: Span,
        /// Bounds of the number.
        scale: (f64, f64),
    },
    /// Plus or minus up to a share of v in whole milliseconds, size and sign from one number: the sign
    /// is the parity of its first decimal (backo2).
    Signed(f64),
    /// Whole percent: either −0…p, or, as likely, +p/2…p, so that there is a hole between (the Rust
    /// crate exponential-backoff).
    Holed(f64),
    /// Down to a whole multiple of this, as libraries that sleep whole seconds do.
    Quantise(Span),
    /// To the nearest whole multiple of this.
    Round(Span),
}

impl Stage {
    /// Whether it depends on more than the attempt that it is drawn for.
    pub fn looks_back(&self) -> bool {
        matches!(self, Stage::ScalePerSequence(..) | Stage::ScalePerClient(..))
    }

    /// Whether nothing is drawn and a longer delay never becomes a shorter one.
    pub(super) fn is_clamp(&self) -> bool {
        matches!(self, Stage::Clamp(_))
    }

    /// What becomes of a delay of so many ticks.
    #[inline]
    pub(super) fn apply(&self, delay: f64, step: u32, past: Past, draws: &mut Draws) -> f64 {
        match *self {
            Stage::Clamp(cap) => delay.min(ticks(cap)),
            Stage::AtLeast(least) => delay.max(ticks(least)),
            Stage::Scale(low, high) => delay * draws.uniform(low, high),
            Stage::Add(low, high) => delay + draws.uniform(ticks(low), ticks(high)),
            Stage::Between(low) => draws.uniform(ticks(low), delay),
            Stage::AddSquare(most) => {
                let root = draws.uniform(0.0, 1.0);
                delay + ticks(most) * root * root
            }
            Stage::Plus(ref other) => delay + other.draw(step, past, draws),
            Stage::ScalePerSequence(low, high) => {
                delay * Draws::new(draws.site.sequence()).uniform(low, high)
            }
            Stage::ScalePerClient(low, high) => {
                delay * Draws::new(draws.site.client()).uniform(low, high)
            }
            Stage::Rejitter { cap, scale: (low, high) } => {
                let again = draws.uniform(low, high);
                if delay > ticks(cap) { ticks(cap) * again } else { delay }
            }
            Stage::Signed(share) => {
                let r = draws.uniform(0.0, 1.0);
                let deviation = floor(r * share * delay, Span::from_millis(1));
                let minus = (libm::floor(10.0 * r) as u32).is_multiple_of(2);
                if minus { delay - deviation } else { delay + deviation }
            }
            Stage::Holed(share) => {
                let most = libm::floor(100.0 * share);
                let r = libm::floor(draws.uniform(0.0, 2.0 * most));
                let percent = if r < most { -r } else { libm::floor(r / 2.0) };
                delay + delay * percent / 100.0
            }
            Stage::Quantise(step) => floor(delay, step),
            Stage::Round(step) => round(delay, step),
        }
    }

    /// The bounds of what becomes of a delay within bounds.
    pub(super) fn range(&self, (low, high): (f64, f64), step: u32) -> (f64, f64) {
        match *self {
            Stage::Clamp(cap) => (low.min(ticks(cap)), high.min(ticks(cap))),
            Stage::AtLeast(least) => (low.max(ticks(least)), high.max(ticks(least))),
            Stage::Scale(least, most)
            | Stage::ScalePerSequence(least, most)
            | Stage::ScalePerClient(least, most) => (low * least, high * most),
            Stage::Add(least, most) => (low + ticks(least), high + ticks(most)),
            Stage::Between(bound) => (low.min(ticks(bound)), high.max(ticks(bound))),
            Stage::AddSquare(most) => (low, high + ticks(most)),
            Stage::Plus(ref other) => {
                let (least, most) = other.range_in_ticks(step);
                (low + least, high + most)
            }
            Stage::Rejitter { cap, scale } if high > ticks(cap) => {
                let (least, most) = (ticks(cap) * scale.0, ticks(cap) * scale.1);
                (low.min(least), ticks(cap).max(most))
            }
            Stage::Rejitter { .. } => (low, high),
            Stage::Signed(share) | Stage::Holed(share) => {
                ((low * (1.0 - share)).max(0.0), high * (1.0 + share))
            }
            Stage::Quantise(step) => (floor(low, step), floor(high, step)),
            Stage::Round(step) => (round(low, step), round(high, step)),
        }
    }
}
