//! Delays as pipelines: how they grow, then stages in the order they are written.

use super::super::diagnostic::Problems;
use super::super::reader::{Choice, Fields, count, each, list, number, pair, positive_span, span};
use super::super::tree::{Node, Value};
use super::acquire;
use crate::policy::{After, Exponential, Growth, Overflow, Pipeline, Stage};
use crate::units::Span;

/// Draws of one delay share eight bits.
const MOST_STAGES: usize = 100;

const GROWTHS: [&str; 17] = [
    "constant = \"1s\"",
    "exponential = { base = \"1s\", factor = 2 }",
    "exponential-less-one = { base = \"1s\", factor = 2, first = 1 }",
    "linear = { start = \"1s\", step = \"1s\" }",
    "polynomial = { scale = \"1s\", power = 2, first = 1 }",
    "chain = { first = \"500ms\", factor = 1.5, quantum = \"1ms\" }",
    "fibonacci = { unit = \"1s\" }",
    "table = [\"1s\", \"5s\"]",
    "uniform = [\"24s\", \"30s\"]",
    "windowed = { window = \"30s\" }",
    "decorrelated = { base = \"1s\", factor = 3, first = \"1s\" }",
    "rising = { first = \"1s\", factor = 3, cap = \"30s\" }",
    "walk = { first = \"1s\", factor = 2 }",
    "widening = { first = \"1s\", cap = \"30s\" }",
    "polly = { base = \"1s\" }",
    "sorted = { base = \"1s\", factor = 2, retries = 10 }",
    "time-left = { budget = \"2s\", attempts = 5 }",
];
const STAGES: [&str; 15] = [
    "clamp = \"30s\"",
    "at-least = \"1s\"",
    "scale = [0.5, 1.5]",
    "add = [\"0s\", \"1s\"]",
    "add-square = \"4s\"",
    "between = \"1s\"",
    "plus = [\"1s\"]",
    "scale-per-sequence = [0.9, 1.1]",
    "scale-per-client = [1, 5]",
    "rejitter = { cap = \"30s\", scale = [0.5, 1] }",
    "signed = 0.5",
    "holed = 0.3",
    "quantise = \"1s\"",
    "round = \"1ms\"",
    "after = { retries = 10, then = [ … ] }",
];

/// A poll schedule: a delay that needs no memory.
pub(super) fn schedule(node: &Node, problems: &mut Problems) -> Option<Pipeline> {
    let delay = pipeline(node, problems)?;
    if delay.looks_back() {
        let message = "a poll schedule cannot depend on the delays or draws before";
        let help = "only the retries of an acquisition remember them: choose another growth, jitter each \
                    poll by itself";
        problems.add(message, node.place.clone(), help);
        return None;
    }
    Some(delay)
}

/// A delay: its growth, stages in order, and perhaps another regime at the end; or a preset's.
pub(super) fn pipeline(node: &Node, problems: &mut Problems) -> Option<Pipeline> {
    if matches!(node.value, Value::Table(_)) {
        return acquire::delay(node, problems);
    }
    let mut stages = 0;
    pipeline_within(node, &mut stages, problems)
}

/// The same as a part of a whole that has so many `stages` already.
fn pipeline_within(node: &Node, stages: &mut usize, problems: &mut Problems) -> Option<Pipeline> {
    let items = list(node, problems)?;
    let [first, rest @ ..] = items else {
        let help = "write how it grows, as in [\"30s\"]";
        problems.add("a delay needs at least one entry", node.place.clone(), help);
        return None;
    };
    *stages += items.len();
    if *stages > MOST_STAGES {
        let message = format!("a delay has at most {MOST_STAGES} stages");
        problems.add(message, node.place.clone(), "shorten it");
        return None;
    }
    let growth = growth(first, problems);
    let mut read = Vec::new();
    let mut after = None;
    for (position, item) in rest.iter().enumerate() {
        let choice = Choice::of(item, problems);
        match choice {
            Some(Choice { name: "after", payload: Some(payload), .. }) => {
                if position + 1 < rest.len() {
                    let help = "move it to the end: nothing of this regime can follow it";
                    problems.add("`after` must be the last entry", item.place.clone(), help);
                }
                after = self::after(payload, stages, problems);
                after.as_ref()?;
            }
            Some(Choice { name: "clamp", payload: Some(cap), .. }) if is_none(cap) => {}
            choice => read.push(choice.and_then(|choice| stage(&choice, stages, problems))),
        }
    }
    let read = read.into_iter().collect::<Option<_>>();
    Some(Pipeline::new(growth?, read?, after))
}

