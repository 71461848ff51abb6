//! Whole sequences of delays, as clients draw them whose attempts all fail at once.

use super::{Past, Retry, Scope};
use crate::random::{Moment, Purpose, World};
use crate::units::Span;

/// The delays of so many clients, step by step.
#[derive(Debug)]
pub struct Sequences<'a> {
    retry: &'a Retry,
    world: World,
    step: u32,
    /// What each client remembers.
    pasts: Vec<Past>,
    /// What they all remember.
    shared: Option<Span>,
}

impl<'a> Sequences<'a> {
    /// Those of `clients` under `seed`, from the first retry on. Stops are not heeded.
    pub fn new(retry: &'a Retry, clients: u32, seed: u64) -> Sequences<'a> {
        let pasts = vec![Past::default(); clients as usize];
        Sequences { retry, world: World::new(seed, 0), step: 0, pasts, shared: None }
    }
}

impl Iterator for Sequences<'_> {
    /// The delay of each client at this step.
    type Item = Vec<Span>;

    fn next(&mut self) -> Option<Vec<Span>> {
        let (step, scope) = (self.step, self.retry.scope);
        let moment = Moment { attempt: step, ..Moment::default() };
        let mut delays = Vec::with_capacity(self.pasts.len());
        for (client, past) in (0..).zip(&mut self.pasts) {
            if scope == Scope::Fleet {
                past.previous = self.shared;
            }
            let site = self.world.site(Purpose::RetryJitter, client, moment);
            let delay = self.retry.delay.delay(step, *past, site);
            *past = Past { previous: Some(delay), elapsed: past.elapsed + delay };
            self.shared = Some(delay);
            delays.push(delay);
        }
        self.step = step.checked_add(1)?;
        Some(delays)
    }
}
