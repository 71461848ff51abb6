//! What the results rest on, as far as the scenario decides it.

use crate::metrics::replicates_for_median_interval;
use crate::report::numbers::span;
use crate::scenario::{Contention, DeadCost, DeadWaiters, Scenario};

/// A sentence each.
pub(super) fn sentences(scenario: &Scenario) -> Vec<String> {
    let long = |length: crate::units::Span| span(length.as_secs_f64());
    let dead = match &scenario.pooler.dead_waiters {
        DeadWaiters::Dropped => "is given up at once",
        DeadWaiters::Kept(DeadCost::Free) => "is kept and costs nothing when it is reached",
        DeadWaiters::Kept(DeadCost::Login) => {
            "is kept, and costs a backend a login when it is reached"
        }
        DeadWaiters::Kept(DeadCost::Demand(_)) => {
            "is kept, and a backend works for nobody when it is reached"
        }
        DeadWaiters::ByLeave => "is kept, and costs what the way its client left makes it cost",
    };
    let database = match &scenario.database.contention {
        Contention::None => {
            "each active claim runs at full speed, however many there are".to_owned()
        }
        Contention::Cores(cores) => {
            format!("active claims share {cores} cores; beyond, more of them complete no more")
        }
        Contention::Power { knee, .. } => {
            format!("beyond {knee} active claims each further one slows all of them down")
        }
        Contention::Usl { .. } => {
            "active claims slow each other down by the universal scalability law".to_owned()
        }
        Contention::Table(_) => "active claims slow each other down as was measured".to_owned(),
    };
    let mut sentences = vec![
        format!(
            "Drained means: for {} no attempt fails and no living client waits longer than {}.",
            long(scenario.drain.hold),
            long(scenario.drain.wait)
        ),
        format!("The place of a client that has stopped waiting {dead}."),
        format!("In the database {database}."),
        format!(
            "The first {} are a warm-up and not measured; pictures over time show them.",
            long(scenario.run.warm_up)
        ),
        "Results hold for this system and these numbers, which stand in the scenario at the end of this \
         page."
            .to_owned(),
        "Every policy meets the same random worlds, so that what differs is the policies' doing."
            .to_owned(),
    ];
    let (replicates, enough) = (scenario.run.replicates, replicates_for_median_interval());
    if scenario.first_trigger().is_some() && (replicates as usize) < enough {
        sentences.push(format!(
            "With {replicates} of them a median has no 95 % interval; {enough} would give one \
             (--replicates {enough})."
        ));
    }
    sentences
}
