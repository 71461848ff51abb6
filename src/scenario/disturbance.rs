//! What happens to the system at stated times, and what may be done about it.

use std::ops::Range;

use serde::Serialize;

use super::model::{Contention, Initial, Scenario};
use crate::policy::Policy;
use crate::units::{Ratio, SimTime, Span};

/// Something that happens to the system at a stated time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disturbance {
    /// When it begins, from the start of the simulation.
    pub at: SimTime,
    /// What happens.
    pub action: Action,
}

/// What a disturbance does. Where it concerns a share of the fleet, that is the clients of the
/// lowest numbers, in which the parts of a mixed fleet have their shares.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Clients restart: each loses its connection at once and starts again within the span.
    Restart {
        /// Share of the fleet.
        clients: Ratio,
        /// The span over which they start again, uniformly, in each wave.
        over: Span,
        /// Whether the database restarts too, with the first wave, and after how long it takes
        /// logins again: the pooler forgets every place, running claims are dropped, backends are
        /// closed.
        database: Option<Span>,
        /// Whether they restart all at once.
        #[serde(skip_serializing_if = "Waves::are_one")]
        waves: Waves,
        /// What they follow from then on; `None` is what they did before.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<Box<NamedPolicy>>,
    },
    /// The database is slower.
    Slow {
        /// How many times.
        factor: f64,
        /// For how long.
        over: Span,
    },
    /// More requests of the background load come than else.
    Burst {
        /// How many times as many.
        factor: f64,
        /// For how long.
        over: Span,
    },
    /// The database is out of order.
    Outage {
        /// For how long.
        over: Span,
        /// What it looks like from outside.
        failure: Failure,
    },
    /// Limits are changed.
    Change {
        /// Backends from now on: of a smaller pool idle ones are closed, busy ones when they are
        /// free.
        pool_size: Option<u32>,
        /// The client limit from now on; who is connected stays so.
        max_client_conn: Option<u32>,
        /// How active claims slow each other down from now on.
        contention: Option<Contention>,
        /// For how long; `None` is for good.
        over: Option<Span>,
    },
    /// The pooler refuses every new attempt, and serves those that have a place.
    Pause {
        /// For how long.
        over: Span,
    },
    /// Clients follow another policy without a restart: an attempt under way goes on, the next
    /// decision is the new policy's. They keep the interval that they have reached, and their
    /// process's pool.
    Switch {
        /// Share of the fleet.
        clients: Ratio,
        /// What they follow.
        to: Box<NamedPolicy>,
    },
    /// Clients finish the poll that they are in and stay away. Then they start again at their base
    /// interval; who has not finished by then just goes on.
    Stop {
        /// Share of the fleet.
        clients: Ratio,
        /// For how long they stay away, from the stop on.
        over: Span,
        /// The span after that over which they come back, uniformly.
        back_over: Span,
    },
}

/// Another course of events for the same system, to be compared like policies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// Its name in the scenario.
    pub name: String,
    /// Whether its disturbances are played instead of the scenario's rather than after them.
    pub replace: bool,
    /// What happens in it, in order of time.
    pub disturbances: Vec<Disturbance>,
}

/// A policy under its name in the scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedPolicy {
    /// Its name.
    pub name: String,
    /// What its clients decide.
    pub policy: Policy,
}

/// The order in which clients restart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waves {
    /// All at once.
    One,
    /// So many at a time, as in a rolling upgrade.
    Batches {
        /// Clients of a batch; the last may be smaller.
        size: u32,
        /// From the begin of one to the begin of the next.
        every: Span,
    },
    /// Shares that add up to 1.
    Cohorts {
        /// Of those that restart.
        shares: Vec<Ratio>,
        /// From the begin of one to the begin of the next.
        every: Span,
    },
}

/// What an outage looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// Running claims stand still until it is over.
    Hanging,
    /// Running claims are dropped, and every attempt is refused after so long.
    Refusing {
        /// From the attempt's arrival to its refusal.
        after: Span,
    },
}

impl Action {
    /// How long something is in force by it: [`Span::MAX`] for good, zero if it is done at once.
    pub fn holds(&self) -> Span {
        match *self {
            Action::Slow { over, .. }
            | Action::Burst { over, .. }
            | Action::Outage { over, .. }
            | Action::Pause { over } => over,
            Action::Change { over, .. } => over.unwrap_or(Span::MAX),
            Action::Restart { .. } | Action::Switch { .. } | Action::Stop { .. } => Span::ZERO,
        }
    }

    /// How long it takes by itself to run its course in a fleet of so many clients.
    pub fn over(&self, fleet: u32) -> Span {
        match *self {
            Action::Restart { clients, over, ref waves, .. } => {
                let last = waves.count(clients.of(fleet)) - 1;
                waves.begin(last) + over
            }
            Action::Stop { over, back_over, .. } => over + back_over,
            Action::Change { over, .. } => over.unwrap_or(Span::ZERO),
            Action::Switch { .. } => Span::ZERO,
            Action::Slow { .. }
            | Action::Burst { .. }
            | Action::Outage { .. }
            | Action::Pause { .. } => self.holds(),
        }
    }

