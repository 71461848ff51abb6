//! Laws of service demand.

use super::super::diagnostic::Problems;
use super::super::model::Demand;
use super::super::reader::{Choice, Fields, each, number, pair, span};
use super::super::tree::Node;

/// Transactions of a poll or a request.
pub(super) const MOST_TRANSACTIONS: usize = 255;

/// `claim`, or `claims` with one for each transaction.
pub(super) fn claims(
    fields: &mut Fields<'_>,
    node: &Node,
    problems: &mut Problems,
) -> Option<Vec<Demand>> {
    let claim = fields.optional("claim", problems, demand);
    let claims = fields.optional("claims", problems, |node, problems| each(node, problems, demand));
    match (claim?, claims?) {
        (Some(claim), None) => Some(vec![claim]),
        (None, Some(claims)) if !claims.is_empty() => transactions(claims, node, problems),
        _ => {
            let help =
                "write `claim = \"170ms\"`, or `claims = [ … ]` with one for each transaction";
            let message = format!("{} needs one of `claim` and `claims`", fields.name());
            problems.add(message, node.place.clone(), help);
            None
        }
    }
}

/// The demands of as many transactions, unless they are too many for `node`.
pub(super) fn transactions(
    demands: Vec<Demand>,
    node: &Node,
    problems: &mut Problems,
) -> Option<Vec<Demand>> {
    if demands.len() > MOST_TRANSACTIONS {
        let message = format!("{} transactions are too many", demands.len());
        let help = format!("list at most {MOST_TRANSACTIONS} demands");
        problems.add(message, node.place.clone(), help);
        return None;
    }
    Some(demands)
}

pub(super) fn demand(node: &Node, problems: &mut Problems) -> Option<Demand> {
    let choice = Choice::of(node, problems)?;
    let Some(payload) = choice.payload else {
        return Some(Demand::Constant(span(node, problems)?));
    };
    let shape = || number("a shape from 0.01 to 100", |x| (0.01..=100.0).contains(&x));
    match choice.name {
        "constant" => Some(Demand::Constant(span(payload, problems)?)),
        "uniform" => {
            let (low, high) = pair(payload, problems, span)?;
            Some(Demand::Uniform(low, high))
        }
        "exponential" => {
            let mut fields = Fields::of("`exponential`", payload, problems)?;
            let mean = fields.required("mean", "mean = \"170ms\"", problems, span);
            fields.finish(problems);
            Some(Demand::Exponential { mean: mean? })
        }
        "normal" => {
            let mut fields = Fields::of("`normal`", payload, problems)?;
            let mean = fields.required("mean", "mean = \"170ms\"", problems, span);
            let std_dev = fields.required("std_dev", "std_dev = \"20ms\"", problems, span);
            fields.finish(problems);
            Some(Demand::Normal { mean: mean?, std_dev: std_dev? })
        }
        "log-normal" => {
            let mut fields = Fields::of("`log-normal`", payload, problems)?;
            let mean = fields.required("mean", "mean = \"170ms\"", problems, span);
            let deviation = number("a deviation from 0 to 5", |x| (0.0..=5.0).contains(&x));
            let sigma = fields.required("sigma", "sigma = 0.5", problems, deviation);
            fields.finish(problems);
            Some(Demand::LogNormal { mean: mean?, sigma: sigma? })
        }
        "gamma" => {
            let mut fields = Fields::of("`gamma`", payload, problems)?;
            let mean = fields.required("mean", "mean = \"170ms\"", problems, span);
            let shape = fields.required("shape", "shape = 2", problems, shape());
            fields.finish(problems);
            Some(Demand::Gamma { mean: mean?, shape: shape? })
        }
        "weibull" => {
            let mut fields = Fields::of("`weibull`", payload, problems)?;
            let scale = fields.required("scale", "scale = \"170ms\"", problems, span);
            let shape = fields.required("shape", "shape = 0.7", problems, shape());
            fields.finish(problems);
            Some(Demand::Weibull { scale: scale?, shape: shape? })
        }
        "empirical" => {
            let spans = each(payload, problems, span)?;
            if spans.is_empty() {
                let help = "list what was measured, as in [\"12ms\", \"170ms\"]";
                problems.add("an empirical law needs values", payload.place.clone(), help);
                return None;
            }
            Some(Demand::Empirical(spans))
        }
        _ => choice.unknown(
            &[
                "constant = \"170ms\"",
                "exponential = { mean = \"170ms\" }",
                "uniform = [\"100ms\", \"240ms\"]",
                "normal = { mean = \"170ms\", std_dev = \"20ms\" }",
                "log-normal = { mean = \"170ms\", sigma = 0.5 }",
                "gamma = { mean = \"170ms\", shape = 2 }",
                "weibull = { scale = \"170ms\", shape = 0.7 }",
                "empirical = [\"12ms\", \"170ms\"]",
            ],
            problems,
        ),
    }
}
