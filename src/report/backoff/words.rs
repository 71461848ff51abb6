//! What is said about a retry rule, beside its table.

use super::{BEYOND, Shown};
use crate::policy::{ByFailure, End, Failure, SAMPLES, Stop, Surprise};
use crate::report::guards;
use crate::report::numbers::{count, percent};
use crate::report::text::Glyphs;

impl Shown {
    /// Its formula, what it leaves out, what holds it back, where it stops and how its figures were got, in
    /// lines.
    pub(super) fn facts(&self, glyphs: Glyphs) -> Vec<String> {
        let mut facts = Vec::new();
        if let Some(preset) = self.preset {
            facts.push(glyphs.formula(&preset.formula));
            facts.extend(preset.lacks.iter().map(|lacks| format!("left out: {lacks}")));
        }
        facts.extend(guards::lines(&self.guards));
        let how = self.how().map_or(String::new(), |how| format!("; {how}"));
        facts.push(format!("{}{how}", self.stops()));
        facts
    }

    /// Where it stops.
    pub(super) fn stops(&self) -> String {
        let Stop { attempts, elapsed, elapsed_with_delay, on } = self.retry.stop;
        let limits = [
            attempts.map(|attempts| match attempts {
                1 => "after 1 attempt".to_owned(),
                attempts => format!("after {attempts} attempts"),
            }),
            elapsed.map(|elapsed| format!("when an attempt fails {elapsed} after the first")),
            elapsed_with_delay.map(|elapsed| format!("before a delay beyond {elapsed}")),
        ];
        let limits = limits.into_iter().flatten().collect::<Vec<_>>().join(", or ");
        let earlier = on.map_or(String::new(), earlier);
        match self.curve.stops_at {
            _ if limits.is_empty() => format!("never stops{earlier}"),
            Some(last) if attempts != Some(last) => {
                format!("stops {limits}{earlier}: at attempt {last} at the latest")
            }
            _ => format!("stops {limits}{earlier}"),
        }
    }

    /// How the figures were got, if there are any.
    fn how(&self) -> Option<String> {
        let delays = || (1..).zip(&self.curve.delays);
        let exact: Vec<u32> =
            delays().filter(|(_, delay)| delay.exact).map(|(attempt, _)| attempt).collect();
        let samples = || format!("sampled from {} clients", count(f64::from(SAMPLES)));
        match (exact.len(), self.curve.delays.len()) {
            (_, 0) => None,
            (0, _) => Some(samples()),
            (exact, all) if exact == all => Some("exact".to_owned()),
            _ => Some(format!("exact at {}, else {}", attempts(&runs(&exact)), samples())),
        }
    }
}

/// After which failures a rule stops earlier: `, after a time-out at once`.
fn earlier(on: ByFailure<Option<u32>>) -> String {
    let mut limits: Vec<u32> = Failure::ALL.into_iter().filter_map(|class| on.of(class)).collect();
    limits.sort_unstable();
    limits.dedup();
    let classes = |limit| {
        let of_limit = Failure::ALL.into_iter().filter(|class| on.of(*class) == Some(limit));
        of_limit.map(guards::noun).collect::<Vec<_>>().join(" or ")
    };
    let words = limits.into_iter().map(|limit| match limit {
        1 => format!(", after {} at once", classes(limit)),
        _ => format!(", after {} at attempt {limit}", classes(limit)),
    });
    words.collect()
}

/// What to know about the stops in a table; nothing where none is reached.
pub(super) fn beyond(group: &[Shown]) -> String {
    let beyond =
        |rule: &Shown| (1..).zip(&rule.curve.delays).any(|(k, _)| rule.curve.is_beyond_stop(k));
    if group.iter().any(beyond) {
        format!("{BEYOND} is beyond the rule's stop: what it would do with more attempts.")
    } else if group.iter().any(|rule| rule.curve.end == Some(End::Stops)) {
        "--attempts N looks beyond a stop.".to_owned()
    } else {
        String::new()
    }
}

