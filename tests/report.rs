//! Reports, word for word.

use std::fs;

use herdsim::metrics::{Metric, Value};
use herdsim::report::{Glyphs, Ink, Style, json, markdown, terminal};
use herdsim::results::Results;

use crate::sample;

const PLAIN: Style = Style { width: 80, ink: Ink::Plain, glyphs: Glyphs::Unicode };

fn shown(results: &Results, style: Style) -> String {
    terminal::render(results, &style)
}

/// A text that begins on a line of its own.
fn literal(text: &str) -> &str {
    text.strip_prefix('\n').unwrap()
}

/// One policy that never drains, one that mostly does, two that always do.
fn mixed() -> Results {
    sample::restarted(&[
        ("baseline", &[None; 5]),
        ("jittered", &[Some(90), Some(912), Some(912), Some(930), None]),
        ("jittered-no-retry", &[Some(31); 5]),
        ("a-name-beyond-all-limits", &[Some(31), Some(32), Some(33), Some(34), Some(35)]),
    ])
}

#[test]
fn eighty_columns_hold_the_whole_story() {
    assert_eq!(
        shown(&mixed(), PLAIN),
        literal(
            r"
sample: Everybody restarts
  11 543 clients · pool 368 · claim 170 ms exponential · max_client_conn 9 000
  5 replicates × 4 policies · seed 7 · 32m simulated · 2m warm-up
  at 2m all clients restart within 200 ms, and the database with them

It drains under 2 of 4 policies: jittered-no-retry, a-name-beyond-all-limits.
Shortest median time to drain: jittered-no-retry, 31 s. In some replicates only:
jittered (4 of 5). Not drained by the end of the run, 30m after the trigger:
baseline.

                    peak    p99                          time to        99 %
policy            active active refused ampl. wasted       drain      served
────────────────────────────────────────────────────────────────────────────
baseline             368    368  2.37 M 22.1×   99 %       > 30m       > 30m
jittered             368    368  2.37 M 22.1×   99 % 4/5 15m 12s 4/5 15m 12s
jittered-no-retry    368    368  2.37 M 22.1×   99 %        31 s        31 s
a-name-beyond-al…    368    368  2.37 M 22.1×   99 %        33 s        33 s

active backends, 0 – 32m, 368 = full
  baseline           ▁▁▁▄███████████████████████████████████████████████████████
  jittered           ▁▁▁▄███▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  jittered-no-retry  ▁▁▁▄███▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  a-name-beyond-al…  ▁▁▁▄███▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
                        ▲ 2m

time at 0 – 368 active backends, 90 % = full
  baseline                 ▁                                                   █
  jittered                 █                                                   ▁
  jittered-no-retry        █                                                   ▁
  a-name-beyond-al…        █                                                   ▁
                     0                                                       368

warning: with 5 replicates a median has no 95 % interval: use --replicates 6 or
more
warning: the run ended 30m after the trigger, before all had drained: see
whether they ever do with --set run.duration=2h8m
"
        )
    );
}

#[test]
fn wide_terminals_get_air_and_whole_names() {
    let text = shown(&mixed(), Style { width: 120, ..PLAIN });
    assert!(text.contains("\na-name-beyond-all-limits     368     368    9 000"), "{text}");
}

#[test]
fn narrow_terminals_lose_columns_but_never_the_answer() {
    assert_eq!(
        shown(&mixed(), Style { width: 48, ..PLAIN }),
        literal(
            r"
sample: Everybody restarts
  11 543 clients · pool 368
  claim 170 ms exponential
  max_client_conn 9 000
  5 replicates × 4 policies · seed 7
  32m simulated · 2m warm-up
  at 2m all clients restart within 200 ms, and
    the database with them

It drains under 2 of 4 policies:
jittered-no-retry, a-name-beyond-all-limits.
Shortest median time to drain:
jittered-no-retry, 31 s. In some replicates
only: jittered (4 of 5). Not drained by the end
of the run, 30m after the trigger: baseline.

                    peak     time to        99 %
policy            active       drain      served
────────────────────────────────────────────────
baseline             368       > 30m       > 30m
jittered             368 4/5 15m 12s 4/5 15m 12s
jittered-no-retry    368        31 s        31 s
a-name-beyond-al…    368        33 s        33 s

active backends, 0 – 32m, 368 = full
  baseline           ▁▄█████████████████████████
  jittered           ▁▄█▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  jittered-no-retry  ▁▄█▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  a-name-beyond-al…  ▁▄█▄▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
                      ▲ 2m

time at 0 – 368 active backends, 90 % = full
  baseline             ▁                       █
  jittered             █                       ▁
  jittered-no-retry    █                       ▁
  a-name-beyond-al…    █                       ▁
                     0                       368

warning: with 5 replicates a median has no 95 %
interval: use --replicates 6 or more
warning: the run ended 30m after the trigger,
before all had drained: see whether they ever do
with --set run.duration=2h8m
"
        )
    );
}

