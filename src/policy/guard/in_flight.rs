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
