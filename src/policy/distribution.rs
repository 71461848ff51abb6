//! The distribution of a delay: exact where it has a closed form, sampled otherwise.
//!
//! A delay whose growth and stages draw at most one number, apart from clamps, is a clamped uniform
//! number: its moments and quantiles are known. Everything else is sampled. What remembers the delay
//! before has a closed form at the first step at most, where there is none.

use super::growth::ticks;
use super::{Growth, Pipeline, Stage};
use crate::units::Span;

/// The distribution of one delay, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// The shortest.
    pub min: f64,
    /// One in ten is not longer.
    pub p10: f64,
    /// Half are not longer.
    pub p50: f64,
    /// The mean.
    pub mean: f64,
    /// Nine in ten are not longer.
    pub p90: f64,
    /// The longest.
    pub max: f64,
    /// The share that is exactly as long as the cap.
    pub cap_share: f64,
    /// Whether this is a closed form.
    pub exact: bool,
}

/// A number uniform in [from, to], then moved into [low, high]; all in ticks.
#[derive(Clone, Copy, Debug)]
struct Clamped {
    from: f64,
    to: f64,
    low: f64,
    high: f64,
}

impl Distribution {
    /// That of a pipeline's `step` in closed form, if it has one; nothing came before step 0.
    pub fn exact(delay: &Pipeline, step: u32) -> Option<Distribution> {
        let (regime, within) = delay.regime(step);
        let law = match step {
            0 => Clamped::of_first(regime)?,
            _ => Clamped::of(regime, within)?,
        };
        let secs = |ticks: f64| Span::from_ticks_f64(ticks).as_secs_f64();
        Some(Distribution {
            min: secs(law.quantile(0.0)),
            p10: secs(law.quantile(0.1)),
            p50: secs(law.quantile(0.5)),
            mean: secs(law.mean()),
            p90: secs(law.quantile(0.9)),
            max: secs(law.quantile(1.0)),
            cap_share: regime.cap().map_or(0.0, |cap| law.share_at(ticks(cap))),
            exact: true,
        })
    }

    /// That of these delays, which it sorts, under the cap in force; of none it is all zero.
    pub fn sampled(delays: &mut [Span], cap: Option<Span>) -> Distribution {
        delays.sort_unstable();
        let n = delays.len();
        let rank = |share: f64| delays.get((share * n as f64) as usize).or(delays.last());
        let quantile = |share| rank(share).map_or(0.0, |delay| delay.as_secs_f64());
        let sum: f64 = delays.iter().map(|delay| delay.as_secs_f64()).sum();
        let capped = delays.iter().filter(|&&delay| Some(delay) == cap).count();
        let share = |part: f64| if n == 0 { 0.0 } else { part / n as f64 };
        Distribution {
            min: quantile(0.0),
            p10: quantile(0.1),
            p50: quantile(0.5),
            mean: share(sum),
            p90: quantile(0.9),
            max: quantile(1.0),
            cap_share: share(capped as f64),
            exact: false,
        }
    }

    /// Whether there is no jitter.
    pub fn is_constant(&self) -> bool {
        self.min == self.max
    }
}

impl Pipeline {
    /// The last clamp of this regime; without one what its growth ends at.
    pub fn cap(&self) -> Option<Span> {
        let clamp = self.stages().iter().rev().find_map(|stage| match *stage {
            Stage::Clamp(cap) | Stage::Rejitter { cap, .. } => Some(cap),
            _ => None,
        });
        clamp.or(self.growth().cap())
    }

    /// Whether no span bounds its delays.
    pub fn is_unbounded(&self) -> bool {
        let last = self.regimes().last().unwrap_or(self);
        let adds = last.stages().iter().any(|stage| match stage {
            Stage::Plus(other) => other.is_unbounded(),
            _ => false,
        });
        (last.growth().is_unbounded() && last.cap().is_none()) || adds
    }
}

impl Clamped {
    fn of(regime: &Pipeline, step: u32) -> Option<Clamped> {
        let start = match *regime.growth() {
            Growth::Uniform(low, high) => Clamped::uniform(ticks(low), ticks(high)),
            ref growth => Clamped::point(growth.at(step)?),
        };
        start.through(regime.stages(), step)
    }

    /// The same before the first retry: a growth that remembers has nothing to remember yet, and is
    /// uniform in its range or one point.
    fn of_first(regime: &Pipeline) -> Option<Clamped> {
        if !regime.growth().remembers() {
            return Clamped::of(regime, 0);
        }
        let (low, high) = regime.growth().range(0);
        Clamped::uniform(low, high).through(regime.stages(), 0)
    }

    fn point(value: f64) -> Clamped {
        Clamped::uniform(value, value)
    }

    fn uniform(from: f64, to: f64) -> Clamped {
        Clamped { from, to, low: 0.0, high: f64::INFINITY }
    }

    /// The only value, if there is but one.
    fn value(&self) -> Option<f64> {
        (self.quantile(0.0) == self.quantile(1.0)).then(|| self.quantile(0.0))
    }

