//! Tables of a page, and the one way to put text into it.

use std::fmt::Write as _;

pub(super) use crate::report::svg::escaped;

/// A table: a row has a head and as many cells as there are columns.
pub(super) struct Table {
    /// What it holds.
    pub caption: String,
    /// What stands above the heads of rows.
    pub corner: &'static str,
    /// What stands above the cells.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A row of a table.
pub(super) struct Row {
    /// The case that it is about, by its number.
    pub case: Option<usize>,
    /// What stands before the cells.
    pub head: String,
    /// The cells.
    pub cells: Vec<String>,
}

impl Table {
    /// Its markup. What is wider than the page can be scrolled, with a keyboard too.
    pub fn render(&self) -> String {
        let caption = escaped(&self.caption);
        let mut out = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\n\
             <table>\n<caption>{caption}</caption>\n<thead><tr><th scope=\"col\">{}</th>",
            escaped(self.corner)
        );
        for column in &self.columns {
            let _ = write!(out, "<th scope=\"col\">{}</th>", escaped(column));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            let case = row.case.map_or(String::new(), |case| format!(" data-case=\"{case}\""));
            let _ = write!(out, "<tr{case}><th scope=\"row\">{}</th>", escaped(&row.head));
            for cell in &row.cells {
                let _ = write!(out, "<td>{}</td>", escaped(cell));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
        out
    }
}

/// What may be opened: a heading and what it hides. Print shows it open.
pub(super) fn details(summary: &str, content: &str) -> String {
    format!("<details><summary>{}</summary>\n{content}</details>\n", escaped(summary))
}

/// `items` as a list.
pub(super) fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: String =
        items.into_iter().map(|item| format!("<li>{}</li>\n", escaped(&item))).collect();
    format!("<ul>\n{items}</ul>\n")
}

/// Text in which no line breaks within a figure.
pub(super) fn unbroken(text: &str) -> String {
    escaped(text).replace(" %", "\u{a0}%").replace(" – ", "\u{a0}–\u{a0}")
}

/// `template` with each `{{name}}` replaced; what is put in is not looked at again.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.split("{{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").expect("a template closes what it opens");
        let value = values.iter().find(|(known, _)| *known == name);
        out.push_str(value.unwrap_or_else(|| panic!("a template asks for {name}")).1);
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        assert_eq!(fill("{{a}}-{{b}}.", &[("a", "{{b}}"), ("b", "2")]), "{{b}}-2.");
    }

    #[test]
    fn names_in_a_table_are_no_markup() {
        let row = Row { case: Some(1), head: "<b>".into(), cells: vec!["&".into()] };
        let table = Table {
            caption: "c".into(),
            corner: "policy",
            columns: vec!["x".into()],
            rows: vec![row],
        };
        let wanted = "<tr data-case=\"1\"><th scope=\"row\">&lt;b&gt;</th><td>&amp;</td></tr>";
        assert!(table.render().contains(wanted));
    }
}
