//! How fast the engine is, against a bare `BinaryHeap` loop in the same process.
//!
//! `cargo bench` prints, for plain polling (every client sleeps 15–45 s, claims take 170 ms
//! exponential, the pool never fills), the CPU time a poll takes
//!
//! - on a plain `BinaryHeap<(u64 time, u32 id)>` loop that draws the same sleeps and demands, measures
//!   nothing and models nothing else (`std16`, what one would write by hand),
//! - on the engine with nothing watching,
//! - on the engine with all metrics.
//!
//! The three alternate, and the figures are medians of their runs: quote the ratios, since machines
//! are noisy. Options: `cargo bench -- --clients 100000 --runs 9`.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::disallowed_macros, reason = "a benchmark prints")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::VecDeque;
use std::time::Instant;

mod workloads;

use herdsim::engine;
use herdsim::metrics::Recorder;
use herdsim::random::{Moment, Purpose, World};
use herdsim::scenario::{self, Scenario};

/// Simulated seconds of one run.
const SECONDS: u64 = 600;

const POLLING: &str = r#"
title = "Plain polling"
[run]
duration = "600s"
seed = 42
[fleet]
clients = 11_543
initial = { warm = { interval = "30s" } }
[pooler]
pool_size = 368
[database]
claim = { exponential = { mean = "170ms" } }
[policy.polling]
poll = [ "30s", { scale = [0.5, 1.5] } ]
"#;

fn main() {
    if std::env::args().any(|a| a == "--profile") {
        let which: usize = std::env::args().skip_while(|a| a != "--profile").nth(1).unwrap().parse().unwrap();
        let option = |name: &str, default: u32| {
            let mut arguments = std::env::args().skip_while(|argument| argument != name);
            arguments.nth(1).map_or(default, |value| value.parse().expect("a number"))
        };
        let w = &workloads::all(option("--clients", 11_543), option("--seconds", 600))[which];
        let start = Instant::now();
        let events = if std::env::args().any(|a| a == "--bare") {
            engine::play(&w.scenario, w.policy, 0, ()).events
        } else {
            let mut recorder = Recorder::new(&w.scenario, w.policy);
            let end = engine::play(&w.scenario, w.policy, 0, &mut recorder);
            recorder.finish(&end);
            end.events
        };
        println!("{} {events} events {:.1} ns/event", w.name, start.elapsed().as_nanos() as f64 / events as f64);
        return;
    }
    let option = |name: &str, default: u32| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        arguments.nth(1).map_or(default, |value| value.parse().expect("a number"))
    };
    let clients = option("--clients", 11_543);
    let runs = option("--runs", 9);
    let scenario = polling(clients);
    let measure = |name: &'static str, polls: &dyn Fn() -> u64| {
        let start = Instant::now();
        let polls = polls();
        (name, start.elapsed().as_nanos() as f64 / polls as f64)
    };
    let contestants: [(&str, &dyn Fn() -> u64); 3] = [
        ("std16, bare", &|| std16(&scenario)),
        ("engine, unwatched", &|| unwatched(&scenario)),
        ("engine, all metrics", &|| watched(&scenario)),
    ];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..=runs {
        for (times, (name, contestant)) in times.iter_mut().zip(&contestants) {
            times.push(measure(name, contestant).1);
        }
    }
    let medians = times.map(|mut times| {
        // The first run warms caches and branch predictors.
        times.remove(0);
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!("plain polling, {clients} clients, {SECONDS} s, median of {runs} runs");
    println!("{:<22}{:>12}{:>12}", "", "ns per poll", "× std16");
    for ((name, _), median) in contestants.iter().zip(medians) {
        println!("{name:<22}{median:>12.1}{:>12.2}", medians[0] / median);
    }
}

fn polling(clients: u32) -> Scenario {
    let pool_size = (u64::from(clients) * 368).div_ceil(11_543);
    let overrides = [
        format!("fleet.clients={clients}"),
        format!("pooler.pool_size={pool_size}"),
        format!("run.duration={SECONDS}s"),
    ];
    let loaded = scenario::parse("polling", "benchmark", POLLING, &overrides);
    loaded.expect("the benchmark's scenario is valid").scenario
}

fn unwatched(scenario: &Scenario) -> u64 {
    // A completion and an arrival a poll.
    engine::play(scenario, 0, 0, ()).events / 2
}

fn watched(scenario: &Scenario) -> u64 {
    let mut recorder = Recorder::new(scenario, 0);
    let end = engine::play(scenario, 0, 0, &mut recorder);
    recorder.finish(&end).counts.polls
}

/// The loop that one would write by hand: a heap of (time, id), a free counter, a queue of waiters.
fn std16(scenario: &Scenario) -> u64 {
    const END: u32 = 1 << 31;
    let world = World::new(scenario.run.seed, 0);
    let clients = scenario.fleet.clients;
    let draw = |purpose, id, poll| world.site(purpose, id, Moment { poll, ..Moment::default() });
    let mut heap = BinaryHeap::with_capacity(clients as usize);
    let mut polls_of = vec![0u32; clients as usize];
    let mut waiters = VecDeque::new();
    let mut free = scenario.pooler.pool_size;
    let mut polls = 0;
    for id in 0..clients {
        heap.push(Reverse(((draw(Purpose::WarmPhase, id, 0).uniform(0) * 30e6) as u64, id)));
    }
    let start = |heap: &mut BinaryHeap<_>, now: u64, id: u32, poll: u32| {
        let demand = (draw(Purpose::Demand, id, poll).exponential() * 170_000.0 + 0.5) as u64;
        heap.push(Reverse((now + demand, id | END)));
    };
    while let Some(Reverse((now, event))) = heap.pop() {
        if now >= SECONDS * 1_000_000 {
            break;
        }
        let id = event & !END;
        if event & END == 0 {
            polls += 1;
            if free > 0 {
                free -= 1;
                start(&mut heap, now, id, polls_of[id as usize]);
            } else {
                waiters.push_back(id);
            }
        } else {
            let poll = &mut polls_of[id as usize];
            let sleep = 15e6 + 30e6 * draw(Purpose::PollJitter, id, *poll).uniform(0);
            *poll += 1;
            heap.push(Reverse((now + (sleep + 0.5) as u64, id)));
            match waiters.pop_front() {
                Some(waiter) => start(&mut heap, now, waiter, polls_of[waiter as usize]),
                None => free += 1,
            }
        }
    }
    polls
}
