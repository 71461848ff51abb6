//! What is compared: everything that a client decides.
//!
//! Pure data and pure functions: no clock, no queue, no file format. A policy sees its own client's
//! outcome and attempt number, and asks [`random`](crate::random) for its draws.

mod acquire;
mod curve;
mod distribution;
mod failure;
mod growth;
pub mod guard;
mod hint;
mod pipeline;
mod sequences;
mod stage;
mod turns;

pub use acquire::{Acquire, Layer, MOST_LAYERS, Retry, Scope, Stop};
pub use curve::{Curve, End, Reach, SAMPLES, Surprise};
pub use distribution::Distribution;
pub use failure::{ByFailure, Failure};
pub use growth::{Exponential, Growth, Overflow, Past};
pub use guard::Guard;
pub use hint::Hint;
pub use pipeline::{After, Pipeline};
pub use sequences::Sequences;
pub use stage::Stage;
pub use turns::Turns;

use serde::Serialize;

use crate::random::Site;
use crate::units::Span;

/// All that a client decides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// How long a started client waits before its first poll.
    pub start_up: Spread,
    /// How long a client keeps its connection to the pooler; `None` closes it after each
    /// transaction.
    pub connection: Option<Lifetime>,
    /// The pool that the clients of a process share; `None` lets each connect for itself.
    pub client_pool: Option<ClientPool>,
    /// How long an attempt waits to be admitted, from its arrival; `None` is for ever.
    pub connect_timeout: Option<Span>,
    /// How long an admitted attempt waits for a backend before its client leaves; `None` is for ever.
    pub patience: Option<Span>,
    /// How a client leaves whose patience has ended.
    pub leave: Leave,
    /// Sleeps between polls; step 0 is the base interval.
    pub poll: Pipeline,
    /// What happens when an attempt fails.
    pub acquire: Acquire,
    /// How outcomes move the poll schedule.
    pub rules: LoopRules,
    /// What a sleep counts from.
    pub cadence: Cadence,
    /// Who restarts a client that gives up; `None` lets it go on for ever.
    pub supervisor: Option<Supervisor>,
    /// An acquisition that must succeed at a start, before the start-up spread; `None` has none.
    pub boot_check: Option<BootCheck>,
    /// Clients that knock again at once after an error; `None` has none.
    pub hot_loop: Option<HotLoop>,
}

/// Connections that the clients of one process share. One is held from when an attempt sets out until
/// it has failed or its transaction is done; who finds none waits in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClientPool {
    /// Clients of a process.
    pub clients: u32,
    /// Connections that they share.
    pub connections: u32,
    /// How long a client waits for one before its attempt has failed.
    pub timeout: Span,
}

/// How the requests of the background load are handled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Handling {
    /// How the server that got a request acquires its backend; its poll schedule is not used.
    pub server: Policy,
    /// How long a client is told to wait whose request has failed; `None` is not told.
    pub retry_after: Option<Span>,
    /// Whether that client asks again; its rule says what it makes of `retry_after`.
    pub client: Acquire,
}

/// How a client leaves whose patience has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leave {
    /// It closes its connection without a word, as a killed process does.
    #[default]
    Close,
    /// It says goodbye first, as libpq and so psycopg do on close.
    Terminate,
    /// It cannot leave: it waits until it has been served and throws the answer away, as psycopg under
    /// a timeout does.
    Stays,
}

/// What a sleep counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cadence {
    /// The end of the poll before it, as in a loop that sleeps.
    #[default]
    FixedDelay,
    /// When the poll before it was due, as a ticker does.
    FixedRate(MissedTick),
}

/// What a ticker does when a poll has outlasted the next tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissedTick {
    /// It waits for the next one.
    Skip,
    /// It polls at once.
    Fire,
}

/// Restarts a client that has failed too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Supervisor {
    /// Failed polls in a row after which the client exits.
    pub after: u32,
    /// How long until it starts again, at its base interval.
    pub delay: Span,
}

/// An acquisition that must succeed at a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BootCheck {
    /// Attempts before the client exits and its supervisor starts it again.
    pub attempts: u32,
    /// The wait between them.
    pub delay: Span,
}

/// Clients that knock again after a pause instead of a sleep when a poll has failed; where there is
/// work, when the transactions of a worker have failed, which then keeps its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HotLoop {
    /// How many.
    pub clients: u32,
    /// The pause.
    pub pause: Span,
}

/// How long a client keeps its connection to the pooler. Its age is looked at when it is next used:
/// one that is too old is closed, and another opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifetime {
    /// For ever.
    Never,
    /// For a span drawn when it is opened.
    AtBirth(Spread),
    /// For a span drawn anew at each use. The more often it is used, the closer to the least of
    /// them does it end.
    AtUse(Spread),
}

/// A span, the same for all or spread out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// The same for all.
    Constant(Span),
    /// Uniform between two spans.
    Uniform(Span, Span),
}

/// How a poll ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The claim brought work.
    Claimed,
    /// The claim found nothing.
    Empty,
    /// The acquisition gave up, or the connection was lost.
    Error,
}

/// The poll loop as data: one rule for each outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoopRules {
    /// After a claim that brought work.
    pub claimed: LoopRule,
    /// After a claim that found nothing.
    pub empty: LoopRule,
    /// After a poll that failed.
    pub error: LoopRule,
}

/// What one outcome does to the schedule, and which sleep follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LoopRule {
    /// What happens to the interval. A sleep is taken *before* it grows.
    pub interval: Interval,
    /// The sleep before the next poll.
    pub sleep: Sleep,
}

