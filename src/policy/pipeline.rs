//! A delay as a pipeline: how it grows with the step, then stages in the order they are written.
//!
//! The order of clamp and jitter is visible because it is the bug: a jitter before the clamp
//! vanishes at the cap (`min(cap, U·base·2ᵏ)` is a constant once `base·2ᵏ` is far beyond the cap),
//! a jitter after it does not.
//!
//! Delays are computed in floating microseconds, saturate at [`Span::MAX`] and are rounded to a tick
//! once, at the end. They are never NaN: growth saturates before any stage multiplies it.

use serde::Serialize;

use crate::random::Site;
use crate::units::Span;

/// How the nominal delay grows with the step k = 0, 1, 2, …
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// The same at every step.
    Constant(Span),
    /// `base · factorᵏ`.
    Exponential {
        /// The delay of step 0.
        base: Span,
        /// Growth a step, at least 1.
        factor: f64,
    },
    /// Uniform between two spans at every step.
    Uniform(Span, Span),
}

/// One stage of a pipeline, applied to the delay so far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// At most this.
    Clamp(Span),
    /// Times a uniform number between two.
    Scale(f64, f64),
    /// Plus a uniform span between two.
    Add(Span, Span),
    /// Down to a whole multiple of this, as libraries that sleep whole seconds do.
    Quantise(Span),
}

/// A regime switch: after so many retries another pipeline takes over, at its own step 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct After {
    /// Steps that the first regime serves.
    pub retries: u32,
    /// The regime after it.
    pub then: Box<Pipeline>,
}

/// Growth, then stages in order, then perhaps another regime.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pipeline {
    growth: Growth,
    stages: Vec<Stage>,
    after: Option<After>,
    /// The delay in ticks at each step after growth and the clamps that directly follow it, up to
    /// the step at which it stops changing.
    #[serde(skip)]
    ramp: Vec<f64>,
    /// How many stages the ramp already includes.
    #[serde(skip)]
    ramped: usize,
}

/// Steps worth a table entry; a schedule still growing beyond it is computed.
const RAMP_LIMIT: u32 = 64;

impl Pipeline {
    /// A pipeline of `growth`, `stages` in order, and the regime `after` it.
    pub fn new(growth: Growth, stages: Vec<Stage>, after: Option<After>) -> Pipeline {
        let ramped = match growth {
            Growth::Uniform(..) => 0,
            _ => stages.iter().take_while(|stage| matches!(stage, Stage::Clamp(_))).count(),
        };
        let mut pipeline = Pipeline { growth, stages, after, ramp: Vec::new(), ramped };
        pipeline.ramp = (0..RAMP_LIMIT).map(|step| pipeline.grown(step)).collect();
        while let [.., before, last] = pipeline.ramp[..]
            && before == last
        {
            pipeline.ramp.pop();
        }
        pipeline
    }

    /// A constant delay without jitter.
    pub fn constant(span: Span) -> Pipeline {
        Pipeline::new(Growth::Constant(span), Vec::new(), None)
    }

    /// How the delay grows.
    pub fn growth(&self) -> Growth {
        self.growth
    }

    /// The stages in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The regime after this one.
    pub fn after(&self) -> Option<&After> {
        self.after.as_ref()
    }

    /// The delay of `step`, with the jitter that `site` draws.
    #[inline]
    pub fn delay(&self, step: u32, site: Site) -> Span {
        match &self.after {
            Some(after) if step >= after.retries => after.then.delay(step - after.retries, site),
            _ => self.delay_within(step, site),
        }
    }

    #[inline]
    fn delay_within(&self, step: u32, site: Site) -> Span {
        let mut lanes = 0u8..;
        let mut uniform = |low: f64, high: f64| {
            let lane = lanes.next().expect("a pipeline has fewer than 256 stages");
            low + (high - low) * site.uniform(lane)
        };
        let mut ticks = match self.growth {
            Growth::Uniform(low, high) => uniform(low.ticks() as f64, high.ticks() as f64),
            _ => self.ramp_at(step),
        };
        for stage in &self.stages[self.ramped..] {
            ticks = match *stage {
                Stage::Clamp(cap) => ticks.min(cap.ticks() as f64),
                Stage::Scale(low, high) => ticks * uniform(low, high),
                Stage::Add(low, high) => ticks + uniform(low.ticks() as f64, high.ticks() as f64),
                Stage::Quantise(step) => quantise(ticks, step),
            };
        }
        Span::from_ticks_f64(ticks)
    }

