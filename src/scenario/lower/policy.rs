//! Policies: what they inherit, and what else they hold.

use super::super::diagnostic::{Problems, alternatives};
use super::super::model::{Candidate, Part};
use super::super::reader::{
    Choice, Fields, boolean, count, or_never, pair, positive_span, share, span, text,
};
use super::super::tree::{Entry, Node, Value};
use super::acquire::acquisition;
use super::background;
use super::delay::schedule;
use crate::policy::{
    BootCheck, Cadence, ClientPool, Handling, HotLoop, Interval, Leave, Lifetime, LoopRule,
    LoopRules, MissedTick, Policy, Sleep, Spread, Supervisor,
};
use crate::units::{Ratio, Span};

/// Parts of a mixed fleet are numbered with eight bits.
const MOST_PARTS: usize = 256;

/// The policies of a scenario, in the file's order.
pub(super) struct Policies {
    /// All that have a name.
    pub known: Vec<Candidate>,
    /// Those that are to be played by themselves.
    pub played: Vec<Candidate>,
}

/// All policies; `rules` are those of `[loop]`, `handling` that of `[background]`.
pub(super) fn policies(
    node: &Node,
    rules: Option<LoopRules>,
    handling: Option<&Handling>,
    problems: &mut Problems,
) -> Option<Policies> {
    let Value::Table(entries) = &node.value else {
        Fields::of("[policy]", node, problems)?;
        return None;
    };
    if entries.is_empty() {
        let help = "add a table [policy.NAME] with a poll schedule";
        problems.add("there is no policy to play", node.place.clone(), help);
        return None;
    }
    let rules = rules.unwrap_or(LoopRules::HONCHO);
    let plain: Vec<(&str, Option<Policy>)> = entries
        .iter()
        .filter(|entry| !is_mix(entry))
        .map(|entry| (entry.key.as_str(), policy(entry, entries, rules, problems)))
        .collect();
    let read: Vec<_> = entries
        .iter()
        .map(|entry| {
            let named = check_name("policy", entry, problems);
            let played = is_played(entry, problems);
            let parts = if is_mix(entry) {
                mix(entry, &plain, problems)
            } else {
                let (_, policy) = plain.iter().find(|(name, _)| *name == entry.key)?;
                policy.clone().map(|policy| vec![Part { share: Ratio::ONE, policy }])
            };
            let handling = self::handling(entry, entries, handling, problems);
            let name = named.then(|| entry.key.clone());
            let candidate = Candidate { name: name?, parts: parts?, handling: handling? };
            Some((candidate, played?))
        })
        .collect();
    let read: Vec<(Candidate, bool)> = read.into_iter().collect::<Option<_>>()?;
    let played = read.iter().filter(|(_, played)| *played).map(|(candidate, _)| candidate.clone());
    let played: Vec<Candidate> = played.collect();
    if played.is_empty() {
        let help = "leave `played = false` out of one of them";
        problems.add("no policy is played", node.place.clone(), help);
        return None;
    }
    Some(Policies { known: read.into_iter().map(|(candidate, _)| candidate).collect(), played })
}

/// Whether a policy is played by itself, and not only extended, mixed or switched to. Its heirs
/// decide for themselves.
fn is_played(entry: &Entry, problems: &mut Problems) -> Option<bool> {
    let name = format!("[policy.{}]", entry.key);
    Fields::of(name, &entry.node, problems)?.or("played", true, problems, boolean)
}

/// How the background load is handled under a policy: as it or what it extends says, else as `default`.
fn handling(
    entry: &Entry,
    all: &[Entry],
    default: Option<&Handling>,
    problems: &mut Problems,
) -> Option<Option<Handling>> {
    let mut fields = Fields::of(format!("[policy.{}]", entry.key), &entry.node, problems)?;
    for ancestor in ancestors(entry, all, &mut Problems::default())? {
        let inherited = Fields::of("a policy", &ancestor.node, problems)?;
        fields.inherit(inherited.entries());
    }
    let Some(node) = fields.get("background") else { return Some(default.cloned()) };
    if default.is_none() {
        let help = "add [background] with a rate and a claim";
        problems.add("there is no background load to handle", node.place.clone(), help);
        return None;
    }
    background::handling(node, problems).map(Some)
}

