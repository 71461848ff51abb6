//! Where a number lies on an axis, and which numbers stand at it.

/// A linear scale: the numbers from `low` to `high` on the places from `from` to `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub low: f64,
    pub high: f64,
    pub from: f64,
    pub to: f64,
}

impl Scale {
    /// The place of a number; one beyond the ends lies at the end.
    pub fn place(&self, number: f64) -> f64 {
        let range = self.high - self.low;
        let share = if range > 0.0 { (number - self.low) / range } else { 0.0 };
        self.from + share.clamp(0.0, 1.0) * (self.to - self.from)
    }
}

/// Steps between ticks of time, in seconds.
const TIME_STEPS: [f64; 18] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0,
    14_400.0, 21_600.0, 43_200.0, 86_400.0,
];

/// Round times from 0 to `end`, at most `most` + 1 of them unless they are days apart.
pub(in crate::report) fn times(end: f64, most: usize) -> Vec<f64> {
    let fits = |step: &&f64| end / **step <= most as f64;
    let step = TIME_STEPS.iter().find(fits).copied();
    multiples(step.unwrap_or_else(|| 86_400.0 * round_step(end / 86_400.0, most)), end)
}

/// Round numbers from 0 to `end`, at most `most` + 1 of them.
pub(super) fn numbers(end: f64, most: usize) -> Vec<f64> {
    multiples(round_step(end, most), end)
}

/// The least of 1, 2, 5, 10, … (or a decimal part of it) that divides `end` into at most `most` steps.
fn round_step(end: f64, most: usize) -> f64 {
    if end <= 0.0 {
        return 1.0;
    }
    let least = end / most as f64;
    let decade = 10f64.powi(least.log10().floor() as i32);
    let fits = |factor: &f64| factor * decade >= least * (1.0 - 1e-9);
    decade * [1.0, 2.0, 5.0, 10.0].into_iter().find(fits).unwrap_or(10.0)
}

/// 0, step, 2 step, … up to `end`.
fn multiples(step: f64, end: f64) -> Vec<f64> {
    let count = (end / step * (1.0 + 1e-9)).floor() as usize;
    (0..=count).map(|index| index as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(numbers(368.0, 4), [0.0, 100.0, 200.0, 300.0]);
        assert_eq!(numbers(9_000.0, 3), [0.0, 5_000.0]);
        assert_eq!(numbers(0.7, 4), [0.0, 0.2, 0.4, 0.6000000000000001]);
        assert_eq!(numbers(0.0, 4), [0.0]);
        assert_eq!(times(1_920.0, 8), [0.0, 300.0, 600.0, 900.0, 1_200.0, 1_500.0, 1_800.0]);
        assert_eq!(times(86_400.0 * 30.0, 6).len(), 7);
    }

    #[test]
    fn a_number_beyond_the_scale_lies_at_its_end() {
        let scale = Scale { low: 0.0, high: 10.0, from: 100.0, to: 0.0 };
        assert_eq!([5.0, 11.0, -1.0].map(|number| scale.place(number)), [50.0, 0.0, 100.0]);
        assert_eq!(Scale { high: 0.0, ..scale }.place(3.0), 100.0);
    }
}
