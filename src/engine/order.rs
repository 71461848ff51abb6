//! Puts the steps of a window in order.
//!
//! Comparing keys costs a mispredicted branch each time. Times within a window are spread about evenly, so
//! one pass deals them to as many bins as there are steps, and what is left to do is moving a step past
//! the few in its own bin.

use super::observer::Step;
use crate::units::SimTime;

/// Fewer are sorted as they are.
const WORTH_DEALING: usize = 32;

/// Moves of one step after which the bins have clearly not helped: a herd is in one of them.
const MOST_MOVES: usize = 32;

/// Room for sorting, used again and again.
#[derive(Debug, Default)]
pub(super) struct Sorter {
    /// Where the next step of each bin goes.
    places: Vec<u32>,
    dealt: Vec<Step>,
}

impl Sorter {
    /// Sorts steps of which none is before `first`, and all before `end`.
    pub fn sort(&mut self, steps: &mut Vec<Step>, first: Step, end: Step) {
        if steps.len() < WORTH_DEALING {
            return steps.sort_unstable();
        }
        let bins = steps.len().next_power_of_two();
        let digits = u64::BITS - end.distance(first).leading_zeros();
        let shift = digits.saturating_sub(bins.ilog2());
        let bin = |step: &Step| (step.distance(first) >> shift) as usize;
        self.places.clear();
        self.places.resize(bins, 0);
        for step in &*steps {
            self.places[bin(step)] += 1;
        }
        let mut before = 0;
        for place in &mut self.places {
            before += std::mem::replace(place, before);
        }
        self.dealt.resize(steps.len(), first);
        for step in &*steps {
            let place = &mut self.places[bin(step)];
            self.dealt[*place as usize] = *step;
            *place += 1;
        }
        std::mem::swap(steps, &mut self.dealt);
        if !insert(steps) {
            steps.sort_unstable();
        }
    }
}

/// Sorts by insertion, unless that takes too many moves.
///
/// The greatest step so far is held in hand. So two that are the wrong way round need no move, and the
/// branch that asks for moves is one that can be foretold.
fn insert(steps: &mut [Step]) -> bool {
    let Some(&first) = steps.first() else { return true };
    // The greatest of those in place, of which there is none, and that in hand.
    let (mut last, mut hand) = (Step::first(SimTime::ZERO), first);
    for next in 1..steps.len() {
        let lesser = hand.min(steps[next]);
        hand = hand.max(steps[next]);
        if lesser < last {
            if !slip_in(&mut steps[..next], lesser) {
                steps[next] = hand;
                return false;
            }
        } else {
            steps[next - 1] = lesser;
            last = lesser;
        }
    }
    *steps.last_mut().expect("there is a first") = hand;
    true
}

/// Moves those that are greater, and puts a step before them: there is room for one at the end. Says whether
/// few moves were enough; if not, it is somewhere among them.
fn slip_in(steps: &mut [Step], step: Step) -> bool {
    let mut place = steps.len() - 1;
    while place > 0 && steps[place - 1] > step && steps.len() - place <= MOST_MOVES {
        steps[place] = steps[place - 1];
        place -= 1;
    }
    steps[place] = step;
    steps.len() - place <= MOST_MOVES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_are_sorted_however_they_are_spread(
            begin in 0u64..1 << 40,
            spread in 1u64..1 << 30,
            herd in prop::collection::vec(any::<(bool, u64, bool)>(), 0..600),
        ) {
            let at = |ticks| SimTime::from_ticks(begin + ticks);
            let mut steps: Vec<Step> = herd
                .into_iter()
                .map(|(dense, ticks, arrives)| {
                    let ticks = ticks % if dense { 300 } else { spread };
                    if arrives { Step::arrival(at(ticks)) } else { Step::completion(at(0), at(ticks)) }
                })
                .collect();
            let mut expected = steps.clone();
            expected.sort();
            let end = steps.iter().max().map_or(at(1), |last| last.time() + Span::from_ticks(1));
            Sorter::default().sort(&mut steps, Step::first(at(0)), Step::first(end));
            prop_assert_eq!(steps, expected);
        }
    }
}