/// A surprise about a rule in words.
pub(super) fn sentence(surprise: &Surprise, rule: &Shown) -> String {
    let is_beyond = surprise.attempt().is_some_and(|attempt| rule.curve.is_beyond_stop(attempt));
    let beyond = if is_beyond { ", beyond its stop" } else { "" };
    match *surprise {
        Surprise::NoJitter => {
            "no jitter: clients whose attempts fail together try again together.".to_owned()
        }
        Surprise::FirstUnjittered(delay) => {
            let delay = seconds(delay);
            format!("the first retry has no jitter{beyond}: it comes after exactly {delay} s.")
        }
        Surprise::JitterVanishes { from, until, cap } => {
            let when = match until {
                None => format!("from attempt {from} on"),
                Some(until) => format!("at {}", attempts(&[(from, until)])),
            };
            let cap = seconds(cap);
            format!(
                "jitter vanishes at the cap: {when}{beyond}, 90 % of the delays or more are exactly {cap} s."
            )
        }
        Surprise::JitterHalved { from, share, cap } => {
            let (share, cap) = (percent(share), seconds(cap));
            format!(
                "from attempt {from} on{beyond}, up to {share} of the delays are exactly the cap of {cap} s."
            )
        }
        Surprise::ExceedsCap { from, longest, cap } => {
            let (longest, cap) = (seconds(longest), seconds(cap));
            format!(
                "may exceed its cap of {cap} s from attempt {from} on{beyond}: up to {longest} s."
            )
        }
        Surprise::Unbounded if rule.retry.stop == Stop::default() => {
            "unbounded: no cap ends the growth.".to_owned()
        }
        Surprise::Unbounded => "unbounded: no cap ends the growth, only its stop does.".to_owned(),
        Surprise::Raises(attempt) if is_beyond => {
            format!("overflow: at attempt {attempt}{beyond}, the code would raise.")
        }
        Surprise::Raises(attempt) => {
            format!("overflow: the code raises at attempt {attempt}, and its caller has failed.")
        }
    }
}

/// Seconds in three significant digits.
pub(super) fn seconds(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        _ if value >= 1e6 => format!("{value:.1e}"),
        _ if value >= 99.95 => format!("{value:.0}"),
        _ if value >= 9.995 => format!("{value:.1}"),
        _ if value >= 0.999_5 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The first and the last of each run of consecutive numbers.
fn runs(numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    runs
}

/// `attempt 1`, `attempts 1 to 3 and 7`.
fn attempts(runs: &[(u32, u32)]) -> String {
    let written = runs.iter().map(|&(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    });
    let noun = match runs {
        [(first, last)] if first == last => "attempt",
        _ => "attempts",
    };
    format!("{noun} {}", written.collect::<Vec<_>>().join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_names_the_failures_that_are_not_retried() {
        let on = ByFailure::all(None).with(Failure::TimedOut, Some(1));
        assert_eq!(earlier(on), ", after a time-out at once");
        let on = on.with(Failure::Dropped, Some(1)).with(Failure::Throttled, Some(3));
        let words = ", after a time-out or a cut connection at once, after throttling at attempt 3";
        assert_eq!(earlier(on), words);
        assert_eq!(earlier(ByFailure::all(None)), "");
    }

    #[test]
    fn attempts_are_named_in_runs() {
        assert_eq!(attempts(&runs(&[1])), "attempt 1");
        assert_eq!(attempts(&runs(&[1, 2, 3, 7, 9, 10])), "attempts 1 to 3 and 7 and 9 to 10");
    }

    #[test]
    fn seconds_have_three_digits() {
        let values = [0.0, 0.000_6, 0.25, 0.999_6, 9.996, 99.96, 12_345.0, 2e6];
        let written = ["0", "0.001", "0.250", "1.00", "10.0", "100", "12345", "2.0e6"];
        assert_eq!(values.map(seconds), written);
    }
}
