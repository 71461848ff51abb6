//! What the counters of a database say of its load: how many transactions a second, and what one takes.
//!
//! Two tables are known, as `psql --csv` prints them. PgBouncer's `SHOW STATS` has a row for each
//! database: `total_*` since its start, `avg_*` over its last stats_period, times in microseconds. Its
//! transaction time is the time that a backend was lent for, which is what a claim is here. PostgreSQL's
//! `pg_stat_statements` has a row for each statement, times in milliseconds, and only totals; each
//! statement is taken for a transaction of its own. Totals are no rate unless they were read twice.

use std::collections::BTreeMap;

use super::Starter;
use crate::units::Span;

/// Transactions of a database, and the time that they took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Transactions a second; `None` where the counters cannot tell.
    pub rate: Option<f64>,
    /// What a transaction takes; `None` where none was counted.
    pub service: Option<Span>,
    /// Which columns these are from.
    pub from: String,
    /// What was there to be taken and was not, by name.
    pub ignored: Vec<String>,
}

/// The columns of a table that are read.
struct Layout {
    rows: &'static str,
    /// What tells one row from another.
    keys: &'static [&'static str],
    /// Transactions since the beginning.
    count: &'static [&'static str],
    /// Time since the beginning.
    total: &'static [&'static str],
    /// Time of one transaction on average, since the beginning.
    mean: &'static [&'static str],
    /// Transactions a second, and the time of one of them, of late.
    lately: Option<[&'static str; 2]>,
    /// Microseconds in a unit of time.
    ticks: f64,
}

const LAYOUTS: [Layout; 2] = [
    Layout {
        rows: "databases",
        keys: &["database"],
        count: &["total_xact_count"],
        total: &["total_xact_time"],
        mean: &[],
        lately: Some(["avg_xact_count", "avg_xact_time"]),
        ticks: 1.0,
    },
    Layout {
        rows: "statements",
        keys: &["userid", "dbid", "toplevel", "queryid", "query"],
        count: &["calls"],
        // Without `exec` before PostgreSQL 13.
        total: &["total_exec_time", "total_time"],
        mean: &["mean_exec_time", "mean_time"],
        lately: None,
        ticks: 1e3,
    },
];

/// The console of PgBouncer, which is no database.
const CONSOLE: &str = "pgbouncer";

/// A table as it was read.
struct Table {
    layout: &'static Layout,
    rows: BTreeMap<Vec<String>, Row>,
    ignored: Vec<String>,
}

/// Counters of a row, or of several: times in microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    count: Option<f64>,
    time: Option<f64>,
    rate: Option<f64>,
    /// Microseconds in transactions a second, of late.
    busy: Option<f64>,
}

/// The load by one table of counters.
///
/// # Errors
///
/// If it is neither table, or a cell of it is no number.
pub fn from_stats(text: &str) -> Result<Stats, String> {
    let Table { layout, rows, ignored } = table(text)?;
    let sum = sum(rows.values());
    let what = format!("{} {}", rows.len(), layout.rows);
    let lately = sum.rate.zip(sum.busy).filter(|(rate, _)| *rate > 0.0);
    let (rate, service, columns) = match (layout.lately, lately) {
        (Some(columns), Some((rate, busy))) => (Some(rate), mean(busy, rate), columns.join(", ")),
        _ => {
            let service = sum.time.zip(sum.count).and_then(|(time, count)| mean(time, count));
            (None, service, format!("{} and the time of all", layout.count[0]))
        }
    };
    Ok(Stats { rate, service, from: format!("{columns} of {what}"), ignored })
}

/// The load between two tables of counters that were read so far `apart`.
///
/// # Errors
///
/// If one of them is neither table, a cell of it is no number, or they do not follow each other.
pub fn between(first: &str, second: &str, apart: Span) -> Result<Stats, String> {
    let (first, second) = (table(first)?, table(second)?);
    let Table { layout, rows, ignored } = second;
    if first.layout.rows != layout.rows {
        return Err(format!("one is of {}, the other of {}", first.layout.rows, layout.rows));
    }
    let (before, after) = (sum(first.rows.values()), sum(rows.values()));
    let grown = |after: Option<f64>, before: Option<f64>| {
        after.zip(before).map(|(after, before)| after - before)
    };
    let count = grown(after.count, before.count)
        .ok_or_else(|| format!("one of them has no {}", layout.count[0]))?;
    let time = grown(after.time, before.time);
    if count < 0.0 || time.is_some_and(|time| time < 0.0) {
        return Err("the second counts less than the first: they are in the wrong order, or were \
                    reset in between"
            .to_owned());
    }
    let what = format!("{} of {} {}", layout.count[0], rows.len(), layout.rows);
    Ok(Stats {
        rate: Some(count / apart.as_secs_f64()).filter(|rate| *rate > 0.0),
        service: time.and_then(|time| mean(time, count)),
        from: format!("the growth of {what} in {apart}"),
        ignored,
    })
}

