//! CSV files that a scenario names: `empirical = { file = "claims.csv", column = "service_ms" }`, measured
//! demands, and `trace = "items.csv"`, arrivals of work in the columns `tenant` and `t_s`.
//!
//! They are read before the rest: what they hold takes the place of their name, as if it had been listed in
//! the scenario. A value is a duration with its unit, or a bare number where the column's name ends in one
//! (`_s`, `_ms`, `_us`). Paths count from the scenario's folder. What was read is kept, so that a finished
//! run can be understood again where its files are not.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::diagnostic::{Problems, alternatives};
use super::reader::{Fields, text};
use super::tree::{Node, Value};
use crate::units::Span;

/// Files by the names that a scenario has for them.
pub(super) struct Shelf {
    /// Where those are that have not been read yet; `None` if there are no others.
    pub folder: Option<PathBuf>,
    /// What was read.
    pub texts: BTreeMap<String, String>,
}

impl Shelf {
    fn text(&mut self, file: &str) -> io::Result<String> {
        if let Some(text) = self.texts.get(file) {
            return Ok(text.clone());
        }
        let folder = self.folder.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let text = fs::read_to_string(folder.join(file))?;
        self.texts.insert(file.to_owned(), text.clone());
        Ok(text)
    }
}

/// Reads the files that a scenario names.
pub(super) fn read_files(node: &mut Node, shelf: &mut Shelf, problems: &mut Problems) {
    match &mut node.value {
        Value::List(items) => {
            items.iter_mut().for_each(|item| read_files(item, shelf, problems));
        }
        Value::Table(entries) => {
            for entry in entries {
                match &entry.node.value {
                    Value::Text(file) if entry.key == "trace" => {
                        let read = trace(file, &entry.node, shelf, problems);
                        entry.node.value = Value::List(read.unwrap_or_default());
                    }
                    Value::Table(_) if entry.key == "empirical" => {
                        let read = values(&entry.node, shelf, problems);
                        // One complaint is enough: what cannot be read is not missed a second time.
                        let stand_in = Value::Text(Span::ZERO.to_string());
                        entry.node.value = Value::List(read.unwrap_or_else(|| {
                            vec![Node { place: entry.node.place.clone(), value: stand_in }]
                        }));
                    }
                    _ => read_files(&mut entry.node, shelf, problems),
                }
            }
        }
        _ => {}
    }
}

/// The column that a table asks for, as texts in the table's place.
fn values(node: &Node, shelf: &mut Shelf, problems: &mut Problems) -> Option<Vec<Node>> {
    let mut fields = Fields::of("`empirical`", node, problems)?;
    let file = fields.required("file", "file = \"claims.csv\"", problems, text);
    let column = fields.required("column", "column = \"service_ms\"", problems, text);
    fields.finish(problems);
    let (file, column) = (file?, column?);
    let mut values = Vec::new();
    let mut table = Rows::open(&file, [&column], node, shelf, problems)?;
    while let Some([written]) = table.next(problems)? {
        values.push(table.duration(&written, &column, problems)?);
    }
    if values.is_empty() {
        let help = "an empirical law needs at least one value";
        problems.add(format!("`{file}` has no rows"), node.place.clone(), help);
        return None;
    }
    Some(values)
}

/// Rows of (tenant, time), in the place of the file's name.
fn trace(file: &str, node: &Node, shelf: &mut Shelf, problems: &mut Problems) -> Option<Vec<Node>> {
    let mut rows = Vec::new();
    let mut table = Rows::open(file, ["tenant", "t_s"], node, shelf, problems)?;
    let mut last = Span::ZERO;
    while let Some([tenant, at]) = table.next(problems)? {
        let Ok(number) = tenant.parse::<i64>() else {
            let help = "write the tenant's number, counted from 0";
            return table.complain("tenant", &format!("`{tenant}` is no number"), help, problems);
        };
        let tenant = Node { place: node.place.clone(), value: Value::Integer(number) };
        let written = at;
        let at = table.duration(&written, "t_s", problems)?;
        let time = duration(&written, "t_s").unwrap_or_default();
        if time < last {
            let message = format!("`{written}` comes before the row above");
            return table.complain("t_s", &message, "sort the rows by time", problems);
        }
        last = time;
        rows.push(Node { place: node.place.clone(), value: Value::List(vec![tenant, at]) });
    }
    Some(rows)
}

/// The rows of a file: so many columns of it.
struct Rows<'a, const N: usize> {
    file: &'a str,
    node: &'a Node,
    indices: [usize; N],
    table: csv::StringRecordsIntoIter<io::Cursor<String>>,
    line: u64,
}

impl<'a, const N: usize> Rows<'a, N> {
    fn open(
        file: &'a str,
        columns: [&str; N],
        node: &'a Node,
        shelf: &mut Shelf,
        problems: &mut Problems,
    ) -> Option<Rows<'a, N>> {
        let mut table = match shelf.text(file) {
            Ok(text) => csv::Reader::from_reader(io::Cursor::new(text)),
            Err(error) => {
                let help = "its path counts from the scenario's folder";
                problems.add(format!("cannot read `{file}`: {error}"), node.place.clone(), help);
                return None;
            }
        };
        let header = table.headers().cloned().unwrap_or_default();
        let mut indices = [0; N];
        for (index, column) in indices.iter_mut().zip(columns) {
            let Some(found) = header.iter().position(|name| name == column) else {
                let help = alternatives(column, "its columns", header.iter());
                let message = format!("`{file}` has no column `{column}`");
                problems.add(message, node.place.clone(), help);
                return None;
            };
            *index = found;
        }
        Some(Rows { file, node, indices, table: table.into_records(), line: 1 })
    }

    /// The next row; `None` if it cannot be read, `Some(None)` at the end.
    fn next(&mut self, problems: &mut Problems) -> Option<Option<[String; N]>> {
        match self.table.next() {
            None => Some(None),
            Some(Ok(record)) => {
                self.line = record.position().map_or(self.line + 1, csv::Position::line);
                let cell = |index| record.get(index).unwrap_or_default().trim().to_owned();
                Some(Some(self.indices.map(cell)))
            }
            Some(Err(error)) => {
                let message = format!("`{}` is no CSV: {error}", self.file);
                problems.add(message, self.node.place.clone(), "correct that row");
                None
            }
        }
    }

    /// A cell as a duration in microseconds.
    fn duration(&self, written: &str, column: &str, problems: &mut Problems) -> Option<Node> {
        let Some(span) = duration(written, column) else {
            let help =
                "write it with its unit, as in 12ms, or name the column's unit, as in service_ms";
            let message = format!("`{written}` is no duration");
            return self.complain(column, &message, help, problems);
        };
        let value = Value::Text(format!("{}us", span.ticks()));
        Some(Node { place: self.node.place.clone(), value })
    }

    /// Says what is wrong with a cell of the present row.
    fn complain<T>(
        &self,
        column: &str,
        what: &str,
        help: &str,
        problems: &mut Problems,
    ) -> Option<T> {
        let message = format!("`{}`, line {}, column `{column}`: {what}", self.file, self.line);
        problems.add(message, self.node.place.clone(), help);
        None
    }
}

/// A cell with its own unit or its column's.
fn duration(written: &str, column: &str) -> Option<Span> {
    let ticks = match column.rsplit_once('_') {
        Some((_, "s")) => 1e6,
        Some((_, "ms")) => 1e3,
        Some((_, "us")) => 1.0,
        _ => return written.parse().ok(),
    };
    match written.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => {
            Some(Span::from_ticks_f64(number * ticks))
        }
        Ok(_) => None,
        Err(_) => written.parse().ok(),
    }
}
