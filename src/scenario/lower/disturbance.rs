//! Disturbances: what happens when, once or again and again, and what contradicts itself.

use super::super::diagnostic::{Place, Problems, alternatives};
use super::super::disturbance::{Action, Disturbance, Failure, NamedPolicy, Waves};
use super::super::model::{Candidate, Run};
use super::super::reader::{
    Choice, Fields, boolean, count, each, number, positive_span, share, span, text,
};
use super::super::tree::{Node, Value};
use super::MOST_BACKENDS;
use crate::units::{Ratio, SimTime, Span};

/// Disturbances beyond which a mistake is likelier than a wish.
const MOST_DISTURBANCES: usize = 1_000;

/// What disturbances are read against; what is wrong by itself is not there.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub run: Option<&'a Run>,
    pub policies: Option<&'a [Candidate]>,
    /// Whether there is a load to burst.
    pub background: bool,
}

/// A disturbance and where it was written.
#[derive(Clone)]
pub(super) struct Placed {
    pub disturbance: Disturbance,
    pub place: Place,
}

/// All disturbances of a list in order of time, those that recur as often as they do.
pub(super) fn disturbances(
    node: &Node,
    context: Context<'_>,
    problems: &mut Problems,
) -> Option<Vec<Placed>> {
    let read = each(node, problems, |node, problems| disturbance(node, context, problems))?;
    let mut placed = read.concat();
    if placed.len() > MOST_DISTURBANCES {
        let message = format!("{} disturbances are too many", placed.len());
        let help = format!("at most {MOST_DISTURBANCES} are played: let them recur less often");
        problems.add(message, node.place.clone(), help);
        return None;
    }
    placed.sort_by_key(|placed| placed.disturbance.at);
    Some(placed)
}

/// Reports disturbances that cannot both be so, of a course of which the first `checked` can.
pub(super) fn contradictions(course: &[&Placed], checked: usize, problems: &mut Problems) {
    let mut reported: Vec<&Place> = Vec::new();
    for (index, second) in course.iter().enumerate().skip(checked) {
        let other = course[..index].iter().find_map(|first| {
            let what = contradiction(&first.disturbance, &second.disturbance)?;
            Some((first.disturbance.at, what))
        });
        // One that recurs is reported once.
        if let Some((at, what)) = other
            && !reported.contains(&&second.place)
        {
            let other = second.disturbance.at;
            let message = format!("the disturbances at {at} and at {other} contradict: {what}");
            let help = "let one begin when the other is over, or leave one of them out";
            problems.add(message, second.place.clone(), help);
            reported.push(&second.place);
        }
    }
}

/// What about two disturbances cannot both be so.
fn contradiction(one: &Disturbance, other: &Disturbance) -> Option<&'static str> {
    let (first, second) = if one.at <= other.at { (one, other) } else { (other, one) };
    let together = first.at == second.at;
    let (a, b) = (&first.action, &second.action);
    if together && a.to().zip(b.to()).is_some_and(|(a, b)| a.name != b.name) {
        return Some("the same clients follow different policies");
    }
    let within = |over: Span| together || second.at < first.at + over;
    match (a, b) {
        (
            Action::Change { pool_size: a, max_client_conn: c, contention: e, over },
            Action::Change { pool_size: b, max_client_conn: d, contention: f, .. },
        ) if within(over.unwrap_or(Span::ZERO)) => match () {
            () if a.and(*b).is_some() => Some("both set `pool_size`"),
            () if c.and(*d).is_some() => Some("both set `max_client_conn`"),
            () if e.is_some() && f.is_some() => Some("both set `contention`"),
            () => None,
        },
        (Action::Outage { over, failure: a }, Action::Outage { failure: b, .. })
            if within(*over) && a != b =>
        {
            Some("the outages differ in their failure")
        }
        (Action::Stop { over, back_over, .. }, Action::Stop { .. })
            if within(*over + *back_over) =>
        {
            Some("the same clients are told to stop twice")
        }
        _ => None,
    }
}

