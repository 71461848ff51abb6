//! `empirical = { file = "claims.csv", column = "service_ms" }`: measured demands from a CSV file.
//!
//! The file is read before the rest: its values take the place of the table, as if they had been listed in
//! the scenario. A value is a duration with its unit, or a bare number where the column's name ends in one
//! (`_s`, `_ms`, `_us`). The path counts from the scenario's folder.

use std::path::Path;

use super::diagnostic::{Problems, nearest};
use super::reader::{Fields, text};
use super::tree::{Node, Value};
use crate::units::Span;

/// Reads the files that a scenario in `folder` names.
pub(super) fn read_files(node: &mut Node, folder: &Path, problems: &mut Problems) {
    match &mut node.value {
        Value::List(items) => {
            items.iter_mut().for_each(|item| read_files(item, folder, problems));
        }
        Value::Table(entries) => {
            for entry in entries {
                match &entry.node.value {
                    Value::Table(_) if entry.key == "empirical" => {
                        let read = values(&entry.node, folder, problems);
                        // One complaint is enough: what cannot be read is not missed a second time.
                        let stand_in = Value::Text(Span::ZERO.to_string());
                        entry.node.value = Value::List(read.unwrap_or_else(|| {
                            vec![Node { place: entry.node.place.clone(), value: stand_in }]
                        }));
                    }
                    _ => read_files(&mut entry.node, folder, problems),
                }
            }
        }
        _ => {}
    }
}

/// The column that a table asks for, as texts in the table's place.
fn values(node: &Node, folder: &Path, problems: &mut Problems) -> Option<Vec<Node>> {
    let mut fields = Fields::of("`empirical`", node, problems)?;
    let file = fields.required("file", "file = \"claims.csv\"", problems, text);
    let column = fields.required("column", "column = \"service_ms\"", problems, text);
    fields.finish(problems);
    let (file, column) = (file?, column?);
    let mut complain = |message: String, help: String| {
        problems.add(message, node.place.clone(), help);
    };
    let mut table = match csv::Reader::from_path(folder.join(&file)) {
        Ok(table) => table,
        Err(error) => {
            complain(
                format!("cannot read `{file}`: {error}"),
                "its path counts from the scenario's folder".into(),
            );
            return None;
        }
    };
    let header = table.headers().cloned().unwrap_or_default();
    let Some(index) = header.iter().position(|name| name == column) else {
        let known = header.iter().collect::<Vec<_>>().join(", ");
        let help = format!("{}its columns are: {known}", nearest(&column, header.iter()));
        complain(format!("`{file}` has no column `{column}`"), help);
        return None;
    };
    let mut values = Vec::new();
    for (row, record) in table.records().enumerate() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                complain(format!("`{file}` is no CSV: {error}"), "correct that row".into());
                return None;
            }
        };
        let line = record.position().map_or(row as u64 + 2, csv::Position::line);
        let written = record.get(index).unwrap_or_default().trim();
        let Some(span) = duration(written, &column) else {
            let message =
                format!("`{file}`, line {line}, column `{column}`: `{written}` is no duration");
            let help =
                "write it with its unit, as in 12ms, or name the column's unit, as in service_ms";
            complain(message, help.into());
            return None;
        };
        let value = Value::Text(format!("{}us", span.ticks()));
        values.push(Node { place: node.place.clone(), value });
    }
    if values.is_empty() {
        complain(
            format!("`{file}` has no rows"),
            "an empirical law needs at least one value".into(),
        );
        return None;
    }
    Some(values)
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
