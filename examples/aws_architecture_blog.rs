//! The contended row of the AWS Architecture Blog's "Exponential Backoff and Jitter", over `herdsim::policy`.
//!
//! N clients each want to write one row once, by optimistic concurrency: read it, write it back, and back off if
//! somebody else has written in between. Every message takes |Normal(10, 2)| ms. Printed are the calls (writes that
//! reach the server) and the time until the last client knows that it is done, means over 100 runs, beside those of
//! the blog's own program.
//!
//! ```sh
//! cargo run --release --example aws_architecture_blog
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use herdsim::policy::{Exponential, Growth, Past, Pipeline, Stage};
use herdsim::random::{Moment, Purpose, World};
use herdsim::units::{SimTime, Span};
use rand_distr::{Distribution, Normal};

/// Runs of each row of the table.
pub const RUNS: u32 = 100;

/// What is on its way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Message {
    Read,
    ReadDone,
    Write,
    Written { success: bool },
}

#[derive(Clone, Copy, Default)]
struct Client {
    /// The version that it has read.
    version: u32,
    failures: u32,
    messages: u32,
    previous: Option<Span>,
}

/// The delay of an algorithm by its name in the reference table: base 5 ms, at most 2 s.
pub fn algorithm(name: &str) -> Pipeline {
    let (base, cap) = (Span::from_millis(5), Span::from_secs(2));
    let law = Exponential { first: 1, ..Exponential::new(base, 2.0) };
    let expo = |stages: &[Stage]| {
        let stages = [&[Stage::Clamp(cap)], stages].concat();
        Pipeline::new(Growth::Exponential(law), stages, None)
    };
    match name {
        "None" => Pipeline::constant(Span::ZERO),
        "Exponential" => expo(&[]),
        "EqualJitter" => expo(&[Stage::Scale(0.5, 1.0)]),
        "FullJitter" => expo(&[Stage::Scale(0.0, 1.0)]),
        "Decorr" => {
            let growth = Growth::Decorrelated { base, factor: 3.0, first: base };
            Pipeline::new(growth, vec![Stage::Clamp(cap)], None)
        }
        other => panic!("the blog has no algorithm {other}"),
    }
}

/// Plays one run: (calls, milliseconds).
pub fn play(delay: &Pipeline, clients: u32, run: u32) -> (f64, f64) {
    let world = World::new(5, run);
    let hop = Normal::new(10.0f64, 2.0).expect("a finite deviation");
    let mut states = vec![Client::default(); clients as usize];
    let mut events = BinaryHeap::new();
    let (mut version, mut calls, mut now) = (0, 0.0, SimTime::ZERO);
    let send = |states: &mut [Client], events: &mut BinaryHeap<_>, client: u32, at, message| {
        let state = &mut states[client as usize];
        let moment = Moment { poll: state.messages, ..Moment::default() };
        state.messages += 1;
        let site = world.site(Purpose::Demand, client, moment);
        let millis = hop.sample(&mut site.stream()).abs();
        let arrives: SimTime = at + Span::from_ticks_f64(1e3 * millis);
        events.push(Reverse((arrives, client, message)));
    };
    for client in 0..clients {
        send(&mut states, &mut events, client, SimTime::ZERO, Message::Read);
    }
    while let Some(Reverse((at, client, message))) = events.pop() {
        now = at;
        let state = &mut states[client as usize];
        let (at, next) = match message {
            Message::Read => {
                state.version = version;
                (at, Message::ReadDone)
            }
            Message::ReadDone => (at, Message::Write),
            Message::Write => {
                calls += 1.0;
                let success = state.version == version;
                version += u32::from(success);
                (at, Message::Written { success })
            }
            Message::Written { success: true } => continue,
            Message::Written { success: false } => {
                let attempt = state.failures;
                state.failures += 1;
                let site = world.site(
                    Purpose::RetryJitter,
                    client,
                    Moment { attempt, ..Moment::default() },
                );
                let past = Past { previous: state.previous, ..Past::default() };
                let wait = delay.delay(attempt, past, site);
                state.previous = Some(wait);
                (at + wait, Message::Read)
            }
        };
        send(&mut states, &mut events, client, at, next);
    }
    (calls, 1e3 * now.as_secs_f64())
}

/// Mean and sample deviation of the calls and of the time over all runs.
pub fn means(name: &str, clients: u32) -> [(f64, f64); 2] {
    let delay = algorithm(name);
    let runs: Vec<(f64, f64)> = (0..RUNS).map(|run| play(&delay, clients, run)).collect();
    let n = f64::from(RUNS);
    [|run: &(f64, f64)| run.0, |run: &(f64, f64)| run.1].map(|of| {
        let mean = runs.iter().map(of).sum::<f64>() / n;
        let variance = runs.iter().map(|run| (of(run) - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance.sqrt())
    })
}

/// A row of the blog's own figures.
pub struct Reference {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Clients.
    pub clients: u32,
    /// Mean and sample deviation of the calls and of the time in milliseconds.
    pub figures: [(f64, f64); 2],
}

/// The figures of the blog's own program, run again.
pub fn reference() -> Vec<Reference> {
    let text = include_str!("../tests/data/backoff/aws_reference.csv");
    let mut table = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let header = table.headers().expect("a header").clone();
    let column = |name| header.iter().position(|column| column == name).expect("a column");
    let [calls, calls_sd, time, time_sd] =
        ["calls_mean", "calls_sd", "time_mean", "time_sd"].map(column);
    let rows = table.records().map(|row| {
        let row = row.expect("a row");
        let number = |index: usize| row[index].parse::<f64>().expect("a number");
        Reference {
            algorithm: row[0].to_owned(),
            clients: row[1].parse().expect("a number of clients"),
            figures: [(number(calls), number(calls_sd)), (number(time), number(time_sd))],
        }
    });
    rows.collect()
}

#[allow(clippy::disallowed_macros, reason = "it has no console")]
fn main() {
    println!(
        "{:<12}{:>8}{:>20}{:>24}",
        "algorithm", "clients", "calls : blog", "time in ms : blog"
    );
    for row in reference() {
        let [(calls, _), (time, _)] = means(&row.algorithm, row.clients);
        let [(blog_calls, _), (blog_time, _)] = row.figures;
        let (name, clients) = (&row.algorithm, row.clients);
        println!(
            "{name:<12}{clients:>8}{calls:>10.1} :{blog_calls:>8.1}{time:>13.1} :{blog_time:>9.1}"
        );
    }
}
