//! Conservation: nothing is lost and nothing counted twice, over the whole run of every unit.
//!
//! ```text
//! attempts        = served + refused + timed out + connect timed out + abandoned + dropped + pending
//! admitted places = served + abandoned + timed out + dropped + waiting
//! claims started  = good + wasted + dropped + running
//! dead places     = served + expired + forgotten + still there
//! ```
//!
//! An attempt and its place are counted once, at their first end; *served* is granted while the client
//! waited. What happens afterwards to a dead place is the fourth line's.

use super::Counts;
use crate::engine::observer::End;

/// Checks the ledger of a whole run, also in release builds: a result from a broken one would mislead.
///
/// # Panics
///
/// If a line does not close, which is a bug of the engine.
pub fn check(counts: &Counts, end: &End, dead_waiters_kept: bool) {
    let c = counts;
    let line = |name: &str, entered: u64, left: u64| {
        assert!(entered == left, "the ledger of {name} does not close: {entered} ≠ {left}: {c:?}");
    };
    let failed = c.refused + c.timed_out + c.connect_timed_out + c.abandoned + c.dropped;
    line("attempts", c.attempts, c.served + failed + c.pending);
    let left = c.abandoned + c.timed_out + c.dropped_waiting;
    line("places", c.admitted, c.served + left + c.pending_waiting);
    let ended = c.good_claims + c.wasted_claims + c.dropped_claims;
    line("claims", c.served + c.dead_served, ended + u64::from(end.gauges.active()));
    let waiting = u64::from(end.gauges.waiting);
    if dead_waiters_kept {
        let ended = c.dead_served + c.places_expired + c.places_forgotten;
        let dead = c.abandoned + c.dropped_waiting;
        line("dead places", dead + c.pending_waiting, ended + waiting);
    } else {
        line("dead places", c.pending_waiting, waiting);
        line("served dead places", 0, c.dead_served + c.places_expired);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::observer::Gauges;
    use crate::units::SimTime;

    fn end(good: u32, wasted: u32, waiting: u32) -> End {
        End { at: SimTime::ZERO, gauges: Gauges { good, wasted, waiting }, events: 0 }
    }

    fn counts() -> Counts {
        Counts {
            attempts: 10,
            refused: 2,
            admitted: 7,
            served: 4,
            abandoned: 2,
            pending: 2,
            pending_waiting: 1,
            dead_served: 1,
            good_claims: 3,
            ..Counts::default()
        }
    }

    #[test]
    fn a_closed_ledger_passes() {
        check(&counts(), &end(1, 1, 2), true);
    }

    #[test]
    #[should_panic(expected = "ledger of attempts")]
    fn a_lost_attempt_is_noticed() {
        check(&Counts { attempts: 11, ..counts() }, &end(1, 1, 2), true);
    }

    #[test]
    #[should_panic(expected = "ledger of claims")]
    fn a_claim_that_vanished_is_noticed() {
        check(&counts(), &end(1, 0, 2), true);
    }

    #[test]
    #[should_panic(expected = "ledger of dead places")]
    fn a_dead_place_that_vanished_is_noticed() {
        check(&counts(), &end(1, 1, 1), true);
    }
}
