//! `manifest.json`: what was run, so that it can be run again.
//!
//! Nothing in it depends on when or where the run took place, except the target that it was built for.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{File, Partial};
use crate::plan;
use crate::scenario::{Loaded, Scenario};

/// The manifest's name within a results folder.
pub(super) const NAME: &str = "manifest.json";

/// Whose folder it is: nothing else is ever replaced.
pub(crate) const TOOL: &str = "herdsim";

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The triple that the program was built for.
pub(crate) const TARGET: &str = env!("HERDSIM_TARGET");

/// What was run.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest<'a> {
    /// `herdsim`.
    pub tool: &'static str,
    /// The version that ran.
    pub version: &'static str,
    /// The triple that it was built for.
    pub target: &'static str,
    /// The scenario's name.
    pub scenario: &'a str,
    /// The scenario file's name without its folder, or `built-in NAME`.
    pub origin: String,
    /// The digest of the run, in hexadecimal.
    pub digest: String,
    /// Where the random worlds come from.
    pub seed: u64,
    /// Overrides as `key=value`, in order.
    pub overrides: &'a [String],
    /// Whether the run was interrupted.
    #[serde(skip_serializing_if = "is_false")]
    pub partial: bool,
    /// Of a partial run, how many units a whole one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units_planned: Option<usize>,
    /// Of a partial run, how many are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units_done: Option<usize>,
    /// The units that were played, in plan order; of a sweep, those of each point.
    pub units: Vec<Unit<'a>>,
    /// The other files of the folder.
    pub files: Vec<&'static str>,
    /// The scenario's text, byte for byte.
    pub text: &'a str,
    /// The texts of the measured files that it names, by those names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: &'a BTreeMap<String, String>,
    /// The scenario as understood, every default filled in.
    pub effective: &'a Scenario,
}

/// One simulation.
#[derive(Clone, Debug, Serialize)]
pub struct Unit<'a> {
    /// The policy's name.
    pub policy: &'a str,
    /// The variant's name, where the scenario has variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<&'a str>,
    /// The replicate, from 0.
    pub replicate: u32,
}

impl<'a> Manifest<'a> {
    /// The manifest of a run of `loaded`, whole or `partial`, that also leaves `files`.
    pub fn new(
        loaded: &'a Loaded,
        partial: Option<Partial>,
        files: Vec<&'static str>,
    ) -> Manifest<'a> {
        let Loaded { scenario, source } = loaded;
        let origin = Path::new(&source.origin).file_name().map(|name| name.to_string_lossy());
        let units = plan::units(scenario)
            .into_iter()
            .take(partial.map_or(usize::MAX, |partial| partial.done))
            .map(|unit| Unit {
                policy: unit.policy(scenario),
                variant: unit.variant(scenario),
                replicate: unit.replicate,
            })
            .collect();
        Manifest {
            tool: TOOL,
            version: VERSION,
            target: TARGET,
            scenario: &scenario.name,
            origin: origin.unwrap_or_default().into_owned(),
            digest: digest(loaded),
            seed: scenario.run.seed,
            overrides: &source.overrides,
            partial: partial.is_some(),
            units_planned: partial.map(|partial| partial.planned),
            units_done: partial.map(|partial| partial.done),
            units,
            files,
            text: &source.text,
            measured: &source.files,
            effective: scenario,
        }
    }

    /// Its bytes.
    pub fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a manifest has text keys only");
        bytes.push(b'\n');
        bytes
    }
}

/// Adds the manifest of a run of `loaded`, whole or `partial`, to its other files.
pub(super) fn add(loaded: &Loaded, partial: Option<Partial>, files: &mut Vec<File>) {
    let names = files.iter().map(|file| file.name).collect();
    files.push(File { name: NAME, bytes: Manifest::new(loaded, partial, names).to_json() });
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// SHA-256 over all that decides the bytes of the results on one target: the version, the scenario's
/// text, overrides, and what was understood of them, the values of measured files and the policies
/// and variants played included.
pub fn digest(loaded: &Loaded) -> String {
    let mut hasher = Sha256::new();
    // Lengths keep neighbouring parts apart: "ab" + "c" is not "a" + "bc".
    let mut part = |text: &str| {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    part(VERSION);
    part(&loaded.source.text);
    part(&loaded.source.overrides.len().to_string());
    loaded.source.overrides.iter().for_each(|text| part(text));
    part(&serde_json::to_string(&loaded.scenario).expect("a scenario has text keys only"));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
