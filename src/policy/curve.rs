//! What a retry rule does, attempt by attempt, and what about it may surprise.

use super::{Distribution, Retry, Scope, Sequences};
use crate::units::Span;

/// The delays of a retry rule, in order of the attempts, as if each attempt failed at once. Stops are
/// not heeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The delay after each failed attempt, from the first on; it ends where the code raises.
    pub delays: Vec<Distribution>,
    /// What may surprise.
    pub surprises: Vec<Surprise>,
}

/// What about a retry rule may surprise. Attempts count from 1, spans are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Surprise {
    /// No delay has jitter.
    NoJitter,
    /// The first retry has none: it comes after exactly so long.
    FirstUnjittered(f64),
    /// In these attempts nine delays in ten or more are exactly the cap.
    JitterVanishes {
        /// The first of them.
        from: u32,
        /// The last, unless that lasts as far as was looked.
        until: Option<u32>,
        /// The cap.
        cap: f64,
    },
    /// In this attempt half of the delays or more, at most this share, are exactly the cap.
    JitterHalved {
        /// The attempt.
        from: u32,
        /// The largest share.
        share: f64,
        /// The cap.
        cap: f64,
    },
    /// This attempt may draw a delay above the cap.
    ExceedsCap {
        /// The attempt.
        from: u32,
        /// The delay.
        longest: f64,
        /// The cap.
        cap: f64,
    },
    /// No span bounds the delays.
    Unbounded,
    /// The code raises at this attempt.
    Raises(u32),
}

/// Clients that are sampled where there is no closed form.
pub const SAMPLES: u32 = 20_000;

/// Attempts that are searched for surprises, even if fewer are shown.
const SEARCHED: u32 = 40;

impl Curve {
    /// The curve of the first `attempts`; `seed` is that of the draws where it is sampled.
    pub fn of(retry: &Retry, attempts: u32, seed: u64) -> Curve {
        let raises = first_raising(retry);
        let steps = attempts.max(SEARCHED).min(raises.unwrap_or(u32::MAX));
        let exact: Vec<_> = (0..steps).map(|step| exact(retry, step)).collect();
        // What looks back is drawn from the first step on.
        let drawn = exact.iter().rposition(Option::is_none).map_or(0, |last| last + 1);
        let mut sequences = Sequences::new(retry, SAMPLES, seed).take(drawn);
        let step = |(step, exact): (u32, Option<Distribution>)| {
            let mut draws = sequences.next().unwrap_or_default();
            let cap = retry.delay.regime(step).0.cap();
            exact.unwrap_or_else(|| Distribution::sampled(&mut draws, cap))
        };
        let mut delays: Vec<Distribution> = (0..).zip(exact).map(step).collect();
        let surprises = surprises(retry, &delays, raises);
        delays.truncate(attempts as usize);
        Curve { delays, surprises }
    }

    /// The delays, each with the sum of the means so far, in seconds.
    pub fn steps(&self) -> impl Iterator<Item = (&Distribution, f64)> {
        self.delays.iter().scan(0.0, |sum, delay| {
            *sum += delay.mean;
            Some((delay, *sum))
        })
    }
}

/// The closed form of a step, if it has one.
fn exact(retry: &Retry, step: u32) -> Option<Distribution> {
    // Who shares a memory finds what others left there.
    let shared = retry.scope == Scope::Fleet && retry.delay.regime(step).0.growth().remembers();
    if shared { None } else { Distribution::exact(&retry.delay, step) }
}

/// The first step at which the code raises: in a regime it goes on doing so.
fn first_raising(retry: &Retry) -> Option<u32> {
    let delay = &retry.delay;
    let mut begin = 0u32;
    for regime in delay.regimes() {
        let end = regime.after().map_or(u32::MAX, |after| begin.saturating_add(after.retries));
        if end > begin && delay.raises(end - 1) {
            let (mut fine, mut wrong) = (begin, end - 1);
            while fine < wrong {
                let middle = fine + (wrong - fine) / 2;
                if delay.raises(middle) {
                    wrong = middle;
                } else {
                    fine = middle + 1;
                }
            }
            return Some(wrong);
        }
        begin = end;
    }
    None
}

