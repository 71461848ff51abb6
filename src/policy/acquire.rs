//! The rule of an acquisition: when a failed attempt is followed by another, after how long, and what
//! holds it back.

use serde::Serialize;

use super::growth::is_default;
use super::guard::Limit;
use super::{ByFailure, Failure, Guard, Hint, Past, Pipeline};
use crate::random::Site;
use crate::units::Span;

/// The rule of an acquisition: what to do when an attempt fails.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a policy has one")]
pub enum Acquire {
    /// One attempt; its failure is the poll's.
    Once,
    /// Try again after a delay until a limit is reached.
    Retry(Retry),
    /// Rules within rules, or under guards; the innermost first, from one to [`MOST_LAYERS`]. A try of a layer is all
    /// that the layers within it do until they succeed or give up.
    Layers(Vec<Layer>),
}

/// Layers of a policy at most.
pub const MOST_LAYERS: usize = 3;

/// One of several rules that are nested.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Layer {
    /// What it is called: the library, the application, ….
    pub name: String,
    /// How it retries; `None` does not.
    pub retry: Option<Retry>,
    /// What holds its tries back, in the order in which they are asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<Guard>,
}

/// A retry rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Retry {
    /// Delay before the k-th retry; step 0 comes before the first.
    pub delay: Pipeline,
    /// When to give up.
    pub stop: Stop,
    /// What is made of a server's hint how long to wait.
    #[serde(skip_serializing_if = "is_default")]
    pub hint: Hint,
    /// Whose last delay is remembered, where the delay depends on it.
    #[serde(skip_serializing_if = "is_default")]
    pub scope: Scope,
}

/// Who shares something: what a delay remembers, the count of a guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Each call of each client has its own.
    #[default]
    Call,
    /// Each client has its own from one call to the next, until it starts again.
    Client,
    /// So many clients of one process share it, until the first of them starts again.
    Process(u32),
    /// All clients of the policy share one for ever: an oracle, unless it is one object that they all
    /// use.
    Fleet,
}

/// Limits of a retry rule; the first one reached wins, none at all retries for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// Attempts in all, the first included.
    pub attempts: Option<u32>,
    /// Give up when an attempt has failed this long after the first one began. It is tested after a
    /// failed attempt only and cuts short neither an attempt nor a delay (tenacity's
    /// `stop_after_delay`).
    pub elapsed: Option<Span>,
    /// Give up when the next delay would end later than this after the first attempt began
    /// (cenkalti's `MaxElapsedTime`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_with_delay: Option<Span>,
    /// Attempts in all when the last one failed so; 1 does not retry such a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<ByFailure<Option<u32>>>,
}

impl Stop {
    /// Whether to give up after `attempts` failed attempts, the first of which began `elapsed` ago and the
    /// last of which failed so.
    #[inline]
    pub fn reached(&self, attempts: u32, elapsed: Span, failure: Failure) -> bool {
        let of_class = self.on.and_then(|on| on.of(failure));
        let is_reached = |limit: Option<u32>| limit.is_some_and(|limit| attempts >= limit);
        is_reached(self.attempts)
            || is_reached(of_class)
            || self.elapsed.is_some_and(|limit| elapsed >= limit)
    }
}

impl Retry {
    /// A rule that retries so until `stop`.
    pub fn new(delay: Pipeline, stop: Stop) -> Retry {
        Retry { delay, stop, hint: Hint::default(), scope: Scope::default() }
    }

    /// The delay after the `failed`-th failed attempt (from 1), which ended in `failure` and under a
    /// server's `hint`; or `None` to give up: because a limit is reached, or because the code that the
    /// rule stands for raises here.
    #[inline(always)]
    pub fn next(
        &self,
        failed: u32,
        failure: Failure,
        past: Past,
        hint: Option<Span>,
        site: Site,
    ) -> Option<Span> {
        let step = failed.saturating_sub(1);
        if self.stop.reached(failed, past.elapsed, failure) || self.delay.raises(step) {
            return None;
        }
        let delay = self.hint.apply(self.delay.delay(step, past, site), hint, site)?;
        let end = past.elapsed + delay;
        self.stop.elapsed_with_delay.is_none_or(|limit| end <= limit).then_some(delay)
    }
}

impl Acquire {
    /// Its rules and guards, the innermost first; none where it is plain.
    #[inline]
    pub fn layers(&self) -> &[Layer] {
        match self {
            Acquire::Layers(layers) => layers,
            _ => &[],
        }
    }

    /// Whether a guard may reject a try at once.
    pub fn may_reject(&self) -> bool {
        let mut guards = self.layers().iter().flat_map(|layer| &layer.guards);
        guards.any(|guard| matches!(guard.limit, Limit::Breaker(_) | Limit::InFlight(_)))
    }

    /// Its retry rules, the innermost first.
    pub fn retries(&self) -> impl Iterator<Item = &Retry> {
        let plain = match self {
            Acquire::Retry(retry) => Some(retry),
            _ => None,
        };
        let nested = self.layers().iter().filter_map(|layer| layer.retry.as_ref());
        plain.into_iter().chain(nested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_elapsed_stop_is_tested_after_the_failed_attempt() {
        let stop = Stop { elapsed: Some(Span::from_secs(10)), ..Stop::default() };
        let reached =
            |stop: Stop, attempts, elapsed| stop.reached(attempts, elapsed, Failure::Refused);
        assert!(!reached(stop, 50, Span::from_millis(9_999)));
        assert!(reached(stop, 1, Span::from_secs(10)));
        assert!(!reached(Stop::default(), u32::MAX, Span::MAX));
        assert!(reached(Stop { attempts: Some(3), ..Stop::default() }, 3, Span::ZERO));
    }

    #[test]
    fn a_class_of_failures_may_stop_earlier() {
        let on = ByFailure::all(None).with(Failure::TimedOut, Some(2));
        let stop = Stop { attempts: Some(5), on: Some(on), ..Stop::default() };
        assert!(!stop.reached(1, Span::ZERO, Failure::TimedOut));
        assert!(stop.reached(2, Span::ZERO, Failure::TimedOut));
        assert!(!stop.reached(4, Span::ZERO, Failure::Refused));
        assert!(stop.reached(5, Span::ZERO, Failure::Refused));
    }
}
