//! The first screen's board: a row for each case with its timeline and what came of it, on one scale.

use std::fmt::Write as _;

use super::html::{escaped, unbroken};
use super::verdict;
use crate::report::conduct;
use crate::report::numbers::{count, span};
use crate::report::scene::{Case, Outcome, Scene};
use crate::report::svg;

/// Its markup.
pub(super) fn render(scene: &Scene<'_>) -> String {
    let full = count(scene.most_backends());
    let mut out = format!(
        "<p class=\"key\">Active claims over time, mean and range of the replicates. All on one scale, 0 to \
         {full}: a dashed line is the capacity, a dotted one marks what happens.</p>\n<ul class=\"board\" id=\"board\">\n"
    );
    let best = verdict::best(scene);
    let (_, conduct) = conduct::of(scene.scenario());
    let conduct = |case: &Case<'_>| {
        let policies = &scene.scenario().policies;
        let own = policies.iter().zip(&conduct).find(|(candidate, _)| {
            case.candidate.is_some_and(|followed| followed.name == candidate.name)
        });
        own.map_or_else(String::new, |(_, own)| own.join(" · "))
    };
    for (index, case) in scene.cases.iter().enumerate() {
        let _ = writeln!(
            out,
            "<li data-case=\"{index}\"{}><div class=\"who\"><span class=\"name\">{}</span></div>\n\
             <div class=\"strip\">{}</div>\n<p class=\"conduct\">{}</p>\n<p class=\"what\">{}{}</p></li>",
            if best.contains(&&*case.name) { " class=\"best\"" } else { "" },
            escaped(&case.name),
            svg::strip(scene, index),
            unbroken(&conduct(case)),
            badge(case),
            facts(case),
        );
    }
    out.push_str("</ul>\n");
    out.push_str(&axis(scene));
    out
}

fn facts(case: &Case<'_>) -> String {
    let facts = verdict::facts(case);
    facts.iter().map(|fact| format!("<span>{}</span> ", escaped(fact))).collect()
}

fn badge(case: &Case<'_>) -> String {
    let sign = match case.outcome {
        Outcome::Undisturbed => return String::new(),
        Outcome::Drained(_) => "✓",
        Outcome::Sometimes(..) => "~",
        Outcome::Never(_) => "✗",
    };
    let (class, words) = (case.outcome.class(), case.outcome.words());
    format!("<b class=\"{class}\">{sign} {words}</b> ")
}

/// Times below the board; the script writes them anew where it zooms.
fn axis(scene: &Scene<'_>) -> String {
    let end = scene.duration();
    let tick = |time: f64| {
        let place = 100.0 * time / end;
        format!("<span style=\"left:{place:.2}%\">{}</span>", span(time))
    };
    let ticks: String = svg::times(end, 7).into_iter().map(tick).collect();
    format!("<div class=\"axis\" aria-hidden=\"true\"><div id=\"axis\">{ticks}</div></div>\n")
}
