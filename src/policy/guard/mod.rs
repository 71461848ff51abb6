//! Guards: limits on tries that react to what happens.
//!
//! A *try* is an attempt, or where layers are nested one run of the layer within; a *call* is all tries
//! of one acquisition at one layer. A guard is asked before each try sets out, learns how each ended,
//! and is asked once more before a retry. It keeps its count in a [`Meter`]; who shares a meter is its
//! scope. Meters have no clock of their own: they are told the time, which never goes back.

mod adaptive;
mod breaker;
mod bucket;
mod concurrency;
mod in_flight;
mod quota;
mod ratio;
#[cfg(test)]
mod rehearsal;
mod throttle;
mod window;

pub use adaptive::Adaptive;
pub use breaker::{Breaker, Late, Trip};
pub use bucket::Bucket;
pub use concurrency::Concurrency;
pub use in_flight::InFlight;
pub use quota::Quota;
pub use ratio::Ratio;
pub use throttle::Throttle;
pub use window::Window;

use std::fmt;

use serde::Serialize;

use super::{Failure, Scope};
use crate::units::{SimTime, Span};

/// A limit, and who shares its count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guard {
    /// What it allows.
    #[serde(flatten)]
    pub limit: Limit,
    /// Who shares one count.
    pub scope: Scope,
}

/// What a guard allows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Retries cost tokens, successes give some back (AWS SDKs).
    Quota(Quota),
    /// No retries while too many tries fail (gRPC).
    Throttle(Throttle),
    /// Retries up to a share of recent calls (Finagle, Linkerd).
    Ratio(Ratio),
    /// Retries up to a share of what is under way (Envoy).
    Concurrency(Concurrency),
    /// Retries at a rate, others wait (Kubernetes work queue).
    Bucket(Bucket),
    /// No tries while too many fail (circuit breaker).
    Breaker(Breaker),
    /// So many tries under way (bulkhead).
    InFlight(InFlight),
    /// Tries at a rate that falls and grows with throttling (AWS adaptive mode).
    Adaptive(Adaptive),
}

/// What a guard says to a try that wants to set out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may.
    Go,
    /// It shall ask again after so long, which is not zero.
    Wait(Span),
    /// It may not, and has failed.
    Reject,
}

/// How a try ended that had set out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It brought what it was for.
    Good,
    /// It failed.
    Failed(Failure),
    /// Nobody will know: its client died, or its retry was allowed and then did not set out.
    Cancelled,
}

/// What a call keeps of one guard between its tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket {
    /// Whether a try is under way.
    pub open: bool,
    /// Whether the present try, or the one that is to come, is a retry.
    pub retry: bool,
    /// What the last retry cost.
    pub paid: u32,
    /// What the meter needs to know of the present try: which of its states it belongs to.
    pub mark: u32,
}

/// The count of a guard.
pub trait Meter: fmt::Debug {
    /// May a try set out now? Nothing is taken yet.
    fn ask(&mut self, now: SimTime) -> Verdict {
        let _ = now;
        Verdict::Go
    }

    /// A try sets out that all guards let go; `first` of its call. `ticket.open` is set already.
    fn depart(&mut self, now: SimTime, ticket: &mut Ticket, first: bool) {
        let _ = (now, ticket, first);
    }

    /// A try has ended. `ticket.open` tells whether it had set out; only a cancelled one had not. The
    /// caller clears `open` and `retry` afterwards.
    fn end(&mut self, now: SimTime, ticket: &mut Ticket, ending: Ending) {
        let _ = (now, ticket, ending);
    }

    /// The retry rule would try again after `delay`: after how long may it, if at all? Where it may, the
    /// caller sets `ticket.retry`.
    fn retry(
        &mut self,
        now: SimTime,
        ticket: &mut Ticket,
        failure: Failure,
        delay: Span,
    ) -> Option<Span> {
        let _ = (now, ticket, failure);
        Some(delay)
    }
}

impl Limit {
    /// A count from which nothing has been taken yet.
    pub fn meter(&self) -> Box<dyn Meter> {
        match self {
            Limit::Quota(limit) => Box::new(limit.meter()),
            Limit::Throttle(limit) => Box::new(limit.meter()),
            Limit::Ratio(limit) => Box::new(limit.meter()),
            Limit::Concurrency(limit) => Box::new(limit.meter()),
            Limit::Bucket(limit) => Box::new(limit.meter()),
            Limit::Breaker(limit) => Box::new(limit.meter()),
            Limit::InFlight(limit) => Box::new(limit.meter()),
            Limit::Adaptive(limit) => Box::new(limit.meter()),
        }
    }
}
