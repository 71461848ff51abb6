//! What clients do under a policy, in words: when they start and poll, how long they wait, how they try again
//! and what holds them back. Stages of a delay stand in the order in which they are applied, since the
//! order of clamp and jitter matters.

use super::guards;
use super::numbers::{count, percent, span};
use crate::policy::{Acquire, Growth, Layer, Pipeline, Policy, Retry, Spread, Stage, Stop};
use crate::scenario::{Candidate, Part, Scenario};
use crate::units::Span;

/// One thing that clients do.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Habit {
    /// What it is about, in a sentence that says in what two policies differ.
    pub about: &'static str,
    /// What they do.
    pub words: String,
}

/// What the clients of all candidates do, and what those of each do beyond that.
pub(super) fn of(scenario: &Scenario) -> (Vec<String>, Vec<Vec<String>>) {
    let all: Vec<Vec<Habit>> = scenario.policies.iter().map(of_candidate).collect();
    let common = |habit: &Habit| all.iter().all(|habits| habits.contains(habit));
    let words = |habits: &[Habit], wanted: bool| -> Vec<String> {
        let wanted = habits.iter().filter(|habit| common(habit) == wanted);
        wanted.map(|habit| habit.words.clone()).collect()
    };
    let own = all.iter().map(|habits| words(habits, false)).collect();
    (all.first().map_or_else(Vec::new, |first| words(first, true)), own)
}

/// In what two candidates differ.
pub(super) fn differences(ours: &[Habit], theirs: &[Habit]) -> Vec<&'static str> {
    let only = |habits: &[Habit], others: &[Habit]| -> Vec<&'static str> {
        let only = habits.iter().filter(|habit| !others.contains(habit));
        only.map(|habit| habit.about).collect()
    };
    let mut found = only(ours, theirs);
    found.extend(only(theirs, ours));
    found.sort_unstable();
    found.dedup();
    found
}

/// What the clients of a candidate do.
pub(super) fn of_candidate(candidate: &Candidate) -> Vec<Habit> {
    let mut habits = match &candidate.parts[..] {
        [part] => of_policy(&part.policy),
        parts => parts.iter().map(of_part).collect(),
    };
    if let Some(handling) = &candidate.handling {
        let server = format!("its server should {}", acquire(&handling.server.acquire));
        let callers = format!("their callers {}", acquire(&handling.client));
        habits.push(Habit { about: "how the server tries again", words: server });
        habits.push(Habit { about: "how callers try again", words: callers });
    }
    habits
}

fn of_part(part: &Part) -> Habit {
    let words: Vec<String> = of_policy(&part.policy).into_iter().map(|habit| habit.words).collect();
    let share = percent(part.share.as_f64());
    Habit { about: "what parts of the fleet do", words: format!("{share}: {}", words.join(", ")) }
}

fn of_policy(policy: &Policy) -> Vec<Habit> {
    let poll = format!("poll every {}", delay(&policy.poll));
    let mut habits = vec![
        Habit { about: "how clients poll", words: poll },
        Habit { about: "when clients start", words: start_up(&policy.start_up) },
    ];
    if let Some(patience) = policy.patience {
        let words = format!("wait {} at most for a backend", secs(patience));
        habits.push(Habit { about: "how long clients wait", words });
    }
    habits.push(Habit { about: "how clients try again", words: acquire(&policy.acquire) });
    habits
}

fn start_up(spread: &Spread) -> String {
    match *spread {
        Spread::Constant(Span::ZERO) => "start at once".to_owned(),
        Spread::Constant(after) => format!("start after {}", secs(after)),
        Spread::Uniform(Span::ZERO, most) => format!("start spread over {}", secs(most)),
        Spread::Uniform(least, most) => format!("start after {}", between(least, most)),
    }
}

fn acquire(acquire: &Acquire) -> String {
    match acquire {
        Acquire::Once => "try once".to_owned(),
        Acquire::Retry(rule) => retry(rule),
        Acquire::Layers(layers) => {
            let several = layers.len() > 1;
            layers.iter().map(|own| layer(own, several)).collect::<Vec<_>>().join("; ")
        }
    }
}

fn layer(layer: &Layer, several: bool) -> String {
    let rule = layer.retry.as_ref().map_or("try once".to_owned(), retry);
    let guards: String =
        layer.guards.iter().map(|guard| format!(", {}", guards::sentence(guard))).collect();
    match several {
        true => format!("{}: {rule}{guards}", layer.name),
        false => format!("{rule}{guards}"),
    }
}

fn retry(rule: &Retry) -> String {
    let Stop { attempts, elapsed, elapsed_with_delay, .. } = rule.stop;
    let limits = [
        attempts.map(|attempts| format!("{} times in all", count(f64::from(attempts)))),
        elapsed.or(elapsed_with_delay).map(|limit| format!("for {}", secs(limit))),
    ];
    let limits = limits.into_iter().flatten().collect::<Vec<_>>();
    let limits = if limits.is_empty() { "for ever".to_owned() } else { limits.join(" or ") };
    format!("try again {limits}, after {}", delay(&rule.delay))
}

