//! Finished results, read back from their folder.
//!
//! What is needed to compare runs: the manifest, and every replicate's values. Nothing in a folder is
//! trusted: what is damaged is refused with its place, and nothing panics. An empty field of
//! `replicates.csv` is a time that had not come by the end where the row had a trigger, which its
//! `drained_share` tells; else it is a figure that does not exist.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::manifest::{NAME, TOOL, VERSION};
use crate::metrics::{Kind, Metric, Value};
use crate::units::Span;

/// The table that is read.
pub(super) const REPLICATES: &str = "replicates.csv";

/// Why a folder's results cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no manifest.
    #[error("{} holds no finished results of herdsim: it has no {NAME}", .0.display())]
    Unfinished(PathBuf),
    /// The system refused.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// What.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another program wrote the manifest.
    #[error("{} holds the results of another tool, {tool:?}", dir.display())]
    OtherTool {
        /// The folder.
        dir: PathBuf,
        /// Whose they say they are.
        tool: String,
    },
    /// They are those of an interrupted run.
    #[error("{} holds the partial results of an interrupted run: {done} of {planned} units", dir.display())]
    Partial {
        /// The folder.
        dir: PathBuf,
        /// Units done.
        done: u64,
        /// Units of the whole run.
        planned: u64,
    },
    /// They are those of a sweep.
    #[error("{} holds a sweep, not the results of one run", .0.display())]
    Swept(PathBuf),
    /// A later version wrote the manifest.
    #[error("{} was written by herdsim {version}, which is newer than this one, {VERSION}", dir.display())]
    Newer {
        /// The folder.
        dir: PathBuf,
        /// By which.
        version: String,
    },
    /// A file is not as `herdsim run` writes it.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// Where and how.
        what: String,
    },
}

impl ReadError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            ReadError::Unfinished(_) => {
                "name a folder that `herdsim run` has written, such as results/<scenario>"
            }
            ReadError::Io { .. } => "see that the file is there and may be read",
            ReadError::OtherTool { .. } => "name a folder that `herdsim run` has written",
            ReadError::Partial { .. } => {
                "finish it: the same `herdsim run` goes on from where it was interrupted"
            }
            ReadError::Swept(_) => {
                "read its tables, or run the scenario at one of its points with --set"
            }
            ReadError::Newer { .. } => {
                "compare with that version, or run the scenario with this one"
            }
            ReadError::Damaged { .. } => {
                "run the scenario again: the same run gives the same bytes"
            }
        }
    }
}

/// The policy of a row, and its variant where the scenario has variants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    /// The policy's name.
    pub policy: String,
    /// The variant's name.
    pub variant: Option<String>,
}

/// One replicate: a value per metric in the order of [`Metric::ALL`]; `None` where the folder does not
/// know the metric.
pub type Row = Vec<Option<Value>>;

/// Finished results.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The folder, as the user named it.
    pub dir: PathBuf,
    /// The version that ran.
    pub version: String,
    /// The scenario's name.
    pub scenario: String,
    /// The digest of the run.
    pub digest: String,
    /// Where the random worlds come from.
    pub seed: u64,
    /// The whole of the simulated time.
    pub duration: Span,
    /// The part of it that is not measured.
    pub warm_up: Span,
    /// The scenario as understood.
    pub effective: serde_json::Value,
    /// The policies, or policies in variants, in the order they were played.
    pub order: Vec<Case>,
    /// The replicates of each by their number.
    pub cases: BTreeMap<Case, BTreeMap<u32, Row>>,
}

#[derive(Deserialize)]
struct Manifest {
    scenario: String,
    digest: String,
    seed: u64,
    units: Vec<Unit>,
    effective: serde_json::Value,
}

#[derive(Deserialize)]
struct Unit {
    policy: String,
    variant: Option<String>,
    replicate: u32,
}

/// The manifest of whole results, of a run or a sweep.
pub(super) struct Whole {
    path: PathBuf,
    /// The version that wrote it.
    pub version: String,
    /// All that it holds.
    pub json: serde_json::Value,
}

impl Whole {
    pub fn damaged(&self, what: String) -> ReadError {
        ReadError::Damaged { path: self.path.clone(), what }
    }

