//! What the user wrote, checked: a system, its disturbances and the policies in question.
//!
//! A [`Scenario`] has passed every check, so the rooms after this one need none. Only this room knows
//! TOML:
//!
//! ```text
//! text ─▶ tree (nodes that know their place) ─▶ overrides, measured files ─▶ reader, lower ─▶ Scenario
//!                                                               └─▶ diagnostic (all problems at once)
//! ```
//!
//! The tree is read by hand rather than through serde: a wrong value then stops nothing, so a file's
//! unknown keys, wrong types and broken rules are all shown in one go, each at its place.

mod axis;
mod builtin;
mod catalogue;
mod condition;
mod diagnostic;
mod disturbance;
mod files;
mod lower;
mod model;
mod overrides;
mod poolers;
mod reader;
mod threshold;
mod tree;

pub mod keys;
pub mod starter;

use std::collections::BTreeMap;
use std::path::Path;

pub use axis::Axis;
pub use builtin::{Builtin, builtins};
pub use catalogue::{Backoff, Evidence, Preset, Versions, backoffs, parse_backoffs, presets};
pub use condition::{Comparison, Condition, NoComparison, Relation, metric_named};
pub use diagnostic::{Place, Problem, ScenarioError};
pub use disturbance::{Action, Disturbance, Failure, NamedPolicy, Variant, Waves};
pub use model::{
    Arrivals, Background, Candidate, Contention, CountFrom, Daily, Database, DeadCost, DeadWaiters,
    Demand, DrainRule, Fleet, Handshake, Initial, Logins, Mode, Orphans, Part, Pooler, RateLimiter,
    Reserve, Run, Scenario, Work, longest_run,
};
pub use poolers::{POOLERS, PoolerPreset};
pub use threshold::Threshold;

pub(crate) use diagnostic::{alternatives, nearest};

use diagnostic::Problems;
use files::Files;

/// A scenario together with where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The scenario, checked.
    pub scenario: Scenario,
    /// What it was read from.
    pub source: Source,
}

/// What a scenario was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The file as the user named it, or `built-in NAME`.
    pub origin: String,
    /// Its text, byte for byte.
    pub text: String,
    /// Overrides in the order they were given, as `key=value`.
    pub overrides: Vec<String>,
    /// The texts of the measured files that it names, by the path as written.
    pub files: BTreeMap<String, String>,
}

/// Loads the scenario that the user named: a file, or the name of a built-in one.
///
/// # Errors
///
/// All problems of the file and the overrides at once, or why it cannot be read.
pub fn load(wanted: &str, overrides: &[String]) -> Result<Loaded, ScenarioError> {
    let path = Path::new(wanted);
    let names_a_file =
        path.components().count() > 1 || path.extension().is_some_and(|e| e == "toml");
    if !names_a_file && let Some(builtin) = builtins().find(|builtin| builtin.name == wanted) {
        let origin = format!("built-in {wanted}");
        return parse(builtin.name, &origin, builtin.text, overrides);
    }
    if !names_a_file && !path.exists() {
        return Err(ScenarioError::unknown_builtin(wanted));
    }
    let text =
        std::fs::read_to_string(path).map_err(|error| ScenarioError::unreadable(wanted, &error))?;
    let name = path.file_stem().map_or(wanted.into(), |stem| stem.to_string_lossy());
    parse(&name, wanted, &text, overrides)
}

/// Reads a scenario's text. `origin` is what problems call it.
///
/// # Errors
///
/// All problems of the text and the overrides at once; of broken TOML, the TOML ones.
pub fn parse(
    name: &str,
    origin: &str,
    text: &str,
    overrides: &[String],
) -> Result<Loaded, ScenarioError> {
    let source = Source {
        origin: origin.to_owned(),
        text: text.to_owned(),
        overrides: overrides.to_owned(),
        ..Source::default()
    };
    read(name, source)
}

/// Reads a scenario from what an earlier reading left; measured files that it has are not looked for
/// on disk, so that it can be read where they are not.
///
/// # Errors
///
/// As those of [`parse`].
pub fn read(name: &str, mut source: Source) -> Result<Loaded, ScenarioError> {
    let mut problems = Problems::default();
    let scenario = tree::parse(&source.text, &mut problems).and_then(|mut root| {
        for (index, text) in source.overrides.iter().enumerate() {
            overrides::apply(&mut root, index, text, &mut problems);
        }
        let folder = Path::new(&source.origin).parent().unwrap_or(Path::new(""));
        let mut files = Files { folder, texts: &mut source.files };
        files::read_files(&mut root, &mut files, &mut problems);
        lower::scenario(name, &root, &mut problems)
    });
    match scenario {
        Some(scenario) if problems.is_empty() => Ok(Loaded { scenario, source }),
        _ => Err(ScenarioError::new(source, problems)),
    }
}