    /// The delay of `step` with its jitter left out: growth and clamps only, a uniform growth by its
    /// mean.
    pub fn nominal(&self, step: u32) -> Span {
        if let Some(after) = &self.after
            && step >= after.retries
        {
            return after.then.nominal(step - after.retries);
        }
        let grown = match self.growth {
            Growth::Uniform(low, high) => (low.ticks() as f64 + high.ticks() as f64) / 2.0,
            _ => self.ramp_at(step),
        };
        Span::from_ticks_f64(self.stages.iter().fold(grown, |ticks, stage| match stage {
            Stage::Clamp(cap) => ticks.min(cap.ticks() as f64),
            Stage::Scale(..) | Stage::Add(..) | Stage::Quantise(_) => ticks,
        }))
    }

    /// The step after `step`; a schedule that no longer changes stays where it is.
    #[inline]
    pub fn advance(&self, step: u32) -> u32 {
        if self.after.is_none() && self.settled(step) { step } else { step.saturating_add(1) }
    }

    /// The first step whose nominal delay is at least `interval`, or the last that differs.
    pub fn step_reaching(&self, interval: Span) -> u32 {
        let mut step = 0;
        while self.nominal(step) < interval && step < 4 * RAMP_LIMIT {
            let next = self.advance(step);
            if next == step {
                break;
            }
            step = next;
        }
        step
    }

    /// The longest delay that step 0 can draw. Growth never shrinks, so a pipeline for which it is zero
    /// may let no time pass at all.
    pub fn longest_first(&self) -> Span {
        let grown = match self.growth {
            Growth::Constant(span) | Growth::Exponential { base: span, .. } => span,
            Growth::Uniform(_, high) => high,
        };
        Span::from_ticks_f64(self.stages.iter().fold(grown.ticks() as f64, |ticks, stage| {
            match *stage {
                Stage::Clamp(cap) => ticks.min(cap.ticks() as f64),
                Stage::Scale(_, high) => ticks * high,
                Stage::Add(_, high) => ticks + high.ticks() as f64,
                Stage::Quantise(step) => quantise(ticks, step),
            }
        }))
    }

    /// Whether every regime of this pipeline lets time pass.
    pub fn can_pass_time(&self) -> bool {
        let then = self.after.as_ref().map(|after| &after.then);
        self.longest_first() > Span::ZERO && then.is_none_or(|then| then.can_pass_time())
    }

    fn settled(&self, step: u32) -> bool {
        step as usize + 1 >= self.ramp.len() && self.ramp.len() < RAMP_LIMIT as usize
    }

    #[inline]
    fn ramp_at(&self, step: u32) -> f64 {
        match self.ramp.get(step as usize) {
            Some(&ticks) => ticks,
            None if self.ramp.len() < RAMP_LIMIT as usize => self.ramp[self.ramp.len() - 1],
            None => self.grown(step),
        }
    }

    /// Growth and the clamps that directly follow it.
    fn grown(&self, step: u32) -> f64 {
        let grown = match self.growth {
            Growth::Constant(span) => span.ticks() as f64,
            Growth::Exponential { base, factor } => {
                let grown = base.ticks() as f64 * libm::pow(factor, f64::from(step));
                // Zero times infinity, where a factor overflows before its base counts.
                if grown.is_nan() { 0.0 } else { grown.min(Span::MAX.ticks() as f64) }
            }
            Growth::Uniform(..) => 0.0,
        };
        self.stages[..self.ramped].iter().fold(grown, |ticks, stage| match stage {
            Stage::Clamp(cap) => ticks.min(cap.ticks() as f64),
            Stage::Scale(..) | Stage::Add(..) | Stage::Quantise(_) => ticks,
        })
    }
}