fn is_mix(entry: &Entry) -> bool {
    match &entry.node.value {
        Value::Table(keys) => keys.iter().any(|key| key.key == "mix"),
        _ => false,
    }
}

/// A fleet whose parts follow several policies.
fn mix(
    entry: &Entry,
    plain: &[(&str, Option<Policy>)],
    problems: &mut Problems,
) -> Option<Vec<Part>> {
    let mut fields = Fields::of(format!("[policy.{}]", entry.key), &entry.node, problems)?;
    let node = fields.get("mix")?;
    fields.get("background");
    fields.get("played");
    fields.finish(problems);
    let Value::Table(shares) = &node.value else {
        Fields::of("`mix`", node, problems)?;
        return None;
    };
    let mut parts = Some(Vec::new());
    for part in shares {
        let share = share(&part.node, problems);
        let Some((_, policy)) = plain.iter().find(|(name, _)| *name == part.key) else {
            let names = plain.iter().map(|(name, _)| *name);
            let help = alternatives(&part.key, "policies to mix", names);
            let message = format!("there is no policy `{}` to mix", part.key);
            problems.add(message, part.place.clone(), help);
            return None;
        };
        match (&mut parts, share, policy) {
            (Some(parts), Some(share), Some(policy)) => {
                parts.push(Part { share, policy: policy.clone() });
            }
            _ => parts = None,
        }
    }
    let parts = parts?;
    let sum: f64 = parts.iter().map(|part| part.share.as_f64()).sum();
    if (sum - 1.0).abs() > 1e-6 || parts.len() > MOST_PARTS {
        let message = format!("the shares of a mix add up to 1, not to {sum}");
        let help = format!("write shares of at most {MOST_PARTS} policies that add up to 1");
        problems.add(message, node.place.clone(), help);
        return None;
    }
    Some(parts)
}

/// Whether what is named so, a policy or a variant, can be shown.
pub(super) fn check_name(kind: &str, entry: &Entry, problems: &mut Problems) -> bool {
    let fine = !entry.key.trim().is_empty() && !entry.key.chars().any(char::is_control);
    if !fine {
        let help = "use letters, digits and hyphens";
        let message = format!("a {kind} needs a printable name");
        problems.add(message, entry.place.clone(), help);
    }
    fine
}

fn policy(
    entry: &Entry,
    all: &[Entry],
    rules: LoopRules,
    problems: &mut Problems,
) -> Option<Policy> {
    let mut fields = Fields::of(format!("[policy.{}]", entry.key), &entry.node, problems)?;
    for ancestor in ancestors(entry, all, problems)? {
        let inherited = Fields::of(format!("[policy.{}]", ancestor.key), &ancestor.node, problems)?;
        fields.inherit(inherited.entries());
    }
    fields.get("extends");
    fields.get("played");
    fields.get("background");
    let start_up = fields.or("start_up", Spread::Constant(Span::ZERO), problems, spread);
    let connection = fields.optional("connection", problems, connection);
    let patience = fields.or("patience", None, problems, or_never(positive_span));
    let client_pool = fields.optional("client_pool", problems, client_pool);
    let connect_timeout = fields.optional("connect_timeout", problems, positive_span);
    let leave = fields.or("leave", Leave::Close, problems, leave);
    let poll = fields.required("poll", "poll = [\"30s\"]", problems, schedule);
    let acquire = acquisition(&mut fields, problems);
    let rules = fields.or("loop", rules, problems, self::rules);
    let cadence = fields.or("cadence", Cadence::FixedDelay, problems, cadence);
    let supervisor = fields.optional("supervisor", problems, supervisor);
    let boot_check = fields.optional("boot_check", problems, boot_check);
    let hot_loop = fields.optional("hot_loop", problems, hot_loop);
    fields.finish(problems);
    let (supervisor, boot_check) = (supervisor?, boot_check?);
    if boot_check.is_some() && supervisor.is_none() {
        let message = "a boot check needs a supervisor that starts the client again";
        let help = "add `supervisor = { after = 3, delay = \"1s\" }`";
        problems.add(message, entry.place.clone(), help);
        return None;
    }
    Some(Policy {
        start_up: start_up?,
        connection: connection?,
        client_pool: client_pool?,
        connect_timeout: connect_timeout?,
        patience: patience?,
        leave: leave?,
        poll: poll?,
        acquire: acquire?,
        rules: rules?,
        cadence: cadence?,
        supervisor,
        boot_check,
        hot_loop: hot_loop?,
    })
}

