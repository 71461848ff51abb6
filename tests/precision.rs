//! As many replicates as a figure takes.

use std::fs;

use crate::cli::{herdsim, stderr, stdout};

const SMALL: [&str; 6] =
    ["run", "deriver-restart", "--set", "fleet.clients=300", "--set", "pooler.pool_size=10"];

#[test]
fn replicates_are_added_until_the_interval_is_narrow_enough() {
    let place = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| herdsim(place.path(), &[&SMALL[..], more].concat());
    let asked = ["--policy", "jittered", "--seed", "5"];
    let precise = ["--precision", "served_99_s=2%", "--max-replicates", "60"];
    let output = run(&[&asked[..], &precise, &["--out", "a"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let words = stderr(&output);
    let told = words.split("served_99_s is known to ± ").nth(1).expect(&words);
    let (percent, rest) = told.split_once(" % after ").unwrap();
    assert!(percent.parse::<f64>().unwrap() <= 2.0, "{told}");
    let replicates: u32 = rest.split(' ').next().unwrap().parse().unwrap();
    assert!((10..60).contains(&replicates), "{told}");

    // The same bytes as if one had known.
    let n = replicates.to_string();
    let output = run(&[&asked[..], &["--replicates", &n, "--out", "b"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for entry in fs::read_dir(place.path().join("b")).unwrap() {
        let name = entry.unwrap().file_name();
        let read = |folder: &str| fs::read(place.path().join(folder).join(&name)).unwrap();
        assert_eq!(read("a"), read("b"), "{name:?}");
    }
    // Asked again, it is the same run; asked otherwise, it is not.
    let again = run(&[&asked[..], &precise, &["--out", "a", "-q"]].concat());
    assert_eq!((again.status.code(), stderr(&again)), (Some(0), String::new()));
    let other = run(&[&precise[..], &["--out", "a"]].concat());
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("another run"), "{}", stderr(&other));
}

#[test]
fn where_it_may_not_go_on_it_says_how_far_it_came() {
    let place = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| herdsim(place.path(), &[&SMALL[..], more].concat());
    let output = run(&["--precision", "sv_active_mean=0.01%", "--max-replicates", "12"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let words = stderr(&output);
    assert!(
        words.contains("only after 12 replicates: allow more with --max-replicates"),
        "{words}"
    );
    assert!(stdout(&output).contains("12 replicates"));
    for (wrong, words) in
        [("refused", "`refused` is no precision"), ("refuse=5%", "did you mean `refused`?")]
    {
        let output = run(&["--precision", wrong]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let output = run(&["--max-replicates", "12"]);
    assert!(stderr(&output).contains("--precision"), "{}", stderr(&output));
}
