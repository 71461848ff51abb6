//! All estimates as JSON. A figure that does not exist, or that had not come by the end, is `null`.

use serde::{Serialize, Serializer};

use crate::metrics::{Estimate, Metric, PolicySummary};
use crate::results::{self, Results};

#[derive(Serialize)]
struct Report<'a> {
    scenario: &'a str,
    title: &'a str,
    digest: String,
    seed: u64,
    replicates: u32,
    duration_s: f64,
    first_trigger_s: Option<f64>,
    policies: Vec<Policy<'a>>,
}

#[derive(Serialize)]
struct Policy<'a> {
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    #[serde(serialize_with = "by_name")]
    metrics: Vec<Estimate>,
}

#[derive(Serialize)]
struct Figure {
    unit: &'static str,
    estimate: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    replicates: usize,
    censored: usize,
}

/// The whole report: per policy, or per policy and variant, one object per metric under its name.
pub fn render(results: &Results) -> String {
    let scenario = &results.loaded.scenario;
    let report = Report {
        scenario: &scenario.name,
        title: &scenario.title,
        digest: results::digest(&results.loaded),
        seed: scenario.run.seed,
        replicates: scenario.run.replicates,
        duration_s: scenario.run.duration.as_secs_f64(),
        first_trigger_s: scenario.first_trigger().map(|at| at.as_secs_f64()),
        policies: results.policies.iter().map(policy).collect(),
    };
    let mut text = serde_json::to_string_pretty(&report).expect("a report has text keys only");
    text.push('\n');
    text
}

fn policy(summary: &PolicySummary) -> Policy<'_> {
    Policy {
        policy: &summary.policy,
        variant: summary.variant.as_deref(),
        metrics: Metric::ALL.iter().map(|&metric| summary.estimate(metric)).collect(),
    }
}

/// As an object in the order of the metrics.
fn by_name<S: Serializer>(estimates: &[Estimate], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(estimates.iter().map(|estimate| {
        let figure = Figure {
            unit: estimate.metric.unit(),
            estimate: estimate.estimate,
            ci_low: estimate.low,
            ci_high: estimate.high,
            replicates: estimate.replicates,
            censored: estimate.censored,
        };
        (estimate.metric.name(), figure)
    }))
}