/// What a policy says under `key`, or the nearest that it extends and that does.
pub(in super::super) fn inherited<'a>(
    entry: &'a Entry,
    all: &'a [Entry],
    key: &str,
    problems: &mut Problems,
) -> Option<&'a Node> {
    let own = std::iter::once(entry);
    own.chain(ancestors(entry, all, problems)?).find_map(|entry| match &entry.node.value {
        Value::Table(keys) => keys.iter().find(|own| own.key == key).map(|own| &own.node),
        _ => None,
    })
}

/// What a policy extends, and what that extends, nearest first.
fn ancestors<'a>(
    entry: &'a Entry,
    all: &'a [Entry],
    problems: &mut Problems,
) -> Option<Vec<&'a Entry>> {
    let mut chain = vec![entry];
    loop {
        let youngest = chain[chain.len() - 1];
        let Some(node) = Fields::of("a policy", &youngest.node, problems)?.get("extends") else {
            return Some(chain.split_off(1));
        };
        let wanted = text(node, problems)?;
        let Some(parent) = all.iter().find(|candidate| candidate.key == wanted) else {
            let names = all.iter().map(|candidate| candidate.key.as_str());
            let help = alternatives(&wanted, "the policies", names);
            problems.add(
                format!("there is no policy `{wanted}` to extend"),
                node.place.clone(),
                help,
            );
            return None;
        };
        if chain.iter().any(|link| link.key == parent.key) {
            let mut circle: Vec<&str> = chain.iter().map(|link| link.key.as_str()).collect();
            circle.push(&parent.key);
            let message = format!("policies extend each other in a circle: {}", circle.join(" → "));
            let help = "let one of them stand on its own, without `extends`";
            problems.add(message, node.place.clone(), help);
            return None;
        }
        chain.push(parent);
    }
}

fn spread(node: &Node, problems: &mut Problems) -> Option<Spread> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        (_, None) => Some(Spread::Constant(span(node, problems)?)),
        ("constant", Some(constant)) => Some(Spread::Constant(span(constant, problems)?)),
        ("uniform", Some(bounds)) => {
            let (low, high) = pair(bounds, problems, span)?;
            Some(Spread::Uniform(low, high))
        }
        _ => choice.unknown(&["constant = \"0s\"", "uniform = [\"0s\", \"30s\"]"], problems),
    }
}

fn connection(node: &Node, problems: &mut Problems) -> Option<Lifetime> {
    let mut fields = Fields::of("`connection`", node, problems)?;
    let lifetime = fields.required("lifetime", "lifetime = \"30m\"", problems, or_never(lifetime));
    let redrawn = fields.or("redrawn", false, problems, boolean);
    fields.finish(problems);
    match (lifetime?, redrawn?) {
        (None, false) => Some(Lifetime::Never),
        (Some(spread), false) => Some(Lifetime::AtBirth(spread)),
        (Some(spread @ Spread::Uniform(..)), true) => Some(Lifetime::AtUse(spread)),
        (_, true) => {
            let help = "write lifetime = { uniform = [\"25m\", \"30m\"] }, or leave `redrawn` out";
            let message = "this lifetime is the same however often it is drawn";
            problems.add(message, node.place.clone(), help);
            None
        }
    }
}

fn lifetime(node: &Node, problems: &mut Problems) -> Option<Spread> {
    let spread = spread(node, problems)?;
    if spread.longest() == Span::ZERO {
        let help = "write how long a connection is kept, or leave `connection` out: then each \
                    transaction has one of its own";
        problems.add("this lifetime must be longer than zero", node.place.clone(), help);
        return None;
    }
    Some(spread)
}

fn client_pool(node: &Node, problems: &mut Problems) -> Option<ClientPool> {
    let mut fields = Fields::of("`client_pool`", node, problems)?;
    let most = || count(1..=u32::MAX);
    let clients = fields.required("clients", "clients = 10", problems, most());
    let connections = fields.required("connections", "connections = 2", problems, most());
    let timeout = fields.or("timeout", Span::from_secs(30), problems, positive_span);
    fields.finish(problems);
    Some(ClientPool { clients: clients?, connections: connections?, timeout: timeout? })
}