/// Wherever something moves, the difference of the committed reports shows what.
#[test]
fn the_report_of_each_width_is_as_committed() {
    let plain = |width| Style { width, ..PLAIN };
    let ascii = Style { glyphs: Glyphs::Ascii, ..plain(60) };
    for (style, committed) in
        [(plain(60), "60.txt"), (plain(120), "120.txt"), (ascii, "60-ascii.txt")]
    {
        let path = format!("{}/tests/data/report/{committed}", env!("CARGO_MANIFEST_DIR"));
        let text = shown(&mixed(), style);
        assert!(fs::read_to_string(path).unwrap() == text, "{committed} is not:\n{text}");
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in 40..=130 {
        for results in [mixed(), sample::steady(&["a", "jittered-no-retry"])] {
            let text = shown(&results, Style { width, ..PLAIN });
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.max(48), "{width} columns:\n{text}");
        }
    }
}

#[test]
fn a_wide_terminal_shows_clients_beside_backends() {
    let text = shown(&mixed(), Style { width: 120, ..PLAIN });
    let headings = text.lines().find(|line| line.starts_with("active backends")).unwrap();
    assert!(headings.contains("368 = full") && headings.contains("  clients, "), "{text}");
    assert_eq!(text.matches("▲ 2m").count(), 2, "{text}");
    assert_eq!(shown(&mixed(), PLAIN).matches("▲ 2m").count(), 1);
}

#[test]
fn ascii_is_the_same_layout_without_signs() {
    let text = shown(&mixed(), Style { glyphs: Glyphs::Ascii, ..PLAIN });
    assert!(text.is_ascii(), "{text}");
    let unicode = shown(&mixed(), PLAIN);
    for (plain, rich) in text.lines().zip(unicode.lines()) {
        assert_eq!(plain.chars().count(), rich.chars().count());
    }
    assert!(text.contains("\n  baseline           ...=@@@@"), "{text}");
    assert!(text.contains(" 22.1x "), "{text}");
}

#[test]
fn colour_adds_nothing_but_colour() {
    let coloured = shown(&mixed(), Style { ink: Ink::Colour, ..PLAIN });
    assert!(coloured.contains("\x1b[31m> 30m\x1b[0m"), "red never drains");
    assert!(coloured.contains("\x1b[32mjittered-no-retry,\x1b[0m"), "green drains");
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), shown(&mixed(), PLAIN));
}

#[test]
fn a_fleet_that_never_drains_gets_no_number() {
    let results = sample::restarted(&[("baseline", &[None; 6])]);
    let text = shown(&results, PLAIN);
    assert!(text.contains("99 %    > 30m   > 30m\n"), "{text}");
    let verdict = "\n\nThe fleet has not drained by the end of the run, 30m after the trigger.\n\n";
    assert!(
        text.contains(verdict) && text.contains("\nwarning: the run ended 30m after"),
        "{text}"
    );
    assert!(json::render(&results).contains(
        "\"time_to_drain_s\": {\n          \"unit\": \"s\",\n          \"estimate\": null,"
    ));
}

#[test]
fn a_pool_that_waits_for_logins_is_named() {
    let mut results = sample::restarted(&[("stuck", &[None; 6]), ("fine", &[Some(31); 6])]);
    for replicate in &mut results.policies[0].replicates {
        replicate[Metric::SvShort as usize] = Value::Number(1_700.0);
    }
    let named = "Short of backends most of the time, waiting for logins: stuck.";
    let words =
        |results: &Results| shown(results, PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(&results).contains(named));
    results.policies.pop();
    assert!(words(&results).contains(named), "also where no policy drains");
}

#[test]
fn six_replicates_give_the_median_an_interval() {
    let drains: Vec<Option<u64>> = (30..36).map(Some).collect();
    let text = shown(&sample::restarted(&[("a", &drains)]), PLAIN);
    let verdict = "\nThe fleet drains. Median time to drain: 33 s (95 % interval 30 s – 35 s).\n";
    assert!(text.contains(verdict) && !text.contains("warning"), "{text}");
    let few = shown(&sample::restarted(&[("a", &drains[..5])]), PLAIN);
    assert!(few.contains("\nThe fleet drains. Median time to drain: 32 s.\n"));
    assert!(few.ends_with(
        "\nwarning: with 5 replicates a median has no 95 % interval: use --replicates 6 or\nmore\n"
    ));
}

