//! Sampling service demands, rounded to whole ticks.

use rand_distr::{Distribution, Normal};

use crate::random::Site;
use crate::scenario::Demand;
use crate::units::Span;

/// The demand that `site` draws from `law`.
#[inline]
pub(super) fn sample(law: &Demand, site: Site) -> Span {
    match *law {
        Demand::Constant(span) => span,
        Demand::Exponential { mean } => {
            Span::from_ticks_f64(mean.ticks() as f64 * site.exponential())
        }
        Demand::Uniform(low, high) => {
            let (low, high) = (low.ticks() as f64, high.ticks() as f64);
            Span::from_ticks_f64(low + (high - low) * site.uniform(0))
        }
        Demand::Normal { mean, std_dev } => {
            let law = Normal::new(mean.ticks() as f64, std_dev.ticks() as f64)
                .expect("a span is a finite deviation");
            // A negative draw is no demand at all.
            Span::from_ticks_f64(law.sample(&mut site.stream()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Moment, Purpose, World};

    fn moments(law: Demand) -> (f64, f64) {
        let world = World::new(11, 0);
        let n = 100_000;
        let draws: Vec<f64> = (0..n)
            .map(|client| {
                let site = world.site(Purpose::Demand, client, Moment::default());
                sample(&law, site).as_secs_f64()
            })
            .collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        (mean, variance.sqrt())
    }

    #[test]
    fn each_law_has_its_mean_and_deviation() {
        let ms = Span::from_millis;
        for (law, mean, deviation) in [
            (Demand::Constant(ms(170)), 0.170, 0.0),
            (Demand::Exponential { mean: ms(170) }, 0.170, 0.170),
            (Demand::Uniform(ms(100), ms(400)), 0.250, 0.3 / 12f64.sqrt()),
            (Demand::Normal { mean: ms(500), std_dev: ms(50) }, 0.5, 0.05),
        ] {
            let (m, d) = moments(law);
            assert!((m - mean).abs() <= 0.01 * mean, "{law:?} has mean {m}");
            assert!((d - deviation).abs() <= 0.02 * deviation + 1e-9, "{law:?} deviates {d}");
        }
    }

    #[test]
    fn a_normal_demand_is_never_negative() {
        let (mean, _) = moments(Demand::Normal { mean: Span::ZERO, std_dev: Span::from_secs(1) });
        // Half of it is cut off: the mean of max(0, N(0, 1)) is 1/√(2π) = 0.39894.
        assert!((mean - 0.398_94).abs() < 0.01, "mean {mean}");
    }
}
