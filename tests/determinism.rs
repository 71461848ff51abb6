//! Same scenario, same bytes.

use crate::watch::{only, play, shipped};
use herdsim::metrics::PolicySummary;
use herdsim::scenario::Scenario;
use herdsim::sweep;

fn small() -> Scenario {
    shipped("deriver-restart", &["run.replicates=2", "run.duration=4m"])
}

#[test]
fn neither_threads_nor_repetition_change_a_result() {
    let scenario = only(small(), &["baseline", "jittered-no-retry", "botocore"]);
    let alone = sweep::play(&scenario, 1, &|_| {});
    assert_eq!(alone, sweep::play(&scenario, 2, &|_| {}));
    assert_eq!(alone, sweep::play(&scenario, 7, &|_| {}));
}

fn named(summaries: &[PolicySummary], name: &str) -> PolicySummary {
    summaries.iter().find(|summary| summary.policy == name).unwrap().clone()
}

#[test]
fn a_policy_meets_the_same_worlds_whatever_it_is_compared_with() {
    let all = play(&only(small(), &["baseline", "no-retry", "jittered"]));

    let mut reordered = only(small(), &["baseline", "no-retry", "jittered"]);
    reordered.policies.reverse();
    let reordered = play(&reordered);
    let alone = play(&only(small(), &["no-retry"]));
    let changed = shipped(
        "deriver-restart",
        &["run.replicates=2", "run.duration=4m", "policy.jittered.poll.scale=[0.1, 1.9]"],
    );
    let changed = play(&only(changed, &["no-retry", "jittered"]));

    for name in ["baseline", "no-retry", "jittered"] {
        assert_eq!(named(&all, name), named(&reordered, name), "{name}");
    }
    for other in [&alone, &changed] {
        assert_eq!(named(&all, "no-retry"), named(other, "no-retry"));
    }
    assert_ne!(named(&all, "jittered"), named(&changed, "jittered"));
}

#[test]
fn two_identical_policies_under_different_names_have_identical_rows() {
    let mut scenario = only(small(), &["jittered-no-retry"]);
    let mut twin = scenario.policies[0].clone();
    twin.name = "twin".to_owned();
    scenario.policies.push(twin);
    let summaries = play(&scenario);
    let renamed = PolicySummary { policy: "twin".to_owned(), ..summaries[0].clone() };
    assert_eq!(renamed, summaries[1]);
}

#[test]
fn a_replicate_can_be_played_alone() {
    let two = play(&only(small(), &["baseline"]));
    let mut one = only(small(), &["baseline"]);
    one.run.replicates = 1;
    assert_eq!(two[0].replicates[0], play(&one)[0].replicates[0]);
    let mut other = only(small(), &["baseline"]);
    other.run.seed += 1;
    assert_ne!(two[0].replicates, play(&other)[0].replicates);
}
