//! What happens when an attempt fails: written out, or a preset with some of it changed.

use super::super::catalogue::{self, Preset};
use super::super::diagnostic::Problems;
use super::super::reader::{Choice, Fields, count, list, number, span, text};
use super::super::tree::{Entry, Node, Value};
use super::delay::pipeline;
use super::guard::{by_failure, guards};
use crate::policy::{Acquire, Guard, Hint, Layer, MOST_LAYERS, Pipeline, Retry, Scope, Stop};
use crate::units::Span;

/// The `acquire` of a policy, `once` if it has none, under its `guards`, which take the place of those of
/// a preset.
pub(super) fn acquisition(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Acquire> {
    acquire_under(fields.get("acquire"), fields.get("guards"), problems)
}

/// The same of its two keys.
pub(in super::super) fn acquire_under(
    node: Option<&Node>,
    own: Option<&Node>,
    problems: &mut Problems,
) -> Option<Acquire> {
    if node.and_then(layered).is_some()
        && let Some(own) = own
    {
        let message = "where rules are nested, each layer has guards of its own";
        problems.add(message, own.place.clone(), "move them into one of the `layers`");
        return None;
    }
    let own = own.map(|own| guards(own, problems));
    let acquire = node.map_or(Some(Acquire::Once), |node| acquire(node, problems));
    match own {
        Some(own) => under(acquire?, own?, node, problems),
        None => acquire,
    }
}

/// An acquisition by itself, under the guards of its preset if it is one.
fn acquire(node: &Node, problems: &mut Problems) -> Option<Acquire> {
    if let Some(layers) = layered(node) {
        return layers_of(layers, problems).map(Acquire::Layers);
    }
    let (retry, guards) = rule(node, problems)?;
    under(retry.map_or(Acquire::Once, Acquire::Retry), guards, Some(node), problems)
}

/// The same under other guards.
fn under(
    acquire: Acquire,
    guards: Vec<Guard>,
    node: Option<&Node>,
    problems: &mut Problems,
) -> Option<Acquire> {
    let retry = acquire.retries().next().cloned();
    match retry {
        None if guards.is_empty() => Some(Acquire::Once),
        Some(retry) if guards.is_empty() => Some(Acquire::Retry(retry)),
        retry => {
            keeps_to_its_call(retry.as_ref(), node, problems)?;
            let name = "acquisition".to_owned();
            Some(Acquire::Layers(vec![Layer { name, retry, guards }]))
        }
    }
}

/// The list of an `acquire` that nests rules.
fn layered(node: &Node) -> Option<&Node> {
    match &node.value {
        Value::Table(entries) => match &entries[..] {
            [Entry { key, node, .. }] if key == "layers" => Some(node),
            _ => None,
        },
        _ => None,
    }
}

fn layers_of(node: &Node, problems: &mut Problems) -> Option<Vec<Layer>> {
    let nodes = list(node, problems)?;
    if nodes.is_empty() || nodes.len() > MOST_LAYERS {
        let message = format!("an acquisition has from 1 to {MOST_LAYERS} layers");
        let help = "list them from the inside out: the library first, then what calls it";
        problems.add(message, node.place.clone(), help);
        return None;
    }
    let layers: Vec<Option<Layer>> =
        (1..).zip(nodes).map(|(number, node)| layer(number, node, problems)).collect();
    layers.into_iter().collect()
}

/// A layer: an `acquire` with a name and guards beside it; one without a rule tries once.
fn layer(number: usize, node: &Node, problems: &mut Problems) -> Option<Layer> {
    let mut fields = Fields::of("a layer", node, problems)?;
    let name = fields.or("name", format!("layer {number}"), problems, text);
    let own = fields.optional("guards", problems, guards);
    let beside = |entry: &&&Entry| !matches!(entry.key.as_str(), "name" | "guards");
    let rest: Vec<Entry> =
        fields.entries().iter().filter(beside).map(|&entry| entry.clone()).collect();
    let (retry, guards) = match (rest.is_empty(), &own) {
        (true, Some(Some(_))) => (None, Vec::new()),
        (true, _) => {
            let help = "add `retry = { delay = [\"1s\"], stop = … }`, a `preset`, or `guards`";
            problems.add("a layer needs a rule or guards", node.place.clone(), help);
            return None;
        }
        _ => rule(&Node { place: node.place.clone(), value: Value::Table(rest) }, problems)?,
    };
    keeps_to_its_call(retry.as_ref(), Some(node), problems)?;
    Some(Layer { name: name?, retry, guards: own?.unwrap_or(guards) })
}

/// A delay in layers or under guards remembers one call only.
fn keeps_to_its_call(
    retry: Option<&Retry>,
    node: Option<&Node>,
    problems: &mut Problems,
) -> Option<()> {
    if let (Some(node), Some(retry)) = (node, retry)
        && retry.scope != Scope::Call
    {
        let message = "a delay in layers or under guards remembers one call only";
        problems.add(message, node.place.clone(), "leave out its `scope`, or write \"call\"");
        return None;
    }
    Some(())
}

/// A retry rule, if any, and the guards that a preset brings.
fn rule(node: &Node, problems: &mut Problems) -> Option<(Option<Retry>, Vec<Guard>)> {
    if names_preset(node) {
        let keys = ["stop", "hint", "scope"];
        return preset(node, &keys, problems).map(|(retry, guards)| (Some(retry), guards));
    }
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("once", None) => Some((None, Vec::new())),
        ("retry", Some(retry)) => {
            let mut fields = Fields::of("`retry`", retry, problems)?;
            let delay = fields.required("delay", "delay = [\"1s\"]", problems, pipeline);
            let stop = fields.required("stop", "stop = { attempts = 5 }", problems, stop);
            let hint = fields.or("hint", Hint::default(), problems, hint);
            let scope = fields.or("scope", Scope::default(), problems, scope);
            fields.finish(problems);
            let retry = Retry { delay: delay?, stop: stop?, hint: hint?, scope: scope? };
            Some((Some(retry), Vec::new()))
        }
        _ => choice.unknown(
            &[
                "once",
                "retry = { delay = [\"1s\"], stop = … }",
                "preset = \"library-policy@version\"",
                "layers = [{ name = \"sdk\", retry = … }, …]",
            ],
            problems,
        ),
    }
}