#[test]
fn without_a_trigger_it_tells_how_the_system_stands() {
    assert_eq!(
        shown(&sample::steady(&["a", "b"]), PLAIN),
        literal(
            r"
sample: Nothing happens
  11 543 clients · pool 368 · claim 170 ms exponential · max_client_conn 9 000
  1 replicate × 2 policies · seed 7 · 32m simulated · 2m warm-up

Nothing disturbs it. Active backends on average: 40.5 under every policy.
Longest wait but for 1 in 100: 2.0 ms under every policy. The pool is never
full.

          mean    peak     p99     peak                            wait    wait
policy  active  active  active  clients  refused  ampl.  wasted    mean     p99
───────────────────────────────────────────────────────────────────────────────
a         40.5     368     368    9 000   2.37 M  22.1×    99 %  0.5 ms  2.0 ms
b         40.5     368     368    9 000   2.37 M  22.1×    99 %  0.5 ms  2.0 ms

active backends, 0 – 32m, 368 = full
  a  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  b  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁

time at 0 – 2 active backends, 67 % = full
  a  ▄ █
  b  ▄ █
     0 2

a, b: mean active backends 65 in theory, 40.5 simulated
"
        )
    );
}

#[test]
fn variants_of_one_policy_are_the_rows() {
    let pause: Vec<Option<u64>> = (530..536).map(Some).collect();
    let results = sample::in_variants(&["baseline"], &[("nothing", &[None; 6]), ("pause", &pause)]);
    assert_eq!(
        shown(&results, PLAIN),
        literal(
            r"
sample: Everybody restarts
  11 543 clients · pool 368 · claim 170 ms exponential · max_client_conn 9 000
  6 replicates × 1 policy × 2 variants · seed 7 · 32m simulated · 2m warm-up
  at 2m all clients restart within 200 ms, and the database with them
  nothing: nothing else happens
  pause: at 10m the pooler lets nobody in for 60 s

It drains in 1 of 2 variants: pause. Median time to drain: 8m 53s (95 % interval
8m 50s – 8m 55s). Not drained by the end of the run, 30m after the trigger:
nothing.

           peak     p99     peak                          time to    99 %
variant  active  active  clients  refused  ampl.  wasted    drain  served
─────────────────────────────────────────────────────────────────────────
nothing     368     368    9 000   2.37 M  22.1×    99 %    > 30m   > 30m
pause       368     368    9 000   2.37 M  22.1×    99 %   8m 53s  8m 53s

active backends, 0 – 32m, 368 = full
  nothing  ▁▁▁▁▆████████████████████████████████████████████████████████████████
  pause    ▁▁▁▁▆███▆▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
               ▲ 2m             ▲ 10m

time at 0 – 368 active backends, 90 % = full
  nothing         ▁                                                            █
  pause           █                                                            ▁
           0                                                                 368

warning: the run ended 30m after the trigger, before all had drained: see
whether they ever do with --set run.duration=2h8m
"
        )
    );
    let json: serde_json::Value = serde_json::from_str(&json::render(&results)).unwrap();
    assert_eq!(json["policies"][1]["policy"], "baseline");
    assert_eq!(json["policies"][1]["variant"], "pause");
    assert!(markdown::render(&results).contains("\n| pause | 368 | 368 |"));
}

#[test]
fn variants_of_several_policies_have_both_names() {
    let variants: &[(&str, &[Option<u64>])] = &[("nothing", &[None; 6]), ("pause", &[None; 6])];
    let text = shown(&sample::in_variants(&["baseline", "jittered-no-retry"], variants), PLAIN);
    assert!(text.contains("\njittered-no-retry / nothing"), "{text}");
    assert!(text.contains("6 replicates × 2 policies × 2 variants"), "{text}");
    assert!(text.contains("\nIn no case has the fleet drained by the end of the run,"), "{text}");
}

