//! The loop that one would write by hand: a heap of (time, event).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use peers::{Draws, Tally, Workload};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Done(u32),
    Wake(u32),
}

fn main() {
    let workload = Workload::from_arguments();
    let (mut draws, mut tally) = (Draws::default(), Tally::default());
    let mut free = workload.backends;
    let mut waiting = VecDeque::new();
    let mut heap: BinaryHeap<_> = (0..workload.clients as u32)
        .map(|client| Reverse((draws.first_sleep(), Event::Wake(client))))
        .collect();
    while let Some(Reverse((now, event))) = heap.pop() {
        if now >= workload.end {
            break;
        }
        let served = match event {
            Event::Wake(client) => {
                tally.poll();
                if free > 0 {
                    free -= 1;
                    Some(client)
                } else {
                    waiting.push_back(client);
                    None
                }
            }
            Event::Done(client) => {
                heap.push(Reverse((now + draws.sleep(), Event::Wake(client))));
                let next = waiting.pop_front();
                free += usize::from(next.is_none());
                next
            }
        };
        if let Some(client) = served {
            let service = draws.service();
            tally.start(now, service, &workload);
            heap.push(Reverse((now + service, Event::Done(client))));
        }
    }
    tally.print(&workload);
}
