//! What happens to the system, in words.

use super::numbers::{count, percent, span};
use crate::scenario::{Action, Contention, Disturbance, Failure, Scenario, Variant, Waves};
use crate::units::{Ratio, SimTime, Span};

/// A line for each disturbance, as in `at 2m all clients restart within 200 ms, and the database
/// with them`, and one for each variant.
pub(super) fn lines(scenario: &Scenario) -> Vec<String> {
    let variants = &scenario.variants;
    let own = variants.is_empty() || variants.iter().any(|variant| !variant.replace);
    let own = if own { sentences(&scenario.disturbances) } else { Vec::new() };
    let variants = variants.iter().map(|Variant { name, replace, disturbances }| {
        match (disturbances.is_empty(), replace) {
            (true, true) => format!("{name}: nothing happens"),
            (true, false) => format!("{name}: nothing else happens"),
            _ => format!("{name}: {}", sentences(disturbances).join("; ")),
        }
    });
    own.into_iter().chain(variants).collect()
}

/// A sentence for each disturbance; one that recurs has one sentence.
fn sentences(disturbances: &[Disturbance]) -> Vec<String> {
    let mut kinds: Vec<(&Action, Vec<SimTime>)> = Vec::new();
    for Disturbance { at, action } in disturbances {
        match kinds.iter_mut().find(|(known, _)| *known == action) {
            Some((_, times)) => times.push(*at),
            None => kinds.push((action, vec![*at])),
        }
    }
    kinds.iter().map(|(action, times)| format!("{} {}", when(times), what(action))).collect()
}

fn when(times: &[SimTime]) -> String {
    let shown = |time: &SimTime| span(time.as_secs_f64());
    match times {
        [one] => format!("at {}", shown(one)),
        [one, other] => format!("at {} and {}", shown(one), shown(other)),
        [first, .., last] => {
            format!("{} times from {} to {}", times.len(), shown(first), shown(last))
        }
        [] => String::new(),
    }
}

fn what(action: &Action) -> String {
    let long = |span: &Span| self::span(span.as_secs_f64());
    let number = |number: &u32| count(f64::from(*number));
    match action {
        Action::Restart { clients, over, database, waves, to } => {
            let who = who(*clients);
            let each = match *over {
                Span::ZERO => String::new(),
                ref over => format!(", each within {}", long(over)),
            };
            let mut text = match waves {
                Waves::One => format!("{who} restart within {}", long(over)),
                Waves::Batches { size, every } => {
                    let (size, every) = (number(size), long(every));
                    format!("{who} restart in batches of {size}, one every {every}{each}")
                }
                Waves::Cohorts { shares, every } => {
                    let (cohorts, every) = (cohorts(shares), long(every));
                    format!("{who} restart in {cohorts}, one every {every}{each}")
                }
            };
            if let Some(to) = to {
                text.push_str(&format!(", to follow {}", to.name));
            }
            match (database, waves) {
                (None, _) => {}
                (Some(_), Waves::One) => text.push_str(", and the database with them"),
                (Some(_), _) => text.push_str(", and the database with the first of them"),
            }
            text
        }
        Action::Burst { factor, over } => {
            format!("{}× as many requests come for {}", count(*factor), long(over))
        }
        Action::Slow { factor, over } => {
            format!("the database is {}× slower for {}", count(*factor), long(over))
        }
        Action::Outage { over, failure } => {
            let what = match failure {
                Failure::Hanging => "hangs",
                Failure::Refusing { .. } => "refuses everybody",
            };
            format!("the database {what} for {}", long(over))
        }
        Action::Change { pool_size, max_client_conn, contention, over } => {
            let changes = [
                pool_size.map(|size| format!("pool_size becomes {}", number(&size))),
                max_client_conn.map(|limit| format!("max_client_conn becomes {}", number(&limit))),
                contention.as_ref().map(|law| format!("contention becomes {}", law_of(law))),
            ];
            let mut text = and(&changes.into_iter().flatten().collect::<Vec<_>>());
            if let Some(over) = over {
                text.push_str(&format!(" for {}", long(over)));
            }
            text
        }
        Action::Pause { over } => format!("the pooler lets nobody in for {}", long(over)),
        Action::Switch { clients, to } => format!("{} switch to {}", who(*clients), to.name),
        Action::Stop { clients, over, back_over } => {
            let (who, over, back) = (who(*clients), long(over), long(back_over));
            format!("{who} stop for {over} and come back within {back}")
        }
    }
}

fn who(clients: Ratio) -> String {
    match clients {
        Ratio::ONE => "all clients".to_owned(),
        share => format!("{} of the clients", percent(share.as_f64())),
    }
}

/// `cohorts of 10 %, 40 % and 50 %` or `5 cohorts of 20 %`.
fn cohorts(shares: &[Ratio]) -> String {
    let shown: Vec<String> = shares.iter().map(|share| percent(share.as_f64())).collect();
    match shares {
        [first, others @ ..] if !others.is_empty() && others.iter().all(|share| share == first) => {
            format!("{} cohorts of {}", shares.len(), shown[0])
        }
        _ => format!("cohorts of {}", and(&shown)),
    }
}

fn law_of(contention: &Contention) -> String {
    match contention {
        Contention::None => "none".to_owned(),
        Contention::Cores(cores) => format!("{} cores", count(f64::from(*cores))),
        Contention::Power { knee, gamma } => format!("power (knee {knee}, gamma {gamma})"),
        Contention::Usl { sigma, kappa } => format!("usl (sigma {sigma}, kappa {kappa})"),
        Contention::Table(_) => "as measured".to_owned(),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn and(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}
