//! How far apart the replicates of a policy are in the course of a run.

use super::Timeline;

/// The least and the most active backends of any replicate, bucket by bucket of its timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Band {
    /// Least active backends × microseconds.
    pub least_ticks: Vec<u64>,
    /// Most active backends × microseconds.
    pub most_ticks: Vec<u64>,
}

impl Band {
    /// Widens the band to hold one more replicate.
    pub fn add(&mut self, timeline: &Timeline) {
        self.least_ticks.resize(timeline.buckets.len(), u64::MAX);
        self.most_ticks.resize(timeline.buckets.len(), 0);
        let bounds = self.least_ticks.iter_mut().zip(&mut self.most_ticks);
        for ((least, most), bucket) in bounds.zip(&timeline.buckets) {
            *least = bucket.sv_active_ticks.min(*least);
            *most = bucket.sv_active_ticks.max(*most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn a_band_holds_every_replicate() {
        let mut band = Band::default();
        for ticks in [7, 3, 5] {
            let mut timeline = Timeline::new(Span::from_secs(2));
            timeline.buckets[1].sv_active_ticks = ticks;
            band.add(&timeline);
        }
        assert_eq!((&*band.least_ticks, &*band.most_ticks), (&[0, 3][..], &[0, 7][..]));
    }
}
