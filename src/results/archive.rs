//! All that a results folder holds, read back to be shown: what a page and its pictures are made from,
//! whether the run was a moment or a year ago.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::read::{self, Case, Finished, ReadError, Whole};
use super::{Activity, Judged};
use crate::metrics::{Metric, Outcome, Value};
use crate::scenario::{self, Axis, Loaded, Source};

/// A finished run as its folder tells it.
#[derive(Clone, Debug)]
pub struct Archive {
    /// How it was played.
    pub provenance: Provenance,
    /// The scenario with the policies and variants that were played.
    pub loaded: Loaded,
    /// What came of each, in the order they were played.
    pub records: Vec<Record>,
    /// What was measured of the real system, where it is to stand beside them.
    pub activity: Option<Activity>,
}

/// How results came about, beside their scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The version that ran.
    pub version: String,
    /// The triple that it was built for.
    pub target: String,
    /// The digest of the run.
    pub digest: String,
    /// Which of the scenario's policies and variants were chosen.
    pub chosen: Chosen,
}

/// What was played of a scenario that has more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The policies; empty where all of them were played.
    pub policies: Vec<String>,
    /// The variants; empty where all of them were.
    pub variants: Vec<String>,
}

/// What came of a policy, or of a policy in one variant.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its metrics, replicate by replicate.
    pub outcome: Outcome,
    /// Its rows of `drain.csv`.
    pub drains: Columns,
    /// Its rows of `timeline.csv`.
    pub timeline: Columns,
    /// Its rows of `band.csv`, as many as of `timeline.csv`.
    pub band: Columns,
    /// Its rows of `concurrency.csv` by their kind.
    pub concurrency: BTreeMap<String, Columns>,
    /// Its rows of `latency.csv` by their kind.
    pub latencies: BTreeMap<String, Columns>,
}

/// The numbers of some rows of a table, column by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns(BTreeMap<String, Vec<Option<f64>>>);

impl Columns {
    /// The fields of a column in the order of the rows, `None` where a field is empty; nothing at all
    /// where the table has no such column.
    pub fn get(&self, name: &str) -> &[Option<f64>] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The same, an empty field as 0.
    pub fn numbers(&self, name: &str) -> Vec<f64> {
        self.get(name).iter().map(|field| field.unwrap_or(0.0)).collect()
    }

    fn push(&mut self, name: &str, field: Option<f64>) {
        match self.0.get_mut(name) {
            Some(column) => column.push(field),
            None => {
                self.0.insert(name.to_owned(), vec![field]);
            }
        }
    }
}

#[derive(Deserialize)]
struct Manifest {
    scenario: String,
    digest: String,
    target: String,
    origin: String,
    overrides: Vec<String>,
    text: String,
    #[serde(default)]
    measured: BTreeMap<String, String>,
    effective: serde_json::Value,
}

impl Archive {
    /// Opens the results in `dir`.
    ///
    /// # Errors
    ///
    /// If there are none, or they are not as this version writes them.
    pub fn open(dir: &Path) -> Result<Archive, ReadError> {
        let manifest = read::manifest(dir)?;
        let finished = read::finished(dir, &manifest)?;
        let (loaded, provenance) = reload(&manifest, &finished.order)?;
        let mut tables = Tables {
            drains: table(&dir.join("drain.csv"), None)?,
            timeline: table(&dir.join("timeline.csv"), None)?,
            band: table(&dir.join("band.csv"), None)?,
            concurrency: table(&dir.join("concurrency.csv"), Some("kind"))?,
            latencies: table(&dir.join("latency.csv"), Some("kind"))?,
        };
        let Finished { order, cases, .. } = &finished;
        let records = order.iter().map(|case| tables.record(case, &cases[case])).collect();
        Ok(Archive { provenance, loaded, records, activity: None })
    }

    /// Every threshold of every policy, or policy and variant, in the order they were played.
    pub fn judged(&self) -> Vec<Judged<'_>> {
        let scenario = &self.loaded.scenario;
        self.records.iter().flat_map(|record| Judged::of(scenario, &record.outcome)).collect()
    }
}

