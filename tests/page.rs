//! The page and the pictures of a finished run: from its folder alone, well-formed, escaped, the same bytes
//! each time.

use std::fs;
use std::path::Path;

use herdsim::report::page;
use herdsim::results::{Archive, File, Results, folder};
use herdsim::scenario::{self, Loaded};
use herdsim::sweep;
use tempfile::TempDir;

/// A small herd, named as nobody would.
const NASTY: &str = r#"
title = "<script>alert(1)</script> & \"co\" ]]> {{name}}"
# </code></pre><script>alert(2)</script>
[run]
duration = "4m"
warm_up = "10s"
replicates = 2
seed = 7
[fleet]
clients = 60
transactions_per_poll = 1
round_trip = "20ms"
initial = { warm = { interval = "10s" } }
[pooler]
pool_size = 5
[database]
claim = { exponential = { mean = "100ms" } }
[[disturbance]]
at = "30s"
restart = { clients = 1.0, over = "1s" }
[policy."<b>&amp;'\"</b>"]
poll = [{ exponential = { base = "1s", factor = 2 } }, { clamp = "10s" }]
acquire = "once"
[policy.other]
extends = "<b>&amp;'\"</b>"
"#;

fn played(loaded: Loaded) -> (TempDir, Archive) {
    let policies = sweep::play(&loaded.scenario, 1, &|_| {});
    let dir = tempfile::tempdir().unwrap();
    let results = Results { loaded, policies, partial: None };
    results.write(&dir.path().join("results"), false).unwrap();
    let archive = Archive::open(&dir.path().join("results")).unwrap();
    (dir, archive)
}

fn parsed(text: &str) -> Loaded {
    scenario::parse("nasty", "nasty.toml", text, &[]).unwrap()
}

fn text(views: &[File], name: &str) -> String {
    let view = views.iter().find(|view| view.name == name).unwrap();
    String::from_utf8(view.bytes.clone()).unwrap()
}

#[test]
fn pictures_are_well_formed_and_say_what_they_are() {
    let (_dir, archive) = played(parsed(NASTY));
    let views = page::views(&archive);
    let pictures: Vec<&File> = views.iter().filter(|view| view.name.ends_with(".svg")).collect();
    assert_eq!(
        pictures.iter().map(|picture| picture.name).collect::<Vec<_>>(),
        ["timeline.svg", "concurrency.svg", "drain.svg", "clients.svg", "attempts.svg"]
    );
    for picture in pictures {
        let svg = text(&views, picture.name);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let has = |name: &str| document.root_element().children().any(|c| c.has_tag_name(name));
        assert!(has("title") && has("desc"), "{}", picture.name);
        let labels = document.descendants().filter(|node| node.text() == Some("<b>&amp;'\"</b>"));
        assert!(labels.count() >= 1, "{} names its policies as they are named", picture.name);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", picture.name);
    }
}

