//! Spans counted in log-linear cells: exact below 2,048 ticks, to three significant digits above.
//!
//! The cells are those of an HDR histogram (Gil Tene's HdrHistogram) of three digits, so quantiles are the
//! same; recording is a shift and an increment.

use serde::{Deserialize, Serialize};

use crate::units::Span;

/// Cells for each power of two.
const CELLS_BITS: u32 = 10;

/// How often spans of about each length were observed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Histogram {
    #[serde(with = "stored")]
    cells: Vec<u64>,
    count: u64,
    longest: Span,
    /// All spans, summed, in ticks.
    sum: u128,
}

impl Histogram {
    /// Counts so many observations of the same span.
    #[inline]
    pub fn record(&mut self, span: Span, times: u64) {
        *self.cell_of(span) += times;
        self.sum_up(times, span, u128::from(span.ticks()) * u128::from(times));
    }

    /// Counts observations, which are so many ticks altogether, and for each one in `other` that is longer
    /// `by` so much.
    #[inline]
    pub fn record_with(&mut self, other: &mut Histogram, spans: &[Span], sum: u64, by: Span) {
        let (count, mut longest) = (spans.len() as u64, Span::ZERO);
        for &span in spans {
            *self.cell_of(span) += 1;
            *other.cell_of(span + by) += 1;
            longest = longest.max(span);
        }
        if count > 0 {
            let sum = u128::from(sum);
            self.sum_up(count, longest, sum);
            other.sum_up(count, longest + by, sum + u128::from(count) * u128::from(by.ticks()));
        }
    }

    #[inline]
    fn sum_up(&mut self, count: u64, longest: Span, sum: u128) {
        self.count += count;
        self.longest = self.longest.max(longest);
        self.sum += sum;
    }

    #[inline]
    fn cell_of(&mut self, span: Span) -> &mut u64 {
        let cell = cell(span.ticks());
        if cell >= self.cells.len() {
            self.reach(cell);
        }
        &mut self.cells[cell]
    }

    #[cold]
    fn reach(&mut self, cell: usize) {
        self.cells.resize(room(cell), 0);
    }

    /// Observations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// All spans, summed, in ticks.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The span that a share `q` of the observations does not exceed; `None` without any.
    pub fn quantile(&self, q: f64) -> Option<Span> {
        let rank = ((q * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let reached = |&count: &u64| {
            seen += count;
            seen >= rank
        };
        let cell = self.cells.iter().position(reached)?;
        Some(Span::from_ticks(highest(cell)).min(self.longest))
    }

    /// Adds another's observations.
    pub fn add(&mut self, other: &Histogram) {
        self.cells.resize(self.cells.len().max(other.cells.len()), 0);
        for (sum, count) in self.cells.iter_mut().zip(&other.cells) {
            *sum += count;
        }
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
        self.sum += other.sum;
    }
}

/// Cells that there are where one is in use: all of its power of two, so that the order of observations
/// leaves no trace.
fn room(cell: usize) -> usize {
    ((cell >> CELLS_BITS) + 1) << CELLS_BITS
}

/// Cells as they are stored: each that counts anything, with its number.
mod stored {
    use serde::de::{Error, Unexpected};
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{cell, room};

    pub(super) fn serialize<S: Serializer>(
        cells: &[u64],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let used = cells.iter().enumerate().filter(|&(_, &count)| count > 0);
        serializer.collect_seq(used.collect::<Vec<_>>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u64>, D::Error> {
        let mut cells = Vec::new();
        for (number, count) in Vec::<(usize, u64)>::deserialize(deserializer)? {
            if number > cell(u64::MAX) {
                return Err(D::Error::invalid_value(
                    Unexpected::Unsigned(number as u64),
                    &"a cell that a span falls into",
                ));
            }
            cells.resize(cells.len().max(room(number)), 0);
            cells[number] = count;
        }
        Ok(cells)
    }
}

/// The cell of a span: the more digits it has, the more of its last ones do not matter.
#[inline]
fn cell(ticks: u64) -> usize {
    let shift = (ticks | 1 << CELLS_BITS).ilog2() - CELLS_BITS;
    ((u64::from(shift) << CELLS_BITS) + (ticks >> shift)) as usize
}

/// The longest span of a cell.
fn highest(cell: usize) -> u64 {
    let cell = cell as u64;
    let shift = (cell >> CELLS_BITS).saturating_sub(1);
    let first = (cell - (shift << CELLS_BITS)) << shift;
    first + (1 << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_those_of_an_hdr_histogram(
            spans in prop::collection::vec((0u32..62, any::<u64>()), 1..200),
            split in 0usize..200,
        ) {
            let spans: Vec<u64> = spans.into_iter().map(|(bits, ticks)| ticks >> (63 - bits)).collect();
            let mut oracle = hdrhistogram::Histogram::<u64>::new(3).unwrap();
            let (mut histogram, mut rest) = (Histogram::default(), Histogram::default());
            for (index, &ticks) in spans.iter().enumerate() {
                oracle.record(ticks).unwrap();
                let half = if index < split { &mut histogram } else { &mut rest };
                half.record(Span::from_ticks(ticks), 1);
            }
            let mut reversed = rest.clone();
            reversed.add(&histogram);
            histogram.add(&rest);
            prop_assert_eq!(&histogram, &reversed);
            let longest = spans.iter().copied().max().unwrap();
            for q in [0.0f64, 0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
                let expected = oracle.value_at_quantile(q.max(1e-9)).min(longest);
                prop_assert_eq!(histogram.quantile(q), Some(Span::from_ticks(expected)));
            }
            prop_assert_eq!(histogram.count(), spans.len() as u64);
            let stored = postcard::to_allocvec(&histogram).unwrap();
            prop_assert_eq!(postcard::from_bytes::<Histogram>(&stored).unwrap(), histogram);
        }
    }

    #[test]
    fn without_observations_there_is_no_quantile() {
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}
