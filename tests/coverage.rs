//! How often 95 % intervals hold the truth, on a queue whose truth is known: M/M/1, requests at 5 a second.

use std::thread;

use herdsim::metrics::{Design, Difference, Estimate, Metric, Outcome, Value};
use herdsim::sweep;
use statrs::distribution::{DiscreteCDF, Poisson};

use crate::watch::written_with;

/// Repetitions: one standard error of a coverage of 95 % is 0.49 %.
const REPETITIONS: usize = 2_000;
/// Replicates of each: of means, and of shares, whose coverage jumps with p where they are few.
const REPLICATES: usize = 10;
const REPLICATES_OF_SHARES: usize = 50;
const RATE: f64 = 5.0;
/// What is measured, 500 services at a load of one half: the mean of so many is close to normal.
const SECONDS: f64 = 100.0;

/// A repetition after the other, each of so many replicates; `claim` is the mean service time.
fn repetitions(claim: &str, replicates: usize) -> Outcome {
    let scenario = written_with(
        "title = 'M/M/1'
         [run]
         duration = '110s'
         warm_up = '10s'
         [fleet]
         clients = 1
         [pooler]
         pool_size = 1
         [database]
         claim = '1us'
         [background]
         rate = '5/s'
         [policy.absent]
         start_up = '1h'
         poll = ['1h']",
        &[
            format!("run.replicates={}", REPETITIONS * replicates).as_str(),
            &format!("background.claim={{ exponential = {{ mean = '{claim}' }} }}"),
        ],
    );
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    sweep::outcomes(&[scenario], jobs, &|_| {}).remove(0).remove(0)
}

/// The share of repetitions whose interval holds the truth.
fn coverage(holds: impl Fn(usize) -> bool) -> f64 {
    (0..REPETITIONS).filter(|&repetition| holds(repetition)).count() as f64 / REPETITIONS as f64
}

fn of(values: &[Value], repetition: usize, replicates: usize) -> &[Value] {
    &values[repetition * replicates..][..replicates]
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_promise() {
    let half = repetitions("100ms", REPLICATES_OF_SHARES);
    let more = repetitions("120ms", REPLICATES);
    let busy = [&half, &more].map(|outcome| outcome.values(Metric::SvActiveMean));
    let within = |bounds: Option<(f64, f64)>, truth: f64| {
        bounds.is_some_and(|(low, high)| (low..=high).contains(&truth))
    };

    // Of an M/M/1 queue the server is busy ρ of the time.
    let means = coverage(|repetition| {
        let values = of(&busy[0], repetition, REPLICATES);
        within(Estimate::of(Metric::SvActiveMean, values).bounds(), RATE * 0.1)
    });
    let paired = |repetition| {
        let [a, b] = [0, 1].map(|load: usize| of(&busy[load], repetition, REPLICATES));
        Difference::of(Metric::SvActiveMean, Design::Paired, a, b)
    };
    let differences = coverage(|repetition| {
        let found = paired(repetition);
        within(found.low.zip(found.high), RATE * 0.02)
    });
    // Requests in a replicate are Poisson: how likely at most 500 are is a share whose truth is known,
    // and Wilson's interval of 50 holds this one 95.3 % of the time (the sum over the binomial law).
    let truth = Poisson::new(RATE * SECONDS).unwrap().cdf(500);
    let few = |value: &Value| match value {
        Value::Number(requests) => Value::Number(f64::from(u8::from(*requests < 500.5))),
        other => *other,
    };
    let few: Vec<Value> = half.values(Metric::Requests).iter().map(few).collect();
    let shares = coverage(|repetition| {
        let values = of(&few, repetition, REPLICATES_OF_SHARES);
        within(Estimate::of(Metric::DrainedShare, values).bounds(), truth)
    });
    let factor = paired(0).pairing_factor.unwrap();
    for (what, found) in [("means", means), ("differences", differences), ("shares", shares)] {
        assert!(
            (0.93..=0.97).contains(&found),
            "intervals of {what} hold the truth {found} of the time"
        );
    }
    assert!(factor > 1.5, "the same requests: pairing bought {factor}");
}
