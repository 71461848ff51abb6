//! How fast the engine is, against loops that one would write by hand in the same process.
//!
//! `cargo bench` prints the time that a poll takes in plain polling (every client sleeps 15–45 s, claims
//! take 170 ms exponential), with the pool never full and at 71, 93 and 103 % of its capacity:
//!
//! - `floor`: the two random draws of a poll alone,
//! - `std16`: a `BinaryHeap<(u64 time, u32 id)>` loop, what one would write first,
//! - `packed`: the same with one-word keys and the top replaced, what one would write last,
//! - the engine with nothing watching, with all metrics, and with these but played event by event;
//!
//! and, there and in `deriver-restart` restarted, locked in and storming, the full model with all metrics and
//! its timers in the same heap as `std16`. The contestants alternate, and the figures are medians of their runs: quote the ratios, since machines are noisy.
//!
//! Options: `--clients N` for another fleet than 11,543 (pool, limit and cores grow with it), `--seconds S`,
//! `--runs R`, `--only TEXT` for workloads whose name contains it, and `--unit`, which plays each of these
//! once with all metrics and prints nothing (for counting instructions).

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![allow(clippy::disallowed_macros, reason = "a benchmark prints")]

mod by_hand;
mod workloads;

use std::time::Instant;

use herdsim::engine::{self, observer};
use herdsim::metrics::Recorder;
use herdsim::units::SimTime;
use workloads::Workload;

/// Who is measured: a name, and what plays a workload and says how much there was to do.
type Contestant = (&'static str, fn(&Workload) -> u64);

const BY_HAND: [Contestant; 3] = [
    ("std16", |workload| by_hand::std16(&workload.scenario)),
    ("floor", |workload| by_hand::floor(&workload.scenario)),
    ("packed", |workload| by_hand::packed(&workload.scenario)),
];

const ENGINE: [Contestant; 4] = [
    ("model on std16", on_heap),
    ("engine, all metrics", watched),
    ("… event by event", one_by_one),
    ("engine, unwatched", unwatched),
];

fn main() {
    let clients = option("--clients").unwrap_or(11_543);
    let seconds = option("--seconds").unwrap_or(600);
    let runs = option("--runs").unwrap_or(9);
    let only = text("--only").unwrap_or_default();
    let once = std::env::args().any(|argument| argument == "--unit");
    for workload in workloads::all(clients, seconds, &only) {
        if once {
            watched(&workload);
        } else {
            compare(&workload, runs);
        }
    }
}

fn text(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn option(name: &str) -> Option<u32> {
    text(name).map(|value| value.parse().expect("a number"))
}

fn compare(workload: &Workload, runs: u32) {
    let by_hand = if workload.plain { &BY_HAND[..] } else { &[] };
    let contestants: Vec<Contestant> = by_hand.iter().chain(&ENGINE).copied().collect();
    let mut times = vec![Vec::new(); contestants.len()];
    // The first run warms caches and branch predictors.
    for run in 0..=runs {
        for (times, (_, contestant)) in times.iter_mut().zip(&contestants) {
            let start = Instant::now();
            let done = contestant(workload);
            let time = start.elapsed().as_nanos() as f64 / done as f64;
            if run > 0 {
                times.push(time);
            }
        }
    }
    let medians: Vec<f64> = times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect();
    let unit = if workload.plain { "poll" } else { "event" };
    let clients = workload.scenario.fleet.clients;
    println!("\n{}, {clients} clients, median of {runs}", workload.name);
    println!("{:<22}{:>10}{:>12}", "", format!("ns/{unit}"), "× first");
    for ((name, _), median) in contestants.iter().zip(&medians) {
        println!("{name:<22}{median:>10.1}{:>12.2}", medians[0] / median);
    }
}

fn unwatched(workload: &Workload) -> u64 {
    let events = engine::play(&workload.scenario, workload.policy, 0, ()).events;
    // A completion and an arrival a poll.
    if workload.plain { events / 2 } else { events }
}

/// Instructions are counted within this.
#[inline(never)]
fn watched(workload: &Workload) -> u64 {
    let mut recorder = Recorder::new(&workload.scenario, workload.policy);
    let end = engine::play(&workload.scenario, workload.policy, 0, &mut recorder);
    finish(workload, recorder, &end)
}

fn one_by_one(workload: &Workload) -> u64 {
    let mut observer = OneByOne(Recorder::new(&workload.scenario, workload.policy));
    let end = engine::play(&workload.scenario, workload.policy, 0, &mut observer);
    finish(workload, observer.0, &end)
}

fn on_heap(workload: &Workload) -> u64 {
    let mut observer = OneByOne(Recorder::new(&workload.scenario, workload.policy));
    let end = engine::play_on_heap(&workload.scenario, workload.policy, 0, &mut observer);
    finish(workload, observer.0, &end)
}

fn finish(workload: &Workload, recorder: Recorder, end: &observer::End) -> u64 {
    let record = recorder.finish(end);
    if workload.plain { record.counts.polls } else { record.events }
}

/// Has a recorder hear of each event, never of a window.
struct OneByOne(Recorder);

impl observer::Observer for OneByOne {
    #[inline(always)]
    fn on(&mut self, now: SimTime, event: observer::Event, gauges: observer::Gauges) {
        self.0.on(now, event, gauges);
    }
}