impl Starter {
    /// The same with the load that `file` tells of; what was said stays as it is.
    ///
    /// # Errors
    ///
    /// If so many clients cannot make so many transactions a second.
    pub fn under(mut self, stats: &Stats, file: &str) -> Result<Starter, String> {
        let Stats { rate, service, from, ignored } = stats;
        // It goes into a comment, which ends with its line.
        let file = file.replace(char::is_control, "?");
        self.ignored.extend(ignored.iter().cloned());
        match (self.service, service) {
            (None, Some(service)) => {
                self.service = Some(*service);
                self.taken.push(format!("{service} a transaction"));
                self.service_note = format!(
                    "# The mean by {file}: {from}. It was measured under the load of\n\
                     # that time: what transactions do to each other is in it already.\n"
                );
            }
            (Some(_), Some(_)) => self.ignored.push("the time of a transaction".to_owned()),
            (_, None) => self.ignored.push("a time: no transaction was counted".to_owned()),
        }
        let busy = (self.service_or_default() + super::ROUND_TRIP).as_secs_f64();
        let Some(rate) = *rate else {
            return Ok(self);
        };
        match (self.clients, self.poll) {
            (Some(_), Some(_)) => {
                self.ignored.push("the rate: --clients and --poll say it".to_owned());
                return Ok(self);
            }
            (Some(clients), None) => {
                let poll = f64::from(clients) / rate - busy;
                if poll < 1e-3 {
                    return Err(format!(
                        "{clients} clients cannot make {rate:.1} transactions a second that take {} \
                         each",
                        self.service_or_default()
                    ));
                }
                self.poll = Some(Span::from_millis((poll * 1e3).round() as u64));
            }
            (None, _) => {
                let clients = rate * (self.poll_or_default().as_secs_f64() + busy);
                self.clients = Some((clients.round() as u32).max(1));
            }
        }
        self.taken.push(format!("{} transactions a second", rounded(rate)));
        self.rate_note = format!(
            "# So many clients at this interval make the {} transactions a second of\n\
             # {file}: {from}.\n",
            rounded(rate)
        );
        Ok(self)
    }
}

/// A rate in as many digits as it takes.
fn rounded(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.2}") } else { format!("{rate:.1}") }
}

/// The time of one of `count`, to the microsecond.
fn mean(time: f64, count: f64) -> Option<Span> {
    let span = Span::from_ticks_f64(time / count);
    (count > 0.0 && span > Span::ZERO).then_some(span)
}

/// All rows together. What one of them does not have, the sum does not have either.
fn sum<'a>(rows: impl Iterator<Item = &'a Row>) -> Row {
    let add = |sum: Option<f64>, more: Option<f64>| Some(sum? + more?);
    let none = Row { count: Some(0.0), time: Some(0.0), rate: Some(0.0), busy: Some(0.0) };
    rows.fold(none, |sum, row| Row {
        count: add(sum.count, row.count),
        time: add(sum.time, row.time),
        rate: add(sum.rate, row.rate),
        busy: add(sum.busy, row.busy),
    })
}

fn table(text: &str) -> Result<Table, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| header.iter().position(|head| head == name);
    let first = |names: &[&str]| names.iter().find_map(|name| column(name));
    let known = |layout: &&Layout| {
        first(layout.count).is_some()
            || layout.lately.is_some_and(|[rate, _]| column(rate).is_some())
    };
    let layout = LAYOUTS.iter().find(known).ok_or(
        "it has neither the column total_xact_count or avg_xact_count of SHOW STATS nor calls of \
         pg_stat_statements",
    )?;
    let (count, total, mean) = (first(layout.count), first(layout.total), first(layout.mean));
    let [rate, lately] = layout.lately.map_or([None, None], |names| names.map(column));
    let keys: Vec<usize> = layout.keys.iter().filter_map(|name| column(name)).collect();
    let read = [count, total, mean.filter(|_| total.is_none()), rate, lately];
    let taken = |index: &usize| keys.contains(index) || read.contains(&Some(*index));
    let mut ignored: Vec<String> = (0..header.len())
        .filter(|index| !taken(index))
        .map(|index| header[index].to_owned())
        .collect();

    let mut rows = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |index: Option<usize>| -> Result<Option<f64>, String> {
            let Some(index) = index else { return Ok(None) };
            let cell = &record[index];
            let number = cell.parse().ok().filter(|number| (0.0..1e18).contains(number));
            let wrong = || format!("line {line}: `{cell}` is no number for {}", &header[index]);
            number.map(Some).ok_or_else(wrong)
        };
        let key: Vec<String> = keys.iter().map(|&index| record[index].to_owned()).collect();
        if layout.keys == ["database"] && key == [CONSOLE] {
            ignored.push(format!("the database {CONSOLE}"));
            continue;
        }
        let (count, total, mean) = (number(count)?, number(total)?, number(mean)?);
        let (rate, lately) = (number(rate)?, number(lately)?);
        let product = |a: Option<f64>, b: Option<f64>| Some(a? * b?);
        let row = Row {
            count,
            time: total.or(product(mean, count)).map(|time| time * layout.ticks),
            rate,
            busy: product(rate, lately),
        };
        let before = rows.remove(&key);
        rows.insert(key, before.map_or(row, |before| sum([before, row].iter())));
    }
    if rows.is_empty() {
        return Err(format!("it has no {}", layout.rows));
    }
    Ok(Table { layout, rows, ignored })
}
