//! What all peers in Rust share: the workload, its random draws and what is counted of it.
//!
//! Times are nanoseconds. Every client sleeps 15–45 s, then claims a backend for 170 ms on average,
//! waiting first come, first served if none is free.

use std::ops::Range;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rand_distr::Exp1;
use serde::{Deserialize, Serialize};

const SECOND: u64 = 1_000_000_000;
const SEED: u64 = 42;

/// How much is played.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Workload {
    pub clients: usize,
    pub backends: usize,
    /// When it is over.
    pub end: u64,
}

impl Workload {
    /// From the command line: clients, backends, seconds.
    pub fn from_arguments() -> Workload {
        let numbers: Vec<usize> =
            std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
        let [clients, backends, seconds] = numbers[..] else {
            panic!("usage: CLIENTS BACKENDS SECONDS")
        };
        Workload { clients, backends, end: seconds as u64 * SECOND }
    }
}

/// The random draws, from one stream.
#[derive(Serialize, Deserialize)]
pub struct Draws(Xoshiro256PlusPlus);

impl Default for Draws {
    fn default() -> Draws {
        Draws(Xoshiro256PlusPlus::seed_from_u64(SEED))
    }
}

impl Draws {
    /// How long a client sleeps before its first poll.
    pub fn first_sleep(&mut self) -> u64 {
        self.uniform(0..30 * SECOND)
    }

    /// How long a client sleeps after a poll.
    pub fn sleep(&mut self) -> u64 {
        self.uniform(15 * SECOND..45 * SECOND)
    }

    /// How long a claim takes.
    pub fn service(&mut self) -> u64 {
        let exponential: f64 = self.0.sample(Exp1);
        (exponential * 0.17 * SECOND as f64) as u64 + 1
    }

    fn uniform(&mut self, range: Range<u64>) -> u64 {
        self.0.random_range(range)
    }
}

/// What came of it.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Tally {
    polls: u64,
    /// Time that backends were busy before the end.
    busy: u64,
}

impl Tally {
    /// A client wants a backend.
    pub fn poll(&mut self) {
        self.polls += 1;
    }

    /// A backend is busy from `now` on for the time of a `service`.
    pub fn start(&mut self, now: u64, service: u64, workload: &Workload) {
        self.busy += service.min(workload.end - now);
    }

    /// The line that run.py reads: polls, and active backends on average.
    pub fn print(&self, workload: &Workload) {
        println!("{} {:.6}", self.polls, self.busy as f64 / workload.end as f64);
    }
}
