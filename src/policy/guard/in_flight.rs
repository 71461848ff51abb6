//! So many tries under way at once: a bulkhead that turns away who comes on top.

use serde::Serialize;

use super::{Ending, Meter, Ticket, Verdict};
use crate::units::SimTime;

/// At most so many tries under way (Resilience4j's semaphore bulkhead without a wait).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct InFlight {
    /// Tries at once.
    pub limit: u32,
}

#[derive(Clone, Debug)]
pub(super) struct InFlightMeter {
    limit: u32,
    under_way: u32,
}

impl InFlight {
    pub(super) fn meter(self) -> InFlightMeter {
        InFlightMeter { limit: self.limit, under_way: 0 }
    }
}

impl Meter for InFlightMeter {
    fn ask(&mut self, _: SimTime) -> Verdict {
        if self.under_way < self.limit { Verdict::Go } else { Verdict::Reject }
    }

    fn depart(&mut self, _: SimTime, _: &mut Ticket, _: bool) {
        self.under_way += 1;
    }

    fn end(&mut self, _: SimTime, ticket: &mut Ticket, _: Ending) {
        if ticket.open {
            self.under_way -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rehearsal::{Call, Happening, cues, play};
    use super::*;

    const NOW: SimTime = SimTime::ZERO;

    #[test]
    fn a_third_try_is_turned_away_until_one_of_two_has_ended() {
        let mut meter = InFlight { limit: 2 }.meter();
        let mut calls = [Call::default(), Call::default(), Call::default()];
        let [first, second, third] = &mut calls;
        assert_eq!(first.set_out(&mut meter, NOW), Verdict::Go);
        assert_eq!(second.set_out(&mut meter, NOW), Verdict::Go);
        assert_eq!(third.set_out(&mut meter, NOW), Verdict::Reject);
        first.end(&mut meter, NOW, Ending::Cancelled);
        assert_eq!(third.set_out(&mut meter, NOW), Verdict::Go);
        assert_eq!(first.set_out(&mut meter, NOW), Verdict::Reject);
    }

    proptest! {
        #[test]
        fn the_count_is_exact_never_above_the_limit_and_ends_at_none(
            limit in prop_oneof![0..6u32, any::<u32>()],
            cues in cues(),
        ) {
            let mut meter = InFlight { limit }.meter();
            play(&mut meter, &cues, |meter, scene| {
                assert_eq!(meter.under_way as usize, scene.open());
                assert!(meter.under_way <= limit);
                if let Happening::Asked(verdict) = scene.happening {
                    assert_eq!(verdict == Verdict::Go, meter.under_way < limit);
                }
            });
            prop_assert_eq!(meter.under_way, 0);
        }
    }
}