    fn through(self, stages: &[Stage], step: u32) -> Option<Clamped> {
        stages.iter().try_fold(self, |law, stage| law.then(stage, step))
    }

    fn then(self, stage: &Stage, step: u32) -> Option<Clamped> {
        if let Stage::Clamp(_) | Stage::AtLeast(_) = stage {
            let (low, high) = stage.range((self.low, self.high), step);
            return Some(Clamped { low, high, ..self });
        }
        let value = self.value();
        match (stage, value) {
            (Stage::Quantise(_) | Stage::Round(_), Some(value)) => {
                Some(Clamped::point(stage.range((value, value), step).0))
            }
            (
                Stage::Scale(..)
                | Stage::ScalePerSequence(..)
                | Stage::ScalePerClient(..)
                | Stage::Add(..)
                | Stage::Between(_),
                Some(value),
            ) => {
                let (from, to) = stage.range((value, value), step);
                Some(Clamped::uniform(from, to))
            }
            (&Stage::Rejitter { cap, scale: (low, high) }, Some(value)) => Some(match value {
                above if above > ticks(cap) => {
                    Clamped::uniform(low * ticks(cap), high * ticks(cap))
                }
                value => Clamped::point(value),
            }),
            (&Stage::Scale(low, high), None) if low == high => Some(Clamped {
                from: low * self.from,
                to: low * self.to,
                low: low * self.low,
                high: if low > 0.0 { low * self.high } else { 0.0 },
            }),
            (&Stage::Add(low, high), None) if low == high => {
                let more = ticks(low);
                Some(Clamped {
                    from: self.from + more,
                    to: self.to + more,
                    low: self.low + more,
                    high: self.high + more,
                })
            }
            _ => None,
        }
    }

    fn quantile(&self, share: f64) -> f64 {
        (self.from + (self.to - self.from) * share).max(self.low).min(self.high)
    }

    /// ∫ over the share of the quantile: constant, rising, constant.
    fn mean(&self) -> f64 {
        let width = self.to - self.from;
        if width <= 0.0 {
            return self.quantile(0.0);
        }
        let below = ((self.low - self.from) / width).clamp(0.0, 1.0);
        let upto = ((self.high - self.from) / width).clamp(below, 1.0);
        let between = (self.quantile(below) + self.quantile(upto)) / 2.0;
        below * self.quantile(0.0) + (upto - below) * between + (1.0 - upto) * self.quantile(1.0)
    }

    fn share_at(&self, cap: f64) -> f64 {
        match self.value() {
            Some(value) => f64::from(value == cap),
            None if self.high == cap => ((self.to - cap) / (self.to - self.from)).clamp(0.0, 1.0),
            None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Past;
    use super::*;
    use crate::random::{Moment, Purpose, World};

    /// The closed form against 200,000 draws of the same step.
    #[test]
    fn the_closed_form_is_what_draws_tend_to() {
        let ms = Span::from_millis;
        let stages = [
            vec![Stage::Scale(0.0, 1.0), Stage::Clamp(ms(5_000))],
            vec![Stage::Clamp(ms(5_000)), Stage::Scale(0.5, 1.5)],
            vec![Stage::Scale(0.5, 2.0), Stage::AtLeast(ms(6_000)), Stage::Clamp(ms(9_000))],
            vec![Stage::Add(ms(1), ms(500)), Stage::Add(ms(7), ms(7)), Stage::Scale(2.0, 2.0)],
            vec![Stage::Rejitter { cap: ms(3_000), scale: (0.5, 1.0) }],
            vec![Stage::Clamp(ms(300)), Stage::Between(ms(100)), Stage::Clamp(ms(200))],
        ];
        for stages in stages {
            let delay = Pipeline::new(Growth::exponential(ms(1_000), 2.0), stages, None);
            let exact = Distribution::exact(&delay, 3).unwrap();
            let world = World::new(5, 0);
            let draw = |client| {
                let site = world.site(Purpose::RetryJitter, client, Moment::default());
                delay.delay(3, Past::default(), site)
            };
            let mut draws: Vec<Span> = (0..200_000).map(draw).collect();
            let sampled = Distribution::sampled(&mut draws, delay.cap());
            let close = |a: f64, b: f64| (a - b).abs() <= 0.01 * exact.max;
            let pairs = [
                (exact.min, sampled.min),
                (exact.p10, sampled.p10),
                (exact.p50, sampled.p50),
                (exact.mean, sampled.mean),
                (exact.p90, sampled.p90),
                (exact.max, sampled.max),
            ];
            assert!(pairs.iter().all(|&(a, b)| close(a, b)), "{exact:?} {sampled:?}");
            assert!((exact.cap_share - sampled.cap_share).abs() < 0.01, "{exact:?} {sampled:?}");
        }
    }

    #[test]
    fn two_draws_have_no_closed_form() {
        let twice = vec![Stage::Scale(0.0, 1.0), Stage::Scale(0.5, 1.0)];
        let delay = Pipeline::new(Growth::Constant(Span::from_secs(1)), twice, None);
        assert_eq!(Distribution::exact(&delay, 0), None);
    }
}