/// Down to a whole multiple of `step`.
fn quantise(ticks: f64, step: Span) -> f64 {
    let step = step.ticks() as f64;
    libm::floor(ticks / step) * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Moment, Purpose, World};
    use proptest::prelude::*;

    fn sites(n: u32) -> impl Iterator<Item = Site> {
        let world = World::new(7, 0);
        (0..n).map(move |client| world.site(Purpose::RetryJitter, client, Moment::default()))
    }

    fn secs(seconds: u64) -> Span {
        Span::from_secs(seconds)
    }

    fn doubling(stages: Vec<Stage>) -> Pipeline {
        Pipeline::new(Growth::Exponential { base: secs(1), factor: 2.0 }, stages, None)
    }

    #[test]
    fn jitter_before_the_clamp_vanishes_at_the_cap_and_after_it_does_not() {
        let before = doubling(vec![Stage::Scale(0.5, 1.0), Stage::Clamp(secs(30))]);
        let after = doubling(vec![Stage::Clamp(secs(30)), Stage::Scale(0.5, 1.0)]);
        assert!(sites(100).all(|site| before.delay(6, site) == secs(30)));
        let delays: Vec<Span> = sites(100).map(|site| after.delay(6, site)).collect();
        assert!(delays.iter().all(|&d| secs(15) <= d && d < secs(30)));
        assert!(delays.iter().any(|&d| d != delays[0]));
    }

    /// tenacity's `wait_exponential_jitter(initial=0.1, max=2)`: U[.1,1.1], U[.2,1.2], U[.4,1.4],
    /// U[.8,1.8], [1.6, 2] clipped, then 2 flat.
    #[test]
    fn tenacitys_curve_loses_its_jitter_at_the_sixth_retry() {
        let delay = Pipeline::new(
            Growth::Exponential { base: Span::from_millis(100), factor: 2.0 },
            vec![Stage::Add(Span::ZERO, secs(1)), Stage::Clamp(secs(2))],
            None,
        );
        for (step, low, high) in
            [(0, 100, 1_100), (1, 200, 1_200), (2, 400, 1_400), (3, 800, 1_800)]
        {
            let (low, high) = (Span::from_millis(low), Span::from_millis(high));
            assert!(sites(200).all(|s| (low..=high).contains(&delay.delay(step, s))));
        }
        assert!(sites(200).any(|site| delay.delay(4, site) < secs(2)));
        assert!(sites(200).all(|site| delay.delay(5, site) == secs(2)));
    }

    #[test]
    fn a_regime_switch_takes_over_after_its_retries() {
        let then = Pipeline::new(Growth::Uniform(secs(24), secs(30)), vec![], None);
        let pipeline = Pipeline::new(
            Growth::Constant(secs(1)),
            vec![],
            Some(After { retries: 10, then: Box::new(then) }),
        );
        for site in sites(50) {
            assert_eq!(pipeline.delay(9, site), secs(1));
            assert!((secs(24)..=secs(30)).contains(&pipeline.delay(10, site)));
        }
        assert_eq!(pipeline.nominal(10), secs(27));
    }

    #[test]
    fn a_warm_client_stands_on_the_step_that_reaches_its_interval() {
        let ramp = doubling(vec![Stage::Clamp(secs(30)), Stage::Scale(0.5, 1.5)]);
        assert_eq!(ramp.step_reaching(secs(30)), 5);
        assert_eq!(ramp.step_reaching(secs(3)), 2);
        assert_eq!(ramp.step_reaching(secs(900)), 5);
        assert_eq!(Pipeline::constant(secs(15)).step_reaching(secs(30)), 0);
    }

    #[test]
    fn a_quantised_delay_is_a_whole_multiple() {
        let ticks = |stages| Pipeline::new(Growth::Constant(secs(10)), stages, None);
        let jittered = ticks(vec![Stage::Scale(0.5, 1.5), Stage::Quantise(secs(1))]);
        for site in sites(200) {
            let delay = jittered.delay(0, site).ticks();
            assert!(delay.is_multiple_of(1_000_000) && (5_000_000..15_000_000).contains(&delay));
        }
    }

    fn any_span() -> impl Strategy<Value = Span> {
        prop_oneof![Just(0), 0..10_000_000u64, Just(Span::MAX.ticks())].prop_map(Span::from_ticks)
    }

    fn any_stage() -> impl Strategy<Value = Stage> {
        prop_oneof![
            any_span().prop_map(Stage::Clamp),
            (0.0..1.0f64, 0.0..3.0f64).prop_map(|(low, more)| Stage::Scale(low, low + more)),
            (any_span(), any_span()).prop_map(|(low, more)| Stage::Add(low, low + more)),
        ]
    }

    proptest! {
        #[test]
        fn no_step_overflows_and_a_final_clamp_holds(
            base in any_span(),
            factor in prop_oneof![1.0..10.0f64, Just(1e300)],
            stages in prop::collection::vec(any_stage(), 0..5),
            cap in any_span(),
            step in prop_oneof![0..70u32, Just(u32::MAX)],
        ) {
            let growth = Growth::Exponential { base, factor };
            let mut clamped = stages.clone();
            clamped.push(Stage::Clamp(cap));
            let free = Pipeline::new(growth, stages, None);
            let clamped = Pipeline::new(growth, clamped, None);
            for site in sites(3) {
                prop_assert!(free.delay(step, site) <= Span::MAX);
                prop_assert!(clamped.delay(step, site) <= cap);
                prop_assert_eq!(clamped.delay(step, site), free.delay(step, site).min(cap));
            }
        }
    }
}
