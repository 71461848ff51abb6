//! A delay as a pipeline: how it grows with the step, then stages in the order they are written.
//!
//! The order of clamp and jitter is visible because it is the bug: a jitter before the clamp
//! vanishes at the cap (`min(cap, U·base·2ᵏ)` is a constant once `base·2ᵏ` is far beyond the cap),
//! a jitter after it does not.
//!
//! Delays are computed in floating microseconds, saturate at [`Span::MAX`] and are rounded to a tick
//! once, at the end. They are never NaN: growth saturates before any stage multiplies it, and so does
//! the delay after each.

use serde::Serialize;

use super::growth::{Draws, Growth, MOST, Past, ticks};
use super::stage::Stage;
use crate::random::Site;
use crate::units::Span;

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
    /// the step at which it stops changing; empty where the growth draws.
    #[serde(skip)]
    ramp: Vec<f64>,
    /// The first step at which nothing changes any more, without end where there is none.
    #[serde(skip)]
    settles: u32,
    /// How many stages the ramp already includes.
    #[serde(skip)]
    ramped: usize,
    /// What becomes of the ramp, if that is all there is.
    #[serde(skip)]
    jitter: Option<Jitter>,
    /// Whether it or a regime after it needs the delay before.
    #[serde(skip)]
    remembers: bool,
}

/// What one draw makes of a delay, and the longest that may come of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jitter {
    /// Whether what is drawn is added, in ticks; else it is a factor.
    adds: bool,
    /// The least that is drawn, and how much more that may be.
    least: f64,
    more: f64,
    cap: f64,
}

/// Steps worth a table entry; a schedule still growing beyond it is computed.
const RAMP_LIMIT: u32 = 64;

impl Pipeline {
    /// A pipeline of `growth`, `stages` in order, and the regime `after` it.
    pub fn new(growth: Growth, stages: Vec<Stage>, after: Option<After>) -> Pipeline {
        let ramped = match growth.at(0) {
            None => 0,
            Some(_) => stages.iter().take_while(|stage| stage.is_clamp()).count(),
        };
        let jitter = Jitter::of(&stages[ramped..]).filter(|_| after.is_none());
        let remembers =
            growth.remembers() || after.as_ref().is_some_and(|after| after.then.remembers);
        let mut pipeline = Pipeline {
            growth,
            stages,
            after,
            ramp: Vec::new(),
            settles: u32::MAX,
            ramped,
            jitter,
            remembers,
        };
        pipeline.ramp = (0..RAMP_LIMIT).filter_map(|step| pipeline.grown(step)).collect();
        // Growth never shrinks but in a table: who stands at his last value will stay there.
        let is_whole = match &pipeline.growth {
            Growth::Table(spans) => spans.len() <= RAMP_LIMIT as usize,
            _ => pipeline.ramp.last().copied() == pipeline.grown(u32::MAX),
        };
        while let [.., before, last] = pipeline.ramp[..]
            && before == last
            && is_whole
        {
            pipeline.ramp.pop();
        }
        pipeline.settles = match pipeline.ramp.len() as u32 {
            0 if matches!(pipeline.growth, Growth::Uniform(..)) => 0,
            0 | RAMP_LIMIT.. => u32::MAX,
            steps => steps - 1,
        };
        pipeline
    }

    /// A constant delay without jitter.
    pub fn constant(span: Span) -> Pipeline {
        Pipeline::new(Growth::Constant(span), Vec::new(), None)
    }

    /// How the delay grows.
    pub fn growth(&self) -> &Growth {
        &self.growth
    }

    /// The stages in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The regime after this one.
    pub fn after(&self) -> Option<&After> {
        self.after.as_ref()
    }

    /// The delay in ticks of each step up to the last that differs, and what becomes of it, if that is all
    /// there is to it.
    pub(super) fn jittered(&self) -> Option<(&[f64], Jitter)> {
        let is_known = self.settles as usize + 1 == self.ramp.len();
        self.jitter.filter(|_| is_known).map(|jitter| (&self.ramp[..], jitter))
    }

    /// The first step at which nothing changes any more.
    pub(super) fn settles(&self) -> u32 {
        self.settles
    }

    /// The delay of `step`, with the jitter that `site` draws. Growths that look back need `site` to be
    /// that of the attempt number `step`.
    #[inline(always)]
    pub fn delay(&self, step: u32, past: Past, site: Site) -> Span {
        // Most schedules are of one regime, and jittered so.
        if let Some(jitter) = self.jitter
            && let Some(&ticks) = self.ramp.get(step.min(self.settles) as usize)
        {
            return jitter.delay(ticks, site);
        }
        self.any_delay(step, past, site)
    }

