//! `herdsim explain`: what a key of a scenario or a metric means.

use clap::Args;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use super::{Console, Failure};
use crate::metric::Metric;
use crate::report::explain;
use crate::scenario::keys::{find_key, shapes};

/// Columns beyond which prose is hard to read.
const WIDEST: usize = 100;

/// Explain a key of a scenario, or a metric: meaning, unit, range, default
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// A key by its path, as in fleet.clients, or a metric, as in time_to_drain_s
    #[arg(required_unless_present = "all", add = ArgValueCandidates::new(candidates))]
    key: Option<String>,
    /// Every key, as a page in Markdown
    #[arg(long, conflicts_with = "key")]
    all: bool,
}

impl Explain {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        let text = match self.key {
            None => explain::page(),
            Some(key) => explained(&key, console.style().width.min(WIDEST))?,
        };
        console.data(text.as_bytes())
    }
}

/// The metric of that name and all keys that it leads to.
fn explained(wanted: &str, width: usize) -> Result<String, Failure> {
    let metric = Metric::named(wanted).map(|metric| explain::metric(metric, width));
    let keys = match find_key(wanted) {
        Ok(keys) => keys,
        Err(_) if metric.is_some() => Vec::new(),
        Err(help) => {
            let metrics = Metric::ALL.iter().map(|metric| metric.name());
            let near = crate::scenario::nearest(wanted, metrics);
            let what = format!("there is no key and no metric `{wanted}`");
            return Err(Failure::Usage { what, help: format!("{near}{help}") });
        }
    };
    let parts: Vec<String> =
        metric.into_iter().chain(keys.iter().map(|key| explain::key(key, width))).collect();
    Ok(parts.join("\n"))
}

/// Keys of the sections, and metrics.
fn candidates() -> Vec<CompletionCandidate> {
    let sections = shapes()[0].keys.iter();
    let keys = sections.flat_map(|section| {
        let below = section
            .kind
            .shapes()
            .into_iter()
            .flat_map(|name| crate::scenario::keys::shape(name).keys.iter());
        let below = below.map(move |key| format!("{}.{}", section.name, key.name));
        std::iter::once(section.name.clone()).chain(below)
    });
    let metrics = Metric::ALL.iter().map(|metric| metric.name().to_owned());
    keys.chain(metrics).map(CompletionCandidate::new).collect()
}
