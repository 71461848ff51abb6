//! Exponential draws by the ziggurat (Marsaglia and Tsang: The ziggurat method for generating random
//! variables, J. Stat. Softw. 5(8), 2000), with 256 layers over constant tables.
//!
//! One draw in about ninety leaves the fast path; it then mixes further words out of the second
//! word of its own draw, so that it, too, depends on nothing but its key.

use super::tables::{EDGES, HEIGHTS, TAIL};
use super::unit_interval;

/// An exponential number of mean 1 from 64 random bits; `reserve` feeds the rare slow path.
#[inline]
pub fn exponential(bits: u64, reserve: u64) -> f64 {
    let layer = (bits & 0xff) as usize;
    let x = unit_interval(bits) * EDGES[layer];
    if x < EDGES[layer + 1] { x } else { outside(layer, x, reserve) }
}

/// What is left when the first point falls outside its layer's inner rectangle.
#[cold]
#[inline(never)]
fn outside(mut layer: usize, mut x: f64, reserve: u64) -> f64 {
    let mut words = SplitMix(reserve);
    let mut base = 0.0;
    loop {
        if layer == 0 {
            // The law has no memory: beyond the tail's start it begins anew.
            base += TAIL;
        } else {
            let height = HEIGHTS[layer + 1]
                + (HEIGHTS[layer] - HEIGHTS[layer + 1]) * unit_interval(words.next());
            if height < libm::exp(-x) {
                return base + x;
            }
        }
        let bits = words.next();
        layer = (bits & 0xff) as usize;
        x = unit_interval(bits) * EDGES[layer];
        if x < EDGES[layer + 1] {
            return base + x;
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tables::AREA;
    use super::*;

    #[test]
    fn the_tables_satisfy_their_recurrence() {
        assert_eq!(EDGES[1], TAIL);
        assert!((EDGES[0] * HEIGHTS[1] - AREA).abs() < 1e-15);
        assert!(((TAIL + 1.0) * libm::exp(-TAIL) - AREA).abs() < 1e-15);
        for i in 1..256 {
            let area = EDGES[i] * (HEIGHTS[i + 1] - HEIGHTS[i]);
            assert!((area - AREA).abs() < 1e-14, "layer {i} has area {area}");
            assert!((HEIGHTS[i] - libm::exp(-EDGES[i])).abs() < 1e-15);
        }
        assert_eq!((EDGES[256], HEIGHTS[256]), (0.0, 1.0));
    }
}
