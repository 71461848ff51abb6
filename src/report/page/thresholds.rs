//! What a scenario demands of its policies, and whether it holds.

use super::html::escaped;
use crate::metrics::Judgement;

/// A demand on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threshold {
    /// The case.
    pub case: String,
    /// What is demanded, as it is written.
    pub wording: String,
    /// Whether it holds.
    pub judgement: Judgement,
}

/// A list of them; nothing where nothing is demanded.
pub(super) fn render(thresholds: &[Threshold]) -> String {
    if thresholds.is_empty() {
        return String::new();
    }
    let item = |threshold: &Threshold| {
        let (class, sign, word) = match threshold.judgement {
            Judgement::Holds => ("good", "✓", "holds"),
            Judgement::Fails => ("bad", "✗", "fails"),
            Judgement::Undecided => ("mixed", "~", "undecided"),
        };
        let (case, wording) = (escaped(&threshold.case), escaped(&threshold.wording));
        format!("<li class=\"{class}\"><b>{sign} {word}</b> {case}: <code>{wording}</code></li>\n")
    };
    let items: String = thresholds.iter().map(item).collect();
    format!("<ul class=\"thresholds\" aria-label=\"Thresholds\">\n{items}</ul>\n")
}
