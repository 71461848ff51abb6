//! What a retry rule does, attempt by attempt, and what about it may surprise.

use super::{Distribution, Retry, Scope, Sequences, Stop};
use crate::units::Span;

/// The delays of a retry rule, in order of the attempts, as if each attempt failed at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The delay after each failed attempt, from the first on.
    pub delays: Vec<Distribution>,
    /// Why there is none after the next attempt, where it was asked for.
    pub end: Option<End>,
    /// The attempt after which the rule gives up for certain, if there is one: by its number, or
    /// because even the shortest delays have taken too long.
    pub stops_at: Option<u32>,
    /// What may surprise.
    pub surprises: Vec<Surprise>,
}

/// How far a rule is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// For so many attempts at most, until it stops for certain.
    UntilStop(u32),
    /// For so many attempts, as if it went on where it stops.
    BeyondStop(u32),
}

/// Why there is no delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The rule gives up.
    Stops,
    /// The code raises.
    Raises,
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

/// Attempts that are searched for the one at which an elapsed limit has ended every sequence.
const FOLLOWED: u32 = 2_000;

impl Curve {
    /// The curve as far as `reach`; `seed` is that of the draws where it is sampled.
    pub fn of(retry: &Retry, reach: Reach, seed: u64) -> Curve {
        let (Reach::UntilStop(asked) | Reach::BeyondStop(asked)) = reach;
        let raises = first_raising(retry);
        let steps = asked.max(SEARCHED).min(raises.unwrap_or(u32::MAX));
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
        let stops_at = stops_at(retry);
        let surprises = surprises(retry, &delays, raises, stops_at);
        let heeded = match (reach, stops_at) {
            (Reach::UntilStop(_), Some(stop)) => asked.min(stop.saturating_sub(1)),
            _ => asked,
        };
        delays.truncate(heeded as usize);
        let end = match delays.len() {
            short if short < heeded as usize => Some(End::Raises),
            _ => (heeded < asked).then_some(End::Stops),
        };
        Curve { delays, end, stops_at, surprises }
    }

