//! What a monitor saw of the real system, to be laid beside a simulation: a CSV file with a row for each
//! reading, `active` backends and perhaps `waiting` and `clients`, as PgBouncer's SHOW POOLS counts them.
//!
//! Without a column of times the rows are a second apart, the first at the beginning of the run. In `t_s`
//! times count in seconds from there; in `time`, Unix seconds or `2026-06-02 14:00:00`, from the first row.

use std::time::UNIX_EPOCH;

use crate::scenario::Scenario;

/// Readings in the order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// What the file is called.
    pub name: String,
    /// Its rows.
    pub readings: Vec<Reading>,
}

/// What was seen at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// When, in seconds from the beginning of the run.
    pub at: f64,
    /// Active backends.
    pub active: f64,
    /// Clients that wait for one.
    pub waiting: Option<f64>,
    /// Client connections.
    pub clients: Option<f64>,
}

/// Where a row's time comes from.
enum Clock {
    Rows,
    SinceStart(usize),
    Wall(usize),
}

impl Activity {
    /// Reads the text of the file `name`.
    ///
    /// # Errors
    ///
    /// What is wrong, and in which line.
    pub fn parse(name: &str, text: &str) -> Result<Activity, String> {
        let mut reader =
            csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| error.to_string())?.clone();
        let column = |names: [&str; 2]| header.iter().position(|head| names.contains(&head));
        let active = column(["active", "sv_active"]).ok_or("it has no column `active`")?;
        let (waiting, clients) = (column(["waiting", "cl_waiting"]), column(["clients"; 2]));
        let clock = match (column(["t_s"; 2]), column(["time"; 2])) {
            (Some(column), _) => Clock::SinceStart(column),
            (None, Some(column)) => Clock::Wall(column),
            (None, None) => Clock::Rows,
        };
        let mut readings: Vec<Reading> = Vec::new();
        let mut first = None;
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let line = record.position().map_or(0, csv::Position::line);
            let wrong = |column: usize, what: &str| {
                format!("line {line}: `{}` is no {what} for {}", &record[column], &header[column])
            };
            let number = |column: usize| {
                let number = record[column].parse().ok();
                let number = number.filter(|number| (0.0..1e12).contains(number));
                number.ok_or_else(|| wrong(column, "number"))
            };
            let at = match clock {
                Clock::Rows => readings.len() as f64,
                Clock::SinceStart(column) => number(column)?,
                Clock::Wall(column) => {
                    let time = wall(&record[column]).ok_or_else(|| wrong(column, "time"))?;
                    time - *first.get_or_insert(time)
                }
            };
            if readings.last().is_some_and(|last| at < last.at) {
                return Err(format!("line {line}: it comes before the row above"));
            }
            readings.push(Reading {
                at,
                active: number(active)?,
                waiting: waiting.map(number).transpose()?,
                clients: clients.map(number).transpose()?,
            });
        }
        if readings.is_empty() {
            return Err("it has no rows".to_owned());
        }
        Ok(Activity { name: name.to_owned(), readings })
    }

    /// The readings within the measured part of a run of `scenario`.
    pub fn within(&self, scenario: &Scenario) -> impl Iterator<Item = &Reading> {
        let window = scenario.run.warm_up.as_secs_f64()..scenario.run.duration.as_secs_f64();
        self.readings.iter().filter(move |reading| window.contains(&reading.at))
    }
}

/// A time of the wall clock in seconds.
fn wall(text: &str) -> Option<f64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return (0.0..1e12).contains(&seconds).then_some(seconds);
    }
    // As psql prints a time with its zone, which is the same all along.
    let text = text.trim_end_matches("+00");
    let time = humantime::parse_rfc3339_weak(text).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs_f64())
}