/// `1 s doubling, up to 30 s, ± 50 %`.
fn delay(pipeline: &Pipeline) -> String {
    let mut words = vec![growth(pipeline)];
    words.extend(pipeline.stages().iter().map(stage));
    let mut text = words.join(", ");
    if let Some(after) = pipeline.after() {
        let retries = count(f64::from(after.retries));
        text.push_str(&format!(", after {retries} retries {}", delay(&after.then)));
    }
    text
}

fn growth(pipeline: &Pipeline) -> String {
    let growing = |factor: f64| match factor {
        1.0 => String::new(),
        2.0 => " doubling".to_owned(),
        factor => format!(" × {} each time", plain(factor)),
    };
    let (least, most) = Pipeline::new(pipeline.growth().clone(), Vec::new(), None).range(0);
    let first = if least == most { secs(least) } else { between(least, most) };
    match pipeline.growth() {
        Growth::Constant(_) | Growth::Uniform(..) => first,
        Growth::Exponential(law) => format!("{first}{}", growing(law.factor)),
        Growth::Chain { factor, .. } => format!("{first}{}", growing(*factor)),
        Growth::Linear { step, .. } => format!("{first}, {} more each time", secs(*step)),
        Growth::Table(spans) if spans.len() <= 6 => {
            spans.iter().map(|span| secs(*span)).collect::<Vec<_>>().join(", ")
        }
        _ => format!("{first}, growing"),
    }
}

fn stage(stage: &Stage) -> String {
    match stage {
        Stage::Clamp(cap) => format!("up to {}", secs(*cap)),
        Stage::AtLeast(least) => format!("at least {}", secs(*least)),
        // Binary fractions: 0.9 and 1.1 do not add up to 2.
        Stage::Scale(low, high) if (low + high - 2.0).abs() < 1e-9 && *low > 0.0 => {
            format!("± {}", percent(high - 1.0))
        }
        Stage::Scale(low, high)
        | Stage::ScalePerSequence(low, high)
        | Stage::ScalePerClient(low, high) => {
            format!("times {} – {}", plain(*low), plain(*high))
        }
        Stage::Add(low, high) => format!("plus {}", between(*low, *high)),
        Stage::Between(low) => format!("any between {} and that", secs(*low)),
        _ => "jittered".to_owned(),
    }
}

/// `0 – 30 s`, `24 – 30 s`, `100 ms – 2 s`.
fn between(least: Span, most: Span) -> String {
    let (low, high) = (secs(least), secs(most));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    match least == Span::ZERO || unit(&low) == unit(&high) {
        true => format!("{} – {high}", low.split(' ').next().unwrap_or_default()),
        false => format!("{low} – {high}"),
    }
}

fn secs(length: Span) -> String {
    span(length.as_secs_f64())
}

/// A number as it was written.
fn plain(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    fn of_text(policies: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let text = format!(
            "title = 'x'\n[run]\nduration = '1m'\n[fleet]\nclients = 2\n[pooler]\npool_size = 1\n\
             [database]\nclaim = '1ms'\n{policies}"
        );
        of(&scenario::parse("x", "x.toml", &text, &[]).unwrap().scenario)
    }

    #[test]
    fn what_all_do_is_said_once() {
        let (common, own) = of_text(
            "[policy.a]\npatience = '2s'\npoll = [{ exponential = { base = '1s', factor = 2 } }, \
             { clamp = '30s' }, { scale = [0.5, 1.5] }]\n\
             [policy.b]\nextends = 'a'\nstart_up = { uniform = ['0s', '30s'] }\n\
             [policy.b.acquire.retry]\nstop = { elapsed = '10s' }\n\
             delay = [{ constant = '1s' }, { scale = [0, 1] }, { add = ['0s', '1s'] }]",
        );
        let poll = "poll every 1 s doubling, up to 30 s, ± 50 %";
        assert_eq!(common, [poll, "wait 2 s at most for a backend"]);
        assert_eq!(own[0], ["start at once", "try once"]);
        let retry = "try again for 10 s, after 1 s, times 0 – 1, plus 0 – 1 s";
        assert_eq!(own[1], ["start spread over 30 s", retry]);
    }

    #[test]
    fn the_order_of_clamp_and_jitter_is_seen() {
        let rule = |stages: &str| {
            format!(
                "[policy.a]\npoll = ['30s']\n[policy.a.acquire.retry]\nstop = 'never'\n\
                 delay = [{{ exponential = {{ base = '1s', factor = 3 }} }}, {stages}]"
            )
        };
        let words = |stages: &str| of_text(&rule(stages)).0[2].clone();
        assert_eq!(
            words("{ scale = [0, 1] }, { clamp = '30s' }"),
            "try again for ever, after 1 s × 3 each time, times 0 – 1, up to 30 s"
        );
        assert_eq!(
            words(
                "{ clamp = '30s' }, { after = { retries = 10, then = [{ uniform = ['24s', '30s'] }] } }"
            ),
            "try again for ever, after 1 s × 3 each time, up to 30 s, after 10 retries 24 – 30 s"
        );
    }
}
