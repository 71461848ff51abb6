//! `units.json`: of which run the records are, with all that it takes to read its scenario again.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{MANIFEST, RecordsError};
use crate::plan::Shard;
use crate::results::{self, TARGET, TOOL, VERSION};
use crate::scenario::{self, Axis, Loaded, ScenarioError, Source};

/// Of which run the records are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// `herdsim`.
    pub tool: String,
    /// The version that played them.
    pub version: String,
    /// The triple that it was built for.
    pub target: String,
    /// The scenario's name.
    pub scenario: String,
    /// The scenario file's name without its folder, or `built-in NAME`.
    pub origin: String,
    /// The digest of the run, in hexadecimal.
    pub digest: String,
    /// Where the random worlds come from.
    pub seed: u64,
    /// How many units the whole run has.
    pub units: usize,
    /// Which of them belong here; all, if this is no shard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Overrides as `key=value`, in order.
    pub overrides: Vec<String>,
    /// The policies that are played.
    pub policies: Vec<String>,
    /// The variants that are played.
    pub variants: Vec<String>,
    /// The keys that are swept, with their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweep: Vec<Axis>,
    /// The policy that the others are held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The scenario's text, byte for byte.
    pub text: String,
    /// The texts of the measured files that it names.
    pub files: BTreeMap<String, String>,
}

impl Manifest {
    /// The manifest of a run of `loaded` with so many `units`, or of one shard of it.
    pub fn new(loaded: &Loaded, units: usize, shard: Option<Shard>) -> Manifest {
        let Loaded { scenario, source } = loaded;
        let origin = Path::new(&source.origin).file_name().map(|name| name.to_string_lossy());
        Manifest {
            tool: TOOL.to_owned(),
            version: VERSION.to_owned(),
            target: TARGET.to_owned(),
            scenario: scenario.name.clone(),
            origin: origin.unwrap_or_default().into_owned(),
            digest: results::digest(loaded),
            seed: scenario.run.seed,
            units,
            shard,
            overrides: source.overrides.clone(),
            policies: scenario.policies.iter().map(|policy| policy.name.clone()).collect(),
            variants: scenario.variants.iter().map(|variant| variant.name.clone()).collect(),
            sweep: scenario.sweep.clone(),
            reference: scenario.reference.clone(),
            text: source.text.clone(),
            files: source.files.clone(),
        }
    }

    /// The manifest in the folder `dir`.
    pub(super) fn read(dir: &Path) -> Result<Manifest, RecordsError> {
        let path = dir.join(MANIFEST);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RecordsError::None(dir.to_owned()));
            }
            Err(source) => return Err(RecordsError::io("read", &path)(source)),
        };
        serde_json::from_slice(&bytes)
            .map_err(|error| RecordsError::Damaged { path, what: error.to_string() })
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a manifest has text keys only");
        bytes.push(b'\n');
        bytes
    }

    /// In which way this is not the run that `other` is of; `None` if it is, in another shard perhaps.
    pub(super) fn other_run(&self, other: &Manifest) -> Option<String> {
        let pairs = [
            ("tool", &self.tool, &other.tool),
            ("version", &self.version, &other.version),
            ("target", &self.target, &other.target),
            ("scenario", &self.scenario, &other.scenario),
        ];
        let different = pairs.iter().find(|(_, ours, theirs)| ours != theirs);
        if let Some((what, ours, theirs)) = different {
            return Some(format!("its {what} is {ours}, not {theirs}"));
        }
        if self.seed != other.seed {
            return Some(format!("its seed is {}, not {}", self.seed, other.seed));
        }
        (self.digest != other.digest).then(|| {
            "its scenario, overrides, sweep, policies or variants are different".to_owned()
        })
    }

    /// In which way this folder is not the one that `other` describes.
    pub(super) fn difference(&self, other: &Manifest) -> Option<String> {
        let shard = |shard: Option<Shard>| match shard {
            Some(shard) => format!("shard {shard}"),
            None => "no shard, but a whole run".to_owned(),
        };
        self.other_run(other).or_else(|| {
            (self.shard != other.shard)
                .then(|| format!("it is {}, not {}", shard(self.shard), shard(other.shard)))
        })
    }

    /// The scenario, read again.
    ///
    /// # Errors
    ///
    /// If it cannot be: another version wrote it, or somebody changed it.
    pub(super) fn load(&self) -> Result<Loaded, ScenarioError> {
        let source = Source {
            origin: self.origin.clone(),
            text: self.text.clone(),
            overrides: self.overrides.clone(),
            files: self.files.clone(),
        };
        let mut loaded = scenario::read(&self.scenario, source)?;
        loaded.scenario.select(&self.policies)?;
        loaded.scenario.select_variants(&self.variants)?;
        self.sweep.iter().cloned().for_each(|axis| loaded.scenario.sweep_over(axis));
        if let Some(reference) = &self.reference {
            loaded.scenario.compare_with(reference)?;
        }
        Ok(loaded)
    }
}
