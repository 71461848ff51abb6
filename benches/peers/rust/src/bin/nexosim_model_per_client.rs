//! NeXosim: every client is a model that asks the pool, another one, for a backend and gives it back.

use std::collections::VecDeque;
use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{Output, QuerySource, UniRequestor};
use nexosim::simulation::{Mailbox, SimInit, SimulationError};
use nexosim::time::MonotonicTime;
use peers::{Draws, Tally, Workload};
use serde::{Deserialize, Serialize};

const START: MonotonicTime = MonotonicTime::EPOCH;

#[derive(Serialize, Deserialize)]
struct Client {
    id: usize,
    first_sleep: u64,
    /// Asks for a backend: how long the claim takes and then the sleep, unless the client must wait.
    claim: UniRequestor<usize, Option<Grant>>,
    release: Output<()>,
}

/// A backend is the client's for so long, and then it sleeps.
#[derive(Clone, Serialize, Deserialize)]
struct Grant {
    service: Duration,
    sleep: Duration,
}

#[Model]
impl Client {
    #[nexosim(init)]
    async fn init(&mut self, context: &Context<Self>) {
        let sleep = Duration::from_nanos(self.first_sleep + 1);
        context.schedule_event(sleep, schedulable!(Self::wake), ()).unwrap();
    }

    #[nexosim(schedulable)]
    async fn wake(&mut self, _: (), context: &Context<Self>) {
        if let Some(grant) = self.claim.send(self.id).await {
            self.grant(grant, context).await;
        }
    }

    /// The backend that the client has asked for.
    async fn grant(&mut self, grant: Grant, context: &Context<Self>) {
        context.schedule_event(grant.service, schedulable!(Self::done), grant.sleep).unwrap();
    }

    #[nexosim(schedulable)]
    async fn done(&mut self, sleep: Duration, context: &Context<Self>) {
        context.schedule_event(sleep, schedulable!(Self::wake), ()).unwrap();
        self.release.send(()).await;
    }
}

#[derive(Serialize, Deserialize)]
struct Pool {
    workload: Workload,
    draws: Draws,
    tally: Tally,
    free: usize,
    waiting: VecDeque<usize>,
    /// To each client that has waited.
    grants: Vec<Output<Grant>>,
}

#[Model]
impl Pool {
    async fn claim(&mut self, client: usize, context: &Context<Self>) -> Option<Grant> {
        self.tally.poll();
        if self.free == 0 {
            self.waiting.push_back(client);
            return None;
        }
        self.free -= 1;
        Some(self.draw(context))
    }

    async fn release(&mut self, _: (), context: &Context<Self>) {
        match self.waiting.pop_front() {
            Some(client) => {
                let grant = self.draw(context);
                self.grants[client].send(grant).await;
            }
            None => self.free += 1,
        }
    }

    /// What came of it.
    async fn tally(&mut self) -> Tally {
        self.tally
    }
}

impl Pool {
    fn draw(&mut self, context: &Context<Self>) -> Grant {
        let now = context.time().duration_since(START).as_nanos() as u64;
        let service = self.draws.service();
        self.tally.start(now, service, &self.workload);
        let sleep = Duration::from_nanos(self.draws.sleep());
        Grant { service: Duration::from_nanos(service), sleep }
    }
}

fn main() -> Result<(), SimulationError> {
    let workload = Workload::from_arguments();
    let mut pool = Pool {
        workload,
        draws: Draws::default(),
        tally: Tally::default(),
        free: workload.backends,
        waiting: VecDeque::new(),
        grants: Vec::new(),
    };
    let pool_mailbox = Mailbox::new();
    // One thread: hardly anything happens at the same time.
    let mut bench = SimInit::with_num_threads(1);
    let tally = QuerySource::new().connect(Pool::tally, &pool_mailbox).register(&mut bench);
    for id in 0..workload.clients {
        let mut client = Client {
            id,
            first_sleep: pool.draws.first_sleep(),
            claim: UniRequestor::new(Pool::claim, &pool_mailbox),
            release: Output::default(),
        };
        let mailbox = Mailbox::new();
        client.release.connect(Pool::release, &pool_mailbox);
        let mut grant = Output::default();
        grant.connect(Client::grant, &mailbox);
        pool.grants.push(grant);
        bench = bench.add_model(client, mailbox, &format!("client {id}"));
    }
    let mut simulation = bench.add_model(pool, pool_mailbox, "pool").init(START)?;
    simulation.step_until(Duration::from_nanos(workload.end - 1))?;
    let tally = simulation.process_query(&tally, ())?;
    tally.print(&workload);
    Ok(())
}
