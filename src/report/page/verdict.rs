//! What came of a run in sentences: which case to choose and why, and one sentence for each.

use super::why;
use crate::metrics::{Metric, Value};
use crate::report::columns::wasted_share;
use crate::report::numbers::{count, factor, percent, span};
use crate::report::rows::Rows;
use crate::report::scene::{Case, Outcome, Scene};
use crate::scenario::Candidate;

/// The question that the first screen answers.
pub(super) fn question(scene: &Scene<'_>) -> String {
    let [one, _] = scene.rows.nouns();
    match (scene.has_trigger(), scene.rows) {
        (true, Rows::Policies) => {
            "Which policy lets the fleet drain, how soon, and at what price?".to_owned()
        }
        (true, _) => format!("In which {one} does the fleet drain, how soon, and at what price?"),
        (false, _) => format!("How does the pool stand {} each {one}?", scene.rows.under()),
    }
}

/// The answer in a few words, and the reasons: of the choice, and of those that are stuck.
pub(super) fn answer(scene: &Scene<'_>) -> (String, Vec<String>) {
    if !scene.has_trigger() {
        return at_rest(scene);
    }
    let drained = candidates(scene);
    let first = soonest(&drained);
    let [one, many] = scene.rows.nouns();
    let Some(&best) = first.first() else {
        let words = format!("No {one} gets the fleet drained in every random world.");
        return (words, why::stuck(scene).into_iter().collect());
    };
    let choose = if scene.rows == Rows::Policies { "Ship" } else { "Choose" };
    let names: Vec<&str> = first.iter().map(|case| &*case.name).collect();
    let answer = format!("{choose} {}.", names.join(" or "));
    let median = |case: &Case<'_>| span(case.record.estimate(Metric::TimeToDrain).unwrap_or(0.0));
    let mut why = match (&first[..], scene.cases.len()) {
        ([_], 1) => format!("The fleet drains in {}.", median(best)),
        ([_], all) if drained.len() == 1 => {
            format!("Of {all} {many} only this one drains every time, in {}.", median(best))
        }
        ([_], _) => format!("It drains soonest in {}, in {}.", worlds(best), median(best)),
        _ => {
            format!("Neither drains soonest in {}; it takes about {}.", worlds(best), median(best))
        }
    };
    let second = drained.iter().filter(|case| !names.contains(&&*case.name));
    if let Some(next) = second.min_by(|a, b| time(a).total_cmp(&time(b))) {
        why.push_str(&format!(" The next, {}, takes {}.", next.name, median(next)));
    }
    let more = [price(best), proxy(scene, best), why::apart(scene, best)];
    for sentence in more.into_iter().flatten() {
        why.push(' ');
        why.push_str(&sentence);
    }
    (answer, [Some(why), why::stuck(scene)].into_iter().flatten().collect())
}

/// The names of those to choose.
pub(super) fn best<'a>(scene: &'a Scene<'_>) -> Vec<&'a str> {
    soonest(&candidates(scene)).iter().map(|case| &*case.name).collect()
}

/// Those that drain every time: by what clients do on their own if any does, else all of them.
fn candidates<'a, 'b>(scene: &'b Scene<'a>) -> Vec<&'b Case<'a>> {
    let drained: Vec<&Case<'a>> =
        scene.cases.iter().filter(|case| matches!(case.outcome, Outcome::Drained(_))).collect();
    let alone: Vec<&Case<'a>> =
        drained.iter().filter(|case| !guards_the_fleet(case)).copied().collect();
    if alone.is_empty() { drained } else { alone }
}

fn guards_the_fleet(case: &Case<'_>) -> bool {
    case.candidate.is_some_and(Candidate::guards_the_fleet)
}

/// All that were played.
fn worlds(case: &Case<'_>) -> String {
    match case.record.outcome.replicates.len() {
        1 => "the one random world that was played".to_owned(),
        many => format!("each of {many} random worlds"),
    }
}

fn time(case: &Case<'_>) -> f64 {
    case.record.estimate(Metric::TimeToDrain).unwrap_or(f64::INFINITY)
}

