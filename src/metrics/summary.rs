//! A policy, in one variant where there are several, over its replicates.

use super::{Band, Drain, Estimate, Latencies, Metric, Occupancy, Timeline, UnitRecord, Value};

/// All that is known of one policy in one variant after its replicates: what `results/` holds.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySummary {
    /// The policy's name.
    pub policy: String,
    /// The variant's name, where the scenario has variants.
    pub variant: Option<String>,
    /// One row per replicate, one value per metric in the order of [`Metric::ALL`].
    pub replicates: Vec<Vec<Value>>,
    /// The drain after each trigger of each replicate.
    pub drains: Vec<DrainRow>,
    /// Time at each level, pooled over replicates.
    pub occupancy: Occupancy,
    /// The course of the run, summed over replicates.
    pub timeline: Timeline,
    /// How far its replicates are apart.
    pub band: Band,
    /// Latencies, pooled over replicates.
    pub latencies: Latencies,
    /// Events handled in all replicates.
    pub events: u64,
}

/// One row of `drain.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainRow {
    /// The replicate, from 0.
    pub replicate: u32,
    /// The disturbance, from 0 in order of time.
    pub trigger: usize,
    /// When it began, and how long after it the fleet had drained.
    pub drain: Drain,
}

impl PolicySummary {
    /// A summary of the first replicate alone.
    pub fn new(policy: &str, variant: Option<String>, first: UnitRecord) -> PolicySummary {
        let mut summary = PolicySummary {
            policy: policy.to_owned(),
            variant,
            replicates: Vec::new(),
            drains: Vec::new(),
            occupancy: Occupancy::new(0),
            timeline: Timeline {
                buckets: vec![Default::default(); first.timeline.buckets.len()],
                ..first.timeline
            },
            band: Band::default(),
            latencies: Latencies::default(),
            events: 0,
        };
        summary.add(&first);
        summary
    }

    /// Folds in the next replicate.
    pub fn add(&mut self, record: &UnitRecord) {
        let replicate = self.replicates.len() as u32;
        self.replicates.push(record.values());
        self.drains.extend(record.drains.iter().enumerate().map(|(trigger, &drain)| DrainRow {
            replicate,
            trigger,
            drain,
        }));
        self.occupancy.add(&record.occupancy);
        self.timeline.add(&record.timeline);
        self.band.add(&record.timeline);
        self.latencies.add(&record.latencies);
        self.events += record.events;
    }

    /// The values of `metric`, one per replicate.
    pub fn values(&self, metric: Metric) -> Vec<Value> {
        column(&self.replicates, metric)
    }

    /// The estimate of `metric` over all replicates.
    pub fn estimate(&self, metric: Metric) -> Estimate {
        Estimate::of(metric, &self.values(metric))
    }
}

/// What is left of a policy, in one variant where there are several, when its metrics alone are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The policy's name.
    pub policy: String,
    /// The variant's name, where the scenario has variants.
    pub variant: Option<String>,
    /// One row per replicate, one value per metric in the order of [`Metric::ALL`].
    pub replicates: Vec<Vec<Value>>,
}

impl Outcome {
    /// The values of `metric`, one per replicate.
    pub fn values(&self, metric: Metric) -> Vec<Value> {
        column(&self.replicates, metric)
    }

    /// The estimate of `metric` over all replicates.
    pub fn estimate(&self, metric: Metric) -> Estimate {
        Estimate::of(metric, &self.values(metric))
    }
}

fn column(replicates: &[Vec<Value>], metric: Metric) -> Vec<Value> {
    replicates.iter().map(|row| row[metric as usize]).collect()
}
