//! Why it came so: in what the choice differs from those that are stuck in the same random worlds, what the
//! last minutes of these look like, and what a closed form says of their retries.

use crate::report::conduct;
use crate::report::numbers::{count, percent, span};
use crate::report::rows::Rows;
use crate::report::scene::{Case, Outcome, Scene};
use crate::theory;

/// What is looked at of a run that is stuck, in seconds before its end.
const LAST: f64 = 300.0;

/// Those that are stuck and differ from the best in one thing alone.
pub(super) fn apart(scene: &Scene<'_>, best: &Case<'_>) -> Option<String> {
    if scene.rows != Rows::Policies {
        return None;
    }
    let ours = conduct::of_candidate(best.candidate?);
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for case in stuck_cases(scene) {
        let theirs = conduct::of_candidate(case.candidate?);
        let [thing] = conduct::differences(&ours, &theirs)[..] else { continue };
        match found.iter_mut().find(|(known, _)| *known == thing) {
            Some((_, names)) => names.push(&case.name),
            None => found.push((thing, vec![&case.name])),
        }
    }
    let sentence = |(thing, names): (&str, Vec<&str>)| match &names[..] {
        [one] => format!("{one} differs from it only in {thing}, and is stuck."),
        many => format!("{} differ from it only in {thing}, and are stuck.", and(many)),
    };
    let sentences: Vec<String> = found.into_iter().map(sentence).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Who does not drain, and how it goes on.
pub(super) fn stuck(scene: &Scene<'_>) -> Option<String> {
    let stuck: Vec<&Case<'_>> = stuck_cases(scene).collect();
    let Outcome::Never(limit) = stuck.first()?.outcome else { return None };
    let names: Vec<&str> = stuck.iter().map(|case| &*case.name).collect();
    let who = match names.len() {
        1..=4 => names.join(", "),
        some => format!("{some} of {} {}", scene.cases.len(), scene.rows.nouns()[1]),
    };
    let mut words = format!("Not drained {} later: {who}.", span(limit));
    for sentence in [last_minutes(scene, &stuck, limit), locked_in(scene, &stuck)] {
        words.extend(sentence.map(|sentence| format!(" {sentence}")));
    }
    Some(words)
}

fn stuck_cases<'a, 'b>(scene: &'b Scene<'a>) -> impl Iterator<Item = &'b Case<'a>> {
    scene.cases.iter().filter(|case| matches!(case.outcome, Outcome::Never(_)))
}

/// Attempts and claims of those that are stuck, of which `limit` seconds were seen.
fn last_minutes(scene: &Scene<'_>, stuck: &[&Case<'_>], limit: f64) -> Option<String> {
    let last = LAST.min(limit / 2.0);
    let from = scene.duration() - last;
    let rate = |case: &Case<'_>, name: &str| {
        let (starts, counts) =
            (case.record.timeline.numbers("t_s"), case.record.timeline.numbers(name));
        let late = starts.iter().zip(counts).filter(|(start, _)| **start >= from);
        late.map(|(_, count)| count).sum::<f64>() / last
    };
    let all = |of: &dyn Fn(&Case<'_>) -> f64| stuck.iter().map(|case| of(case)).collect::<Vec<_>>();
    let attempts = range(&all(&|case| rate(case, "attempts").round()), count);
    let completed = |case: &Case<'_>| rate(case, "good") + rate(case, "wasted");
    if stuck.iter().any(|case| completed(case) < 1.0) {
        return None;
    }
    let wasted = all(&|case| rate(case, "wasted") / completed(case));
    let completed = range(&all(&|case| completed(case).round()), count);
    let wasted = match &*range(&wasted, percent) {
        "100 %" => "all of them".to_owned(),
        "0 %" => "none of them".to_owned(),
        share => format!("{share} of them"),
    };
    Some(format!(
        "In the last {} clients make {attempts} attempts a second; the database completes {completed} claims \
         a second, {wasted} for clients that have left.",
        span(last),
    ))
}

/// What closed forms say of those that are stuck where their retries are the cause. What a variant changes is
/// beyond them.
fn locked_in(scene: &Scene<'_>, stuck: &[&Case<'_>]) -> Option<String> {
    if scene.rows != Rows::Policies {
        return None;
    }
    let scenario = scene.scenario();
    let full = theory::throughput(scenario, scenario.pooler.pool_size);
    let window = |case: &&Case<'_>| {
        let [part] = &case.candidate?.parts[..] else { return None };
        theory::lock_in(scenario, &part.policy)
    };
    let windows: Vec<theory::LockIn> = stuck.iter().filter_map(window).collect();
    let held = |window: &theory::LockIn| window.single <= full && full < window.failing;
    if windows.len() < stuck.len() || !windows.iter().all(held) {
        return None;
    }
    let of = |rate: fn(&theory::LockIn) -> f64| {
        range(&windows.iter().map(|window| rate(window).round()).collect::<Vec<_>>(), count)
    };
    Some(format!(
        "Theory agrees: clients whose attempts all time out make {} a second with these retries, more than \
         the {} that a full pool completes; with a single attempt each they would make {}.",
        of(|window| window.failing),
        count(full.round()),
        of(|window| window.single),
    ))
}

/// `12`, or `12 – 15` where they differ as they are shown.
fn range(values: &[f64], shown: fn(f64) -> String) -> String {
    let low = shown(values.iter().copied().fold(f64::INFINITY, f64::min));
    let high = shown(values.iter().copied().fold(0.0, f64::max));
    if low == high { low } else { format!("{low} – {high}") }
}

/// `a`, `a and b`, `a, b and c`.
fn and(names: &[&str]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    }
}
