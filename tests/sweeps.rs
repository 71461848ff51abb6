//! Sweeps: every combination of values, from the file or the command line.

use std::fs;

use crate::cli::{herdsim, stderr, stdout};

/// N clients that ask for a claim every 10 s.
const STEADY: &str = "
title = 'steady'
[run]
duration = '100s'
replicates = 3
[fleet]
clients = 100
initial = { warm = { interval = '10s' } }
[pooler]
pool_size = 500
[database]
claim = '100ms'
[policy.plain]
poll = ['10s', { scale = [0.5, 1.5] }]
[policy.still]
poll = ['10s']
[thresholds]
sv_active_mean = '< 2'
";

const AXES: &str = "
[sweep]
fleet.clients = [100, 300]
database.claim = { from = '50ms', to = '150ms', step = '50ms' }
'policy.plain.poll.scale.1' = '1.5..2.5:2'
";

fn run(text: &str, more: &[&str]) -> (std::process::Output, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("s.toml"), text).unwrap();
    let output = herdsim(place.path(), &[&["run", "s.toml", "-q"], more].concat());
    (output, place)
}

#[test]
fn every_combination_is_a_row_of_each_policy() {
    let (output, place) = run(&format!("{STEADY}{AXES}"), &[]);
    assert_eq!(output.status.code(), Some(1), "a threshold fails: {}", stderr(&output));
    let file = |name: &str| fs::read_to_string(place.path().join("results/s").join(name)).unwrap();
    let summary = file("summary.csv");
    let keys = "fleet.clients,database.claim,policy.plain.poll.scale.1,policy";
    assert!(summary.starts_with(&format!("{keys},metric,unit,estimate,")), "{summary}");
    let mean = |point: &str| -> f64 {
        let row = format!("{point},sv_active_mean,backends,");
        let rest = summary.lines().find_map(|line| line.strip_prefix(&row[..])).expect("a row");
        rest.split(',').next().unwrap().parse().unwrap()
    };
    for (point, expected) in [
        ("100,50ms,1.5,plain", 0.5),
        ("300,50ms,1.5,plain", 1.5),
        ("300,150ms,1.5,still", 4.43),
        // A mean sleep of 15 s.
        ("300,100ms,2.5,plain", 2.0),
    ] {
        let ratio = mean(point) / expected;
        assert!((0.9..1.1).contains(&ratio), "{point}: {ratio}");
    }
    assert_eq!(file("replicates.csv").lines().count(), 1 + 2 * 3 * 2 * 2 * 3);
    let thresholds = file("thresholds.csv");
    assert!(thresholds.starts_with(&format!("{keys},metric,comparison,")), "{thresholds}");
    assert!(
        thresholds.contains("\n100,50ms,1.5,plain,sv_active_mean,< 2,")
            && thresholds.contains("pass")
    );
    assert!(file("manifest.json").contains("\"key\": \"database.claim\""));

    let refused = herdsim(place.path(), &["compare", "results/s", "results/s"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("results/s holds a sweep"), "{}", stderr(&refused));

    let text = stdout(&output);
    assert!(text.contains("\npolicy clients    claim     1 thresholds"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("still ")).count(), 12);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn flags_take_the_place_of_the_files_values() {
    let args = ["--sweep", "fleet.clients=50..150:3", "--policy", "still", "--format", "json"];
    let (output, _place) = run(&format!("{STEADY}[sweep]\nfleet.clients = [1, 2]\n"), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let shown: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let points = shown["points"].as_array().unwrap();
    let clients: Vec<&str> =
        points.iter().map(|point| point["values"]["fleet.clients"].as_str().unwrap()).collect();
    assert_eq!(clients, ["50", "100", "150"]);
    assert_eq!(points[0]["policies"].as_array().unwrap().len(), 1);
    let (output, _place) = run(STEADY, &["--sweep", "run.seed=1,2", "--format", "markdown"]);
    assert!(stdout(&output).contains("\n| plain | 1 | ✓ |"), "{}", stdout(&output));
}

/// A herd that comes back at once or not at all: what the last axis decides is seen.
const HERD: &str = "
title = 'herd & <co>'
[run]
duration = '3m'
replicates = 6
[fleet]
clients = 100
initial = { warm = { interval = '10s' } }
[pooler]
pool_size = 5
[database]
claim = '100ms'
[[disturbance]]
at = '30s'
restart = { clients = 1.0, over = '1s' }
[policy.plain]
poll = ['10s', { scale = [0.5, 1.5] }]
[policy.'a<b>']
poll = ['10s']
";

/// The files of a sweep's folder that are views.
fn views(place: &tempfile::TempDir, picture: &str) -> (String, String) {
    let file = |name: &str| fs::read_to_string(place.path().join("results/s").join(name)).unwrap();
    (file("report.html"), file(picture))
}

/// Well-formed, named, with a line or a map for each policy and no place that is none.
fn is_a_picture(svg: &str, policies: usize) {
    let document = roxmltree::Document::parse(svg).unwrap();
    let root = document.root_element();
    assert!(["title", "desc"].iter().all(|name| root.children().any(|c| c.has_tag_name(*name))));
    assert!(document.descendants().filter(|node| node.text() == Some("a<b>")).count() >= 1);
    assert!(document.descendants().filter(|node| node.text() == Some("plain")).count() >= 1);
    assert!(!svg.contains("NaN") && !svg.contains("inf\""));
    assert_eq!(policies, 2);
}

#[test]
fn a_sweep_of_one_key_is_drawn_as_lines_and_made_again_from_its_folder() {
    let (output, place) = run(HERD, &["--sweep", "database.claim=100ms,200ms,2s"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (page, svg) = views(&place, "sweep.svg");
    is_a_picture(&svg, 2);
    assert!(svg.contains(">later<"), "what does not drain is above the rest");
    assert!(page.contains("<p class=\"answer\">Under no policy does it drain at every point.</p>"));
    assert!(page.contains("<li>plain: at 100ms, 200ms, not at 2s.</li>"), "{page}");
    assert!(page.contains("herd &amp; &lt;co&gt;") && !page.contains("<co>"));
    assert!(page.contains("herdsim run s.toml --sweep database.claim=100ms,200ms,2s"));

    let again = herdsim(place.path(), &["report", "results/s"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert_eq!(views(&place, "sweep.svg"), (page, svg));
    let (_, place) = run(HERD, &["--sweep", "database.claim=100ms", "--no-report"]);
    assert!(!place.path().join("results/s/report.html").exists());
}

#[test]
fn a_sweep_of_two_keys_is_drawn_as_a_map() {
    let keys = ["--sweep", "database.claim=100ms,2s", "--sweep", "pooler.pool_size=5,50"];
    let (_, place) = run(HERD, &keys);
    let (page, svg) = views(&place, "map.svg");
    is_a_picture(&svg, 2);
    // Two figures at four points, of each policy.
    assert_eq!(svg.matches("<rect class=\"cell ").count(), 16);
    assert!(page.contains("<li>plain: at 3 of 4 points.</li>"), "{page}");

    let map = ["map", "s.toml", keys[1], keys[3], "--svg", "map.svg", "-q"];
    let output = herdsim(place.path(), &map);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let svg = fs::read_to_string(place.path().join("map.svg")).unwrap();
    is_a_picture(&svg, 2);
    assert_eq!(svg.matches("<rect class=\"cell ").count(), 8);

    let (_, place) = run(HERD, &[&keys[..], &["--sweep", "run.seed=1,2"]].concat());
    let folder = place.path().join("results/s");
    assert!(folder.join("report.html").exists() && !folder.join("map.svg").exists());
}

#[test]
fn a_damaged_sweep_is_refused_with_its_place() {
    let (_, place) = run(HERD, &["--sweep", "database.claim=100ms,200ms"]);
    let path = place.path().join("results/s/replicates.csv");
    let whole = fs::read_to_string(&path).unwrap();
    let last = whole.trim_end().rfind('\n').unwrap();
    for damaged in
        [whole.replace("200ms,", "300ms,"), whole[..last].replace("200ms,plain,", "200ms,x,")]
    {
        fs::write(&path, damaged).unwrap();
        let refused = herdsim(place.path(), &["report", "results/s"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains("replicates.csv is damaged"), "{}", stderr(&refused));
    }
}

#[test]
fn what_cannot_be_swept_is_refused_with_the_remedy() {
    for (lines, parts) in [
        ("fleet.clients = []", ["`fleet.clients` gets no values", "{ from = "]),
        ("fleet.clients = 5", ["`fleet.clients` gets no values", "1s..5s:5"]),
        ("fleet.clients = '1..5'", ["`fleet.clients` gets no values", "1s..5s:5"]),
        ("fleet.clients = { from = 1, to = 5 }", ["step", "step = 1"]),
        ("database.claim = { from = '1s', to = 5, step = 1 }", ["gets no values", "step"]),
        ("fleet.client = [1]", ["client", "did you mean `clients`?"]),
    ] {
        let (output, place) = run(&format!("{STEADY}[sweep]\n{lines}\n"), &[]);
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{lines}: {stderr}");
        assert!(parts.iter().all(|part| stderr.contains(part)), "{lines}: {stderr}");
        assert!(!place.path().join("results").exists());
    }
    for (more, words) in [
        (&["--sweep", "run.seed=1..900:900", "--sweep", "fleet.clients=1..9:9"][..], "--force"),
        (&["--sweep", "run.seed=1..900:900", "--sweep", "fleet.clients=1..9:2"], "simulations"),
        (&["--sweep", "run.seed=1,2", "--reference", "still"], "cannot be used with"),
    ] {
        let (output, _place) = run(STEADY, more);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    let (output, _place) = run(&format!("{STEADY}{AXES}"), &["--reference", "still"]);
    assert!(stderr(&output).contains("keeps the metrics of its points alone"));
}
