//! NeXosim: the fleet and its pool are one model that schedules its own events.

use std::collections::VecDeque;
use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::QuerySource;
use nexosim::simulation::{Mailbox, SimInit, SimulationError};
use nexosim::time::MonotonicTime;
use peers::{Draws, Tally, Workload};
use serde::{Deserialize, Serialize};

const START: MonotonicTime = MonotonicTime::EPOCH;

#[derive(Serialize, Deserialize)]
struct Fleet {
    workload: Workload,
    draws: Draws,
    tally: Tally,
    free: usize,
    waiting: VecDeque<u32>,
}

#[Model]
impl Fleet {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>) {
        for client in 0..self.workload.clients as u32 {
            let sleep = Duration::from_nanos(self.draws.first_sleep() + 1);
            context.schedule_event(sleep, schedulable!(Self::wake), client).unwrap();
        }
    }

    #[nexosim(schedulable)]
    fn wake(&mut self, client: u32, context: &Context<Self>) {
        self.tally.poll();
        if self.free > 0 {
            self.free -= 1;
            self.serve(client, context);
        } else {
            self.waiting.push_back(client);
        }
    }

    #[nexosim(schedulable)]
    fn done(&mut self, client: u32, context: &Context<Self>) {
        let sleep = Duration::from_nanos(self.draws.sleep());
        context.schedule_event(sleep, schedulable!(Self::wake), client).unwrap();
        match self.waiting.pop_front() {
            Some(client) => self.serve(client, context),
            None => self.free += 1,
        }
    }

    /// What came of it.
    async fn tally(&mut self) -> Tally {
        self.tally
    }
}

impl Fleet {
    fn serve(&mut self, client: u32, context: &Context<Self>) {
        let now = context.time().duration_since(START).as_nanos() as u64;
        let service = self.draws.service();
        self.tally.start(now, service, &self.workload);
        let service = Duration::from_nanos(service);
        context.schedule_event(service, schedulable!(Self::done), client).unwrap();
    }
}

fn main() -> Result<(), SimulationError> {
    let workload = Workload::from_arguments();
    let fleet = Fleet {
        workload,
        draws: Draws::default(),
        tally: Tally::default(),
        free: workload.backends,
        waiting: VecDeque::new(),
    };
    let mailbox = Mailbox::new();
    // One thread: nothing happens at the same time.
    let mut bench = SimInit::with_num_threads(1);
    let tally = QuerySource::new().connect(Fleet::tally, &mailbox).register(&mut bench);
    let mut simulation = bench.add_model(fleet, mailbox, "fleet").init(START)?;
    simulation.step_until(Duration::from_nanos(workload.end - 1))?;
    let tally = simulation.process_query(&tally, ())?;
    tally.print(&workload);
    Ok(())
}
