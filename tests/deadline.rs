//! A published study of back-offs, reproduced.

use crate::watch::{assert_near, estimate, play, shipped};
use herdsim::metrics::{Metric, PolicySummary};

/// The algorithms of `deadline_renewal.csv` and the policies that play them.
const ALGORITHMS: [(&str, &str); 10] = [
    ("botoA", "botocore-a"),
    ("botoB (true full jitter)", "botocore-b"),
    ("botoC non-throttling", "botocore-c"),
    ("no-overflow A", "no-overflow-a"),
    ("no-overflow B", "no-overflow-b"),
    ("no-overflow C", "no-overflow-c"),
    ("notebook full-jitter", "notebook-full"),
    ("equal-jitter", "equal"),
    ("decorrelated per-worker", "decorrelated"),
    ("no jitter", "no-jitter"),
];

/// What the study's own chart prints.
const PRINTED: [(&str, f64); 5] = [
    ("botocore-a", 1_171_985.0),
    ("no-overflow-a", 1_192_189.0),
    ("equal", 1_247_107.0),
    ("notebook-full", 1_276_747.0),
    ("notebook-decorrelated", 1_465_856.0),
];

#[test]
fn the_deadline_study_comes_out_and_its_ranking_depends_on_the_installed_botocore() {
    let summaries = play(&shipped("deadline-notebook", &[]));
    let of = |name: &str| -> &PolicySummary {
        summaries.iter().find(|summary| summary.policy == name).expect("a policy of the study")
    };
    let total = |name| estimate(of(name), Metric::Attempts);
    let path = format!("{}/tests/data/backoff/deadline_renewal.csv", env!("CARGO_MANIFEST_DIR"));
    let mut table = csv::Reader::from_path(path).expect("the table is there");
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), ALGORITHMS.len());
    for row in rows {
        let (_, policy) =
            ALGORITHMS.iter().find(|(name, _)| *name == &row[0]).expect("it is played");
        assert_near(total(policy), row[2].parse().unwrap(), 0.002);
    }
    for (policy, printed) in PRINTED {
        assert_near(total(policy), printed, 0.005);
    }
    // With the botocore of the study it asks least of the jittered; with a later one, most but one.
    let with = |botocore, no_overflow| {
        let others = ["equal", "notebook-full", "notebook-decorrelated"];
        let mut ranking = [&[botocore, no_overflow], &others[..]].concat();
        ranking.sort_by(|a, b| total(a).total_cmp(&total(b)));
        ranking
    };
    let (then, now) = (with("botocore-a", "no-overflow-a"), with("botocore-b", "no-overflow-b"));
    assert_eq!((then[0], then[4]), ("botocore-a", "notebook-decorrelated"));
    assert_eq!(now[4], "botocore-b");
    // No jitter asks least of all, and has the largest peak after the first minute.
    let peak = |name| {
        let buckets = &of(name).timeline.buckets[60..];
        buckets.iter().map(|bucket| bucket.attempts).max().unwrap()
    };
    for summary in summaries.iter().filter(|summary| summary.policy != "no-jitter") {
        assert!(total(&summary.policy) > total("no-jitter"), "{}", summary.policy);
        assert!(peak(&summary.policy) < peak("no-jitter"), "{}", summary.policy);
    }
}