fn growth(node: &Node, problems: &mut Problems) -> Option<Growth> {
    let choice = Choice::of(node, problems)?;
    let Some(law) = choice.payload else {
        return Some(Growth::Constant(span(node, problems)?));
    };
    let name = choice.name;
    let mut law_of = |read: &mut dyn FnMut(&mut Fields<'_>, &mut Problems) -> Option<Growth>| {
        let mut fields = Fields::of(format!("`{name}`"), law, problems)?;
        let growth = read(&mut fields, problems);
        fields.finish(problems);
        growth
    };
    match name {
        "constant" => Some(Growth::Constant(span(law, problems)?)),
        "uniform" => {
            let (low, high) = pair(law, problems, span)?;
            Some(Growth::Uniform(low, high))
        }
        "table" => {
            let spans = each(law, problems, span)?;
            if spans.is_empty() {
                let help = "list the delays, as in [\"1s\", \"5s\"]: the last is kept";
                problems.add("this table is empty", law.place.clone(), help);
                return None;
            }
            Some(Growth::Table(spans))
        }
        "exponential" => {
            law_of(&mut |fields, problems| exponential(fields, problems).map(Growth::Exponential))
        }
        "exponential-less-one" => law_of(&mut |fields, problems| {
            exponential(fields, problems).map(Growth::ExponentialLessOne)
        }),
        "linear" => law_of(&mut |fields, problems| {
            let start = fields.required("start", "start = \"1s\"", problems, span);
            let step = fields.required("step", "step = \"1s\"", problems, span);
            Some(Growth::Linear { start: start?, step: step? })
        }),
        "polynomial" => law_of(&mut |fields, problems| {
            let scale = fields.required("scale", "scale = \"1s\"", problems, span);
            let exponent = number("an exponent from 0 to 16", |x| (0.0..=16.0).contains(&x));
            let power = fields.required("power", "power = 2", problems, exponent);
            let first = fields.or("first", 0, problems, count(0..=1_000));
            Some(Growth::Polynomial { scale: scale?, power: power?, first: first? })
        }),
        "chain" => law_of(&mut |fields, problems| {
            let first = fields.required("first", "first = \"1s\"", problems, span);
            let factor = fields.required("factor", "factor = 2", problems, factor());
            let quantum = fields.required("quantum", "quantum = \"1ms\"", problems, positive_span);
            Some(Growth::Chain { first: first?, factor: factor?, quantum: quantum? })
        }),
        "fibonacci" => law_of(&mut |fields, problems| {
            let unit = fields.required("unit", "unit = \"1s\"", problems, span);
            let first = fields.or("first", 0, problems, count(0..=100));
            Some(Growth::Fibonacci { unit: unit?, first: first? })
        }),
        "windowed" => law_of(&mut |fields, problems| {
            let window = fields.required("window", "window = \"30s\"", problems, positive_span);
            let factor = fields.or("factor", 1.0, problems, factor());
            Some(Growth::Windowed { window: window?, factor: factor? })
        }),
        "polly" => law_of(&mut |fields, problems| {
            let base = fields.required("base", "base = \"1s\"", problems, span);
            Some(Growth::Polly { base: base? })
        }),
        "sorted" => law_of(&mut |fields, problems| {
            let base = fields.required("base", "base = \"1s\"", problems, span);
            let factor = fields.required("factor", "factor = 2", problems, factor());
            let cap = fields.or("cap", Span::MAX, problems, |node, problems| match is_none(node) {
                true => Some(Span::MAX),
                false => span(node, problems),
            });
            let retries = fields.required("retries", "retries = 10", problems, count(1..=200));
            let (base, factor, cap, retries) = (base?, factor?, cap?, retries?);
            Some(Growth::Sorted { base, factor, cap, retries })
        }),
        "time-left" => law_of(&mut |fields, problems| {
            let budget = fields.required("budget", "budget = \"2s\"", problems, span);
            let attempts =
                fields.required("attempts", "attempts = 5", problems, count(1..=u32::MAX));
            Some(Growth::TimeLeft { budget: budget?, attempts: attempts? })
        }),
        "decorrelated" => law_of(&mut |fields, problems| {
            let base = fields.required("base", "base = \"1s\"", problems, span);
            let factor = fields.required("factor", "factor = 3", problems, factor());
            let first = fields.required("first", "first = \"1s\"", problems, span);
            Some(Growth::Decorrelated { base: base?, factor: factor?, first: first? })
        }),
        "rising" => law_of(&mut |fields, problems| {
            let first = fields.required("first", "first = \"1s\"", problems, span);
            let factor = fields.required("factor", "factor = 3", problems, factor());
            let cap = fields.required("cap", "cap = \"30s\"", problems, span);
            Some(Growth::Rising { first: first?, factor: factor?, cap: cap? })
        }),
        "walk" => law_of(&mut |fields, problems| {
            let first = fields.required("first", "first = \"1s\"", problems, span);
            let factor = fields.required("factor", "factor = 2", problems, factor());
            Some(Growth::Walk { first: first?, factor: factor? })
        }),
        "widening" => law_of(&mut |fields, problems| {
            let first = fields.required("first", "first = \"1s\"", problems, span);
            let cap = fields.required("cap", "cap = \"30s\"", problems, span);
            Some(Growth::Widening { first: first?, cap: cap? })
        }),
        _ if is_one_of(&STAGES, name) => {
            let message = format!("a delay begins with how it grows, not with `{name}`");
            let help = format!("put one of these first: {}", GROWTHS.join(", "));
            problems.add(message, node.place.clone(), help);
            None
        }
        _ => choice.unknown(&GROWTHS, problems),
    }
}

