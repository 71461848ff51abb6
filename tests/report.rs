//! Reports, word for word.

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

It drains under 2 of 4 policies: jittered-no-retry, a-name-beyond-all-limits.
Shortest median time to drain: jittered-no-retry, 31 s. In some replicates only:
jittered (4 of 5). Not drained by the end of the run, 30m after the trigger:
baseline. With 5 replicates a median has no 95 % interval: use --replicates 6 or
more.
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

It drains under 2 of 4 policies:
jittered-no-retry, a-name-beyond-all-limits.
Shortest median time to drain:
jittered-no-retry, 31 s. In some replicates
only: jittered (4 of 5). Not drained by the end
of the run, 30m after the trigger: baseline.
With 5 replicates a median has no 95 % interval:
use --replicates 6 or more.
"
        )
    );
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
    assert!(
        text.ends_with("The fleet has not drained by the end of the run, 30m after the trigger.\n")
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
    assert!(
        text.ends_with(
            "The fleet drains. Median time to drain: 33 s (95 % interval 30 s – 35 s).\n"
        )
    );
    let few = shown(&sample::restarted(&[("a", &drains[..5])]), PLAIN);
    assert!(few.ends_with(
        "The fleet drains. Median time to drain: 32 s. With 5 replicates a median has no\n\
         95 % interval: use --replicates 6 or more.\n"
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

          mean    peak     p99     peak                            wait    wait
policy  active  active  active  clients  refused  ampl.  wasted    mean     p99
───────────────────────────────────────────────────────────────────────────────
a         40.5     368     368    9 000   2.37 M  22.1×    99 %  0.5 ms  2.0 ms
b         40.5     368     368    9 000   2.37 M  22.1×    99 %  0.5 ms  2.0 ms

active backends, 0 – 32m, 368 = full
  a  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁
  b  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁

Nothing disturbs it. Active backends on average: 40.5 under every policy.
Longest wait but for 1 in 100: 2.0 ms under every policy. The pool is never
full.
"
        )
    );
}

#[test]
fn markdown_is_the_same_table() {
    let results = sample::restarted(&[("base|line", &[None; 5])]);
    assert_eq!(
        markdown::render(&results),
        literal(
            r"
### sample: Everybody restarts

11 543 clients · pool 368 · claim 170 ms exponential · max\_client\_conn 9 000 · 5 replicates × 1 policy · seed 7 · 32m simulated · 2m warm-up

- at 2m all clients restart within 200 ms, and the database with them

| policy | peak active | p99 active | peak clients | refused | amplification | wasted | time to drain | 99 % served |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| base\|line | 368 | 368 | 9 000 | 2.37 M | 22.1× | 99 % | > 30m | > 30m |

The fleet has not drained by the end of the run, 30m after the trigger.
"
        )
    );
}
