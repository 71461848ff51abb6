//! `[work]`: items, where they come from and what they take.

use super::super::diagnostic::Problems;
use super::super::model::{Arrivals, Daily, Demand, Work};
use super::super::reader::{
    Choice, Fields, count, each, list, number, rate_per_second, share, span,
};
use super::super::tree::Node;
use super::demand::{self, demand};
use crate::units::{Ratio, SimTime, Span};

/// The work of a fleet of so many `clients`.
pub(super) fn work(node: &Node, clients: u32, problems: &mut Problems) -> Option<Work> {
    let mut fields = Fields::of("[work]", node, problems)?;
    let tenants = fields.or("tenants", clients, problems, count(1..=clients));
    let arrivals =
        fields.required("arrivals", "arrivals = \"20/s\"", problems, |node, problems| {
            arrivals(node, tenants?, problems)
        });
    let exponent = number("an exponent from 0 to 5", |x| (0.0..=5.0).contains(&x));
    let skew = fields.or("skew", 0.0, problems, exponent);
    let daily = fields.optional("daily", problems, daily);
    let workers = fields.or("workers", 1, problems, count(1..=u32::from(u16::MAX)));
    let processing = fields.or("processing", Demand::Constant(Span::ZERO), problems, demand);
    let transactions = fields
        .or("transactions", Vec::new(), problems, |node, problems| each(node, problems, demand));
    let failure = fields.or("failure", Ratio::ZERO, problems, share);
    let reclaim = fields.or("reclaim", Span::ZERO, problems, span);
    fields.finish(problems);
    let transactions = demand::transactions(transactions?, node, problems)?;
    Some(Work {
        arrivals: arrivals?,
        tenants: tenants?,
        skew: skew?,
        daily: daily?,
        workers: workers? as u16,
        processing: processing?,
        transactions,
        failure: failure?,
        reclaim: reclaim?,
    })
}

/// A rate of all tenants together, intervals of each, or a trace.
fn arrivals(node: &Node, tenants: u32, problems: &mut Problems) -> Option<Arrivals> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        (_, None) => {
            let rate = rate_per_second(node, problems)?;
            let mean = Span::from_ticks_f64(1e6 * f64::from(tenants) / rate);
            Some(Arrivals::Renewal(Demand::Exponential { mean }))
        }
        ("renewal", Some(law)) => {
            let law = demand(law, problems)?;
            if law.mean_secs() < 1e-3 {
                let help = "write the time between two items of a tenant, at least 1ms on average";
                problems.add("items come too fast", node.place.clone(), help);
                return None;
            }
            Some(Arrivals::Renewal(law))
        }
        ("trace", Some(rows)) => trace(rows, tenants, problems).map(Arrivals::Trace),
        _ => choice.unknown(
            &["a rate such as \"20/s\"", "renewal = \"10m\"", "trace = \"items.csv\""],
            problems,
        ),
    }
}

/// Rows of (tenant, time), in order of time.
fn trace(node: &Node, tenants: u32, problems: &mut Problems) -> Option<Vec<(u32, SimTime)>> {
    let mut rows: Vec<(u32, SimTime)> = Vec::new();
    for row in list(node, problems)? {
        let [tenant, at] = list(row, problems)? else {
            let help = "write [tenant, \"time\"], or trace = \"items.csv\"";
            problems.add("an item of a trace has two values", row.place.clone(), help);
            return None;
        };
        let tenant = count(0..=tenants - 1)(tenant, problems);
        let at = span(at, problems);
        let (tenant, at) = (tenant?, SimTime::ZERO + at?);
        if rows.last().is_some_and(|&(_, before)| before > at) {
            let help = "sort its rows by time";
            problems.add("the trace is not sorted", row.place.clone(), help);
            return None;
        }
        rows.push((tenant, at));
    }
    Some(rows)
}

fn daily(node: &Node, problems: &mut Problems) -> Option<Daily> {
    let mut fields = Fields::of("`daily`", node, problems)?;
    let below_one = number("a share from 0 to 0.99", |x| (0.0..=0.99).contains(&x));
    let amplitude = fields.required("amplitude", "amplitude = 0.5", problems, below_one);
    let peak = fields.required("peak", "peak = \"14h\"", problems, span);
    fields.finish(problems);
    Some(Daily { amplitude: amplitude?, peak: peak? })
}