impl Loaded {
    /// The scenario at every combination of values of `axes`, in the order of [`Axis::combinations`], with
    /// the policies and variants that are played. Measured files that only a point names are kept with
    /// the source, so that it can be read where they are not.
    ///
    /// # Errors
    ///
    /// If it is not valid at one of the points.
    pub fn points(&mut self, axes: &[Axis]) -> Result<Vec<Scenario>, ScenarioError> {
        let names = |names: Vec<&String>| -> Vec<String> { names.into_iter().cloned().collect() };
        let policies = names(self.scenario.policies.iter().map(|policy| &policy.name).collect());
        let variants = names(self.scenario.variants.iter().map(|variant| &variant.name).collect());
        let mut at = |combination: Vec<usize>| {
            let mut source = self.source.clone();
            let values = axes.iter().zip(combination);
            source.overrides.extend(values.map(|(axis, index)| axis.set(index)));
            let Loaded { mut scenario, source } = read(&self.scenario.name, source)?;
            scenario.select(&policies)?;
            scenario.select_variants(&variants)?;
            self.source.files.extend(source.files);
            Ok(scenario)
        };
        Axis::combinations(axes).into_iter().map(&mut at).collect()
    }

    /// What stands at a key, as it is written; `None` if nothing does, or a table or a list.
    pub fn written(&self, key: &str) -> Option<String> {
        let mut problems = Problems::default();
        let mut root = tree::parse(&self.source.text, &mut problems)?;
        for (index, text) in self.source.overrides.iter().enumerate() {
            overrides::apply(&mut root, index, text, &mut problems);
        }
        overrides::written(&mut root, key)
    }
}

impl Scenario {
    /// Keeps only the named policies, in the file's order.
    ///
    /// # Errors
    ///
    /// If a name is none of the scenario's; nothing is dropped then.
    pub fn select(&mut self, names: &[String]) -> Result<(), ScenarioError> {
        let known: Vec<&str> = self.policies.iter().map(|p| p.name.as_str()).collect();
        check_names(&self.name, ["policy", "policies"], names, &known)?;
        self.policies.retain(|candidate| names.contains(&candidate.name));
        Ok(())
    }

    /// Lets a key take several values, in place of those that it has in the file's sweep.
    pub fn sweep_over(&mut self, axis: Axis) {
        self.sweep.retain(|other| other.key != axis.key);
        self.sweep.push(axis);
    }

    /// Holds the other policies against the named one.
    ///
    /// # Errors
    ///
    /// If it is none that is played, or the only one.
    pub fn compare_with(&mut self, reference: &str) -> Result<(), ScenarioError> {
        let known: Vec<&str> = self.policies.iter().map(|p| p.name.as_str()).collect();
        check_names(&self.name, ["policy", "policies"], &[reference.to_owned()], &known)?;
        if known.len() == 1 {
            let message = format!("there is nothing to hold against `{reference}`");
            let help = "play another policy beside it";
            return Err(ScenarioError::plain(message, help.to_owned()));
        }
        self.reference = Some(reference.to_owned());
        Ok(())
    }

    /// Keeps only the named variants, in the file's order.
    ///
    /// # Errors
    ///
    /// If a name is none of the scenario's; nothing is dropped then.
    pub fn select_variants(&mut self, names: &[String]) -> Result<(), ScenarioError> {
        let known: Vec<&str> = self.variants.iter().map(|v| v.name.as_str()).collect();
        check_names(&self.name, ["variant", "variants"], names, &known)?;
        self.variants.retain(|variant| names.contains(&variant.name));
        Ok(())
    }
}

/// Whether a scenario knows all `names`.
fn check_names(
    scenario: &str,
    [one, many]: [&str; 2],
    names: &[String],
    known: &[&str],
) -> Result<(), ScenarioError> {
    let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let help = match known {
        [] => format!("it has no {many} at all"),
        _ => alternatives(unknown, &format!("its {many}"), known.iter().copied()),
    };
    Err(ScenarioError::plain(format!("scenario `{scenario}` has no {one} `{unknown}`"), help))
}
