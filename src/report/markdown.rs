//! The report as Markdown, for a pull request or a page.

use super::{columns, happenings, prose};
use crate::results::Results;

/// The whole report: heading, facts, table, verdict.
pub fn render(results: &Results) -> String {
    let mut out = format!("### {}\n\n", escaped(&prose::title(&results.loaded.scenario)));
    let facts = prose::facts(&results.loaded.scenario).concat();
    out.push_str(&format!("{}\n\n", escaped(&facts.join(" · "))));
    let happenings = happenings::lines(&results.loaded.scenario);
    for line in &happenings {
        out.push_str(&format!("- {}\n", escaped(line)));
    }
    if !happenings.is_empty() {
        out.push('\n');
    }
    let columns = columns::columns(results, usize::MAX);
    push_row(&mut out, columns.iter().map(|column| column.name));
    let alignment = columns.iter().enumerate().map(|(i, _)| if i == 0 { "---" } else { "---:" });
    push_row(&mut out, alignment);
    for row in 0..results.policies.len() {
        push_row(&mut out, columns.iter().map(|column| column.cells[row].text.as_str()));
    }
    let verdict: Vec<String> =
        prose::verdict(results).into_iter().map(|piece| piece.text).collect();
    out.push_str(&format!("\n{}\n", escaped(&verdict.join(" "))));
    out
}

fn push_row<'a>(out: &mut String, cells: impl Iterator<Item = &'a str>) {
    for cell in cells {
        out.push_str(&format!("| {} ", escaped(cell)));
    }
    out.push_str("|\n");
}

/// Names and titles are the user's: what would be markup in them stays text.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        if matches!(sign, '|' | '*' | '_' | '`' | '<' | '[' | '\\') {
            out.push('\\');
        }
        out.push(sign);
    }
    out
}