    /// The policy that clients follow from then on.
    pub fn to(&self) -> Option<&NamedPolicy> {
        match self {
            Action::Restart { to, .. } => to.as_deref(),
            Action::Switch { to, .. } => Some(to),
            _ => None,
        }
    }
}

impl Waves {
    /// Whether there is only one, of everybody.
    pub fn are_one(&self) -> bool {
        matches!(self, Waves::One)
    }

    /// How many there are in a restart of so many clients: at least one.
    pub fn count(&self, restarting: u32) -> u32 {
        match self {
            Waves::One => 1,
            Waves::Batches { size, .. } => restarting.div_ceil(*size).max(1),
            Waves::Cohorts { shares, .. } => shares.len() as u32,
        }
    }

    /// How long after the first a wave begins, counted from 0.
    pub fn begin(&self, wave: u32) -> Span {
        match *self {
            Waves::One => Span::ZERO,
            Waves::Batches { every, .. } | Waves::Cohorts { every, .. } => {
                Span::from_ticks(every.ticks().saturating_mul(u64::from(wave)))
            }
        }
    }

    /// Which of so many clients restart in a wave, counted from 0.
    pub fn clients(&self, wave: u32, restarting: u32) -> Range<u32> {
        match self {
            Waves::One => 0..restarting,
            Waves::Batches { size, .. } => {
                let before = wave.saturating_mul(*size).min(restarting);
                before..before.saturating_add(*size).min(restarting)
            }
            Waves::Cohorts { shares, .. } => {
                let up_to = |wave: u32| {
                    let shares = &shares[..(wave as usize).min(shares.len())];
                    let share: f64 = shares.iter().map(|share| share.as_f64()).sum();
                    Ratio::new(share.min(1.0)).map_or(restarting, |share| share.of(restarting))
                };
                up_to(wave)..if wave + 1 < shares.len() as u32 {
                    up_to(wave + 1)
                } else {
                    restarting
                }
            }
        }
    }
}

impl Scenario {
    /// What is to be played under each policy: the scenario of each variant, or the scenario itself
    /// where it has none. What a variant adds to disturbances of the scenario's own responds to
    /// them; these come first and so are the same in all.
    pub fn courses(&self) -> Vec<Scenario> {
        match &self.variants[..] {
            [] => vec![self.clone()],
            variants => variants.iter().map(|variant| self.in_variant(variant)).collect(),
        }
    }

    /// The one of [`courses`](Self::courses) that a variant of this name is; without one the scenario itself.
    pub fn course(&self, variant: Option<&str>) -> Scenario {
        let named = self.variants.iter().find(|known| Some(&*known.name) == variant);
        named.map_or_else(|| self.clone(), |variant| self.in_variant(variant))
    }

    fn in_variant(&self, variant: &Variant) -> Scenario {
        let mut course = Scenario { variants: Vec::new(), ..self.clone() };
        let happenings = variant.disturbances.clone();
        if variant.replace || self.disturbances.is_empty() {
            course.disturbances = happenings;
        } else {
            course.responses = happenings;
        }
        course
    }

    /// The time of the first disturbance, from which drain and service are counted.
    pub fn first_trigger(&self) -> Option<SimTime> {
        self.disturbances.first().map(|disturbance| disturbance.at)
    }

    /// All that happens, numbered as the engine does.
    pub fn happenings(&self) -> impl Iterator<Item = &Disturbance> {
        self.disturbances.iter().chain(&self.responses)
    }

    /// The most backends that may be connected at any time of the run, the reserve included.
    pub fn most_backends(&self) -> u32 {
        let reserve = self.pooler.reserve.map_or(0, |reserve| reserve.size);
        self.largest_pool() + reserve
    }

    /// How many backends are connected when the run begins: all of the pool, but where the pooler must
    /// log in for a fleet that starts cold.
    pub fn backends_at_start(&self) -> u32 {
        let cold = self.fleet.initial == Initial::Cold && self.pooler.logins.is_some();
        if cold { 0 } else { self.pooler.pool_size }
    }

    /// The largest pool of the run, without the reserve.
    pub fn largest_pool(&self) -> u32 {
        let changed = self.happenings().filter_map(|happening| match happening.action {
            Action::Change { pool_size, .. } => pool_size,
            _ => None,
        });
        changed.fold(self.pooler.pool_size, u32::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_reach_every_client_once() {
        let every = Span::from_secs(60);
        let share = |share| Ratio::new(share).unwrap();
        for (waves, ends) in [
            (Waves::One, vec![367]),
            (Waves::Batches { size: 100, every }, vec![100, 200, 300, 367]),
            (
                Waves::Cohorts { shares: vec![share(0.1), share(0.4), share(0.5)], every },
                vec![37, 184, 367],
            ),
        ] {
            assert_eq!(waves.count(367) as usize, ends.len());
            let mut before = 0;
            for (wave, end) in (0..).zip(ends) {
                assert_eq!(waves.clients(wave, 367), before..end, "{waves:?}");
                before = end;
            }
        }
        assert_eq!(Waves::Batches { size: 5, every }.clients(0, 0), 0..0);
        assert_eq!(Waves::Batches { size: 5, every }.count(0), 1);
    }
}
