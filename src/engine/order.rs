//! Puts in order what is spread about evenly: the steps of a window, the keys of a slot.
//!
//! Comparing costs a mispredicted branch each time. So one pass deals the items to as many bins as there are
//! items, and what is left to do is moving an item past the few in its own bin.

use std::ops::Range;

/// Fewer are sorted as they are.
const WORTH_DEALING: usize = 32;

/// Moves of one item after which the bins have clearly not helped: a herd is in one of them.
const MOST_MOVES: usize = 32;

/// Room for sorting, used again and again.
#[derive(Debug, Default)]
pub(super) struct Sorter<T> {
    /// Where the next item of each bin goes.
    places: Vec<u32>,
    dealt: Vec<T>,
}

impl<T: Copy + Ord + Default + Into<u64>> Sorter<T> {
    /// Sorts items that are all in `range`.
    pub fn sort(&mut self, items: &mut Vec<T>, range: Range<T>) {
        if items.len() < WORTH_DEALING {
            return items.sort_unstable();
        }
        let (first, end) = (range.start.into(), range.end.into());
        let bins = items.len().next_power_of_two();
        let digits = u64::BITS - (end - 1 - first).leading_zeros();
        let shift = digits.saturating_sub(bins.ilog2());
        let bin = |item: T| ((item.into() - first) >> shift) as usize;
        self.places.clear();
        self.places.resize(bins, 0);
        for &item in &*items {
            self.places[bin(item)] += 1;
        }
        let mut before = 0;
        for place in &mut self.places {
            before += std::mem::replace(place, before);
        }
        self.dealt.resize(items.len(), range.start);
        for &item in &*items {
            let place = &mut self.places[bin(item)];
            self.dealt[*place as usize] = item;
            *place += 1;
        }
        std::mem::swap(items, &mut self.dealt);
        if !insert(items) {
            items.sort_unstable();
        }
    }
}

/// Sorts by insertion, unless that takes too many moves.
///
/// The greatest item so far is held in hand. So two that are the wrong way round need no move, and the
/// branch that asks for moves is one that can be foretold.
fn insert<T: Copy + Ord + Default>(items: &mut [T]) -> bool {
    let Some(&first) = items.first() else { return true };
    // The greatest of those in place, of which there is none, and that in hand.
    let (mut last, mut hand) = (T::default(), first);
    for next in 1..items.len() {
        let lesser = hand.min(items[next]);
        hand = hand.max(items[next]);
        if lesser < last {
            if !slip_in(&mut items[..next], lesser) {
                items[next] = hand;
                return false;
            }
        } else {
            items[next - 1] = lesser;
            last = lesser;
        }
    }
    *items.last_mut().expect("there is a first") = hand;
    true
}

/// Moves those that are greater, and puts an item before them: there is room for one at the end. Says whether
/// few moves were enough; if not, it is somewhere among them.
fn slip_in<T: Copy + Ord>(items: &mut [T], item: T) -> bool {
    let mut place = items.len() - 1;
    while place > 0 && items[place - 1] > item && items.len() - place <= MOST_MOVES {
        items[place] = items[place - 1];
        place -= 1;
    }
    items[place] = item;
    items.len() - place <= MOST_MOVES
}

#[cfg(test)]
mod tests {
    use super::super::course::Step;
    use super::*;
    use crate::units::{SimTime, Span};
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
            Sorter::default().sort(&mut steps, Step::first(at(0))..Step::first(end));
            prop_assert_eq!(steps, expected);
        }
    }
}
