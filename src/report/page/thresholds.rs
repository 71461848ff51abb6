//! What the scenario asks of its results, and whether it holds.

use super::html::escaped;
use crate::metrics::Judgement;
use crate::report::scene::Scene;
use crate::report::thresholds::Row;

/// A list of all thresholds; nothing where nothing is asked.
pub(super) fn render(scene: &Scene<'_>) -> String {
    let judged = scene.archive.judged();
    if judged.is_empty() {
        return String::new();
    }
    let item = |judged| {
        let Row { asked, whose, figure, why } = Row::of(scene.rows, judged);
        let (class, sign) = match judged.judgement {
            Judgement::Pass => ("good", "✓"),
            Judgement::Fail => ("bad", "✗"),
            Judgement::Undecided(_) => ("mixed", "?"),
        };
        let why = why.map(|why| format!("; {why}")).unwrap_or_default();
        format!(
            "<li class=\"{class}\"><b>{sign} {}</b> {}: <code>{}</code> is {}{}</li>\n",
            judged.judgement.name(),
            escaped(&whose),
            escaped(&asked),
            escaped(&figure),
            escaped(&why),
        )
    };
    let items: String = judged.iter().map(item).collect();
    format!("<ul class=\"thresholds\" aria-label=\"Thresholds\">\n{items}</ul>\n")
}
