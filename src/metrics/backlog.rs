//! Items of work that wait to be taken.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Counts;
use crate::units::{SimTime, Span};

/// The items that wait, by when they arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    pub queued: u64,
    arrivals: BTreeMap<SimTime, u32>,
    most: u64,
    oldest: Span,
}

/// What became of the items of a unit, over its whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRecord {
    /// Items that arrived.
    pub items: u64,
    /// Items done.
    pub done: u64,
    /// Times that an item went back to its queue.
    pub returned: u64,
    /// Most items waiting at once.
    pub backlog_max: u64,
    /// The longest wait of an item, from its arrival to its last being taken or the end.
    pub oldest: Span,
}

impl Backlog {
    /// An item that had arrived then joins.
    pub fn queue(&mut self, arrived: SimTime) {
        *self.arrivals.entry(arrived).or_default() += 1;
        self.queued += 1;
        self.most = self.most.max(self.queued);
    }

    /// An item that had arrived then is taken.
    pub fn take(&mut self, now: SimTime, arrived: SimTime) {
        if let Some(items) = self.arrivals.get_mut(&arrived) {
            *items -= 1;
            if *items == 0 {
                self.arrivals.remove(&arrived);
            }
        }
        self.queued -= 1;
        self.oldest = self.oldest.max(now.since(arrived));
    }

    /// For how long the oldest has waited.
    pub fn oldest(&self, now: SimTime) -> Span {
        self.arrivals.keys().next().map_or(Span::ZERO, |&arrived| now.since(arrived))
    }

    pub fn finish(self, counts: &Counts, end: SimTime) -> WorkRecord {
        WorkRecord {
            items: counts.items,
            done: counts.items_done,
            returned: counts.items_returned,
            backlog_max: self.most,
            oldest: self.oldest.max(self.oldest(end)),
        }
    }
}