    #[inline(never)]
    fn any_delay(&self, step: u32, past: Past, site: Site) -> Span {
        let (regime, step) = self.regime(step);
        Span::from_ticks_f64(regime.draw(step, past, &mut Draws::new(site)))
    }

    /// The delay of `step` in ticks, whatever regime comes after this one.
    #[inline]
    pub(super) fn draw(&self, step: u32, past: Past, draws: &mut Draws) -> f64 {
        let mut ticks = match self.ramp.is_empty() {
            true => self.growth.draw(step, past, draws).min(MOST),
            false => self.ramp_at(step),
        };
        for stage in &self.stages[self.ramped..] {
            ticks = stage.apply(ticks, step, past, draws).min(MOST);
        }
        ticks
    }

    /// The regime in force at `step`, and how far that is into it.
    #[inline]
    pub fn regime(&self, step: u32) -> (&Pipeline, u32) {
        match &self.after {
            Some(after) if step >= after.retries => after.then.regime(step - after.retries),
            _ => (self, step),
        }
    }

    /// This regime and those after it.
    pub fn regimes(&self) -> impl Iterator<Item = &Pipeline> {
        std::iter::successors(Some(self), |regime| regime.after.as_ref().map(|after| &*after.then))
    }

    /// The shortest and the longest delay that `step` can draw, whatever came before.
    pub fn range(&self, step: u32) -> (Span, Span) {
        let (regime, step) = self.regime(step);
        let (low, high) = regime.range_in_ticks(step);
        (Span::from_ticks_f64(low), Span::from_ticks_f64(high))
    }

    /// The shortest delay that any step can draw, or zero where it goes on changing for long.
    pub fn shortest(&self) -> Span {
        let steps = 0..=RAMP_LIMIT;
        let settles = self.after.is_none() && self.settles <= RAMP_LIMIT;
        let shortest = steps.filter(|_| settles).map(|step| self.range(step).0).min();
        shortest.unwrap_or(Span::ZERO)
    }

    /// The range of this regime's `step`.
    pub(super) fn range_in_ticks(&self, step: u32) -> (f64, f64) {
        self.stages.iter().fold(self.growth.range(step), |range, stage| {
            let (low, high) = stage.range(range, step);
            (low.min(MOST), high.min(MOST))
        })
    }

    /// The delay of `step` with its jitter left out: growth and clamps only, a growth that draws by
    /// the middle of its range.
    pub fn nominal(&self, step: u32) -> Span {
        let (regime, step) = self.regime(step);
        let (low, high) = regime.growth.range(step);
        let clamped = regime.stages.iter().fold((low + high) / 2.0, |ticks, stage| match stage {
            Stage::Clamp(_) | Stage::AtLeast(_) => stage.range((ticks, ticks), step).0,
            _ => ticks,
        });
        Span::from_ticks_f64(clamped)
    }

