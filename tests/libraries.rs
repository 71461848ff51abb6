//! Presets against what the real libraries drew.
//!
//! Of every policy and attempt: the mean within five standard errors of both samples, the library's
//! quantiles by their rank among our draws, its extremes within the bounds of ours.

use std::collections::BTreeMap;

use crate::presets::DRAWN;
use herdsim::policy::{Past, Pipeline};
use herdsim::random::{Moment, Purpose, World};
use herdsim::scenario::parse_backoffs;
use herdsim::units::Span;

/// Sequences of ours.
const SEQUENCES: u32 = 20_000;

/// What a library drew at one attempt.
#[derive(Debug, serde::Deserialize)]
struct Row {
    library: String,
    version: String,
    policy: String,
    params: String,
    attempt: u32,
    min: f64,
    mean: f64,
    max: f64,
    p10: f64,
    p50: f64,
    p90: f64,
    n: f64,
}

fn rows(file: &str) -> Vec<Row> {
    let path = format!("{}/tests/data/backoff/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut table = csv::Reader::from_path(path).expect("the table is there");
    table.deserialize().map(|row| row.expect("a row of the table")).collect()
}

/// The delay that a preset with its overrides describes.
fn delay(preset: &str) -> Pipeline {
    let text = format!("it = {{ {preset} }}");
    match parse_backoffs("preset", &text) {
        Ok(mut found) => found.remove(0).retry.delay,
        Err(error) => panic!("{preset}: {error}"),
    }
}

/// Delays in seconds of attempts 1 to `attempts`, each sorted over the sequences.
fn draw(delay: &Pipeline, attempts: u32) -> Vec<Vec<f64>> {
    let world = World::new(20_260_602, 0);
    let mut drawn = vec![Vec::with_capacity(SEQUENCES as usize); attempts as usize];
    for client in 0..SEQUENCES {
        let mut past = Past::default();
        for attempt in 0..attempts {
            let moment = Moment { attempt, ..Moment::default() };
            let site = world.site(Purpose::RetryJitter, client, moment);
            let span = delay.delay(attempt, past, site);
            past = Past { previous: Some(span), elapsed: past.elapsed + span };
            drawn[attempt as usize].push(span.as_secs_f64());
        }
    }
    drawn.iter_mut().for_each(|delays| delays.sort_by(f64::total_cmp));
    drawn
}

/// What the tables' six digits and a tick of rounding allow.
fn slack(value: f64) -> f64 {
    1e-5 * value.abs() + 2e-6
}

/// How far the library's row is from our draws, in standard errors of the mean, and what is wrong.
fn compare(row: &Row, delays: &[f64], bounds: (Span, Span)) -> (f64, Vec<String>) {
    let n = delays.len() as f64;
    let mean = delays.iter().sum::<f64>() / n;
    let variance = delays.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance * (1.0 / n + 1.0 / row.n)).sqrt();
    let off = ((mean - row.mean).abs() - slack(row.mean)).max(0.0);
    let z = if off == 0.0 { 0.0 } else { off / error };
    let mut wrong = Vec::new();
    if z > 5.0 {
        wrong.push(format!("mean {mean} : {}, {z:.1} standard errors", row.mean));
    }
    for (p, quantile) in [(0.1, row.p10), (0.5, row.p50), (0.9, row.p90)] {
        let rank = |value: f64| delays.partition_point(|&delay| delay < value) as f64 / n;
        let (below, up_to) = (rank(quantile - slack(quantile)), rank(quantile + slack(quantile)));
        let error = 5.0 * (p * (1.0 - p) * (1.0 / n + 1.0 / row.n)).sqrt();
        if below - error > p || up_to + error < p {
            wrong.push(format!("{p} quantile {quantile} has ranks {below} to {up_to}"));
        }
    }
    let (least, most) = (bounds.0.as_secs_f64(), bounds.1.as_secs_f64());
    if row.min < least - slack(least) || row.max > most + slack(most) {
        wrong.push(format!("{} to {} is beyond {least} to {most}", row.min, row.max));
    }
    (z, wrong)
}

#[test]
fn every_preset_draws_what_its_library_drew() {
    for file in ["golden.csv", "replica.csv"] {
        let mut policies: BTreeMap<[String; 4], Vec<Row>> = BTreeMap::new();
        for row in rows(file) {
            let key = [&row.library, &row.version, &row.policy, &row.params].map(String::clone);
            policies.entry(key).or_default().push(row);
        }
        let (mut attempts, mut worst, mut wrong) = (0, (0.0, String::new()), Vec::new());
        for (key, rows) in &policies {
            let known = DRAWN.iter().find(|(drawn, _)| drawn == key);
            let Some((_, preset)) = known else {
                wrong.push(format!("no preset stands for {key:?}"));
                continue;
            };
            let delay = delay(preset);
            let drawn = draw(&delay, 12);
            for row in rows {
                let step = row.attempt - 1;
                let (z, problems) =
                    compare(row, &drawn[step as usize], delay.range(step));
                attempts += 1;
                if z > worst.0 {
                    worst = (z, format!("{preset}, attempt {}", row.attempt));
                }
                let name = |problem| format!("{preset}, attempt {}: {problem}", row.attempt);
                wrong.extend(problems.into_iter().map(name));
            }
        }
        let (z, whose) = worst;
        println!("{file}: {} policies, {attempts} attempts, worst z {z:.2} ({whose})", policies.len());
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
}
