//! The edge of a key: the largest or smallest value at which a condition still holds.
//!
//! From the value in the file the search doubles or halves until it has one value at which the
//! condition holds and one at which it does not, and then halves the gap between them until that is
//! small. A value holds only if the whole interval says so; what is undecided does not. Bisection
//! finds an edge where there is one: a few values on either side are tried too, and said to agree or
//! not. The value found is then played again in random worlds that the search has not seen, since
//! the one that just passed has passed by luck too; where it misses there, the search steps back.

use crate::metrics::{Judgement, Outcome};
use crate::results::{Aim, Edge, Step};
use crate::scenario::{Condition, Scenario};

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Which value is wanted.
    pub aim: Aim,
    /// What must hold.
    pub condition: Condition,
    /// The value to begin with, above zero.
    pub start: f64,
    /// Whether only whole numbers count.
    pub whole: bool,
    /// How close the edge is to be found, as a share of it.
    pub tolerance: f64,
}

/// Doublings or halvings before the search gives up: a thousand times the start, or a thousandth.
const REACH: i32 = 10;

/// Times that the search steps back when what it found misses in fresh worlds.
const STEPS_BACK: u32 = 5;

/// Looks for the edge; `at` reads the scenario with a value of the key, in fresh random worlds or not,
/// and `play` plays it.
///
/// # Errors
///
/// If the scenario is not valid at the first value.
pub fn tune<E>(
    question: Question,
    at: impl Fn(f64, bool) -> Result<Scenario, E>,
    play: impl Fn(&Scenario) -> Outcome,
) -> Result<Edge, E> {
    let Question { aim, condition, start, whole, tolerance } = question;
    // No finer than the search tells apart.
    let round = |value: f64| {
        let step = libm::pow(10.0, libm::log10(value * tolerance / 2.0).floor());
        if whole { value.round() } else { (value / step).round() * step }
    };
    let try_at = |value: f64, fresh: bool| -> Result<Step, E> {
        let outcome = play(&at(value, fresh)?);
        let estimate = outcome.estimate(condition.metric);
        let values = outcome.values(condition.metric);
        let judgement = Judgement::of(condition.comparison, &estimate, &values);
        Ok(Step { value, estimate, judgement })
    };
    let holds = |step: &Step| step.judgement == Judgement::Pass;
    let better = |value: f64, times: f64| match aim {
        Aim::Largest => value * times,
        Aim::Smallest => value / times,
    };
    let mut steps = vec![try_at(round(start), false)?];
    let onward = holds(&steps[0]);
    let mut last = steps[0].value;
    let (mut good, mut bad) = if onward { (Some(last), None) } else { (None, Some(last)) };
    for _ in 0..REACH {
        if good.is_some() && bad.is_some() {
            break;
        }
        let next = round(better(last, if onward { 2.0 } else { 0.5 }));
        // Beyond what the scenario allows there is nothing to find.
        let Ok(step) = try_at(next, false) else { break };
        if next == last {
            break;
        }
        last = next;
        steps.push(step);
        *if holds(&step) { &mut good } else { &mut bad } = Some(next);
    }
    while let (Some(inside), Some(outside)) = (good, bad) {
        let gap = (outside - inside).abs();
        let middle = round((inside + outside) / 2.0);
        if gap <= tolerance * inside.abs().max(outside.abs())
            || middle == inside
            || middle == outside
        {
            break;
        }
        let Ok(step) = try_at(middle, false) else { break };
        steps.push(step);
        *if holds(&step) { &mut good } else { &mut bad } = Some(middle);
    }
    let Some(mut edge) = good else {
        return Ok(Edge { steps, checks: Vec::new(), found: None, beyond: bad });
    };
    // Two values well within, one well beyond.
    let mut checks = Vec::new();
    for times in [0.5, 0.75, 1.5] {
        let value = round(better(edge, times));
        if !steps.iter().any(|step| step.value == value)
            && let Ok(step) = try_at(value, false)
        {
            checks.push(step);
        }
    }
    let mut found = try_at(edge, true)?;
    for _ in 0..STEPS_BACK {
        if holds(&found) {
            break;
        }
        let back = round(better(edge, 1.0 - tolerance));
        if back == edge {
            break;
        }
        bad = Some(edge);
        edge = back;
        found = try_at(edge, true)?;
    }
    let found = holds(&found).then_some(found);
    Ok(Edge { steps, checks, found, beyond: bad })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Metric, Value};
    use crate::units::Span;
    use std::cell::Cell;

    /// Looks for the edge of a scenario whose polls are what `law` makes of the value.
    fn answer(question: Question, law: impl Fn(f64) -> f64) -> Edge {
        let scenario = crate::scenario::load("steady-state", &[]).unwrap().scenario;
        let value = Cell::new(0.0);
        let at = |tried: f64, _| {
            value.set(tried);
            Ok(scenario.clone())
        };
        let play = |_: &Scenario| {
            let polls = law(value.get());
            let row = |polls| {
                let of = |&metric: &Metric| match metric {
                    Metric::Polls => Value::Number(polls),
                    _ => Value::Absent,
                };
                Metric::ALL.iter().map(of).collect()
            };
            let replicates = vec![row(polls), row(polls), row(polls)];
            Outcome { policy: "p".into(), variant: None, replicates }
        };
        assert!(scenario.run.duration > Span::ZERO);
        tune::<()>(question, at, play).unwrap()
    }

    fn question(aim: Aim, condition: &str, start: f64, whole: bool) -> Question {
        let condition = Condition::parse(condition).unwrap();
        Question { aim, condition, start, whole, tolerance: 0.01 }
    }

    #[test]
    fn the_edge_of_a_monotone_law_is_found_from_either_side() {
        for start in [10.0, 100_000.0] {
            let found = answer(question(Aim::Largest, "polls < 5000", start, true), |x| 2.0 * x);
            let value = found.found.as_ref().unwrap().value;
            assert!((2_470.0..2_500.0).contains(&value), "{value}");
            assert!(found.beyond.unwrap() >= 2_500.0);
            assert!(found.is_monotone(Aim::Largest));
        }
        let found = answer(question(Aim::Smallest, "polls < 10", 3.0, false), |x| 100.0 / x);
        let value = found.found.unwrap().value;
        assert!((10.0..10.2).contains(&value), "{value}");
    }

    #[test]
    fn what_holds_nowhere_or_everywhere_is_said_so() {
        let nowhere = answer(question(Aim::Largest, "polls < 1", 8.0, true), |_| 5.0);
        assert!(nowhere.found.is_none());
        let everywhere = answer(question(Aim::Largest, "polls < 9", 8.0, true), |_| 5.0);
        assert_eq!(everywhere.found.unwrap().value, 8.0 * 1_024.0);
        assert_eq!(everywhere.beyond, None);
    }

    #[test]
    fn an_edge_that_is_none_is_noticed() {
        let law = |x: f64| if (40.0..60.0).contains(&x) { 100.0 } else { x };
        let found = answer(question(Aim::Largest, "polls < 90", 30.0, true), law);
        assert!(!found.is_monotone(Aim::Largest) || found.found.unwrap().value < 40.0);
    }
}