    /// What it holds, as far as a reader wants it.
    pub fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, ReadError> {
        T::deserialize(&self.json).map_err(|error| self.damaged(error.to_string()))
    }
}

/// Reads the manifest in `dir`, if it is of whole results that this version understands.
pub(super) fn manifest(dir: &Path) -> Result<Whole, ReadError> {
    let path = dir.join(NAME);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        // Where `dir` is a file, the system says so in its own words on each platform.
        Err(error) if error.kind() == io::ErrorKind::NotFound || dir.is_file() => {
            return Err(ReadError::Unfinished(dir.to_owned()));
        }
        Err(source) => return Err(ReadError::Io { path, source }),
    };
    let damaged = |what: String| ReadError::Damaged { path: path.clone(), what };
    let json: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    let text = |key: &str| json.get(key).and_then(serde_json::Value::as_str);
    match text("tool") {
        Some(TOOL) => {}
        Some(tool) => {
            return Err(ReadError::OtherTool { dir: dir.to_owned(), tool: tool.to_owned() });
        }
        None => return Err(damaged("it does not say which tool wrote it".to_owned())),
    }
    let version = text("version").unwrap_or_default().to_owned();
    match (numbers_of(&version), numbers_of(VERSION)) {
        (None, _) => return Err(damaged(format!("{version:?} is no version"))),
        (theirs, ours) if theirs > ours => {
            return Err(ReadError::Newer { dir: dir.to_owned(), version });
        }
        _ => {}
    }
    if json.get("partial").is_some_and(|partial| partial == true) {
        let units = |key: &str| json.get(key).and_then(serde_json::Value::as_u64);
        let (done, planned) = (units("units_done"), units("units_planned"));
        let (done, planned) = (done.unwrap_or_default(), planned.unwrap_or_default());
        return Err(ReadError::Partial { dir: dir.to_owned(), done, planned });
    }
    Ok(Whole { path, version, json })
}

/// Reads the results in `dir`.
///
/// # Errors
///
/// If there are none, or they are not as this version or an earlier one writes them.
pub fn read(dir: &Path) -> Result<Finished, ReadError> {
    finished(dir, &manifest(dir)?)
}

/// Reads the rest of a run's results.
pub(super) fn finished(dir: &Path, whole: &Whole) -> Result<Finished, ReadError> {
    if whole.json.pointer("/effective/sweep").is_some() {
        return Err(ReadError::Swept(dir.to_owned()));
    }
    let manifest: Manifest = whole.parse()?;
    let span = |key: &str| {
        let span = manifest.effective.pointer(&format!("/run/{key}"));
        let span = span.and_then(serde_json::Value::as_str).and_then(|text| text.parse().ok());
        span.ok_or_else(|| whole.damaged(format!("effective.run.{key} is no duration")))
    };
    let (duration, warm_up) = (span("duration")?, span("warm_up")?);
    let names = manifest.units.iter().flat_map(|unit| [Some(&unit.policy), unit.variant.as_ref()]);
    let mut names = names.flatten().chain([&manifest.scenario]).cloned();
    let unfit = |name: &String| name.is_empty() || name.chars().any(char::is_control);
    let unfit = names.find(unfit);
    drop(names);
    if let Some(name) = unfit {
        return Err(whole.damaged(format!("{name:?} is no name")));
    }
    let (order, cases) = read_replicates(&dir.join(REPLICATES), manifest.units)?;
    Ok(Finished {
        dir: dir.to_owned(),
        version: whole.version.clone(),
        scenario: manifest.scenario,
        digest: manifest.digest,
        seed: manifest.seed,
        duration,
        warm_up,
        effective: manifest.effective,
        order,
        cases,
    })
}

/// Major, minor and patch of a version.
fn numbers_of(version: &str) -> Option<[u64; 3]> {
    let core = version.split(['-', '+']).next()?;
    let parts: Option<Vec<u64>> = core.split('.').map(|part| part.parse().ok()).collect();
    parts?.try_into().ok()
}

/// A row of `replicates.csv`.
pub(super) struct Replicate {
    line: u64,
    /// The values of the columns asked for.
    pub keys: Vec<String>,
    /// Whose it is.
    pub case: Case,
    /// Which replicate of it.
    number: u32,
    /// Its values.
    pub values: Row,
}

