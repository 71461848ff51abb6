//! Sampling service demands, rounded to whole ticks.

use rand_distr::{Distribution, Gamma, LogNormal, Normal, Weibull};

use crate::random::Site;
use crate::scenario::Demand;
use crate::units::Span;

/// The demand that `site` draws from `law`.
#[inline(always)]
pub(super) fn sample(law: &Demand, site: Site) -> Span {
    match *law {
        Demand::Constant(span) => span,
        Demand::Exponential { mean } => {
            Span::from_ticks_f64(mean.ticks() as f64 * site.exponential())
        }
        ref other => sample_other(other, site),
    }
}

/// Draws a demand for each item, where `site` says for it, and gives it to `take`.
pub(super) fn sample_all<T>(
    law: &Demand,
    items: &mut [T],
    site: impl Fn(&T) -> Site,
    take: impl FnMut(&mut T, Span),
) {
    match *law {
        // The most common law is known where its loop is compiled.
        Demand::Exponential { mean } => {
            sample_each(&Demand::Exponential { mean }, items, site, take);
        }
        _ => sample_each(law, items, site, take),
    }
}

#[inline(always)]
fn sample_each<T>(
    law: &Demand,
    items: &mut [T],
    site: impl Fn(&T) -> Site,
    mut take: impl FnMut(&mut T, Span),
) {
    for item in items {
        take(item, sample(law, site(item)));
    }
}

#[inline(never)]
fn sample_other(law: &Demand, site: Site) -> Span {
    let ticks = |span: Span| span.ticks() as f64;
    match *law {
        Demand::Constant(_) | Demand::Exponential { .. } => sample(law, site),
        Demand::Uniform(low, high) => {
            Span::from_ticks_f64(ticks(low) + (ticks(high) - ticks(low)) * site.uniform(0))
        }
        Demand::Normal { mean, std_dev } => {
            let law = Normal::new(mean.ticks() as f64, std_dev.ticks() as f64)
                .expect("a span is a finite deviation");
            // A negative draw is no demand at all.
            Span::from_ticks_f64(law.sample(&mut site.stream()))
        }
        Demand::LogNormal { mean, sigma } => {
            // The mean of a log-normal is exp(μ + σ²/2).
            let law = LogNormal::new(-sigma * sigma / 2.0, sigma).expect("sigma is finite");
            Span::from_ticks_f64(ticks(mean) * law.sample(&mut site.stream()))
        }
        Demand::Gamma { mean, shape } => {
            let law = Gamma::new(shape, 1.0 / shape).expect("a shape is positive");
            Span::from_ticks_f64(ticks(mean) * law.sample(&mut site.stream()))
        }
        Demand::Weibull { scale, shape } => {
            let law = Weibull::new(1.0, shape).expect("a shape is positive");
            Span::from_ticks_f64(ticks(scale) * law.sample(&mut site.stream()))
        }
        Demand::Empirical(ref spans) => spans[(site.uniform(0) * spans.len() as f64) as usize],
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
            // exp(σ²) − 1 is the squared coefficient of variation.
            (Demand::LogNormal { mean: ms(170), sigma: 0.5 }, 0.17, 0.17 * 0.25f64.exp_m1().sqrt()),
            (Demand::Gamma { mean: ms(170), shape: 4.0 }, 0.17, 0.085),
            // Γ(1 + 1/2) = √π/2, and the variance is 1 − π/4.
            (Demand::Weibull { scale: ms(200), shape: 2.0 }, 0.177_245, 0.2 * 0.463_251),
            (Demand::Empirical(vec![ms(100), ms(300)]), 0.2, 0.1),
        ] {
            assert!((law.mean_secs() - mean).abs() < 1e-6, "{law:?} states its mean");
            let (m, d) = moments(law.clone());
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