#[test]
fn every_kind_of_disturbance_is_told_in_a_sentence() {
    let told = |happening: &str| {
        let scenario = crate::watch::written(&format!(
            "title = 'told'
             [run]
             duration = '1h'
             [fleet]
             clients = 11_543
             [pooler]
             pool_size = 368
             [database]
             claim = '170ms'
             [[disturbance]]
             at = '10m'
             {happening}
             [policy.new]
             poll = ['30s']"
        ));
        let mut results = sample::steady(&["new"]);
        results.loaded.scenario.disturbances = scenario.disturbances;
        let text = markdown::render(&results);
        text.lines().find_map(|line| line.strip_prefix("- ")).unwrap().to_owned()
    };
    for (happening, sentence) in [
        (
            "restart = { clients = 0.0318, batch = 20, every = '5m', to = 'new' }",
            "at 10m 3 % of the clients restart in batches of 20, one every 5m, to follow new",
        ),
        (
            "restart = { cohorts = [0.1, 0.4, 0.5], every = '1m', over = '5s', database = true }",
            "at 10m all clients restart in cohorts of 10 %, 40 % and 50 %, one every 60 s, each \
             within 5 s, and the database with the first of them",
        ),
        ("switch = { to = 'new', clients = 0.5 }", "at 10m 50 % of the clients switch to new"),
        (
            "change = { pool_size = 500, max_client_conn = 2_000, contention = { cores = 200 }, \
             over = '10m' }",
            "at 10m pool\\_size becomes 500, max\\_client\\_conn becomes 2 000 and contention \
             becomes 200 cores for 10m",
        ),
        ("change = { pool_size = 500 }", "at 10m pool\\_size becomes 500"),
        ("pause = { over = '1m' }", "at 10m the pooler lets nobody in for 60 s"),
        (
            "stop = { clients = 0.9, over = '10m', back_over = '30s' }",
            "at 10m 90 % of the clients stop for 10m and come back within 30 s",
        ),
        (
            "every = '10m'\nslow = { factor = 10, over = '5s' }",
            "5 times from 10m to 50m the database is 10× slower for 5 s",
        ),
        (
            "every = '30m'\noutage = { over = '5s', failure = 'hanging' }",
            "at 10m and 40m the database hangs for 5 s",
        ),
    ] {
        assert_eq!(told(happening), sentence);
    }
}

#[test]
fn markdown_is_the_same_table() {
    let results = sample::restarted(&[("base|line", &[None; 5])]);
    assert_eq!(
        markdown::render(&results),
        literal(
            r"
### sample: Everybody restarts

**The fleet has not drained by the end of the run, 30m after the trigger.**

| policy | peak active | p99 active | peak clients | refused | amplification | wasted | time to drain | 99 % served |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| base\|line | 368 | 368 | 9 000 | 2.37 M | 22.1× | 99 % | > 30m | > 30m |

11 543 clients · pool 368 · claim 170 ms exponential · max\_client\_conn 9 000 · 5 replicates × 1 policy · seed 7 · 32m simulated · 2m warm-up

- at 2m all clients restart within 200 ms, and the database with them
- warning: the run ended 30m after the trigger, before all had drained: see whether they ever do with --set run.duration=2h8m

<details><summary>The course of it</summary>

```text
active backends, 0 – 32m, 368 = full
  base|line  ▁▁▁▁▁▅█████████████████████████████████████████████████████████████████████████████████
                  ▲ 2m
```

</details>
"
        )
    );
}

#[test]
fn theory_stands_beside_and_says_what_it_assumed() {
    let mut results = sample::steady(&["a", "b"]);
    let row = results.policies[1].replicates[0].clone();
    results.policies[1].replicates = vec![row; 10];
    let text = shown(&results, PLAIN).replace("\n", " ");
    let flagged = "b: mean active backends 65 in theory, 40.5 (40.5 – 40.5) simulated: some are";
    assert!(text.contains(flagged) && text.contains(" a: mean active backends 65"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&json::render(&results)).unwrap();
    assert_eq!(json["theory"][0]["assumption"], serde_json::Value::Null);
    assert_eq!(json["theory"][1]["metric"], "sv_active_mean");
    assert!(json["theory"][1]["assumption"].as_str().unwrap().contains("turned away"));
}

#[test]
fn what_weakens_a_run_is_said_with_the_remedy() {
    let mut results = sample::steady(&["a"]);
    let row = results.policies[0].replicates[0].clone();
    let with = |mean: f64| {
        let mut row = row.clone();
        row[Metric::SvActiveMean as usize] = Value::Number(mean);
        row
    };
    results.policies[0].replicates = vec![with(10.0), with(20.0), with(30.0), with(20.0)];
    for bucket in &mut results.policies[0].timeline.buckets[60..] {
        bucket.polls += 50;
    }
    let text = shown(&results, PLAIN).replace('\n', " ");
    // 20 ± 12.99: 4 · (0.65 / 0.1)² = 168.8.
    let wide = "sv_active_mean of a is known to ± 65 % only: use --replicates 169 or --precision";
    assert!(text.contains(wide), "{text}");
    assert!(
        text.contains("the warm-up of a does not end at rest: use --set run.warm_up"),
        "{text}"
    );
}