    /// Whether the rule has given up for certain after this failed attempt, counted from 1.
    pub fn is_beyond_stop(&self, attempt: u32) -> bool {
        self.stops_at.is_some_and(|stop| attempt >= stop)
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
    if depends_on_past(retry, step) { None } else { Distribution::exact(&retry.delay, step) }
}

/// Whether a delay came before that this step remembers: who shares a memory finds what others left.
fn depends_on_past(retry: &Retry, step: u32) -> bool {
    let came_before = step > 0 || retry.scope == Scope::Fleet;
    came_before && retry.delay.regime(step).0.growth().remembers()
}

/// See [`Curve::stops_at`].
fn stops_at(retry: &Retry) -> Option<u32> {
    let Stop { attempts, elapsed, elapsed_with_delay, on: _ } = retry.stop;
    if elapsed.or(elapsed_with_delay).is_none() {
        return attempts;
    }
    let mut passed = Span::ZERO;
    let too_late = |attempt: &u32| {
        let step = attempt - 1;
        let late = elapsed.is_some_and(|limit| passed >= limit);
        // Nothing is certain of a delay that follows another.
        if !depends_on_past(retry, step) {
            passed += retry.delay.range(step).0;
        }
        late || elapsed_with_delay.is_some_and(|limit| passed > limit)
    };
    let by_time = (1..=FOLLOWED).find(too_late);
    attempts.into_iter().chain(by_time).min()
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

fn surprises(
    retry: &Retry,
    delays: &[Distribution],
    raises: Option<u32>,
    stops_at: Option<u32>,
) -> Vec<Surprise> {
    let attempts = || (1..).zip(delays);
    let cap = |attempt: u32| {
        retry.delay.regime(attempt - 1).0.cap().map_or(f64::INFINITY, Span::as_secs_f64)
    };
    // What happens before the stop counts; what would happen after it where nothing does before.
    let stop = stops_at.unwrap_or(u32::MAX);
    let mut found = Vec::new();
    let jittered = delays.iter().any(|delay| !delay.is_constant());
    if !jittered {
        found.push(Surprise::NoJitter);
    } else if let Some(first) = delays.first().filter(|first| first.is_constant()) {
        found.push(Surprise::FirstUnjittered(first.min));
    }
    if jittered {
        let gone = |delay: &Distribution| delay.cap_share >= 0.9;
        let vanishes = attempts().find(|(_, delay)| gone(delay)).map(|(from, _)| from);
        // That it is halved is no news where it vanishes, but where that is beyond the stop.
        let upto = match vanishes {
            Some(from) if from < stop => 0,
            Some(_) => stop,
            None => u32::MAX,
        };
        let halved: Vec<(u32, f64)> = attempts()
            .map(|(attempt, delay)| (attempt, delay.cap_share))
            .filter(|&(attempt, share)| attempt < upto && share >= 0.5 - 0.01)
            .collect();
        if let Some(&(from, _)) = halved.first() {
            let share = halved.iter().map(|&(_, share)| share).fold(0.0, f64::max);
            found.push(Surprise::JitterHalved { from, share, cap: cap(from) });
        }
        if let Some(from) = vanishes {
            let last = attempts().skip(from as usize).find(|(_, delay)| !gone(delay));
            let until = last.map(|(attempt, _)| attempt - 1);
            found.push(Surprise::JitterVanishes { from, until, cap: cap(from) });
        }
    }
    let above = |&(attempt, delay): &(u32, &Distribution)| delay.max > cap(attempt) * 1.000_01;
    if let Some((from, _)) = attempts().find(above) {
        let upto = if from < stop { stop } else { u32::MAX };
        let longest = attempts().filter(|pair| pair.0 < upto && above(pair));
        let longest = longest.map(|(_, delay)| delay.max).fold(0.0, f64::max);
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

impl Surprise {
    /// The first attempt that it is about, if it is about some only.
    pub fn attempt(&self) -> Option<u32> {
        match *self {
            Surprise::FirstUnjittered(_) => Some(1),
            Surprise::JitterVanishes { from, .. }
            | Surprise::JitterHalved { from, .. }
            | Surprise::ExceedsCap { from, .. }
            | Surprise::Raises(from) => Some(from),
            Surprise::NoJitter | Surprise::Unbounded => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{After, Exponential, Growth, Overflow, Pipeline, Stage};

    fn doubling(overflow: Overflow) -> Growth {
        let base = Span::from_secs(1);
        Growth::Exponential(Exponential { base, factor: 2.0, first: 0, overflow })
    }

    fn curve(growth: Growth, stages: Vec<Stage>) -> Curve {
        let delay = Pipeline::new(growth, stages, None);
        Curve::of(&Retry::new(delay, Stop::default()), Reach::BeyondStop(14), 1)
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

    fn stopping(stages: Vec<Stage>, stop: Stop) -> Retry {
        Retry::new(Pipeline::new(doubling(Overflow::Raises), stages, None), stop)
    }

    #[test]
    fn a_rule_is_followed_until_it_stops_for_certain_or_beyond() {
        let attempts = |attempts| Stop { attempts: Some(attempts), ..Stop::default() };
        let followed = |stop, reach| {
            let curve = Curve::of(&stopping(vec![Stage::Scale(0.5, 1.0)], stop), reach, 1);
            (curve.delays.len(), curve.end, curve.stops_at)
        };
        let until = Reach::UntilStop(12);
        assert_eq!(followed(attempts(3), until), (2, Some(End::Stops), Some(3)));
        assert_eq!(followed(attempts(1), until), (0, Some(End::Stops), Some(1)));
        assert_eq!(followed(attempts(12), until), (11, Some(End::Stops), Some(12)));
        assert_eq!(followed(attempts(13), until), (12, None, Some(13)));
        assert_eq!(followed(Stop::default(), until), (12, None, None));
        assert_eq!(followed(attempts(3), Reach::BeyondStop(12)), (12, None, Some(3)));
        let beyond = Reach::BeyondStop(1_100);
        assert_eq!(followed(attempts(3), beyond), (1_024, Some(End::Raises), Some(3)));
        // Which is reached first: 1,025 attempts, not what the power of the last would be.
        let far = Reach::UntilStop(1_100);
        assert_eq!(followed(attempts(1_025), far), (1_024, Some(End::Stops), Some(1_025)));
        assert_eq!(followed(attempts(1_026), far), (1_024, Some(End::Raises), Some(1_026)));
    }

    /// The shortest delays are 0.5, 1, 2, 4 s, after 7.5 s in all the fifth attempt fails.
    #[test]
    fn an_elapsed_limit_stops_for_certain_where_the_shortest_delays_have_passed_it() {
        let elapsed = |millis| Stop { elapsed: Some(Span::from_millis(millis)), ..Stop::default() };
        let with_delay = |millis| {
            let elapsed_with_delay = Some(Span::from_millis(millis));
            Stop { elapsed_with_delay, ..Stop::default() }
        };
        let at = |low, stop| stops_at(&stopping(vec![Stage::Scale(low, 1.0)], stop));
        assert_eq!(at(0.5, elapsed(7_500)), Some(5));
        assert_eq!(at(0.5, elapsed(7_501)), Some(6));
        // The fourth delay would end at 7.5 s.
        assert_eq!(at(0.5, with_delay(7_499)), Some(4));
        assert_eq!(at(0.5, with_delay(7_500)), Some(5));
        assert_eq!(at(0.5, Stop { attempts: Some(3), ..elapsed(7_500) }), Some(3));
        assert_eq!(at(0.0, elapsed(7_500)), None);
        // What an unknown delay becomes is not certain.
        let walk = Growth::Walk { first: Span::from_secs(1), factor: 2.0 };
        let stop = elapsed(1_001);
        assert_eq!(stops_at(&Retry::new(Pipeline::new(walk, vec![], None), stop)), None);
    }

    /// r·2ᵏ under 20 s: 1 − 20/32 is 38 %, 1 − 20/64 is 69 % at attempt 7, 92 % at attempt 9.
    #[test]
    fn what_surprises_before_the_stop_is_said_whatever_comes_after_it() {
        let cap = Stage::Clamp(Span::from_secs(20));
        let found = |attempts| {
            let stop = Stop { attempts: Some(attempts), ..Stop::default() };
            let retry = stopping(vec![Stage::Scale(0.0, 1.0), cap.clone()], stop);
            Curve::of(&retry, Reach::UntilStop(12), 1).surprises
        };
        let vanishes = Surprise::JitterVanishes { from: 9, until: None, cap: 20.0 };
        let raises = Surprise::Raises(1_025);
        let halved = Surprise::JitterHalved { from: 7, share: 1.0 - 20.0 / 64.0, cap: 20.0 };
        assert_eq!(found(10), [vanishes, raises]);
        assert_eq!(found(8), [halved, vanishes, raises]);
        assert_eq!(found(7), [vanishes, raises]);
        // 1.5·16 s at attempt 5, 1.5·20 s after it.
        let longest = |attempts| {
            let stop = Stop { attempts: Some(attempts), ..Stop::default() };
            let retry = stopping(vec![cap.clone(), Stage::Scale(0.5, 1.5)], stop);
            Curve::of(&retry, Reach::UntilStop(12), 1).surprises[0]
        };
        let exceeds = |longest| Surprise::ExceedsCap { from: 5, longest, cap: 20.0 };
        assert_eq!([6, 7, 5].map(longest), [24.0, 30.0, 30.0].map(exceeds));
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
            let delays = Curve::of(&alone, Reach::UntilStop(2), 1).delays;
            assert!(delays[0].exact && !delays[1].exact, "{delays:?}");
            assert!(delays[0].is_constant() && delays[0].mean == 1.0, "{delays:?}");
            let together = Retry { scope: Scope::Fleet, ..alone };
            assert!(!Curve::of(&together, Reach::UntilStop(2), 1).delays[0].exact);
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
