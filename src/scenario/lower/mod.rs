//! From the tree to a checked [`Scenario`]: defaults, ranges, and what must fit together.

mod acquire;
mod background;
mod check;
mod delay;
mod demand;
mod disturbance;
mod guard;
mod policy;
mod pooler;
mod sweep;
mod threshold;
mod variant;
mod work;

pub(super) use acquire::acquire_under;
pub(super) use guard::guards;
pub(super) use policy::inherited;

use super::diagnostic::Problems;
use super::model::{Contention, Database, DrainRule, Fleet, Initial, Run, Scenario};
use super::reader::{Choice, Fields, count, integer, list, number, positive_span, span, text};
use super::tree::Node;
use crate::units::Span;
use disturbance::{Context, contradictions};

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
    let pooler = fields.required("pooler", "[pooler]", problems, pooler::pooler);
    let database = fields.required("database", "[database]", problems, database);
    let work = fields.optional("work", problems, |node, problems| {
        work::work(node, fleet.as_ref()?.clients, problems)
    });
    let background = fields.optional("background", problems, background::background);
    let drain = fields.or("drain", DrainRule::default(), problems, drain);
    let rules = fields.optional("loop", problems, policy::rules);
    let policies = fields.required("policy", "[policy.NAME]", problems, |node, problems| {
        let handling = background.as_ref()?.as_ref().map(|(_, handling)| handling);
        policy::policies(node, rules?, handling, problems)
    });
    let context = Context {
        run: run.as_ref(),
        policies: policies.as_ref().map(|all| &all.known[..]),
        background: background.as_ref().is_none_or(Option::is_some),
    };
    let disturbances = fields.or("disturbance", Vec::new(), problems, |node, problems| {
        disturbance::disturbances(node, context, problems)
    });
    let variants = fields.or("variant", Vec::new(), problems, |node, problems| {
        variant::variants(node, disturbances.as_deref(), context, problems)
    });
    let sweep = fields.or("sweep", Vec::new(), problems, sweep::axes);
    let thresholds = fields.or("thresholds", Vec::new(), problems, |node, problems| {
        threshold::thresholds(node, context.policies, problems)
    });
    fields.finish(problems);
    if let Some(disturbances) = &disturbances {
        contradictions(&disturbances.iter().collect::<Vec<_>>(), 0, problems);
    }
    if let Some(run) = &run {
        check::times(run, root, problems);
    }
    if let (Some(pooler), Some(own), Some(variants)) = (&pooler, &disturbances, &variants) {
        let added = variants.iter().flat_map(|variant| &variant.disturbances);
        check::logins(pooler, own.iter().chain(added), root, problems);
    }
    if let (Some(fleet), Some(policies)) = (&fleet, &policies) {
        check::progress(fleet, &policies.known, root, problems);
    }
    if let (Some(pooler), Some(policies)) = (&pooler, &policies) {
        check::connections(pooler, &policies.known, root, problems);
    }
    let scenario = Scenario {
        name: name.to_owned(),
        title: title?,
        run: run?,
        fleet: fleet?,
        pooler: pooler?,
        database: database?,
        work: work?,
        background: background?.map(|(load, _)| load),
        disturbances: disturbances?.into_iter().map(|placed| placed.disturbance).collect(),
        responses: Vec::new(),
        variants: variants?.into_iter().map(variant::PlacedVariant::lowered).collect(),
        drain: drain?,
        sweep: sweep?,
        thresholds: thresholds?,
        reference: None,
        policies: policies?.played,
    };
    check::length(&scenario, root, problems);
    Some(scenario)
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
    let transactions = fields.or(
        "transactions_per_poll",
        1,
        problems,
        count(1..=demand::MOST_TRANSACTIONS as u32),
    );
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

fn database(node: &Node, problems: &mut Problems) -> Option<Database> {
    let mut fields = Fields::of("[database]", node, problems)?;
    let claims = demand::claims(&mut fields, node, problems);
    let contention = fields.or("contention", Contention::None, problems, contention);
    let attempt_cost = fields.optional("attempt_cost", problems, demand::demand);
    fields.finish(problems);
    Some(Database { claims: claims?, contention: contention?, attempt_cost: attempt_cost? })
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
        ("usl", Some(usl)) => {
            let mut fields = Fields::of("`usl`", usl, problems)?;
            let share = || number("a coefficient from 0 to 1", |x| (0.0..=1.0).contains(&x));
            let sigma = fields.required("sigma", "sigma = 0.02", problems, share());
            let kappa = fields.required("kappa", "kappa = 0.0001", problems, share());
            fields.finish(problems);
            Some(Contention::Usl { sigma: sigma?, kappa: kappa? })
        }
        ("table", Some(table)) => throughput_table(table, problems),
        _ => choice.unknown(
            &[
                "none",
                "cores = 100",
                "power = { knee = 100, gamma = 1.5 }",
                "usl = { sigma = 0.02, kappa = 0.0001 }",
                "table = [[1, 5.9], [100, 588]]",
            ],
            problems,
        ),
    }
}

/// Rows of (active, throughput), rising in the first.
fn throughput_table(node: &Node, problems: &mut Problems) -> Option<Contention> {
    let mut rows: Vec<(u32, f64)> = Vec::new();
    for row in list(node, problems)? {
        let [active, throughput] = list(row, problems)? else {
            let help = "write [active, throughput], as in [100, 588]";
            problems.add("a row of the table has two numbers", row.place.clone(), help);
            return None;
        };
        let active = count(1..=MOST_BACKENDS)(active, problems);
        let positive = number("a throughput above 0", |x| x > 0.0);
        let (active, throughput) = (active?, positive(throughput, problems)?);
        if rows.last().is_some_and(|&(before, _)| before >= active) {
            let help = "sort its rows by the number of active claims, each once";
            problems.add("the throughput table is not sorted", row.place.clone(), help);
            return None;
        }
        rows.push((active, throughput));
    }
    if rows.is_empty() {
        let help = "write its rows, as in [[1, 5.9], [100, 588]]";
        problems.add("the throughput table is empty", node.place.clone(), help);
        return None;
    }
    Some(Contention::Table(rows))
}

fn drain(node: &Node, problems: &mut Problems) -> Option<DrainRule> {
    let default = DrainRule::default();
    let mut fields = Fields::of("[drain]", node, problems)?;
    let wait = fields.or("wait", default.wait, problems, span);
    let hold = fields.or("hold", default.hold, problems, positive_span);
    fields.finish(problems);
    Some(DrainRule { wait: wait?, hold: hold? })
}