/// The same for the client of a request: nobody keeps what was before, and each is a client of its own,
/// whose guards have nothing to count.
pub(super) fn acquire_without_past(node: &Node, problems: &mut Problems) -> Option<Acquire> {
    let (message, help) = match acquire(node, problems)? {
        Acquire::Layers(layers) if layers.len() > 1 => (
            "this client's retries cannot be nested",
            "nest those of the server, or write one rule",
        ),
        acquire => match acquire.retries().next() {
            None => return Some(Acquire::Once),
            Some(retry) if !retry.delay.looks_back() => return Some(Acquire::Retry(retry.clone())),
            Some(_) => (
                "this client's delay cannot depend on the delays or draws before",
                "choose another growth",
            ),
        },
    };
    problems.add(message, node.place.clone(), help);
    None
}

/// The delay of a preset alone.
pub(super) fn delay(node: &Node, problems: &mut Problems) -> Option<Pipeline> {
    if !names_preset(node) {
        let message = "a delay is a list, or a table that names a preset";
        let help = "write [\"30s\"], or { preset = \"library-policy@version\" }";
        problems.add(message, node.place.clone(), help);
        return None;
    }
    preset(node, &[], problems).map(|(retry, _)| retry.delay)
}

/// A preset's rule, with those of its parameters and `keys` replaced that stand beside its name.
fn preset(
    node: &Node,
    keys: &[&'static str],
    problems: &mut Problems,
) -> Option<(Retry, Vec<Guard>)> {
    let mut fields = Fields::of("a preset", node, problems)?;
    let named = fields.get("preset")?;
    let preset = Preset::find(&text(named, problems)?, named, problems)?;
    let given: Vec<Entry> = preset
        .parameters
        .iter()
        .map(|default| match fields.get(&default.key) {
            Some(node) => {
                Entry { key: default.key.clone(), place: node.place.clone(), node: node.clone() }
            }
            None => default.clone(),
        })
        .collect();
    let mut own = |key: &'static str| keys.contains(&key).then(|| fields.get(key)).flatten();
    let [stop, hint, scope] = ["stop", "hint", "scope"].map(&mut own);
    fields.finish(problems);
    // What the preset says is shown where it is named.
    let put = |node: &Node| catalogue::substitute(node, &given, &named.place);
    let delay = pipeline(&put(&preset.delay), problems);
    let stop = self::stop(stop.unwrap_or(&put(&preset.stop)), problems);
    let hint = self::hint(hint.unwrap_or(&put(&preset.hint)), problems);
    let scope = scope.map_or(Some(Scope::default()), |node| self::scope(node, problems));
    let guards = match preset.guards.as_ref().map(put) {
        Some(node) => self::guards(&node, problems),
        None => Some(Vec::new()),
    };
    let retry = Retry { delay: delay?, stop: stop?, hint: hint?, scope: scope? };
    Some((retry, guards?))
}

fn names_preset(node: &Node) -> bool {
    match &node.value {
        Value::Table(entries) => entries.iter().any(|entry| entry.key == "preset"),
        _ => false,
    }
}

fn stop(node: &Node, problems: &mut Problems) -> Option<Stop> {
    match &node.value {
        Value::Text(text) if text == "never" => return Some(Stop::default()),
        Value::Text(_) => {
            let choices = ["never", "attempts = 5", "retries = 4", "elapsed = \"10s\""];
            return Choice::of(node, problems)?.unknown(&choices, problems);
        }
        _ => {}
    }
    let mut fields = Fields::of("`stop`", node, problems)?;
    let elapsed = fields.optional("elapsed", problems, span);
    let elapsed_with_delay = fields.optional("elapsed_with_delay", problems, span);
    let on = fields.optional("on", problems, |node, problems| {
        let mut fields = Fields::of("`on`", node, problems)?;
        let on = by_failure(&mut fields, None, problems, |node, problems| {
            let mut fields = Fields::of("a class of failures", node, problems)?;
            let attempts = attempts_of(&mut fields, node, problems);
            fields.finish(problems);
            attempts
        });
        fields.finish(problems);
        on
    });
    let attempts = attempts_of(&mut fields, node, problems);
    fields.finish(problems);
    let (attempts, elapsed, on) = (attempts?, elapsed?, on?);
    let stop = Stop { attempts, elapsed, elapsed_with_delay: elapsed_with_delay?, on };
    if stop == Stop::default() {
        let help = "write `attempts = 5`, `elapsed = \"10s\"` or stop = \"never\"";
        problems.add("no limit is given", node.place.clone(), help);
        return None;
    }
    Some(stop)
}

/// A limit of attempts, given as such or as retries.
fn attempts_of(
    fields: &mut Fields<'_>,
    node: &Node,
    problems: &mut Problems,
) -> Option<Option<u32>> {
    let attempts = fields.optional("attempts", problems, count(1..=u32::MAX));
    let retries = fields.optional("retries", problems, count(0..=u32::MAX - 1));
    match (attempts?, retries?) {
        (Some(_), Some(_)) => {
            let help = "keep one: attempts count the first, retries do not";
            problems.add("the same limit is given twice", node.place.clone(), help);
            None
        }
        (attempts, retries) => Some(attempts.or(retries.map(|retries| retries + 1))),
    }
}

fn hint(node: &Node, problems: &mut Problems) -> Option<Hint> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("ignore", None) => Some(Hint::Ignore),
        ("at-least", None) => Some(Hint::AtLeast),
        ("replace", None) => Some(Hint::Replace(Span::MAX)),
        ("replace", Some(longest)) => Some(Hint::Replace(span(longest, problems)?)),
        ("within", Some(most)) => Some(Hint::Within(span(most, problems)?)),
        ("give-up-above", Some(longest)) => Some(Hint::GiveUpAbove(span(longest, problems)?)),
        ("spread", Some(share)) => {
            let share =
                number("a share from 0 to 1", |x| (0.0..=1.0).contains(&x))(share, problems)?;
            Some(Hint::Spread(share))
        }
        _ => choice.unknown(
            &[
                "ignore",
                "at-least",
                "replace = \"2m\"",
                "spread = 0.2",
                "within = \"5s\"",
                "give-up-above = \"1m\"",
            ],
            problems,
        ),
    }
}

fn scope(node: &Node, problems: &mut Problems) -> Option<Scope> {
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("call", None) => Some(Scope::Call),
        ("client", None) => Some(Scope::Client),
        ("fleet", None) => Some(Scope::Fleet),
        _ => choice.unknown(&["call", "client", "fleet"], problems),
    }
}
