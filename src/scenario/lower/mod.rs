//! From the tree to a checked [`Scenario`]: defaults, ranges, and what must fit together.

mod check;
mod policy;

use super::diagnostic::Problems;
use super::model::{
    Action, Contention, Database, DeadWaiters, Demand, Disturbance, DrainRule, Fleet, Initial,
    Pooler, Run, Scenario,
};
use super::reader::{
    Choice, Fields, boolean, count, integer, list, number, pair, positive_span, share, span, text,
};
use super::tree::Node;
use crate::units::{Ratio, SimTime, Span};

/// Replicates beyond which a mistake is likelier than a wish.
const MOST_REPLICATES: u32 = 1_000_000;

/// Backends beyond which a mistake is likelier than a wish.
const MOST_BACKENDS: u32 = 1_000_000;

/// Reads a whole document. Where something is wrong it reads on, so that all problems come at once.
pub(super) fn scenario(name: &str, root: &Node, problems: &mut Problems) -> Option<Scenario> {
    let mut fields = Fields::of("the scenario", root, problems)?;
    let title = fields.or("title", String::new(), problems, text);
    let run = fields.required("run", "[run]", problems, run);
    let fleet = fields.required("fleet", "[fleet]", problems, fleet);
    let pooler = fields.required("pooler", "[pooler]", problems, pooler);
    let database = fields.required("database", "[database]", problems, database);
    let drain = fields.or("drain", DrainRule::default(), problems, drain);
    let disturbances = fields.or("disturbance", Vec::new(), problems, disturbances);
    let rules = fields.optional("loop", problems, policy::rules);
    let policies = fields.required("policy", "[policy.NAME]", problems, |node, problems| {
        policy::policies(node, rules?, problems)
    });
    fields.finish(problems);
    if let Some(run) = &run {
        check::times(run, root, problems);
    }
    if let (Some(run), Some(fleet)) = (&run, &fleet) {
        check::length(run, fleet, root, problems);
    }
    if let (Some(fleet), Some(policies)) = (&fleet, &policies) {
        check::progress(fleet, policies, root, problems);
    }
    Some(Scenario {
        name: name.to_owned(),
        title: title?,
        run: run?,
        fleet: fleet?,
        pooler: pooler?,
        database: database?,
        disturbances: disturbances?,
        drain: drain?,
        policies: policies?,
    })
}

fn run(node: &Node, problems: &mut Problems) -> Option<Run> {
    let mut fields = Fields::of("[run]", node, problems)?;
    let duration = fields.required("duration", "duration = \"10m\"", problems, positive_span);
    let warm_up = fields.or("warm_up", Span::ZERO, problems, span);
    let replicates = fields.or("replicates", 5, problems, count(1..=MOST_REPLICATES));
    let seed = fields.or("seed", 1, problems, integer(0..=i64::MAX as u64));
    fields.finish(problems);
    Some(Run { duration: duration?, warm_up: warm_up?, replicates: replicates?, seed: seed? })
}

fn fleet(node: &Node, problems: &mut Problems) -> Option<Fleet> {
    let mut fields = Fields::of("[fleet]", node, problems)?;
    let clients = fields.required("clients", "clients = 1_000", problems, count(1..=u32::MAX));
    let transactions = fields.or("transactions_per_poll", 1, problems, count(1..=255));
    let round_trip = fields.or("round_trip", Span::ZERO, problems, span);
    let initial = fields.or("initial", Initial::Cold, problems, initial);
    fields.finish(problems);
    Some(Fleet {
        clients: clients?,
        transactions_per_poll: transactions? as u8,
        round_trip: round_trip?,
        initial: initial?,
    })
}

fn initial(node: &Node, problems: &mut Problems) -> Option<Initial> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("cold", None) => Some(Initial::Cold),
        ("warm", Some(warm)) => {
            let mut fields = Fields::of("`warm`", warm, problems)?;
            let interval =
                fields.required("interval", "interval = \"30s\"", problems, positive_span);
            fields.finish(problems);
            Some(Initial::Warm { interval: interval? })
        }
        _ => choice.unknown(&["cold", "warm = { interval = \"30s\" }"], problems),
    }
}

fn pooler(node: &Node, problems: &mut Problems) -> Option<Pooler> {
    let mut fields = Fields::of("[pooler]", node, problems)?;
    let pool_size =
        fields.required("pool_size", "pool_size = 20", problems, count(1..=MOST_BACKENDS));
    let max_client_conn = fields.optional("max_client_conn", problems, count(1..=u32::MAX));
    let timeout = fields.optional("query_wait_timeout", problems, positive_span);
    let dead_waiters = fields.or("dead_waiters", DeadWaiters::Dropped, problems, dead_waiters);
    fields.finish(problems);
    Some(Pooler {
        pool_size: pool_size?,
        max_client_conn: max_client_conn?,
        query_wait_timeout: timeout?,
        dead_waiters: dead_waiters?,
    })
}