/// All rows, with the values of the columns `keys`.
pub(super) fn rows(path: &Path, keys: &[&str]) -> Result<Vec<Replicate>, ReadError> {
    let bytes = fs::read(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    let damaged = |what: String| ReadError::Damaged { path: path.to_owned(), what };
    let wrong = |error: csv::Error| damaged(error.to_string());
    let mut reader = csv::Reader::from_reader(&*bytes);
    let header = reader.headers().map_err(wrong)?.clone();
    let column = |name: &str| header.iter().position(|head| head == name);
    let required =
        |name: &str| column(name).ok_or_else(|| damaged(format!("it has no column {name}")));
    let (policy, replicate) = (required("policy")?, required("replicate")?);
    let drained = required(Metric::DrainedShare.name())?;
    let variant = column("variant");
    let keys = keys.iter().map(|key| required(key)).collect::<Result<Vec<usize>, _>>()?;
    let metrics: Vec<Option<usize>> =
        Metric::ALL.iter().map(|metric| column(metric.name())).collect();

    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        let line = record.position().map_or(0, csv::Position::line);
        let field = |column: usize| record.get(column).unwrap_or_default();
        let at = |what: String| damaged(format!("line {line}: {what}"));
        let case = Case {
            policy: field(policy).to_owned(),
            variant: variant.map(|column| field(column).to_owned()),
        };
        let number = field(replicate);
        let number: u32 =
            number.parse().map_err(|_| at(format!("{number:?} is no replicate's number")))?;
        let triggered = !field(drained).is_empty();
        let mut values = Row::new();
        for (metric, column) in Metric::ALL.iter().zip(&metrics) {
            let value = match column.map(field) {
                None => None,
                Some("") if metric.kind() == Kind::Time && triggered => Some(Value::Censored),
                Some("") => Some(Value::Absent),
                Some(text) => Some(
                    number_in(*metric, text)
                        .ok_or_else(|| at(format!("{metric} cannot be {text:?}")))?,
                ),
            };
            values.push(value);
        }
        let keys = keys.iter().map(|&column| field(column).to_owned()).collect();
        rows.push(Replicate { line, keys, case, number, values });
    }
    Ok(rows)
}

type Cases = (Vec<Case>, BTreeMap<Case, BTreeMap<u32, Row>>);

/// Reads the values of exactly the `units` of the manifest.
fn read_replicates(path: &Path, units: Vec<Unit>) -> Result<Cases, ReadError> {
    let damaged = |what: String| ReadError::Damaged { path: path.to_owned(), what };
    let (mut order, mut cases) = (Vec::new(), BTreeMap::<Case, BTreeMap<u32, Row>>::new());
    for Replicate { line, case, number, values, .. } in rows(path, &[])? {
        if !cases.contains_key(&case) {
            order.push(case.clone());
        }
        if cases.entry(case).or_default().insert(number, values).is_some() {
            return Err(damaged(format!("line {line}: the replicate is there twice")));
        }
    }
    let mut expected = 0;
    for Unit { policy, variant, replicate } in units {
        expected += 1;
        let case = Case { policy, variant };
        if !cases.get(&case).is_some_and(|rows| rows.contains_key(&replicate)) {
            let what = format!("replicate {replicate} of {case} is in {NAME} and not here");
            return Err(damaged(what));
        }
    }
    if cases.values().map(BTreeMap::len).sum::<usize>() != expected {
        return Err(damaged(format!("it has replicates that {NAME} does not have")));
    }
    Ok((order, cases))
}

/// A value as `herdsim run` writes it.
fn number_in(metric: Metric, text: &str) -> Option<Value> {
    let number: f64 = text.parse().ok()?;
    let fits = match metric.kind() {
        Kind::Share => (0.0..=1.0).contains(&number),
        Kind::Mean | Kind::Time => number.is_finite(),
    };
    fits.then_some(Value::Number(number))
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.variant {
            Some(variant) => write!(f, "{} / {variant}", self.policy),
            None => f.write_str(&self.policy),
        }
    }
}
