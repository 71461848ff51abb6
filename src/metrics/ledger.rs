//! Conservation: nothing is lost and nothing counted twice, over the whole run of every unit.
//!
//! ```text
//! attempts        = served + refused + timed out (in the queue, the handshake or the process's pool)
//!                 + abandoned + dropped + pending
//! admitted places = served + abandoned + timed out + dropped + waiting
//! claims started  = served + later ones of sessions + dead served
//!                 = good + wasted + dropped + orphaned + running
//! dead places     = served + closed for + skipped + expired + forgotten + given up + still there
//! connections     : opened = closed + open
//! requests        = served + failed + under way
//! items           = done + queued + taken and not done
//! kept connections: kept = used again + closed + idle
//! ```
//!
//! An attempt and its place are counted once, at their first end; *served* is granted while the client
//! waited. What happens afterwards to a dead place is the fourth line's.
//!
//! Little's law holds of a whole run exactly, not on average: the time that all places waited is the
//! waiting level integrated over time, and the time that all claims ran, with that between the claims of a
//! session, the active level's integral.

use super::Counts;
use crate::engine::observer::End;

/// Levels integrated over a whole run, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// Of waiting places, dead ones included.
    pub waiting: u64,
    /// Of active backends.
    pub active: u64,
}

/// Checks the ledger of a whole run, also in release builds: a result from a broken one would mislead.
///
/// # Panics
///
/// If a line does not close, which is a bug of the engine.
pub fn check(counts: &Counts, areas: Areas, end: &End) {
    let c = counts;
    let line = |name: &str, entered: u64, left: u64| {
        assert!(entered == left, "the ledger of {name} does not close: {entered} ≠ {left}: {c:?}");
    };
    let timed_out = c.timed_out + c.connect_timed_out + c.pool_timed_out;
    let failed = c.refused + timed_out + c.abandoned + c.dropped;
    line("attempts", c.attempts, c.served + failed + c.pending);
    let left = c.abandoned + c.timed_out + c.dropped_waiting;
    line("places", c.admitted, c.served + left + c.pending_waiting);
    let ended = c.good_claims + c.wasted_claims + c.dropped_claims + c.orphaned_claims;
    let running = u64::from(end.gauges.active() - end.linked);
    line("claims", c.served + c.continued + c.dead_served, ended + running);
    let reached = c.dead_served + c.dead_closed + c.places_skipped;
    let removed = c.places_expired + c.places_forgotten + c.places_given_up;
    let dead = c.abandoned + c.dropped_waiting + c.pending_waiting;
    line("dead places", dead, reached + removed + u64::from(end.gauges.waiting));
    let connections = end.connections;
    if connections.opened > 0 {
        let open = u64::from(end.gauges.connected);
        line("connections", connections.opened, connections.closed + open);
    }
    let ended = c.requests_served + c.requests_failed;
    line("requests", c.requests, ended + u64::from(end.requests));
    line("items", c.items, c.items_done + end.items_queued + end.items_under_way);
    let used_again = c.admitted - c.connects;
    let idle = u64::from(end.gauges.idle);
    line("kept connections", c.connections_kept, used_again + c.connections_closed + idle);
    line("time in the queue", areas.waiting, c.waited + end.waited);
    line("time at work", areas.active, c.run + end.served);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::observer::{Connections, Gauges};

    const AREAS: Areas = Areas { waiting: 70, active: 30 };

    fn end(good: u32, wasted: u32, waiting: u32) -> End {
        let gauges = Gauges { good, wasted, waiting, idle: 1, connected: 2, ..Gauges::default() };
        let connections = Connections { opened: 5, closed: 3 };
        End { gauges, waited: 20, served: 10, connections, ..End::default() }
    }

    fn counts() -> Counts {
        Counts {
            attempts: 10,
            refused: 2,
            admitted: 7,
            connects: 5,
            connections_kept: 4,
            connections_closed: 1,
            served: 4,
            abandoned: 2,
            pending: 2,
            pending_waiting: 1,
            dead_served: 1,
            good_claims: 3,
            waited: 50,
            run: 20,
            ..Counts::default()
        }
    }

    #[test]
    fn a_closed_ledger_passes() {
        check(&counts(), AREAS, &end(1, 1, 2));
    }

    #[test]
    #[should_panic(expected = "ledger of attempts")]
    fn a_lost_attempt_is_noticed() {
        check(&Counts { attempts: 11, ..counts() }, AREAS, &end(1, 1, 2));
    }

    #[test]
    #[should_panic(expected = "ledger of claims")]
    fn a_claim_that_vanished_is_noticed() {
        check(&counts(), AREAS, &end(1, 0, 2));
    }

    #[test]
    #[should_panic(expected = "ledger of dead places")]
    fn a_dead_place_that_vanished_is_noticed() {
        check(&counts(), AREAS, &end(1, 1, 1));
    }

    #[test]
    #[should_panic(expected = "ledger of connections")]
    fn a_lost_connection_is_noticed() {
        let connections = Connections { opened: 6, closed: 3 };
        check(&counts(), AREAS, &End { connections, ..end(1, 1, 2) });
    }

    #[test]
    #[should_panic(expected = "ledger of kept connections")]
    fn a_kept_connection_that_vanished_is_noticed() {
        check(&Counts { connections_closed: 0, ..counts() }, AREAS, &end(1, 1, 2));
    }

    #[test]
    #[should_panic(expected = "ledger of time in the queue")]
    fn a_wait_that_breaks_littles_law_is_noticed() {
        check(&counts(), Areas { waiting: 71, ..AREAS }, &end(1, 1, 2));
    }
}