#[test]
fn nothing_in_a_scenario_is_markup() {
    let (_dir, archive) = played(parsed(NASTY));
    let page = text(&page::views(&archive), "report.html");
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<b>&amp;'"));
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;co&quot; ]]&gt; {{name}}")
    );
    assert!(page.contains("&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;alert(2)"), "as it is written");
    assert!(page.contains(r#""name":"\u003cb>&amp;'\"\u003c/b>""#), "a name does not end the data");
}

#[test]
fn a_page_is_complete_without_script_and_asks_for_nothing() {
    let (_dir, archive) = played(parsed(NASTY));
    let page = text(&page::views(&archive), "report.html");
    let still = &page[..page.find("<script").unwrap()];
    assert!(still.contains("The fleet drains") || still.contains("Ship "), "it has its verdict");
    assert_eq!(still.matches("<li data-case=").count(), 2, "a timeline for each policy");
    assert_eq!(still.matches("<figure>").count(), 4);
    assert!(still.contains("time_to_drain_s"), "all numbers are there");
    for outside in ["http://", "https://", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn a_threshold_is_shown_with_its_outcome() {
    let asked = "\n[thresholds]\npolls = '> 0'\nsv_active_mean = '> 1_000'\n";
    let (_dir, archive) = played(parsed(&format!("{NASTY}{asked}")));
    let page = text(&page::views(&archive), "report.html");
    assert!(page.contains("<b>✓ pass</b> other: <code>polls &gt; 0</code> is "), "{page}");
    assert!(page.contains("<b>✗ fail</b> other: <code>sv_active_mean &gt; 1000</code> is "));
}

#[test]
fn the_same_results_give_the_same_bytes_and_views_do_not_hinder_a_new_run() {
    let (dir, archive) = played(parsed(NASTY));
    let results = dir.path().join("results");
    let views = page::views(&archive);
    folder::put_views(&results, &views).unwrap();
    let again = Archive::open(&results).unwrap();
    assert_eq!(page::views(&again), views);
    let digest = archive.provenance.digest.clone();
    folder::check(&results, &digest, false).unwrap();
    fs::write(results.join("notes.txt"), "mine").unwrap();
    assert!(folder::check(&results, &digest, false).is_err(), "what is not ours stays ours not");
}

#[test]
fn a_view_that_is_no_longer_made_is_taken_away() {
    let (dir, archive) = played(parsed(NASTY));
    let results = dir.path().join("results");
    let views = page::views(&archive);
    folder::put_views(&results, &views).unwrap();
    folder::put_views(&results, &views[..1]).unwrap();
    assert!(results.join("report.html").exists());
    assert!(!results.join("timeline.svg").exists());
}

#[test]
fn a_run_at_rest_and_a_run_in_variants_have_their_pages() {
    let rest = NASTY
        .replace("[[disturbance]]\nat = \"30s\"\nrestart = { clients = 1.0, over = \"1s\" }\n", "");
    let (_dir, archive) = played(parsed(&rest));
    let views = page::views(&archive);
    assert!(text(&views, "report.html").contains("Nothing disturbs this run"));
    assert!(views.iter().all(|view| view.name != "drain.svg"));

    let varied = format!(
        "{NASTY}[variant.nothing]\ndisturbance = []\n[[variant.pause.disturbance]]\nat = \"60s\"\npause = {{ over = \"5s\" }}\n"
    );
    let mut loaded = parsed(&varied);
    loaded.scenario.select(&["other".to_owned()]).unwrap();
    let (_dir, archive) = played(loaded);
    let page = text(&page::views(&archive), "report.html");
    assert!(page.contains("In which variant does the fleet drain"));
    assert!(page.contains("herdsim run nasty.toml --policy other"));
}

#[test]
fn a_run_over_measured_files_is_understood_where_they_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = dir.path().join("nasty.toml");
    let claim = "{ empirical = { file = \"claims.csv\", column = \"service_ms\" } }";
    fs::write(&scenario, NASTY.replace("{ exponential = { mean = \"100ms\" } }", claim)).unwrap();
    fs::write(dir.path().join("claims.csv"), "service_ms\n80\n120\n").unwrap();
    let loaded = scenario::load(scenario.to_str().unwrap(), &[]).unwrap();
    fs::remove_file(dir.path().join("claims.csv")).unwrap();
    let (_results, archive) = played(loaded);
    assert_eq!(archive.loaded.source.files["claims.csv"], "service_ms\n80\n120\n");
}

#[test]
fn damaged_results_are_refused_with_their_place() {
    let (dir, _) = played(parsed(NASTY));
    let results = dir.path().join("results");
    let refused = |name: &str, change: &dyn Fn(String) -> String| {
        let path = results.join(name);
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, change(whole.clone())).unwrap();
        let error = Archive::open(&results).unwrap_err().to_string();
        fs::write(&path, whole).unwrap();
        error
    };
    let error = refused("timeline.csv", &|text| text.replacen(",0,", ",nought,", 1));
    assert!(error.contains("timeline.csv") && error.contains("line 2"), "{error}");
    let error = refused("manifest.json", &|text| text.replace("pool_size = 5", "pool_size = 6"));
    assert!(error.contains("no longer understood"), "{error}");
}

/// The budget that a reader's mail and a review tool set.
#[test]
fn the_committed_pictures_are_those_of_the_committed_results() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("results/reference/deriver-restart");
    let views = page::views(&Archive::open(&reference).unwrap());
    for view in &views {
        if view.name.ends_with(".svg") {
            let committed = fs::read(reference.join(view.name)).unwrap();
            assert!(committed == view.bytes, "{} differs", view.name);
        }
    }
    let page = views.iter().find(|view| view.name == "report.html").unwrap();
    assert!(page.bytes.len() < 1_500_000, "{} bytes", page.bytes.len());
    let still = text(&views, "report.html");
    assert!(still.contains("Ship jittered-no-retry."));
}
