//! A row of panels for each case: its name before them, a note behind, one axis below each column. All
//! panels of a column have one scale, so that rows can be compared by eye.

use super::draw::{Anchor, Drawing, Point};
use super::scale::{Scale, numbers, times};
use crate::report::numbers::{count, span};
use crate::report::text::truncated;

/// Width of every picture, in units of its view box.
pub(super) const WIDTH: f64 = 840.0;

/// Height of a row that holds a course.
pub(super) const ROW: f64 = 58.0;
const GAP: f64 = 16.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 34.0;
const BETWEEN: f64 = 30.0;
const NOTE: f64 = 146.0;
/// A character of a name takes about this much.
const CHARACTER: f64 = 7.2;
const LONGEST_NAME: usize = 30;

/// What a column's axis counts.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Seconds,
    Count,
    /// From 1.
    Attempts,
}

/// What the panels of a column show.
pub(super) struct Column {
    /// What stands above it.
    pub heading: String,
    /// Along it.
    pub unit: Unit,
    /// The end of its horizontal scale, which begins at 0.
    pub x_end: f64,
    /// The end of its vertical scale.
    pub y_end: f64,
}

/// Places of panels.
pub(super) struct Grid {
    columns: Vec<Column>,
    names: Vec<String>,
    row: f64,
    left: f64,
}

/// One panel.
#[derive(Clone, Copy)]
pub(super) struct Panel {
    x: Scale,
    y: Scale,
}

impl Panel {
    pub fn at(&self, x: f64, y: f64) -> Point {
        (self.x.place(x), self.y.place(y))
    }

    /// The line of `values`, one for each of as many equal parts of the scale.
    pub fn course(&self, values: &[f64]) -> Vec<Point> {
        let step = (self.x.high - self.x.low) / values.len().max(1) as f64;
        let middle = |index: usize| self.x.low + (index as f64 + 0.5) * step;
        values.iter().enumerate().map(|(i, value)| self.at(middle(i), *value)).collect()
    }

    /// The same as a staircase.
    pub fn steps(&self, values: &[f64]) -> Vec<Point> {
        let step = (self.x.high - self.x.low) / values.len().max(1) as f64;
        let edge = |index: usize| self.x.low + index as f64 * step;
        let tread = |(i, value): (usize, &f64)| [edge(i), edge(i + 1)].map(|x| self.at(x, *value));
        values.iter().enumerate().flat_map(tread).collect()
    }

    /// Its bottom line.
    pub fn floor(&self) -> [Point; 2] {
        [self.at(self.x.low, self.y.low), self.at(self.x.high, self.y.low)]
    }

    /// A level line through all of it.
    pub fn level(&self, y: f64) -> [Point; 2] {
        [self.at(self.x.low, y), self.at(self.x.high, y)]
    }
}

impl Grid {
    /// Rows of height `row` under these names.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>, columns: Vec<Column>, row: f64) -> Grid {
        let names: Vec<String> = names.map(|name| truncated(name, LONGEST_NAME)).collect();
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        Grid { columns, names, row, left: longest as f64 * CHARACTER + 24.0 }
    }

    pub fn height(&self) -> f64 {
        TOP + self.names.len() as f64 * (self.row + GAP) + BOTTOM
    }

    pub fn panel(&self, row: usize, column: usize) -> Panel {
        let columns = self.columns.len() as f64;
        let room = WIDTH - NOTE - self.left - (columns - 1.0) * BETWEEN;
        let width = room / columns;
        let left = self.left + column as f64 * (width + BETWEEN);
        let bottom = TOP + row as f64 * (self.row + GAP) + self.row;
        let Column { x_end, y_end, .. } = self.columns[column];
        Panel {
            x: Scale { low: 0.0, high: x_end, from: left, to: left + width },
            y: Scale { low: 0.0, high: y_end, from: bottom, to: bottom - self.row },
        }
    }

    /// Headings, grids and axes; what is drawn later lies above them.
    pub fn frame(&self, drawing: &mut Drawing) {
        for (index, column) in self.columns.iter().enumerate() {
            let first = self.panel(0, index);
            let top = first.at(0.0, column.y_end);
            drawing.text((top.0, TOP - 20.0), Anchor::Start, "strong", &column.heading);
            let ticks = match column.unit {
                Unit::Seconds => times(column.x_end, if self.columns.len() > 1 { 4 } else { 8 }),
                Unit::Count => numbers(column.x_end, 4),
                Unit::Attempts => numbers(column.x_end, 12).split_off(1),
            };
            for tick in ticks {
                let last = self.panel(self.names.len().saturating_sub(1), index);
                let (x, y) = last.at(tick, 0.0);
                drawing.line(&[(x, TOP - 8.0), (x, y + 4.0)], "grid");
                let label = match column.unit {
                    Unit::Seconds => span(tick),
                    Unit::Count | Unit::Attempts => count(tick),
                };
                drawing.text((x, y + 20.0), Anchor::Middle, "soft", &label);
            }
            for row in 0..self.names.len() {
                drawing.line(&self.panel(row, index).floor(), "axis");
            }
        }
    }

    /// The name of a row and its note.
    pub fn label(&self, drawing: &mut Drawing, row: usize, note: &[&str]) {
        let middle = TOP + row as f64 * (self.row + GAP) + self.row / 2.0;
        let name = &self.names[row];
        drawing.text((self.left - 14.0, middle + 4.0), Anchor::End, "name", name);
        let first = middle + 4.0 - 8.0 * (note.len() as f64 - 1.0);
        for (index, line) in note.iter().enumerate() {
            let class = if index == 0 { "note" } else { "soft" };
            let y = first + 16.0 * index as f64;
            drawing.text((WIDTH - NOTE + 18.0, y), Anchor::Start, class, line);
        }
    }

    /// Where something happens to a case.
    pub fn marks(&self, drawing: &mut Drawing, row: usize, column: usize, marks: &[f64]) {
        let panel = self.panel(row, column);
        let top = self.columns[column].y_end;
        for &mark in marks {
            let ((x, high), (_, low)) = (panel.at(mark, top), panel.at(mark, 0.0));
            drawing.line(&[(x, high), (x, low)], "mark");
            drawing.area(&[(x - 4.0, high - 7.0), (x + 4.0, high - 7.0)], &[(x, high)], "tip");
        }
    }
}

/// `values` drawn together to at most `most`, each by `fold`.
pub(super) fn thinned(values: &[f64], most: usize, fold: fn(&[f64]) -> f64) -> Vec<f64> {
    let parts = most.min(values.len());
    let edge = |part: usize| part * values.len() / parts.max(1);
    (0..parts).map(|part| fold(&values[edge(part)..edge(part + 1)])).collect()
}

pub(in crate::report) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

pub(super) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

pub(super) fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