/// The cases that drain first in at least one random world, those that do so most often first.
fn soonest<'a, 'b>(drained: &[&'b Case<'a>]) -> Vec<&'b Case<'a>> {
    let times: Vec<Vec<f64>> = drained
        .iter()
        .map(|case| {
            let seconds = |value| if let Value::Number(time) = value { time } else { f64::MAX };
            case.record.outcome.values(Metric::TimeToDrain).into_iter().map(seconds).collect()
        })
        .collect();
    let worlds = times.iter().map(Vec::len).min().unwrap_or(0);
    let wins = |case: usize| {
        let first = |world: &usize| times.iter().all(|other| times[case][*world] <= other[*world]);
        (0..worlds).filter(first).count()
    };
    let mut winners: Vec<usize> = (0..drained.len()).filter(|&case| wins(case) > 0).collect();
    winners.sort_by_key(|&case| std::cmp::Reverse(wins(case)));
    winners.into_iter().map(|case| drained[case]).collect()
}

/// What the best still costs.
fn price(case: &Case<'_>) -> Option<String> {
    let refused = case.record.estimate(Metric::Refused)?;
    let wasted = wasted(case)?;
    Some(match refused > 0.0 {
        true => format!(
            "It is not free: {} attempts are refused, and {} of the claims run for nobody.",
            count(refused),
            percent(wasted)
        ),
        false => {
            format!("Nobody is refused, and {} of the claims run for nobody.", percent(wasted))
        }
    })
}

/// What takes more than clients of their own have: one count for all of them.
fn proxy(scene: &Scene<'_>, best: &Case<'_>) -> Option<String> {
    let takes = "one count for the whole fleet, which takes a proxy that all go through";
    if guards_the_fleet(best) {
        return Some(format!("It keeps {takes}."));
    }
    let sooner = scene.cases.iter().filter(|case| {
        guards_the_fleet(case)
            && matches!(case.outcome, Outcome::Drained(_))
            && time(case) < time(best)
    });
    let sooner = sooner.min_by(|a, b| time(a).total_cmp(&time(b)))?;
    Some(format!("With {takes}, {} takes {}.", sooner.name, span(time(sooner))))
}

/// The share of completed claims that nobody waited for any more.
pub(super) fn wasted(case: &Case<'_>) -> Option<f64> {
    wasted_share(|metric| case.record.estimate(metric))
}

fn at_rest(scene: &Scene<'_>) -> (String, Vec<String>) {
    let full = scene.most_backends();
    let filling = scene
        .cases
        .iter()
        .filter(|case| case.record.estimate(Metric::SvActiveMax).is_some_and(|most| most >= full));
    let answer = match (filling.count(), scene.cases.len()) {
        (0, _) => "The pool is never full.".to_owned(),
        (all, cases) if all == cases => "At times the pool is full.".to_owned(),
        (some, cases) => format!("The pool is at times full in {some} of {cases}."),
    };
    (answer, vec!["Nothing disturbs this run: it shows how the pool stands at rest.".to_owned()])
}

/// What is worth knowing of a case, in a few words each.
pub(super) fn facts(case: &Case<'_>) -> Vec<String> {
    let number = |metric| case.record.estimate(metric);
    let mut facts = Vec::new();
    if let Some(served) = number(Metric::Served99) {
        facts.push(format!("99 % served in {}", span(served)));
    }
    if let Some(amplification) = number(Metric::Amplification) {
        facts.push(format!("{} attempts", factor(amplification)));
    }
    if let Some(wasted) = wasted(case) {
        facts.push(format!("{} wasted", percent(wasted)));
    }
    if case.outcome == Outcome::Undisturbed {
        let active = [
            (Metric::SvActiveMean, "active on average"),
            (Metric::SvActiveP99, "not exceeded 99 % of the time"),
        ];
        for (metric, words) in active {
            facts.extend(number(metric).map(|level| format!("{} {words}", count(level))));
        }
    }
    facts
}
