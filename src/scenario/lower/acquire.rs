//! What happens when an attempt fails: written out, or a preset with some of it changed.

use super::super::catalogue::{self, Preset};
use super::super::diagnostic::Problems;
use super::super::reader::{Choice, Fields, count, number, span, text};
use super::super::tree::{Entry, Node, Value};
use super::delay::pipeline;
use crate::policy::{Acquire, Hint, Pipeline, Retry, Scope, Stop};
use crate::units::Span;

pub(in super::super) fn acquire(node: &Node, problems: &mut Problems) -> Option<Acquire> {
    if names_preset(node) {
        return preset(node, &["stop", "hint", "scope"], problems).map(Acquire::Retry);
    }
    let choice = Choice::of(node, problems)?;
    match (choice.name, choice.payload) {
        ("once", None) => Some(Acquire::Once),
        ("retry", Some(retry)) => {
            let mut fields = Fields::of("`retry`", retry, problems)?;
            let delay = fields.required("delay", "delay = [\"1s\"]", problems, pipeline);
            let stop = fields.required("stop", "stop = { attempts = 5 }", problems, stop);
            let hint = fields.or("hint", Hint::default(), problems, hint);
            let scope = fields.or("scope", Scope::default(), problems, scope);
            fields.finish(problems);
            Some(Acquire::Retry(Retry { delay: delay?, stop: stop?, hint: hint?, scope: scope? }))
        }
        _ => choice.unknown(
            &[
                "once",
                "retry = { delay = [\"1s\"], stop = … }",
                "preset = \"library-policy@version\"",
            ],
            problems,
        ),
    }
}

/// The same where nobody keeps what was before.
pub(super) fn acquire_without_past(node: &Node, problems: &mut Problems) -> Option<Acquire> {
    let acquire = acquire(node, problems)?;
    if matches!(&acquire, Acquire::Retry(retry) if retry.delay.looks_back()) {
        let message = "this client's delay cannot depend on the delays or draws before";
        problems.add(message, node.place.clone(), "choose another growth");
        return None;
    }
    Some(acquire)
}

/// The delay of a preset alone.
pub(super) fn delay(node: &Node, problems: &mut Problems) -> Option<Pipeline> {
    if !names_preset(node) {
        let message = "a delay is a list, or a table that names a preset";
        let help = "write [\"30s\"], or { preset = \"library-policy@version\" }";
        problems.add(message, node.place.clone(), help);
        return None;
    }
    preset(node, &[], problems).map(|retry| retry.delay)
}

/// A preset's rule, with those of its parameters and `keys` replaced that stand beside its name.
fn preset(node: &Node, keys: &[&'static str], problems: &mut Problems) -> Option<Retry> {
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
    let [stop, hint, scope] = [own("stop"), own("hint"), own("scope")];
    fields.finish(problems);
    // What the preset says is shown where it is named.
    let put = |node: &Node| catalogue::substitute(node, &given, &named.place);
    let delay = pipeline(&put(&preset.delay), problems);
    let stop = self::stop(stop.unwrap_or(&put(&preset.stop)), problems);
    let hint = self::hint(hint.unwrap_or(&put(&preset.hint)), problems);
    let scope = scope.map_or(Some(Scope::default()), |node| self::scope(node, problems));
    Some(Retry { delay: delay?, stop: stop?, hint: hint?, scope: scope? })
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
    let attempts = fields.optional("attempts", problems, count(1..=u32::MAX));
    let retries = fields.optional("retries", problems, count(0..=u32::MAX - 1));
    let elapsed = fields.optional("elapsed", problems, span);
    let elapsed_with_delay = fields.optional("elapsed_with_delay", problems, span);
    fields.finish(problems);
    let attempts = match (attempts?, retries?) {
        (Some(_), Some(_)) => {
            let help = "keep one: attempts count the first, retries do not";
            problems.add("the same limit is given twice", node.place.clone(), help);
            return None;
        }
        (attempts, retries) => attempts.or(retries.map(|retries| retries + 1)),
    };
    let stop = Stop { attempts, elapsed: elapsed?, elapsed_with_delay: elapsed_with_delay? };
    if stop == Stop::default() {
        let help = "write `attempts = 5`, `elapsed = \"10s\"` or stop = \"never\"";
        problems.add("no limit is given", node.place.clone(), help);
        return None;
    }
    Some(stop)
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
        ("client", None) => Some(Scope::Client),
        ("fleet", None) => Some(Scope::Fleet),
        _ => choice.unknown(&["client", "fleet"], problems),
    }
}
