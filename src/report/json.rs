//! All estimates as JSON. A figure that does not exist, or that had not come by the end, is `null`.

use serde::{Serialize, Serializer};

use super::beside::{self, Beside};
use super::warnings;
use crate::metrics::{Difference, Estimate, Metric, PolicySummary};
use crate::results::{self, AgainstReference, Judged, Partial, Results};
use crate::scenario::Condition;

#[derive(Serialize)]
struct Report<'a> {
    scenario: &'a str,
    title: &'a str,
    digest: String,
    seed: u64,
    replicates: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<Partial>,
    duration_s: f64,
    first_trigger_s: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    thresholds: Vec<Threshold<'a>>,
    policies: Vec<Policy<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<Differences<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    theory: Vec<Theory<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Theory<'a> {
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    metric: Metric,
    theory: f64,
    estimate: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    assumption: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct Policy<'a> {
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    #[serde(serialize_with = "by_name")]
    metrics: Vec<Estimate>,
}

#[derive(Serialize)]
struct Differences<'a> {
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    #[serde(serialize_with = "differences_by_name")]
    metrics: Vec<Difference>,
}

#[derive(Serialize)]
struct DifferenceFigure {
    unit: &'static str,
    method: String,
    difference: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    replicates: usize,
    pairing_factor: Option<f64>,
    verdict: String,
}

#[derive(Serialize)]
struct Threshold<'a> {
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    #[serde(flatten)]
    condition: Condition,
    estimate: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    verdict: &'static str,
    replicates_to_decide: Option<u64>,
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
        partial: results.partial,
        duration_s: scenario.run.duration.as_secs_f64(),
        first_trigger_s: scenario.first_trigger().map(|at| at.as_secs_f64()),
        thresholds: results.judged().iter().map(threshold).collect(),
        policies: results.policies.iter().map(policy).collect(),
        reference: scenario.reference.as_deref(),
        differences: results.against_reference().into_iter().map(differences).collect(),
        theory: beside::all(results).iter().map(theory).collect(),
        warnings: warnings::all(results),
    };
    pretty(&report)
}

/// Any report as indented text that ends in a line break.
pub(super) fn pretty(report: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report has text keys only");
    text.push('\n');
    text
}

fn policy(summary: &PolicySummary) -> Policy<'_> {
    Policy::of(&summary.policy, summary.variant.as_deref(), |metric| summary.estimate(metric))
}

impl<'a> Policy<'a> {
    pub fn of(
        policy: &'a str,
        variant: Option<&'a str>,
        estimate: impl Fn(Metric) -> Estimate,
    ) -> Policy<'a> {
        let metrics = Metric::ALL.iter().map(|&metric| estimate(metric)).collect();
        Policy { policy, variant, metrics }
    }
}

fn theory<'a>(beside: &Beside<'a>) -> Theory<'a> {
    Theory {
        policy: &beside.summary.policy,
        variant: beside.summary.variant.as_deref(),
        metric: beside.simulated.metric,
        theory: beside.theory,
        estimate: beside.simulated.estimate,
        ci_low: beside.simulated.low,
        ci_high: beside.simulated.high,
        assumption: beside.assumption,
    }
}

fn threshold<'a>(judged: &Judged<'a>) -> Threshold<'a> {
    Threshold {
        policy: judged.policy,
        variant: judged.variant,
        condition: judged.threshold.condition,
        estimate: judged.estimate.estimate,
        ci_low: judged.estimate.low,
        ci_high: judged.estimate.high,
        verdict: judged.judgement.name(),
        replicates_to_decide: judged.judgement.replicates_to_decide(),
    }
}

fn differences(compared: AgainstReference<'_>) -> Differences<'_> {
    Differences {
        policy: &compared.policy.policy,
        variant: compared.policy.variant.as_deref(),
        metrics: compared.differences,
    }
}

fn differences_by_name<S: Serializer>(
    differences: &[Difference],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(differences.iter().map(|difference| {
        let figure = DifferenceFigure {
            unit: difference.metric.unit(),
            method: difference.method.to_string(),
            difference: difference.difference,
            ci_low: difference.low,
            ci_high: difference.high,
            replicates: difference.b.replicates,
            pairing_factor: difference.pairing_factor,
            verdict: difference.verdict.to_string(),
        };
        (difference.metric.name(), figure)
    }))
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
