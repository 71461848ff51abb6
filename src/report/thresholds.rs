//! Whether the scenario's thresholds hold, in words: figures stand in the unit that the scenario's
//! author wrote the limit in.

use super::numbers::{figure, grouped};
use super::rows::Rows;
use super::text::{Glyphs, Piece, Style, Tone, wrap};
use crate::metrics::{Estimate, Judgement, Undecided};
use crate::results::{Judged, Results};

/// One threshold of one policy.
pub(super) struct Row {
    /// `time_to_drain_s < 120`
    pub asked: String,
    /// The policy, variant or both.
    pub whose: String,
    /// `90 (88 – 95)`
    pub figure: String,
    /// Why it is undecided.
    pub why: Option<String>,
}

impl Row {
    pub fn of(rows: Rows, judged: &Judged<'_>) -> Row {
        Row {
            asked: judged.threshold.condition.to_string(),
            whose: rows.of_case(judged.policy, judged.variant),
            figure: measured(&judged.estimate),
            why: match judged.judgement {
                Judgement::Undecided(undecided) => Some(why(undecided)),
                Judgement::Pass | Judgement::Fail => None,
            },
        }
    }
}

/// How many hold, then a line for each; `None` where nothing is asked.
pub(super) fn lines(results: &Results, style: &Style) -> Option<String> {
    let judged = results.judged();
    if judged.is_empty() {
        return None;
    }
    let mut out = format!("thresholds: {}\n", tally(&judged));
    for judged in judged {
        let row = Row::of(Rows::of(&results.loaded.scenario), &judged);
        let mut words: Vec<Piece> = vec![mark(judged.judgement, style.glyphs)];
        let text = format!("{}: {} is {}", row.whose, row.asked.replace(' ', "\u{a0}"), row.figure);
        let why = row.why.map(|why| format!("; {why}")).unwrap_or_default();
        words.extend(format!("{text}{why}").split(' ').map(Piece::new));
        out.push_str("  ");
        out.push_str(&wrap(&words, " ", style.width.saturating_sub(2), "    ", style.ink));
    }
    Some(out.replace('\u{a0}', " "))
}

/// `3 pass, 1 fails, 2 are undecided`
pub(super) fn tally(judged: &[Judged<'_>]) -> String {
    let count = |name: &str| judged.iter().filter(|judged| judged.judgement.name() == name).count();
    let parts = [("pass", ["passes", "pass"]), ("fail", ["fails", "fail"])];
    let mut parts: Vec<String> = parts
        .into_iter()
        .map(|(name, words)| (count(name), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, [one, many])| format!("{count} {}", if count == 1 { one } else { many }))
        .collect();
    if let undecided @ 1.. = count("undecided") {
        parts.push(format!("{undecided} undecided"));
    }
    parts.join(", ")
}

/// A sign of how it came out.
pub(super) fn mark(judgement: Judgement, glyphs: Glyphs) -> Piece {
    let (sign, tone) = match judgement {
        Judgement::Pass => ("✓", Tone::Good),
        Judgement::Fail => ("✗", Tone::Bad),
        Judgement::Undecided(_) => ("?", Tone::Neutral),
    };
    match glyphs {
        Glyphs::Unicode => Piece::toned(sign, tone),
        Glyphs::Ascii => Piece::toned(judgement.name(), tone),
    }
}

/// An estimate with its interval: `90 (88 – 95)`.
pub(super) fn measured(estimate: &Estimate) -> String {
    let bound = |bound: Option<f64>| bound.map_or_else(|| "never".to_owned(), figure);
    match (estimate.estimate, estimate.low, estimate.high) {
        _ if estimate.replicates == 0 => "absent".to_owned(),
        (Some(value), None, None) => figure(value),
        (None, None, None) => "never".to_owned(),
        (value, low, high) => format!("{} ({} – {})", bound(value), bound(low), bound(high)),
    }
}

fn why(undecided: Undecided) -> String {
    match undecided {
        Undecided::Absent => "there is nothing to measure".to_owned(),
        Undecided::Replicates(replicates) => {
            format!("about {} replicates would decide", grouped(replicates))
        }
        Undecided::OnTheLimit => "it is on the limit, which no replicates decide".to_owned(),
    }
}
