//! simrs: a component with its events, its values and its queue in the simulation's state.

use std::time::Duration;

use peers::{Draws, Tally, Workload};
use simrs::{Component, ComponentId, Executor, Fifo, Key, QueueId, Scheduler, Simulation, State};

#[derive(Debug)]
enum Event {
    Wake(u32),
    Done(u32),
}

/// What changes during the simulation.
struct Fleet {
    draws: Draws,
    tally: Tally,
    free: usize,
}

struct Pool {
    workload: Workload,
    fleet: Key<Fleet>,
    waiting: QueueId<Fifo<u32>>,
}

impl Pool {
    fn serve(
        &self,
        client: u32,
        id: ComponentId<Event>,
        scheduler: &mut Scheduler,
        fleet: &mut Fleet,
    ) {
        let service = fleet.draws.service();
        fleet.tally.start(scheduler.time().as_nanos() as u64, service, &self.workload);
        scheduler.schedule(Duration::from_nanos(service), id, Event::Done(client));
    }
}

impl Component for Pool {
    type Event = Event;

    fn process_event(
        &self,
        id: ComponentId<Event>,
        event: &Event,
        scheduler: &mut Scheduler,
        state: &mut State,
    ) {
        match *event {
            Event::Wake(client) => {
                let fleet = state.get_mut(self.fleet).expect("the fleet");
                fleet.tally.poll();
                if fleet.free > 0 {
                    fleet.free -= 1;
                    self.serve(client, id, scheduler, fleet);
                } else {
                    state.send(self.waiting, client).expect("an unbounded queue");
                }
            }
            Event::Done(client) => {
                let next = state.recv(self.waiting);
                let fleet = state.get_mut(self.fleet).expect("the fleet");
                let sleep = Duration::from_nanos(fleet.draws.sleep());
                scheduler.schedule(sleep, id, Event::Wake(client));
                match next {
                    Some(client) => self.serve(client, id, scheduler, fleet),
                    None => fleet.free += 1,
                }
            }
        }
    }
}

fn main() {
    let workload = Workload::from_arguments();
    let mut simulation = Simulation::default();
    let waiting = simulation.add_queue(Fifo::default());
    let mut fleet =
        Fleet { draws: Draws::default(), tally: Tally::default(), free: workload.backends };
    let sleeps: Vec<u64> = (0..workload.clients).map(|_| fleet.draws.first_sleep()).collect();
    let fleet = simulation.state.insert(fleet);
    let pool = simulation.add_component(Pool { workload, fleet, waiting });
    for (client, sleep) in sleeps.into_iter().enumerate() {
        simulation.schedule(Duration::from_nanos(sleep), pool, Event::Wake(client as u32));
    }
    simulation.execute(Executor::timed(Duration::from_nanos(workload.end - 1)));
    simulation.state.get(fleet).expect("the fleet").tally.print(&workload);
}