fn surprises(retry: &Retry, delays: &[Distribution], raises: Option<u32>) -> Vec<Surprise> {
    let attempts = || (1..).zip(delays);
    let cap = |attempt: u32| {
        retry.delay.regime(attempt - 1).0.cap().map_or(f64::INFINITY, Span::as_secs_f64)
    };
    let mut found = Vec::new();
    let jittered = delays.iter().any(|delay| !delay.is_constant());
    if !jittered {
        found.push(Surprise::NoJitter);
    } else if let Some(first) = delays.first().filter(|first| first.is_constant()) {
        found.push(Surprise::FirstUnjittered(first.min));
    }
    if jittered {
        let gone = |delay: &Distribution| delay.cap_share >= 0.9;
        let most = delays.iter().map(|delay| delay.cap_share).fold(0.0, f64::max);
        if let Some((from, _)) = attempts().find(|(_, delay)| gone(delay)) {
            let last = attempts().skip(from as usize).find(|(_, delay)| !gone(delay));
            let until = last.map(|(attempt, _)| attempt - 1);
            found.push(Surprise::JitterVanishes { from, until, cap: cap(from) });
        } else if let Some((from, _)) = attempts().find(|(_, delay)| delay.cap_share >= 0.5 - 0.01)
        {
            found.push(Surprise::JitterHalved { from, share: most, cap: cap(from) });
        }
    }
    let above = |&(attempt, delay): &(u32, &Distribution)| delay.max > cap(attempt) * 1.000_01;
    if let Some((from, _)) = attempts().find(above) {
        let longest = attempts().filter(above).map(|(_, delay)| delay.max).fold(0.0, f64::max);
        found.push(Surprise::ExceedsCap { from, longest, cap: cap(from) });
    }
    if retry.delay.is_unbounded() {
        found.push(Surprise::Unbounded);
    }
    if let Some(step) = raises {
        found.push(Surprise::Raises(step.saturating_add(1)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{After, Exponential, Growth, Overflow, Pipeline, Stage, Stop};

    fn doubling(overflow: Overflow) -> Growth {
        let base = Span::from_secs(1);
        Growth::Exponential(Exponential { base, factor: 2.0, first: 0, overflow })
    }

    fn curve(growth: Growth, stages: Vec<Stage>) -> Curve {
        let delay = Pipeline::new(growth, stages, None);
        Curve::of(&Retry::new(delay, Stop::default()), 14, 1)
    }

    #[test]
    fn jitter_before_the_clamp_is_found_to_vanish_and_the_overflow_where_it_raises() {
        let cap = Stage::Clamp(Span::from_secs(20));
        let found = curve(doubling(Overflow::Raises), vec![Stage::Scale(0.0, 1.0), cap.clone()]);
        // 1 − 20/2⁷ is 84 %, 1 − 20/2⁸ is 92 %.
        let vanishes = Surprise::JitterVanishes { from: 9, until: None, cap: 20.0 };
        assert_eq!(found.surprises, [vanishes, Surprise::Raises(1_025)]);
        assert!(found.delays.iter().all(|delay| delay.exact) && found.delays.len() == 14);
        let found = curve(doubling(Overflow::Saturates), vec![cap, Stage::Scale(0.0, 1.0)]);
        assert_eq!(found.surprises, []);
        let (_, total) = found.steps().last().unwrap();
        // (1 + 2 + 4 + 8 + 16 + 9·20)/2
        assert!((total - 105.5).abs() < 1e-6, "{total}");
    }

    #[test]
    fn a_curve_says_what_else_may_surprise() {
        let cap = || Stage::Clamp(Span::from_secs(20));
        let of = |stages| curve(doubling(Overflow::Saturates), stages).surprises;
        assert_eq!(of(vec![]), [Surprise::NoJitter, Surprise::Unbounded]);
        let exceeds = Surprise::ExceedsCap { from: 5, longest: 30.0, cap: 20.0 };
        assert_eq!(of(vec![cap(), Stage::Scale(0.5, 1.5)]), [exceeds]);
        let halved = Surprise::JitterHalved { from: 6, share: 0.5, cap: 20.0 };
        assert_eq!(of(vec![cap(), Stage::Scale(0.5, 1.5), cap()]), [halved]);
        let floor = Stage::AtLeast(Span::from_secs(1));
        let first = Surprise::FirstUnjittered(1.0);
        assert_eq!(of(vec![cap(), Stage::Scale(0.5, 1.0), floor]), [first]);
    }

    #[test]
    fn a_code_that_switches_before_it_would_raise_never_does() {
        let then = Box::new(Pipeline::constant(Span::from_secs(30)));
        let after = Some(After { retries: 1_024, then });
        let delay = Pipeline::new(doubling(Overflow::Raises), vec![], after);
        assert_eq!(first_raising(&Retry::new(delay, Stop::default())), None);
    }

    #[test]
    fn a_remembering_delay_is_sampled_where_it_must_be() {
        let base = Span::from_millis(100);
        let growth = Growth::Decorrelated { base, factor: 3.0, first: base };
        let found = curve(growth, vec![Stage::Clamp(Span::from_secs(30))]);
        assert!(found.delays[0].exact && found.delays[1..].iter().all(|delay| !delay.exact));
        // U(0.1, 0.3), then a mean of (0.1 + 3·0.2)/2.
        assert!((found.delays[0].mean - 0.2).abs() < 1e-9, "{:?}", found.delays[0]);
        assert!((found.delays[1].mean - 0.35).abs() < 0.01, "{:?}", found.delays[1]);
    }

    #[test]
    fn a_first_delay_has_nothing_to_remember_but_what_others_left() {
        let (first, cap) = (Span::from_secs(1), Span::from_secs(32));
        for growth in [
            Growth::Rising { first, factor: 3.0, cap },
            Growth::Walk { first, factor: 2.0 },
            Growth::Widening { first, cap },
        ] {
            let alone = Retry::new(Pipeline::new(growth, vec![], None), Stop::default());
            let delays = Curve::of(&alone, 2, 1).delays;
            assert!(delays[0].exact && !delays[1].exact, "{delays:?}");
            assert!(delays[0].is_constant() && delays[0].mean == 1.0, "{delays:?}");
            let together = Retry { scope: Scope::Fleet, ..alone };
            assert!(!Curve::of(&together, 2, 1).delays[0].exact);
        }
        let walk = Growth::Walk { first, factor: 2.0 };
        let jittered = curve(walk, vec![Stage::Scale(0.5, 1.5)]).delays[0];
        assert_eq!((jittered.min, jittered.mean, jittered.max), (0.5, 1.0, 1.5));
        assert!(jittered.exact);
    }

    /// d·2ᵏ outgrows any cap within a few steps, even where each d is drawn: U(0, d·2ᵏ) reaches 32 s
    /// and stays there.
    #[test]
    fn a_cap_within_a_growth_is_a_cap() {
        let (first, cap) = (Span::from_secs(1), Span::from_secs(32));
        let found = curve(Growth::Widening { first, cap }, vec![]);
        assert!(found.delays[13].cap_share > 0.99, "{:?}", found.delays[13]);
        let vanishes = |surprise: &Surprise| {
            matches!(surprise, Surprise::JitterVanishes { until: None, cap: 32.0, .. })
        };
        assert!(found.surprises.iter().any(vanishes), "{:?}", found.surprises);
        // All of node-retry's draws for a step far beyond the cap are cut to it.
        let sorted = Growth::Sorted { base: first, factor: 2.0, cap, retries: 10 };
        assert_eq!(curve(sorted, vec![]).delays[9].cap_share, 1.0);
        // It never shrinks, and the cap is its limit.
        let rising = Pipeline::new(Growth::Rising { first, factor: 3.0, cap }, vec![], None);
        assert_eq!(rising.cap(), Some(cap));
        assert_eq!(Pipeline::constant(cap).cap(), None);
    }
}
