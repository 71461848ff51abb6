//! Loops that one would write by hand for plain polling: they draw the same sleeps and demands as the
//! engine, measure nothing and model nothing else.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use herdsim::random::{Moment, Purpose, World};
use herdsim::scenario::Scenario;
use herdsim::units::TICKS_PER_SECOND;

/// The world of a loop, and how far its clients have come.
struct Fleet {
    world: World,
    polls: Vec<u32>,
}

impl Fleet {
    fn new(scenario: &Scenario) -> Fleet {
        let polls = vec![0; scenario.fleet.clients as usize];
        Fleet { world: World::new(scenario.run.seed, 0), polls }
    }

    fn first(&self, id: u32) -> u64 {
        let site = self.world.site(Purpose::WarmPhase, id, Moment::default());
        (site.uniform(0) * 30e6) as u64
    }

    fn moment(&self, id: u32) -> Moment {
        Moment { poll: self.polls[id as usize], ..Moment::default() }
    }

    fn demand(&self, id: u32) -> u64 {
        let site = self.world.site(Purpose::Demand, id, self.moment(id));
        (site.exponential() * 170_000.0 + 0.5) as u64
    }

    fn sleep(&mut self, id: u32) -> u64 {
        let site = self.world.site(Purpose::PollJitter, id, self.moment(id));
        self.polls[id as usize] += 1;
        (15e6 + 30e6 * site.uniform(0) + 0.5) as u64
    }
}

fn end(scenario: &Scenario) -> u64 {
    scenario.run.duration.ticks()
}

/// The two draws of a poll and its client's state, client by client: no time, no order.
pub fn floor(scenario: &Scenario) -> u64 {
    let mut fleet = Fleet::new(scenario);
    let rounds = end(scenario) / (30 * TICKS_PER_SECOND);
    let mut sum = 0u64;
    for _ in 0..rounds {
        for id in 0..scenario.fleet.clients {
            sum = sum.wrapping_add(fleet.demand(id)).wrapping_add(fleet.sleep(id));
        }
    }
    std::hint::black_box(sum);
    rounds * u64::from(scenario.fleet.clients)
}

/// A heap of (time, id), a free counter, a queue of waiters.
pub fn std16(scenario: &Scenario) -> u64 {
    const END: u32 = 1 << 31;
    let mut fleet = Fleet::new(scenario);
    let mut heap = BinaryHeap::with_capacity(scenario.fleet.clients as usize);
    let mut waiters = VecDeque::new();
    let mut free = scenario.pooler.pool_size;
    let mut polls = 0;
    for id in 0..scenario.fleet.clients {
        heap.push(Reverse((fleet.first(id), id)));
    }
    while let Some(Reverse((now, event))) = heap.pop() {
        if now >= end(scenario) {
            break;
        }
        let id = event & !END;
        if event & END == 0 {
            polls += 1;
            if free > 0 {
                free -= 1;
                heap.push(Reverse((now + fleet.demand(id), id | END)));
            } else {
                waiters.push_back(id);
            }
        } else {
            heap.push(Reverse((now + fleet.sleep(id), id)));
            match waiters.pop_front() {
                Some(waiter) => heap.push(Reverse((now + fleet.demand(waiter), waiter | END))),
                None => free += 1,
            }
        }
    }
    polls
}

/// The same with keys of one word, and each event replacing the one that caused it.
pub fn packed(scenario: &Scenario) -> u64 {
    const ID_BITS: u32 = 24;
    let key = |time: u64, wake: bool, id: u32| {
        time << (ID_BITS + 1) | u64::from(wake) << ID_BITS | u64::from(id)
    };
    let mut fleet = Fleet::new(scenario);
    let mut heap = BinaryHeap::with_capacity(scenario.fleet.clients as usize);
    let mut waiters = VecDeque::new();
    let mut free = scenario.pooler.pool_size;
    let mut polls = 0;
    for id in 0..scenario.fleet.clients {
        heap.push(Reverse(key(fleet.first(id), true, id)));
    }
    loop {
        let Some(mut top) = heap.peek_mut() else { break };
        let Reverse(event) = *top;
        let (now, id) = (event >> (ID_BITS + 1), (event & ((1 << ID_BITS) - 1)) as u32);
        if now >= end(scenario) {
            break;
        }
        if event >> ID_BITS & 1 == 1 {
            polls += 1;
            if free > 0 {
                free -= 1;
                *top = Reverse(key(now + fleet.demand(id), false, id));
            } else {
                waiters.push_back(id);
                PeekMut::pop(top);
            }
        } else {
            *top = Reverse(key(now + fleet.sleep(id), true, id));
            drop(top);
            match waiters.pop_front() {
                Some(waiter) => heap.push(Reverse(key(now + fleet.demand(waiter), false, waiter))),
                None => free += 1,
            }
        }
    }
    polls
}
