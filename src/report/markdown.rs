//! The report as Markdown, for a pull request or a page.

use super::rows::Rows;
use super::table::Column;
use super::text::Glyphs;
use super::{beside, columns, courses, differences, happenings, prose, thresholds, warnings};
use crate::results::Results;

/// Columns that a code block has room for without being scrolled, and names among them.
const COURSE_WIDTH: usize = 100;
const LONGEST_NAME: usize = 40;

/// The whole report, what a reviewer wants first at the top: heading, verdict, thresholds, table, then what was
/// played, what theory says and warnings; the course of it folded away.
pub fn render(results: &Results) -> String {
    let mut out = String::new();
    if let Some(partial) = prose::partial(results) {
        out.push_str(&format!("**{}**\n\n", escaped(&partial)));
    }
    out.push_str(&format!("### {}\n\n", escaped(&prose::title(&results.loaded.scenario))));
    let verdict: Vec<String> =
        prose::verdict(results).into_iter().map(|piece| piece.text).collect();
    out.push_str(&format!("**{}**\n\n", escaped(&verdict.join(" "))));
    let judged = results.judged();
    if !judged.is_empty() {
        push_row(
            &mut out,
            ["threshold", Rows::of(&results.loaded.scenario).heading(), "figure", "verdict"]
                .into_iter(),
        );
        push_row(&mut out, ["---", "---", "---:", "---"].into_iter());
        for judged in judged {
            let row = thresholds::Row::of(Rows::of(&results.loaded.scenario), &judged);
            let verdict = match row.why {
                Some(why) => format!("{}: {why}", judged.judgement.name()),
                None => judged.judgement.name().to_owned(),
            };
            push_row(&mut out, [&*row.asked, &*row.whose, &*row.figure, &*verdict].into_iter());
        }
        out.push('\n');
    }
    let columns = columns::columns(results, usize::MAX);
    push_table(&mut out, &columns);
    if let Some(reference) = &results.loaded.scenario.reference {
        out.push_str(&format!("\n{}\n\n", escaped(&differences::heading(reference))));
        push_table(&mut out, &differences::columns(results, usize::MAX, Glyphs::Unicode));
    }
    let facts = prose::facts(&results.loaded.scenario).concat();
    out.push_str(&format!("\n{}\n\n", escaped(&facts.join(" · "))));
    let happenings = happenings::lines(&results.loaded.scenario);
    let warnings = warnings::all(results).into_iter().map(|text| format!("warning: {text}"));
    for line in happenings.into_iter().chain(beside::lines(results)).chain(warnings) {
        out.push_str(&format!("- {}\n", escaped(&line)));
    }
    let course = courses::render(results, LONGEST_NAME, COURSE_WIDTH);
    out.push_str(&format!(
        "\n<details><summary>The course of it</summary>\n\n```text\n{}```\n\n</details>\n",
        course.replace('`', "'")
    ));
    out
}

pub(super) fn push_table(out: &mut String, columns: &[Column<'_>]) {
    push_row(out, columns.iter().map(|column| column.name));
    let alignment = columns.iter().enumerate().map(|(i, _)| if i == 0 { "---" } else { "---:" });
    push_row(out, alignment);
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        push_row(out, columns.iter().map(|column| column.cells[row].text.as_str()));
    }
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
