//! Aligned text: names to the left, numbers to the right, under a rule. No boxes.

use super::text::{Ink, Piece, padded};
use unicode_width::UnicodeWidthStr;

/// One column: two lines of heading over a cell per row.
#[derive(Clone, Debug)]
pub(super) struct Column<'a> {
    /// The heading in full, for one line.
    pub name: &'a str,
    /// The heading in two short lines, the upper one perhaps empty.
    pub heading: [&'a str; 2],
    /// Columns of lower weight go first where there is no room for all.
    pub weight: u8,
    /// The cells.
    pub cells: Vec<Piece>,
}

/// The table in at most `width` columns: closer together where it must be, then with fewer columns.
/// The first column and the weightiest are always there.
pub(super) fn render(mut columns: Vec<Column<'_>>, width: usize, ink: Ink) -> String {
    let gap = if total(&columns, 2) <= width { 2 } else { 1 };
    while total(&columns, gap) > width && columns.len() > 2 {
        let least = (1..columns.len()).min_by_key(|&index| columns[index].weight);
        columns.remove(least.expect("there are more than two"));
    }
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mut out = String::new();
    for line in 0..2 {
        let heading = |column: &Column<'_>| Piece::new(column.heading[line]);
        push_line(&mut out, &columns, gap, ink, heading);
    }
    out.push_str(&"─".repeat(total(&columns, gap)));
    out.push('\n');
    for row in 0..rows {
        push_line(&mut out, &columns, gap, ink, |column| column.cells[row].clone());
    }
    out
}

/// Whether the table has room for all columns.
pub(super) fn fits(columns: &[Column<'_>], width: usize) -> bool {
    total(columns, 1) <= width
}

fn push_line(
    out: &mut String,
    columns: &[Column<'_>],
    gap: usize,
    ink: Ink,
    cell: impl Fn(&Column<'_>) -> Piece,
) {
    let mut line = String::new();
    for (index, column) in columns.iter().enumerate() {
        let cell = cell(column);
        if index == 0 {
            line.push_str(&padded(&cell.text, column.width()));
        } else {
            let missing = gap + column.width() - cell.width();
            line.push_str(&" ".repeat(missing));
            line.push_str(&cell.painted(ink));
        }
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

fn total(columns: &[Column<'_>], gap: usize) -> usize {
    let widths: usize = columns.iter().map(Column::width).sum();
    widths + gap * columns.len().saturating_sub(1)
}

impl Column<'_> {
    fn width(&self) -> usize {
        let heading = self.heading.iter().map(|line| line.width());
        heading.chain(self.cells.iter().map(Piece::width)).max().unwrap_or(0)
    }
}