/// What happens to the poll interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interval {
    /// Back to the base interval.
    Reset,
    /// One step up the schedule.
    Advance,
    /// Unchanged.
    Keep,
}

/// Which sleep is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sleep {
    /// None: poll again at once.
    None,
    /// The base interval.
    Base,
    /// The current interval.
    Current,
    /// Two sleeps of the current interval, one after the other (honcho 3.0.7 on an empty queue).
    TwiceCurrent,
    /// None that ends by itself: the client leaves, and only a restart brings it back.
    ForGood,
}

impl Policy {
    /// A policy that polls so, from the start, with single attempts and without end of patience.
    pub fn polling(poll: Pipeline) -> Policy {
        Policy {
            start_up: Spread::Constant(Span::ZERO),
            connection: None,
            client_pool: None,
            connect_timeout: None,
            patience: None,
            leave: Leave::Close,
            poll,
            acquire: Acquire::Once,
            rules: LoopRules::HONCHO,
            cadence: Cadence::FixedDelay,
            supervisor: None,
            boot_check: None,
            hot_loop: None,
        }
    }

    /// The interval at which its clients come back in the end: what they sleep after an empty poll,
    /// without jitter.
    pub fn interval(&self) -> Span {
        let settled = self.poll.nominal(u32::MAX);
        match self.rules.empty.sleep {
            Sleep::None => Span::ZERO,
            Sleep::Base => self.poll.nominal(0),
            Sleep::Current => settled,
            Sleep::TwiceCurrent => settled + settled,
            Sleep::ForGood => Span::MAX,
        }
    }
}

impl Spread {
    /// The span that `site` draws.
    pub fn draw(&self, site: Site) -> Span {
        match *self {
            Spread::Constant(span) => span,
            Spread::Uniform(low, high) => {
                let (low, high) = (low.ticks() as f64, high.ticks() as f64);
                Span::from_ticks_f64(low + (high - low) * site.uniform(0))
            }
        }
    }

    /// The shortest possible span.
    pub fn shortest(&self) -> Span {
        match *self {
            Spread::Constant(span) | Spread::Uniform(span, _) => span,
        }
    }

    /// The longest possible span.
    pub fn longest(&self) -> Span {
        match *self {
            Spread::Constant(span) | Spread::Uniform(_, span) => span,
        }
    }
}

impl LoopRules {
    /// The rules of honcho 3.0.8 and later: advance on empty and on error, at once again after work.
    pub const HONCHO: LoopRules = LoopRules {
        claimed: LoopRule { interval: Interval::Reset, sleep: Sleep::None },
        empty: LoopRule { interval: Interval::Advance, sleep: Sleep::Current },
        error: LoopRule { interval: Interval::Advance, sleep: Sleep::Current },
    };

    /// The rules of honcho 3.0.7: a fixed interval, slept twice when the queue is empty.
    pub const HONCHO_3_0_7: LoopRules = LoopRules {
        claimed: LoopRule { interval: Interval::Reset, sleep: Sleep::None },
        empty: LoopRule { interval: Interval::Keep, sleep: Sleep::TwiceCurrent },
        error: LoopRule { interval: Interval::Keep, sleep: Sleep::Current },
    };

    /// The rule for `outcome`.
    #[inline]
    pub fn rule(&self, outcome: Outcome) -> LoopRule {
        match outcome {
            Outcome::Claimed => self.claimed,
            Outcome::Empty => self.empty,
            Outcome::Error => self.error,
        }
    }

    /// The sleep that follows `outcome` at `step` of `schedule`, and the step after it.
    ///
    /// Jitter goes into the sleep, never into the schedule.
    #[inline(always)]
    pub fn turn(
        &self,
        outcome: Outcome,
        step: u32,
        schedule: &Pipeline,
        site: Site,
    ) -> (Span, u32) {
        let rule = self.rule(outcome);
        let sleep = match rule.sleep {
            Sleep::None => Span::ZERO,
            Sleep::Base => schedule.delay(0, Past::default(), site),
            Sleep::Current => schedule.delay(step, Past::default(), site),
            Sleep::TwiceCurrent => {
                let one = schedule.delay(step, Past::default(), site);
                one + schedule.delay(step, Past::default(), site.again())
            }
            Sleep::ForGood => Span::MAX,
        };
        let step = match rule.interval {
            Interval::Reset => 0,
            Interval::Advance => schedule.advance(step),
            Interval::Keep => step,
        };
        (sleep, step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Moment, Purpose, World};

    fn site() -> Site {
        World::new(1, 0).site(Purpose::PollJitter, 0, Moment::default())
    }

    fn ramp() -> Pipeline {
        Pipeline::new(
            Growth::exponential(Span::from_secs(1), 2.0),
            vec![Stage::Clamp(Span::from_secs(30))],
            None,
        )
    }

    #[test]
    fn sleeps_run_1_2_4_8_16_30_30() {
        let (schedule, mut step, mut sleeps) = (ramp(), 0, Vec::new());
        for _ in 0..7 {
            let (sleep, next) = LoopRules::HONCHO.turn(Outcome::Empty, step, &schedule, site());
            sleeps.push(sleep.as_secs_f64());
            step = next;
        }
        assert_eq!(sleeps, [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
        assert_eq!(LoopRules::HONCHO.turn(Outcome::Claimed, step, &schedule, site()).1, 0);
    }
}