/// The keys of an exponential law.
fn exponential(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Exponential> {
    let base = fields.required("base", "base = \"1s\"", problems, span);
    let factor = fields.required("factor", "factor = 2", problems, factor());
    let first = fields.or("first", 0, problems, exponent);
    let overflow = fields.or("overflow", Overflow::Saturates, problems, |node, problems| {
        let choice = Choice::of(node, problems)?;
        match (choice.name, choice.payload) {
            ("saturates", None) => Some(Overflow::Saturates),
            ("raises", None) => Some(Overflow::Raises),
            _ => choice.unknown(&["saturates", "raises"], problems),
        }
    });
    Some(Exponential { base: base?, factor: factor?, first: first?, overflow: overflow? })
}

fn exponent(node: &Node, problems: &mut Problems) -> Option<i32> {
    let whole = |x: f64| (-1_000.0..=1_000.0).contains(&x) && x.fract() == 0.0;
    Some(number("a whole exponent from -1000 to 1000", whole)(node, problems)? as i32)
}

fn factor() -> impl FnOnce(&Node, &mut Problems) -> Option<f64> {
    number("a factor of at least 1", |x| x >= 1.0)
}

fn stage(choice: &Choice<'_>, stages: &mut usize, problems: &mut Problems) -> Option<Stage> {
    let Some(value) = choice.payload else { return choice.unknown(&STAGES, problems) };
    let scale = |node: &Node, problems: &mut Problems| {
        pair(node, problems, |node, problems| {
            number("a factor of at least 0, at most 1e6", |x| (0.0..=1e6).contains(&x))(
                node, problems,
            )
        })
    };
    let share = || number("a share from 0 to 1", |x| (0.0..=1.0).contains(&x));
    match choice.name {
        "clamp" => Some(Stage::Clamp(span(value, problems)?)),
        "at-least" => Some(Stage::AtLeast(span(value, problems)?)),
        "scale" => scale(value, problems).map(|(low, high)| Stage::Scale(low, high)),
        "scale-per-sequence" => {
            scale(value, problems).map(|(low, high)| Stage::ScalePerSequence(low, high))
        }
        "scale-per-client" => {
            scale(value, problems).map(|(low, high)| Stage::ScalePerClient(low, high))
        }
        "add" => {
            let (low, high) = pair(value, problems, span)?;
            Some(Stage::Add(low, high))
        }
        "add-square" => Some(Stage::AddSquare(span(value, problems)?)),
        "between" => Some(Stage::Between(span(value, problems)?)),
        "plus" => plus(value, stages, problems),
        "rejitter" => {
            let mut fields = Fields::of("`rejitter`", value, problems)?;
            let cap = fields.required("cap", "cap = \"30s\"", problems, span);
            let scale = fields.required("scale", "scale = [0.5, 1]", problems, scale);
            fields.finish(problems);
            Some(Stage::Rejitter { cap: cap?, scale: scale? })
        }
        "signed" => Some(Stage::Signed(share()(value, problems)?)),
        "holed" => Some(Stage::Holed(share()(value, problems)?)),
        "quantise" => Some(Stage::Quantise(positive_span(value, problems)?)),
        "round" => Some(Stage::Round(positive_span(value, problems)?)),
        name if is_one_of(&GROWTHS, name) => {
            let message = format!("`{name}` says how a delay grows: it comes first");
            let help = format!("stages after it are: {}", STAGES.join(", "));
            problems.add(message, choice.node.place.clone(), help);
            None
        }
        _ => choice.unknown(&STAGES, problems),
    }
}

fn plus(node: &Node, stages: &mut usize, problems: &mut Problems) -> Option<Stage> {
    let other = pipeline_within(node, stages, problems)?;
    if other.looks_back() || other.after().is_some() {
        let message = "what is added must depend on the step alone, in one regime";
        let help = "write a growth without memory and stages, as in [\"1s\", { scale = [0, 1] }]";
        problems.add(message, node.place.clone(), help);
        return None;
    }
    Some(Stage::Plus(Box::new(other)))
}

fn after(node: &Node, stages: &mut usize, problems: &mut Problems) -> Option<After> {
    let mut fields = Fields::of("`after`", node, problems)?;
    let retries = fields.required("retries", "retries = 10", problems, count(0..=u32::MAX));
    let then = fields.required("then", "then = [\"30s\"]", problems, |node, problems| {
        pipeline_within(node, stages, problems)
    });
    fields.finish(problems);
    Some(After { retries: retries?, then: Box::new(then?) })
}

/// Whether a cap is `"none"`, as the presets say of libraries that have none.
fn is_none(cap: &Node) -> bool {
    matches!(&cap.value, Value::Text(text) if text == "none")
}

fn is_one_of(examples: &[&str], name: &str) -> bool {
    examples.iter().any(|example| example.split(' ').next() == Some(name))
}
