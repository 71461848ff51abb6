//! A run's results.

use crate::metrics::PolicySummary;
use crate::scenario::Loaded;

/// All that a run produced: what every report is a view of.
#[derive(Clone, Debug)]
pub struct Results {
    /// The scenario as written and as understood.
    pub loaded: Loaded,
    /// One summary per policy that was played, in the scenario's order.
    pub policies: Vec<PolicySummary>,
}