fn disturbance(node: &Node, context: Context<'_>, problems: &mut Problems) -> Option<Vec<Placed>> {
    let mut fields = Fields::of("[[disturbance]]", node, problems)?;
    let at = fields
        .required("at", "at = \"2m\"", problems, |node, problems| at(node, context, problems));
    let every = fields.optional("every", problems, |node, problems| {
        Some((positive_span(node, problems)?, node.place.clone()))
    });
    let actions = [
        fields.optional("restart", problems, |node, problems| restart(node, context, problems)),
        fields.optional("slow", problems, slow),
        fields.optional("burst", problems, |node, problems| burst(node, context, problems)),
        fields.optional("outage", problems, outage),
        fields.optional("change", problems, change),
        fields.optional("pause", problems, pause),
        fields.optional("switch", problems, |node, problems| switch(node, context, problems)),
        fields.optional("stop", problems, stop),
    ];
    fields.finish(problems);
    let actions: Vec<Option<Action>> = actions.into_iter().collect::<Option<_>>()?;
    let mut actions = actions.into_iter().flatten();
    match (actions.next(), actions.next()) {
        (Some(action), None) => {
            let times = occurrences(at?, every?, context, problems)?;
            let placed = |at| Placed {
                disturbance: Disturbance { at, action: action.clone() },
                place: node.place.clone(),
            };
            Some(times.into_iter().map(placed).collect())
        }
        (None, _) => {
            let help = "add `restart = { clients = 1.0 }`, `slow = { factor = 10, over = \"5s\" }`, \
                        or one of burst, outage, change, pause, switch and stop";
            problems.add("this disturbance does nothing", node.place.clone(), help);
            None
        }
        _ => {
            let help = "give each a [[disturbance]] of its own, with the same `at`";
            problems.add("this disturbance does two things", node.place.clone(), help);
            None
        }
    }
}

fn at(node: &Node, context: Context<'_>, problems: &mut Problems) -> Option<SimTime> {
    let at = span(node, problems)?;
    if let Some(run) = context.run
        && at >= run.duration
    {
        problems.add(
            format!("this disturbance comes after the run, which lasts {}", run.duration),
            node.place.clone(),
            "make the run longer or the disturbance earlier",
        );
        return None;
    }
    Some(SimTime::ZERO + at)
}

/// When a disturbance takes place: once, or again and again until the run is over.
fn occurrences(
    first: SimTime,
    every: Option<(Span, Place)>,
    context: Context<'_>,
    problems: &mut Problems,
) -> Option<Vec<SimTime>> {
    let (Some((every, place)), Some(run)) = (every, context.run) else { return Some(vec![first]) };
    let rest = (SimTime::ZERO + run.duration).since(first);
    let times = rest.ticks().div_ceil(every.ticks());
    if times > MOST_DISTURBANCES as u64 {
        let least = Span::from_ticks(rest.ticks().div_ceil(MOST_DISTURBANCES as u64));
        problems.add(
            format!("this disturbance recurs {times} times"),
            place,
            format!("at most {MOST_DISTURBANCES} are played: write {least} or more"),
        );
        return None;
    }
    Some((0..times).map(|time| first + Span::from_ticks(time * every.ticks())).collect())
}

fn restart(node: &Node, context: Context<'_>, problems: &mut Problems) -> Option<Action> {
    let mut fields = Fields::of("`restart`", node, problems)?;
    let clients = fields.optional("clients", problems, share);
    let over = fields.or("over", Span::ZERO, problems, span);
    let database = fields.or("database", None, problems, |node, problems| match &node.value {
        Value::Text(_) => span(node, problems).map(Some),
        _ => boolean(node, problems).map(|restarts| restarts.then_some(Span::ZERO)),
    });
    let size = fields.optional("batch", problems, count(1..=u32::MAX));
    let shares = fields.optional("cohorts", problems, cohorts);
    let every = fields.optional("every", problems, positive_span);
    let to = fields.optional("to", problems, |node, problems| followed(node, context, problems));
    fields.finish(problems);
    let (clients, shares) = (clients?, shares?);
    let mut wrong = |message, help| {
        problems.add(message, node.place.clone(), help);
        None
    };
    if shares.is_some() && clients.is_some() {
        let help = "leave `clients` out: cohorts are shares of the whole fleet";
        return wrong("cohorts say already which clients restart", help);
    }
    let waves = match (size?, shares, every?) {
        (None, None, None) => Waves::One,
        (Some(size), None, Some(every)) => Waves::Batches { size, every },
        (None, Some(shares), Some(every)) => Waves::Cohorts { shares, every },
        (Some(_), Some(_), _) => {
            let help = "keep `batch` or `cohorts`";
            return wrong("a restart goes in batches or in cohorts, not both", help);
        }
        (None, None, Some(_)) => {
            let help = "add `batch = 20` or `cohorts = [0.1, 0.9]`; to restart again and again, \
                        write `every` beside `at`";
            return wrong("a restart in one go has no `every`", help);
        }
        (_, _, None) => {
            let help = "add `every = \"5m\"`, the time from one to the next";
            return wrong("a restart in waves needs their distance", help);
        }
    };
    let clients = clients.unwrap_or(Ratio::ONE);
    Some(Action::Restart { clients, over: over?, database: database?, waves, to: to? })
}

/// Shares that add up to 1.
fn cohorts(node: &Node, problems: &mut Problems) -> Option<Vec<Ratio>> {
    let shares = each(node, problems, share)?;
    let sum = shares.iter().fold(0.0, |sum, share| sum + share.as_f64());
    if (sum - 1.0).abs() > 1e-6 {
        let sum = (sum * 1e6).round() / 1e6;
        let message = format!("these cohorts do not cover the fleet: they add up to {sum}");
        problems.add(message, node.place.clone(), "write shares that add up to 1");
        return None;
    }
    Some(shares)
}

