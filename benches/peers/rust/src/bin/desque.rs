//! desque: the state of the simulation, and one type for each kind of event, as in its M/M/1 example.

use std::collections::VecDeque;

use desque::serial::{Event, Simulation};
use desque::{Result, SimState};
use peers::{Draws, Tally, Workload};

type Polling = Simulation<Pool, u64>;

struct Pool {
    workload: Workload,
    draws: Draws,
    tally: Tally,
    free: usize,
    waiting: VecDeque<u32>,
}

impl SimState<u64> for Pool {
    fn is_complete(&self, now: &u64) -> bool {
        *now >= self.workload.end
    }
}

#[derive(Debug)]
struct Wake {
    client: u32,
}

#[derive(Debug)]
struct Done {
    client: u32,
}

impl Event<Pool, u64> for Wake {
    fn execute(&mut self, simulation: &mut Polling) -> Result {
        // The event that completes a simulation is still executed.
        if simulation.state().is_complete(simulation.current_time()) {
            return Ok(());
        }
        let pool = simulation.state_mut();
        pool.tally.poll();
        if pool.free > 0 {
            pool.free -= 1;
            Done::schedule(self.client, simulation)
        } else {
            pool.waiting.push_back(self.client);
            Ok(())
        }
    }
}

impl Done {
    fn schedule(client: u32, simulation: &mut Polling) -> Result {
        let now = *simulation.current_time();
        let pool = simulation.state_mut();
        let service = pool.draws.service();
        pool.tally.start(now, service, &pool.workload);
        simulation.schedule_with_delay(Done { client }, service)
    }
}

impl Event<Pool, u64> for Done {
    fn execute(&mut self, simulation: &mut Polling) -> Result {
        if simulation.state().is_complete(simulation.current_time()) {
            return Ok(());
        }
        let sleep = simulation.state_mut().draws.sleep();
        simulation.schedule_with_delay(Wake { client: self.client }, sleep)?;
        match simulation.state_mut().waiting.pop_front() {
            Some(client) => Done::schedule(client, simulation),
            None => {
                simulation.state_mut().free += 1;
                Ok(())
            }
        }
    }
}

fn main() -> Result {
    let workload = Workload::from_arguments();
    let pool = Pool {
        workload,
        draws: Draws::default(),
        tally: Tally::default(),
        free: workload.backends,
        waiting: VecDeque::new(),
    };
    let mut simulation = Simulation::new(pool, 0);
    for client in 0..workload.clients as u32 {
        let sleep = simulation.state_mut().draws.first_sleep();
        simulation.schedule(Wake { client }, sleep)?;
    }
    simulation.run()?;
    simulation.state().tally.print(&workload);
    Ok(())
}
