//! The turns of a poll loop whose polls all end the same way, looked up.

use super::pipeline::Jitter;
use super::{Interval, LoopRules, Outcome, Pipeline, Sleep};
use crate::random::Site;
use crate::units::Span;

/// What [`LoopRules::turn`] gives after one outcome, where each sleep is a delay known by its step and
/// jittered by one draw: decided once, for many clients.
#[derive(Clone, Copy, Debug)]
pub struct Turns<'a> {
    /// The delay of each step in ticks; the last is that of all later ones, too.
    delays: &'a [f64],
    jitter: Jitter,
    /// The first step that is not followed by another.
    settles: u32,
    /// The bits of a step that are kept: none where step 0 follows on each.
    keeps: u32,
}

impl LoopRules {
    /// The turns after `outcome` for clients of this `schedule`, if they are of such a kind.
    pub fn turns<'a>(&self, outcome: Outcome, schedule: &'a Pipeline) -> Option<Turns<'a>> {
        let (delays, jitter) = schedule.jittered()?;
        let rule = self.rule(outcome);
        let delays = match rule.sleep {
            Sleep::Base => &delays[..1],
            Sleep::Current => delays,
            Sleep::None | Sleep::TwiceCurrent | Sleep::ForGood => return None,
        };
        let settles = if rule.interval == Interval::Advance { schedule.settles() } else { 0 };
        let keeps = if rule.interval == Interval::Reset { 0 } else { u32::MAX };
        Some(Turns { delays, jitter, settles, keeps })
    }
}

impl Turns<'_> {
    /// The sleep that follows at `step`, with the jitter that `site` draws, and the step after it.
    #[inline(always)]
    pub fn turn(&self, step: u32, site: Site) -> (Span, u32) {
        let delay = self.delays[(step as usize).min(self.delays.len() - 1)];
        let sleep = self.jitter.delay(delay, site);
        (sleep, (step & self.keeps) + u32::from(step < self.settles))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Growth, LoopRule, Stage};
    use crate::random::{Moment, Purpose, World};
    use proptest::prelude::*;

    fn rule() -> impl Strategy<Value = LoopRule> {
        let interval =
            prop_oneof![Just(Interval::Reset), Just(Interval::Advance), Just(Interval::Keep),];
        let sleep = prop_oneof![Just(Sleep::Base), Just(Sleep::Current)];
        (interval, sleep).prop_map(|(interval, sleep)| LoopRule { interval, sleep })
    }

    fn growth() -> impl Strategy<Value = Growth> {
        let span = || (0..100_000_000u64).prop_map(Span::from_ticks);
        prop_oneof![
            span().prop_map(Growth::Constant),
            (span(), 1.0..4.0).prop_map(|(base, factor)| Growth::exponential(base, factor)),
            prop::collection::vec(span(), 1..6).prop_map(Growth::Table),
        ]
    }

    proptest! {
        #[test]
        fn they_are_those_of_the_loop(
            empty in rule(),
            growth in growth(),
            cap in 1u64..1 << 40,
            scale in (0.0..2.0f64, 0.0..2.0f64),
            steps in prop::collection::vec(prop_oneof![0..70u32, any::<u32>()], 1..50),
        ) {
            let rules = LoopRules { empty, ..LoopRules::HONCHO };
            let stages = vec![
                Stage::Clamp(Span::from_ticks(cap)),
                Stage::Scale(scale.0, scale.0 + scale.1),
            ];
            let schedule = Pipeline::new(growth, stages, None);
            // One that grows for long is none of them.
            if let Some(turns) = rules.turns(Outcome::Empty, &schedule) {
                let world = World::new(5, 0);
                for (client, step) in steps.into_iter().enumerate() {
                    let site = world.site(Purpose::PollJitter, client as u32, Moment::default());
                    let expected = rules.turn(Outcome::Empty, step, &schedule, site);
                    prop_assert_eq!(turns.turn(step, site), expected);
                }
            } else {
                prop_assert_eq!(schedule.shortest(), Span::ZERO);
            }
        }
    }
}