/// The plain policy of a name.
fn followed(
    node: &Node,
    context: Context<'_>,
    problems: &mut Problems,
) -> Option<Box<NamedPolicy>> {
    let name = text(node, problems)?;
    let policies = context.policies?;
    match policies.iter().find(|known| known.name == name).map(|known| &known.parts[..]) {
        Some([part]) => Some(Box::new(NamedPolicy { name, policy: part.policy.clone() })),
        Some(_) => {
            let message = format!("`{name}` is a mixed fleet, and a client follows one policy");
            problems.add(message, node.place.clone(), "name one of its parts");
            None
        }
        None => {
            let plain = policies.iter().filter(|known| known.parts.len() == 1);
            let names = plain.map(|known| known.name.as_str());
            let help = alternatives(&name, "policies to follow", names);
            let message = format!("there is no policy `{name}` to follow");
            problems.add(message, node.place.clone(), help);
            None
        }
    }
}

fn burst(node: &Node, context: Context<'_>, problems: &mut Problems) -> Option<Action> {
    if !context.background {
        let help = "add [background] with a rate and a claim";
        problems.add("there is no load to burst", node.place.clone(), help);
        return None;
    }
    let mut fields = Fields::of("`burst`", node, problems)?;
    let times =
        number("how many times as many, from 0.001 to 1000", |x| (0.001..=1_000.0).contains(&x));
    let factor = fields.required("factor", "factor = 5", problems, times);
    let over = fields.required("over", "over = \"1m\"", problems, positive_span);
    fields.finish(problems);
    Some(Action::Burst { factor: factor?, over: over? })
}

fn slow(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut fields = Fields::of("`slow`", node, problems)?;
    let at_least_one = number("how many times slower, from 1 to 1e6", |x| (1.0..=1e6).contains(&x));
    let factor = fields.required("factor", "factor = 10", problems, at_least_one);
    let over = fields.required("over", "over = \"5s\"", problems, positive_span);
    fields.finish(problems);
    Some(Action::Slow { factor: factor?, over: over? })
}

fn outage(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut fields = Fields::of("`outage`", node, problems)?;
    let over = fields.required("over", "over = \"30s\"", problems, positive_span);
    let failure =
        fields.required("failure", "failure = \"hanging\"", problems, |node, problems| {
            let choice = Choice::of(node, problems)?;
            match (choice.name, choice.payload) {
                ("hanging", None) => Some(Failure::Hanging),
                ("refusing", Some(after)) => {
                    Some(Failure::Refusing { after: span(after, problems)? })
                }
                _ => choice.unknown(&["hanging", "refusing = \"100ms\""], problems),
            }
        });
    fields.finish(problems);
    Some(Action::Outage { over: over?, failure: failure? })
}

fn change(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut fields = Fields::of("`change`", node, problems)?;
    let pool_size = fields.optional("pool_size", problems, count(1..=MOST_BACKENDS));
    let max_client_conn = fields.optional("max_client_conn", problems, count(1..=u32::MAX));
    let contention = fields.optional("contention", problems, super::contention);
    let over = fields.optional("over", problems, positive_span);
    fields.finish(problems);
    let (pool_size, max_client_conn, contention) = (pool_size?, max_client_conn?, contention?);
    if pool_size.is_none() && max_client_conn.is_none() && contention.is_none() {
        let help =
            "add `pool_size = 500`, `max_client_conn = 2_000` or `contention = { cores = 200 }`";
        problems.add("this change changes nothing", node.place.clone(), help);
        return None;
    }
    Some(Action::Change { pool_size, max_client_conn, contention, over: over? })
}

fn pause(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut fields = Fields::of("`pause`", node, problems)?;
    let over = fields.required("over", "over = \"1m\"", problems, positive_span);
    fields.finish(problems);
    Some(Action::Pause { over: over? })
}

fn switch(node: &Node, context: Context<'_>, problems: &mut Problems) -> Option<Action> {
    let mut fields = Fields::of("`switch`", node, problems)?;
    let clients = fields.or("clients", Ratio::ONE, problems, share);
    let to = fields.required("to", "to = \"POLICY\"", problems, |node, problems| {
        followed(node, context, problems)
    });
    fields.finish(problems);
    Some(Action::Switch { clients: clients?, to: to? })
}

fn stop(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut fields = Fields::of("`stop`", node, problems)?;
    let clients = fields.or("clients", Ratio::ONE, problems, share);
    let over = fields.required("over", "over = \"10m\"", problems, positive_span);
    let back_over = fields.or("back_over", Span::ZERO, problems, span);
    fields.finish(problems);
    Some(Action::Stop { clients: clients?, over: over?, back_over: back_over? })
}