pub(super) fn leave(node: &Node, problems: &mut Problems) -> Option<Leave> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("close", None) => Some(Leave::Close),
        ("terminate", None) => Some(Leave::Terminate),
        ("stays", None) => Some(Leave::Stays),
        _ => choice.unknown(&["close", "terminate", "stays"], problems),
    }
}

fn cadence(node: &Node, problems: &mut Problems) -> Option<Cadence> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("fixed-delay", None) => Some(Cadence::FixedDelay),
        ("fixed-rate", Some(missed)) => {
            let choice = Choice::of(missed, problems)?;
            match (choice.name, choice.payload) {
                ("skip", None) => Some(Cadence::FixedRate(MissedTick::Skip)),
                ("fire", None) => Some(Cadence::FixedRate(MissedTick::Fire)),
                _ => choice.unknown(&["skip", "fire"], problems),
            }
        }
        _ => choice.unknown(&["fixed-delay", "fixed-rate = \"skip\""], problems),
    }
}

fn supervisor(node: &Node, problems: &mut Problems) -> Option<Supervisor> {
    let mut fields = Fields::of("`supervisor`", node, problems)?;
    let after = fields.required("after", "after = 3", problems, count(1..=65_535));
    let delay = fields.required("delay", "delay = \"1s\"", problems, positive_span);
    fields.finish(problems);
    Some(Supervisor { after: after?, delay: delay? })
}

fn boot_check(node: &Node, problems: &mut Problems) -> Option<BootCheck> {
    let mut fields = Fields::of("`boot_check`", node, problems)?;
    let attempts = fields.required("attempts", "attempts = 3", problems, count(1..=u32::MAX));
    let delay = fields.required("delay", "delay = \"1s\"", problems, positive_span);
    fields.finish(problems);
    Some(BootCheck { attempts: attempts?, delay: delay? })
}

fn hot_loop(node: &Node, problems: &mut Problems) -> Option<HotLoop> {
    let mut fields = Fields::of("`hot_loop`", node, problems)?;
    let clients = fields.required("clients", "clients = 10", problems, count(0..=u32::MAX));
    let pause = fields.or("pause", Span::from_millis(1), problems, positive_span);
    fields.finish(problems);
    Some(HotLoop { clients: clients?, pause: pause? })
}

/// `[loop]`, or a policy's own.
pub(super) fn rules(node: &Node, problems: &mut Problems) -> Option<LoopRules> {
    if let Value::Text(_) = &node.value {
        let choice = Choice::of(node, problems)?;
        return match choice.name {
            "honcho@3.0.7" => Some(LoopRules::HONCHO_3_0_7),
            "honcho@3.0.8" | "honcho@3.0.9" => Some(LoopRules::HONCHO),
            _ => choice.unknown(&["honcho@3.0.7", "honcho@3.0.8", "honcho@3.0.9"], problems),
        };
    }
    let mut fields = Fields::of("`loop`", node, problems)?;
    let default = LoopRules::HONCHO;
    let claimed = fields.or("claimed", default.claimed, problems, rule);
    let empty = fields.or("empty", default.empty, problems, rule);
    let error = fields.or("error", default.error, problems, rule);
    fields.finish(problems);
    Some(LoopRules { claimed: claimed?, empty: empty?, error: error? })
}

fn rule(node: &Node, problems: &mut Problems) -> Option<LoopRule> {
    let mut fields = Fields::of("a loop rule", node, problems)?;
    let interval =
        fields.required("interval", "interval = \"advance\"", problems, |node, problems| {
            let choice = Choice::of(node, problems)?;
            match choice.name {
                "reset" => Some(Interval::Reset),
                "advance" => Some(Interval::Advance),
                "keep" => Some(Interval::Keep),
                _ => choice.unknown(&["reset", "advance", "keep"], problems),
            }
        });
    let sleep = fields.required("sleep", "sleep = \"current\"", problems, |node, problems| {
        let choice = Choice::of(node, problems)?;
        match choice.name {
            "none" => Some(Sleep::None),
            "base" => Some(Sleep::Base),
            "current" => Some(Sleep::Current),
            "twice-current" => Some(Sleep::TwiceCurrent),
            "for-good" => Some(Sleep::ForGood),
            _ => {
                let choices = ["none", "base", "current", "twice-current", "for-good"];
                choice.unknown(&choices, problems)
            }
        }
    });
    fields.finish(problems);
    Some(LoopRule { interval: interval?, sleep: sleep? })
}
