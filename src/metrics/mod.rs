//! What is measured: by an observer of one unit, then over the replicates of a policy.
//!
//! [`Recorder`] watches one unit and leaves a [`UnitRecord`] of integers; a [`PolicySummary`] folds
//! records in plan order and estimates every [`Metric`]. All reductions are on integers or in plan
//! order, so the outcome does not depend on the number of threads.
//!
//! Metrics count an event at its own time within the measured window [warm-up, end); the timeline
//! covers the whole run; the [`ledger`] counts the whole run too and is checked in every unit.

mod backlog;
mod band;
mod counts;
mod difference;
mod drain;
mod estimate;
mod histogram;
mod judgement;
mod latency;
pub mod ledger;
mod occupancy;
mod record;
mod recorder;
mod recurrence;
mod summary;
mod timeline;
mod trace;
mod watch;

pub use backlog::WorkRecord;
pub use band::Band;
pub use counts::Counts;
pub use difference::{Design, Difference, Method, Verdict};
pub use drain::{BadTimes, Drain};
pub use estimate::{Estimate, replicates_for_median_interval};
pub use judgement::{Judgement, Undecided};
pub use latency::{Latencies, LatencyKind, QUANTILES};
pub use occupancy::{Levels, Occupancy};
pub use record::UnitRecord;
pub use recorder::Recorder;
pub use recurrence::Recurrence;
pub use summary::{DrainRow, Outcome, PolicySummary};
pub use timeline::{Bucket, Timeline};
pub use trace::Trace;

pub use crate::metric::{Kind, Metric, Value};