/// The scenario as it was played, with these `cases`: what is read from its text now has to be what was
/// understood then.
pub(super) fn reload(whole: &Whole, cases: &[Case]) -> Result<(Loaded, Provenance), ReadError> {
    let manifest: Manifest = whole.parse()?;
    let source = Source {
        origin: manifest.origin,
        text: manifest.text,
        overrides: manifest.overrides,
        files: manifest.measured,
    };
    let mut loaded = scenario::read(&manifest.scenario, source).map_err(|error| {
        whole.damaged(format!("its scenario cannot be read again:\n{}", error.render(false)))
    })?;
    let scenario = &mut loaded.scenario;
    let played = |names: Vec<&String>| -> Vec<String> {
        let mut names: Vec<String> = names.into_iter().cloned().collect();
        names.sort();
        names.dedup();
        names
    };
    let policies = played(cases.iter().map(|case| &case.policy).collect());
    let variants = played(cases.iter().filter_map(|case| case.variant.as_ref()).collect());
    let chosen = Chosen {
        policies: if policies.len() < scenario.policies.len() { policies.clone() } else { vec![] },
        variants: if variants.len() < scenario.variants.len() { variants.clone() } else { vec![] },
    };
    scenario
        .select(&policies)
        .and_then(|()| scenario.select_variants(&variants))
        .and_then(|()| match manifest.effective["reference"].as_str() {
            Some(reference) => scenario.compare_with(reference),
            None => Ok(()),
        })
        .map_err(|error| whole.damaged(error.to_string()))?;
    axes(&whole.json).into_iter().for_each(|axis| scenario.sweep_over(axis));
    // By way of text, as the manifest went.
    let effective = serde_json::to_vec(&loaded.scenario)
        .and_then(|text| serde_json::from_slice::<serde_json::Value>(&text))
        .map_err(|error| whole.damaged(error.to_string()))?;
    if effective != manifest.effective {
        let what = "its text is no longer understood as it was when it was played";
        return Err(whole.damaged(what.to_owned()));
    }
    let Manifest { target, digest, .. } = manifest;
    let version = whole.version.clone();
    Ok((loaded, Provenance { version, target, digest, chosen }))
}

/// The keys that a manifest says were swept.
pub(super) fn axes(manifest: &serde_json::Value) -> Vec<Axis> {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let axis = |axis: &serde_json::Value| {
        let values = axis["values"].as_array()?.iter().map(text).collect::<Option<_>>()?;
        Some(Axis { key: text(&axis["key"])?, values })
    };
    let axes = manifest["effective"]["sweep"].as_array();
    axes.into_iter().flatten().filter_map(axis).collect()
}

/// The rows of each case, and of each kind where a table has kinds.
type Rows = BTreeMap<Case, BTreeMap<String, Columns>>;

struct Tables {
    drains: Rows,
    timeline: Rows,
    band: Rows,
    concurrency: Rows,
    latencies: Rows,
}

impl Tables {
    /// Takes out what belongs to a case.
    fn record(&mut self, case: &Case, replicates: &BTreeMap<u32, read::Row>) -> Record {
        let whole = |rows: &mut Rows| -> Columns {
            let kinds = rows.remove(case).unwrap_or_default();
            kinds.into_values().next().unwrap_or_default()
        };
        let value = |field: &Option<Value>| field.unwrap_or(Value::Absent);
        Record {
            outcome: Outcome {
                policy: case.policy.clone(),
                variant: case.variant.clone(),
                replicates: replicates
                    .values()
                    .map(|row| row.iter().map(value).collect())
                    .collect(),
            },
            drains: whole(&mut self.drains),
            timeline: whole(&mut self.timeline),
            band: whole(&mut self.band),
            concurrency: self.concurrency.remove(case).unwrap_or_default(),
            latencies: self.latencies.remove(case).unwrap_or_default(),
        }
    }
}

impl Record {
    /// The estimate of `metric` over all replicates.
    pub fn estimate(&self, metric: Metric) -> Option<f64> {
        self.outcome.estimate(metric).estimate
    }

    /// Whether anything happened from which a drain is counted.
    pub fn has_trigger(&self) -> bool {
        !self.drains.get("at_s").is_empty()
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    fs::read(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })
}

fn table(path: &Path, kind: Option<&str>) -> Result<Rows, ReadError> {
    let bytes = bytes(path)?;
    let damaged = |what: String| ReadError::Damaged { path: path.to_owned(), what };
    let wrong = |error: csv::Error| damaged(error.to_string());
    let mut reader = csv::Reader::from_reader(&*bytes);
    let header = reader.headers().map_err(wrong)?.clone();
    let mut rows = Rows::new();
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        let text = |name: &str| {
            let column = header.iter().position(|head| head == name)?;
            record.get(column).map(str::to_owned)
        };
        let case = Case { policy: text("policy").unwrap_or_default(), variant: text("variant") };
        let kinds = rows.entry(case).or_default();
        let columns = kinds.entry(kind.and_then(text).unwrap_or_default()).or_default();
        for (name, field) in header.iter().zip(&record) {
            if ["policy", "variant"].contains(&name) || Some(name) == kind {
                continue;
            }
            let number = match field {
                "" => None,
                field => Some(number(field).ok_or_else(|| {
                    let line = record.position().map_or(0, csv::Position::line);
                    damaged(format!("line {line}: {name} cannot be {field:?}"))
                })?),
            };
            columns.push(name, number);
        }
    }
    Ok(rows)
}

fn number(field: &str) -> Option<f64> {
    field.parse().ok().filter(|number: &f64| number.is_finite())
}
