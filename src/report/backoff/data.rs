//! The same as CSV and JSON, for programs.

use serde::Serialize;

use super::Shown;
use super::words::sentence;
use crate::policy::{Distribution, Guard};
use crate::results::tables::decimal;

/// A row per rule and attempt, in seconds.
pub fn csv(shown: &[Shown]) -> Vec<u8> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let header = "policy,attempt,min_s,p10_s,p50_s,mean_s,p90_s,max_s,cap_share,\
                  cumulative_mean_s,exact,beyond_stop";
    let written = "a table in memory can be written";
    table.write_record(header.split(',')).expect(written);
    for rule in shown {
        for (attempt, (d, sum)) in (1..).zip(rule.curve.steps()) {
            let figures = [d.min, d.p10, d.p50, d.mean, d.p90, d.max, d.cap_share, sum];
            let figures = figures.map(decimal);
            let keys = [rule.name.clone(), format!("{attempt}")];
            let flags = [d.exact, rule.curve.is_beyond_stop(attempt)].map(|flag| flag.to_string());
            table.write_record(keys.into_iter().chain(figures).chain(flags)).expect(written);
        }
    }
    table.into_inner().expect(written)
}

#[derive(Serialize)]
struct JsonRule<'a> {
    policy: &'a str,
    formula: Option<&'a str>,
    lacks: Option<&'a str>,
    guards: &'a [Guard],
    stop: String,
    stops_at: Option<u32>,
    surprises: Vec<String>,
    attempts: Vec<JsonAttempt>,
}

#[derive(Serialize)]
struct JsonAttempt {
    attempt: u32,
    exact: bool,
    beyond_stop: bool,
    min_s: f64,
    p10_s: f64,
    p50_s: f64,
    mean_s: f64,
    p90_s: f64,
    max_s: f64,
    cap_share: f64,
    cumulative_mean_s: f64,
}

/// The same as JSON, with what may surprise.
pub fn json(shown: &[Shown]) -> String {
    let rules: Vec<JsonRule<'_>> = shown.iter().map(JsonRule::of).collect();
    crate::report::json::pretty(&rules)
}

impl<'a> JsonRule<'a> {
    fn of(rule: &'a Shown) -> JsonRule<'a> {
        let attempt = |(attempt, (d, sum)): (u32, (&Distribution, f64))| JsonAttempt {
            attempt,
            exact: d.exact,
            beyond_stop: rule.curve.is_beyond_stop(attempt),
            min_s: d.min,
            p10_s: d.p10,
            p50_s: d.p50,
            mean_s: d.mean,
            p90_s: d.p90,
            max_s: d.max,
            cap_share: d.cap_share,
            cumulative_mean_s: sum,
        };
        let sentence = |surprise| sentence(surprise, rule);
        JsonRule {
            policy: &rule.name,
            formula: rule.preset.map(|preset| preset.formula.as_str()),
            lacks: rule.preset.and_then(|preset| preset.lacks.as_deref()),
            guards: &rule.guards,
            stop: rule.stops(),
            stops_at: rule.curve.stops_at,
            surprises: rule.curve.surprises.iter().map(sentence).collect(),
            attempts: (1..).zip(rule.curve.steps()).map(attempt).collect(),
        }
    }
}
