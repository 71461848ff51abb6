//! Presets of poolers: the same keys as in `[pooler]`, with where each default comes from.

use super::diagnostic::Problems;
use super::tree::{self, Node};

/// A pooler under its name and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolerPreset {
    /// Its name, as in `preset = "pgbouncer@1.25"`.
    pub name: &'static str,
    /// Its keys as TOML; the comments say where they come from.
    pub text: &'static str,
}

/// All presets.
pub const POOLERS: [PoolerPreset; 3] = [
    PoolerPreset { name: "pgbouncer@1.25", text: include_str!("poolers/pgbouncer@1.25.toml") },
    PoolerPreset { name: "supavisor@2.9", text: include_str!("poolers/supavisor@2.9.toml") },
    PoolerPreset { name: "none", text: include_str!("poolers/none.toml") },
];

impl PoolerPreset {
    /// Its keys as a tree.
    pub(super) fn tree(&self) -> Node {
        tree::parse(self.text, &mut Problems::default()).expect("a preset is TOML")
    }
}