    /// The mean delay that `step` draws, as far as each jitter is uniform over its range, by the midpoints
    /// of its parts.
    pub fn mean(&self, step: u32) -> Span {
        const PARTS: u32 = 64;
        const MOST_VALUES: usize = 4_096;
        let (regime, step) = self.regime(step);
        let spread = |values: Vec<f64>, range: &dyn Fn(f64) -> (f64, f64)| -> Vec<f64> {
            let may_split = values.len() < MOST_VALUES;
            let midpoints = |value: f64| {
                let (low, high) = range(value);
                let parts = if may_split && low < high { PARTS } else { 1 };
                let part = (high - low) / f64::from(parts);
                (0..parts).map(move |index| (low + (f64::from(index) + 0.5) * part).min(MOST))
            };
            values.into_iter().flat_map(midpoints).collect()
        };
        let grown = spread(vec![0.0], &|_| regime.growth.range(step));
        let values = regime.stages.iter().fold(grown, |values, stage| {
            spread(values, &|value| stage.range((value, value), step))
        });
        Span::from_ticks_f64(values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The step after `step`; a schedule that no longer changes stays where it is.
    #[inline]
    pub fn advance(&self, step: u32) -> u32 {
        let stays = self.after.is_none() && step >= self.settles;
        if stays { step } else { step.saturating_add(1) }
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

    /// Whether every regime of this pipeline lets time pass from its first step on.
    pub fn can_pass_time(&self) -> bool {
        self.regimes().all(|regime| regime.range_in_ticks(0).1 >= 0.5)
    }

    /// Whether who goes on and on from step to step lets time pass: a short regime need not.
    pub fn passes_time_at_last(&self) -> bool {
        self.regimes().all(|regime| {
            let short = regime.after.as_ref().is_some_and(|after| after.retries <= RAMP_LIMIT);
            short || regime.range_in_ticks(RAMP_LIMIT).1 >= 0.5
        })
    }

    /// Whether it depends on more than the step and the site: then it is no poll schedule.
    pub fn looks_back(&self) -> bool {
        let within = |regime: &Pipeline| {
            regime.growth.looks_back() || regime.stages.iter().any(Stage::looks_back)
        };
        self.regimes().any(within)
    }

    /// Whether the delay before must be kept for it, or for a regime after it.
    #[inline]
    pub fn remembers(&self) -> bool {
        self.remembers
    }

    /// Whether the code that it stands for raises instead of giving the delay of `step`.
    pub fn raises(&self, step: u32) -> bool {
        let (regime, step) = self.regime(step);
        regime.growth.raises(step)
    }

    #[inline]
    fn ramp_at(&self, step: u32) -> f64 {
        match self.ramp.get(step.min(self.settles) as usize) {
            Some(&ticks) => ticks,
            None => self.grown(step).expect("a ramp depends on the step alone"),
        }
    }

    /// Growth and the clamps that directly follow it, where that depends on the step alone.
    fn grown(&self, step: u32) -> Option<f64> {
        let grown = self.growth.at(step)?;
        let clamps = self.stages[..self.ramped].iter();
        Some(clamps.fold(grown, |ticks, stage| stage.range((ticks, ticks), step).0))
    }
}

impl Jitter {
    /// The jitter that these stages are, if they are of that kind.
    fn of(stages: &[Stage]) -> Option<Jitter> {
        let (first, rest) = stages.split_first()?;
        let (adds, low, high) = match *first {
            Stage::Scale(low, high) => (false, low, high),
            Stage::Add(low, high) => (true, ticks(low), ticks(high)),
            _ => return None,
        };
        let cap = match *rest {
            [] => MOST,
            [Stage::Clamp(cap)] => ticks(cap),
            _ => return None,
        };
        Some(Jitter { adds, least: low, more: high - low, cap })
    }

    /// What becomes of so many ticks by what `site` draws.
    #[inline(always)]
    pub fn delay(self, ticks: f64, site: Site) -> Span {
        let drawn = self.least + self.more * site.uniform(0);
        let jittered = if self.adds { ticks + drawn } else { ticks * drawn };
        // One instruction; `min` would look for NaN, which there is none.
        Span::from_ticks_f64(if jittered < self.cap { jittered } else { self.cap })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Exponential, Overflow};
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
        Pipeline::new(Growth::exponential(secs(1), 2.0), stages, None)
    }

    #[test]
    fn jitter_before_the_clamp_vanishes_at_the_cap_and_after_it_does_not() {
        let before = doubling(vec![Stage::Scale(0.5, 1.0), Stage::Clamp(secs(30))]);
        let after = doubling(vec![Stage::Clamp(secs(30)), Stage::Scale(0.5, 1.0)]);
        assert!(sites(100).all(|site| before.delay(6, Past::default(), site) == secs(30)));
        let delays: Vec<Span> =
            sites(100).map(|site| after.delay(6, Past::default(), site)).collect();
        assert!(delays.iter().all(|&d| secs(15) <= d && d < secs(30)));
        assert!(delays.iter().any(|&d| d != delays[0]));
    }

    /// tenacity's `wait_exponential_jitter(initial=0.1, max=2)`: U[.1,1.1], U[.2,1.2], U[.4,1.4],
    /// U[.8,1.8], [1.6, 2] clipped, then 2 flat.
    #[test]
    fn tenacitys_curve_loses_its_jitter_at_the_sixth_retry() {
        let delay = Pipeline::new(
            Growth::exponential(Span::from_millis(100), 2.0),
            vec![Stage::Add(Span::ZERO, secs(1)), Stage::Clamp(secs(2))],
            None,
        );
        for (step, low, high) in
            [(0, 100, 1_100), (1, 200, 1_200), (2, 400, 1_400), (3, 800, 1_800)]
        {
            let (low, high) = (Span::from_millis(low), Span::from_millis(high));
            assert!(sites(200).all(|s| (low..=high).contains(&delay.delay(
                step,
                Past::default(),
                s
            ))));
        }
        assert!(sites(200).any(|site| delay.delay(4, Past::default(), site) < secs(2)));
        assert!(sites(200).all(|site| delay.delay(5, Past::default(), site) == secs(2)));
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
            assert_eq!(pipeline.delay(9, Past::default(), site), secs(1));
            assert!((secs(24)..=secs(30)).contains(&pipeline.delay(10, Past::default(), site)));
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
            let delay = jittered.delay(0, Past::default(), site).ticks();
            assert!(delay.is_multiple_of(1_000_000) && (5_000_000..15_000_000).contains(&delay));
        }
    }

    fn any_span() -> impl Strategy<Value = Span> {
        prop_oneof![Just(0), 0..10_000_000u64, Just(Span::MAX.ticks())].prop_map(Span::from_ticks)
    }

    fn any_factor() -> impl Strategy<Value = f64> {
        prop_oneof![1.0..10.0f64, Just(1.0), Just(1e300)]
    }

    fn any_scale() -> impl Strategy<Value = (f64, f64)> {
        (0.0..1.0f64, prop_oneof![0.0..3.0f64, Just(1e6)]).prop_map(|(low, more)| (low, low + more))
    }

    fn any_spans() -> impl Strategy<Value = (Span, Span)> {
        (any_span(), any_span()).prop_map(|(low, more)| (low, low + more))
    }

    fn any_growth() -> impl Strategy<Value = Growth> {
        let law = || {
            (any_span(), any_factor(), -1_000..1_000i32, any::<bool>()).prop_map(
                |(base, factor, first, raises)| {
                    let overflow = if raises { Overflow::Raises } else { Overflow::Saturates };
                    Exponential { base, factor, first, overflow }
                },
            )
        };
        let pair = || (any_span(), any_span());
        let grown = || (any_span(), any_factor());
        let quantum = (1..5_000_000u64).prop_map(Span::from_ticks);
        prop_oneof![
            any_span().prop_map(Growth::Constant),
            pair().prop_map(|(start, step)| Growth::Linear { start, step }),
            (any_span(), 0.0..16.0f64, 0..1_000u32)
                .prop_map(|(scale, power, first)| Growth::Polynomial { scale, power, first }),
            law().prop_map(Growth::Exponential),
            law().prop_map(Growth::ExponentialLessOne),
            (any_span(), any_factor(), quantum)
                .prop_map(|(first, factor, quantum)| Growth::Chain { first, factor, quantum }),
            (any_span(), 0..100u32).prop_map(|(unit, first)| Growth::Fibonacci { unit, first }),
            prop::collection::vec(any_span(), 1..4).prop_map(Growth::Table),
            any_spans().prop_map(|(low, high)| Growth::Uniform(low, high)),
            grown().prop_map(|(window, factor)| Growth::Windowed { window, factor }),
            any_span().prop_map(|base| Growth::Polly { base }),
            (any_span(), any_factor(), any_span(), 1..200u32).prop_map(
                |(base, factor, cap, retries)| Growth::Sorted { base, factor, cap, retries }
            ),
            (any_span(), 1..9u32)
                .prop_map(|(budget, attempts)| Growth::TimeLeft { budget, attempts }),
            (grown(), any_span()).prop_map(|((base, factor), first)| Growth::Decorrelated {
                base,
                factor,
                first
            }),
            (grown(), any_span()).prop_map(|((first, factor), cap)| Growth::Rising {
                first,
                factor,
                cap
            }),
            grown().prop_map(|(first, factor)| Growth::Walk { first, factor }),
            pair().prop_map(|(first, cap)| Growth::Widening { first, cap }),
        ]
    }

    fn any_stage() -> impl Strategy<Value = Stage> {
        let quantum = || (1..5_000_000u64).prop_map(Span::from_ticks);
        prop_oneof![
            any_span().prop_map(Stage::Clamp),
            any_span().prop_map(Stage::AtLeast),
            any_scale().prop_map(|(low, high)| Stage::Scale(low, high)),
            any_spans().prop_map(|(low, high)| Stage::Add(low, high)),
            any_span().prop_map(Stage::Between),
            any_span().prop_map(Stage::AddSquare),
            (any_span(), any_span()).prop_map(|(start, step)| {
                let growth = Growth::Linear { start, step };
                Stage::Plus(Box::new(Pipeline::new(growth, vec![Stage::Scale(0.0, 1.0)], None)))
            }),
            any_scale().prop_map(|(low, high)| Stage::ScalePerSequence(low, high)),
            any_scale().prop_map(|(low, high)| Stage::ScalePerClient(low, high)),
            (any_span(), any_scale()).prop_map(|(cap, scale)| Stage::Rejitter { cap, scale }),
            (0.0..=1.0f64).prop_map(Stage::Signed),
            (0.0..=1.0f64).prop_map(Stage::Holed),
            quantum().prop_map(Stage::Quantise),
            quantum().prop_map(Stage::Round),
        ]
    }

    fn any_step() -> impl Strategy<Value = u32> {
        prop_oneof![0..70u32, 1_000..1_100u32, any::<u32>(), Just(u32::MAX)]
    }

    proptest! {
        #[test]
        fn the_short_way_of_one_draw_gives_what_the_stages_give(
            growth in any_growth().prop_filter("known by its step", |growth| growth.at(0).is_some()),
            clamp in prop::option::of(any_span().prop_map(Stage::Clamp)),
            jitter in prop_oneof![
                any_scale().prop_map(|(low, high)| Stage::Scale(low, high)),
                any_spans().prop_map(|(low, high)| Stage::Add(low, high)),
            ],
            cap in prop::option::of(any_span().prop_map(Stage::Clamp)),
            step in any_step(),
        ) {
            let stages: Vec<Stage> = clamp.into_iter().chain([jitter]).chain(cap).collect();
            let delay = Pipeline::new(growth, stages, None);
            prop_assert!(delay.jitter.is_some());
            for site in sites(3) {
                let drawn = delay.draw(step, Past::default(), &mut Draws::new(site));
                let span = delay.delay(step, Past::default(), site);
                prop_assert_eq!(span, Span::from_ticks_f64(drawn));
            }
        }

        #[test]
        fn every_delay_is_a_number_within_the_range_that_is_stated(
            growth in any_growth(),
            stages in prop::collection::vec(any_stage(), 0..5),
            switch in prop::option::of((0..80u32, any_growth())),
            step in any_step(),
            previous in prop::option::of(any_span()),
            elapsed in any_span(),
        ) {
            let after = switch.map(|(retries, growth)| {
                After { retries, then: Box::new(Pipeline::new(growth, vec![], None)) }
            });
            let delay = Pipeline::new(growth, stages, after);
            let (regime, within) = delay.regime(step);
            // Who has no delay before is at the first step.
            let previous = if within == 0 { None } else { previous.or(Some(Span::ZERO)) };
            let past = Past { previous, elapsed };
            let (least, most) = delay.range(step);
            for site in sites(3) {
                let drawn = regime.draw(within, past, &mut Draws::new(site));
                prop_assert!((0.0..=MOST).contains(&drawn), "{drawn}");
                let span = delay.delay(step, past, site);
                if !matches!(regime.growth, Growth::Rising { .. }) {
                    prop_assert!(least <= span && span <= most, "{least} {span} {most}");
                }
            }
            if let Some(exact) = crate::policy::Distribution::exact(&delay, step) {
                let stated = [exact.min, exact.p10, exact.p50, exact.p90, exact.max];
                prop_assert!(stated.is_sorted() && exact.max <= Span::MAX.as_secs_f64());
                prop_assert!(exact.min <= exact.mean * 1.000_001 && exact.mean <= exact.max * 1.000_001);
                prop_assert!((0.0..=1.0).contains(&exact.cap_share), "{exact:?}");
            }
            prop_assert!(delay.nominal(step) <= Span::MAX);
            prop_assert!(delay.advance(step) >= step);
        }

        #[test]
        fn no_step_overflows_and_a_final_clamp_holds(
            base in any_span(),
            factor in any_factor(),
            stages in prop::collection::vec(any_stage(), 0..5),
            cap in any_span(),
            step in any_step(),
        ) {
            let growth = Growth::exponential(base, factor);
            let mut clamped = stages.clone();
            clamped.push(Stage::Clamp(cap));
            let free = Pipeline::new(growth.clone(), stages, None);
            let clamped = Pipeline::new(growth, clamped, None);
            for site in sites(3) {
                prop_assert!(free.delay(step, Past::default(), site) <= Span::MAX);
                prop_assert!(clamped.delay(step, Past::default(), site) <= cap);
                prop_assert_eq!(clamped.delay(step, Past::default(), site), free.delay(step, Past::default(), site).min(cap));
            }
        }
    }
}