fn dead_waiters(node: &Node, problems: &mut Problems) -> Option<DeadWaiters> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("dropped", None) => Some(DeadWaiters::Dropped),
        ("kept", Some(kept)) => {
            let mut fields = Fields::of("`kept`", kept, problems)?;
            let demand = fields.required("demand", "demand = \"170ms\"", problems, demand);
            fields.finish(problems);
            Some(DeadWaiters::Kept { demand: demand? })
        }
        _ => choice.unknown(&["dropped", "kept = { demand = \"170ms\" }"], problems),
    }
}

fn database(node: &Node, problems: &mut Problems) -> Option<Database> {
    let mut fields = Fields::of("[database]", node, problems)?;
    let claim = fields.required("claim", "claim = \"170ms\"", problems, demand);
    let contention = fields.or("contention", Contention::None, problems, contention);
    fields.finish(problems);
    Some(Database { claim: claim?, contention: contention? })
}

fn demand(node: &Node, problems: &mut Problems) -> Option<Demand> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        (_, None) => Some(Demand::Constant(span(node, problems)?)),
        ("constant", Some(constant)) => Some(Demand::Constant(span(constant, problems)?)),
        ("uniform", Some(bounds)) => {
            let (low, high) = pair(bounds, problems, span)?;
            Some(Demand::Uniform(low, high))
        }
        ("exponential", Some(law)) => {
            let mut fields = Fields::of("`exponential`", law, problems)?;
            let mean = fields.required("mean", "mean = \"170ms\"", problems, span);
            fields.finish(problems);
            Some(Demand::Exponential { mean: mean? })
        }
        ("normal", Some(law)) => {
            let mut fields = Fields::of("`normal`", law, problems)?;
            let mean = fields.required("mean", "mean = \"170ms\"", problems, span);
            let std_dev = fields.required("std_dev", "std_dev = \"20ms\"", problems, span);
            fields.finish(problems);
            Some(Demand::Normal { mean: mean?, std_dev: std_dev? })
        }
        _ => choice.unknown(
            &[
                "constant = \"170ms\"",
                "exponential = { mean = \"170ms\" }",
                "uniform = [\"100ms\", \"240ms\"]",
                "normal = { mean = \"170ms\", std_dev = \"20ms\" }",
            ],
            problems,
        ),
    }
}

fn contention(node: &Node, problems: &mut Problems) -> Option<Contention> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("none", None) => Some(Contention::None),
        ("cores", Some(cores)) => {
            Some(Contention::Cores(count(1..=MOST_BACKENDS)(cores, problems)?))
        }
        ("power", Some(power)) => {
            let mut fields = Fields::of("`power`", power, problems)?;
            let knee = fields.required("knee", "knee = 100", problems, count(1..=MOST_BACKENDS));
            let exponent = number("an exponent above 0, at most 16", |x| x > 0.0 && x <= 16.0);
            let gamma = fields.required("gamma", "gamma = 1.5", problems, exponent);
            fields.finish(problems);
            Some(Contention::Power { knee: knee?, gamma: gamma? })
        }
        _ => choice
            .unknown(&["none", "cores = 100", "power = { knee = 100, gamma = 1.5 }"], problems),
    }
}

fn drain(node: &Node, problems: &mut Problems) -> Option<DrainRule> {
    let default = DrainRule::default();
    let mut fields = Fields::of("[drain]", node, problems)?;
    let wait = fields.or("wait", default.wait, problems, span);
    let hold = fields.or("hold", default.hold, problems, positive_span);
    fields.finish(problems);
    Some(DrainRule { wait: wait?, hold: hold? })
}

fn disturbances(node: &Node, problems: &mut Problems) -> Option<Vec<Disturbance>> {
    let read: Vec<_> =
        list(node, problems)?.iter().map(|node| disturbance(node, problems)).collect();
    let mut disturbances: Vec<Disturbance> = read.into_iter().collect::<Option<_>>()?;
    disturbances.sort_by_key(|disturbance| disturbance.at);
    Some(disturbances)
}

fn disturbance(node: &Node, problems: &mut Problems) -> Option<Disturbance> {
    let mut fields = Fields::of("[[disturbance]]", node, problems)?;
    let at = fields.required("at", "at = \"2m\"", problems, span);
    let restart = fields.required("restart", "restart = { clients = 1.0 }", problems, restart);
    fields.finish(problems);
    Some(Disturbance { at: SimTime::ZERO + at?, action: restart? })
}

fn restart(node: &Node, problems: &mut Problems) -> Option<Action> {
    let mut fields = Fields::of("`restart`", node, problems)?;
    let clients = fields.or("clients", Ratio::ONE, problems, share);
    let over = fields.or("over", Span::ZERO, problems, span);
    let database = fields.or("database", false, problems, boolean);
    fields.finish(problems);
    Some(Action::Restart { clients: clients?, over: over?, database: database? })
}
