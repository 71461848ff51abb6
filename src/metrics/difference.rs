//! One metric of two policies, or of a policy in two runs: B − A.
//!
//! - Where replicate r of both met the same random world, a mean's difference is that of the pairs, with
//!   Student's t interval at 95 % (Law, Simulation Modeling and Analysis, 5th ed., 10.2.1); else it
//!   carries Welch's (Welch, Biometrika 34, 1947).
//! - A difference of shares carries Newcombe's hybrid of the two Wilson intervals: his method 10 for
//!   independent samples (Newcombe, Stat. Med. 17:873, 1998) or for pairs (Stat. Med. 17:2635, 1998).
//! - Times that may be censored have no difference that could be averaged: both medians stand side by
//!   side, and differ where their order-statistic intervals are disjoint.
//!
//! What the world does to one of a pair it mostly does to the other too, and much of it cancels in their
//! difference: the pairing factor says how many times wider the interval for independent worlds would be.
//! Where what helps one harms the other it is below 1.
//!
//! Intervals are of one metric each: of many metrics that do not differ, some will seem to.

use std::fmt;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::estimate::{CONFIDENCE, Interval, mean, numbers, wilson};
use super::{Estimate, Kind, Metric, Value};

/// How the replicates of the two belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Values of the same index met the same random world.
    Paired,
    /// All worlds are independent.
    Unpaired,
}

/// How a difference was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Student's t over pairs.
    PairedT,
    /// Welch's t over two independent samples.
    WelchT,
    /// Newcombe's hybrid score interval for pairs.
    PairedScore,
    /// Newcombe's hybrid score interval for two independent samples.
    Score,
    /// The order-statistic intervals of both medians.
    Medians,
}

/// What can be said of B against A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// B is lower, at 95 %.
    Lower,
    /// B is higher, at 95 %.
    Higher,
    /// Every replicate has the same value.
    Same,
    /// The replicates do not tell.
    Undecided,
}

/// One metric of the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// What is compared.
    pub metric: Metric,
    /// How.
    pub method: Method,
    /// The estimate in A; of pairs, over the pairs.
    pub a: Estimate,
    /// The estimate in B; of pairs, over the pairs.
    pub b: Estimate,
    /// B − A; `None` where either does not exist or is censored.
    pub difference: Option<f64>,
    /// Lower bound of the difference at 95 %; never of a time that may be censored.
    pub low: Option<f64>,
    /// Upper bound likewise.
    pub high: Option<f64>,
    /// How many times wider the interval of pairs would be without pairing; `None` where there are none
    /// or an interval has no width.
    pub pairing_factor: Option<f64>,
    /// What can be said.
    pub verdict: Verdict,
}

impl Difference {
    /// Compares `metric` by one value per replicate; of pairs, `a` and `b` are in the same order and
    /// what one has beyond the other is left out.
    pub fn of(metric: Metric, design: Design, a: &[Value], b: &[Value]) -> Difference {
        let method = match (metric.kind(), design) {
            (Kind::Mean, Design::Paired) => Method::PairedT,
            (Kind::Mean, Design::Unpaired) => Method::WelchT,
            (Kind::Share, Design::Paired) => Method::PairedScore,
            (Kind::Share, Design::Unpaired) => Method::Score,
            (Kind::Time, _) => Method::Medians,
        };
        let common = a.len().min(b.len());
        let (a, b) = match design {
            Design::Paired => (&a[..common], &b[..common]),
            Design::Unpaired => (a, b),
        };
        let pairs = pairs(a, b);
        let over_pairs = matches!(method, Method::PairedT | Method::PairedScore);
        let (in_a, in_b) = match over_pairs && !pairs.is_empty() {
            true => {
                let side = |of: fn(&(f64, f64)) -> f64| -> Vec<Value> {
                    pairs.iter().map(|pair| Value::Number(of(pair))).collect()
                };
                (Estimate::of(metric, &side(|pair| pair.0)), Estimate::of(metric, &side(|p| p.1)))
            }
            false => (Estimate::of(metric, a), Estimate::of(metric, b)),
        };
        let interval = match method {
            Method::PairedT => paired(&pairs),
            Method::WelchT => welch(&numbers(a), &numbers(b)),
            Method::PairedScore => score(&in_a, &in_b, correlation(&pairs)),
            Method::Score => score(&in_a, &in_b, 0.0),
            Method::Medians => {
                let pair = in_a.estimate.zip(in_b.estimate);
                (pair.map(|(a, b)| b - a), None, None)
            }
        };
        let unpaired = match method {
            Method::PairedT => {
                let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
                Some(welch(&a, &b))
            }
            Method::PairedScore => Some(score(&in_a, &in_b, 0.0)),
            _ => None,
        };
        let factor = unpaired.and_then(|unpaired| Some(width(unpaired)? / width(interval)?));
        let (difference, low, high) = interval;
        // Values of a damaged file may be so large that their differences are no numbers.
        let [difference, low, high, pairing_factor] = [difference, low, high, factor]
            .map(|figure| figure.filter(|figure| figure.is_finite()));
        let verdict = match method {
            _ if same(a, b) => Verdict::Same,
            Method::Medians => of_intervals(in_a.bounds(), in_b.bounds()),
            _ => of_intervals(Some((0.0, 0.0)), low.zip(high)),
        };
        Difference {
            metric,
            method,
            a: in_a,
            b: in_b,
            difference,
            low,
            high,
            pairing_factor,
            verdict,
        }
    }

    /// Half the width of the interval, which lies evenly about a mean's difference.
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high? - self.low?) / 2.0)
    }
}

fn width((_, low, high): Interval) -> Option<f64> {
    Some(high? - low?)
}

/// The values of replicates in which both have one.
fn pairs(a: &[Value], b: &[Value]) -> Vec<(f64, f64)> {
    let both = a.iter().zip(b).filter_map(|pair| match pair {
        (Value::Number(a), Value::Number(b)) => Some((*a, *b)),
        _ => None,
    });
    both.collect()
}

/// Whether nothing tells them apart: replicate by replicate, or as every value is one and the same.
fn same(a: &[Value], b: &[Value]) -> bool {
    let constant = || {
        let mut all = a.iter().chain(b);
        let first = all.next();
        !a.is_empty() && !b.is_empty() && all.all(|value| Some(value) == first)
    };
    a == b || constant()
}

fn paired(pairs: &[(f64, f64)]) -> Interval {
    mean(&pairs.iter().map(|(a, b)| b - a).collect::<Vec<_>>())
}

/// The difference of means with Welch's interval: variances may differ, and the degrees of freedom
/// are Satterthwaite's.
fn welch(a: &[f64], b: &[f64]) -> Interval {
    let [a, b] = [a, b].map(|sample| {
        let n = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / n;
        let squares = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        (n, mean, squares / (n - 1.0) / n)
    });
    if a.0 < 1.0 || b.0 < 1.0 {
        return (None, None, None);
    }
    let difference = b.1 - a.1;
    if a.0 < 2.0 || b.0 < 2.0 {
        return (Some(difference), None, None);
    }
    let error = a.2 + b.2;
    if error == 0.0 {
        return (Some(difference), Some(difference), Some(difference));
    }
    // As shares of the sum, so that the squares of tiny variances do not vanish.
    let share = a.2 / error;
    let freedom = 1.0 / (share.powi(2) / (a.0 - 1.0) + (1.0 - share).powi(2) / (b.0 - 1.0));
    let half = StudentsT::new(0.0, 1.0, freedom)
        .map(|law| law.inverse_cdf((1.0 + CONFIDENCE) / 2.0) * error.sqrt());
    match half {
        Ok(half) => (Some(difference), Some(difference - half), Some(difference + half)),
        Err(_) => (Some(difference), None, None),
    }
}

/// The difference of shares with Newcombe's interval, the two correlated by `phi`.
fn score(a: &Estimate, b: &Estimate, phi: f64) -> Interval {
    let (Some(p), Some(q)) = (a.estimate, b.estimate) else { return (None, None, None) };
    let (low_a, high_a) = wilson(p, a.replicates as f64);
    let (low_b, high_b) = wilson(q, b.replicates as f64);
    let together = |x: f64, y: f64| (x * x - 2.0 * phi * x * y + y * y).max(0.0).sqrt();
    let below = together(q - low_b, high_a - p);
    let above = together(high_b - q, p - low_a);
    (Some(q - p), Some(q - p - below), Some(q - p + above))
}

/// How far pairs of yes and no go together, from −1 to 1, corrected for continuity as Newcombe does.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let n = pairs.len() as f64;
    let count = |a: bool, b: bool| {
        pairs.iter().filter(|pair| (pair.0 > 0.5, pair.1 > 0.5) == (a, b)).count() as f64
    };
    let (both, only_a) = (count(true, true), count(true, false));
    let (only_b, neither) = (count(false, true), count(false, false));
    let margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither);
    if margins == 0.0 {
        return 0.0;
    }
    let product = both * neither - only_a * only_b;
    let corrected = if product > 0.0 { (product - n / 2.0).max(0.0) } else { product };
    corrected / margins.sqrt()
}

fn of_intervals(a: Option<(f64, f64)>, b: Option<(f64, f64)>) -> Verdict {
    match a.zip(b) {
        Some((a, b)) if b.1 < a.0 => Verdict::Lower,
        Some((a, b)) if a.1 < b.0 => Verdict::Higher,
        _ => Verdict::Undecided,
    }
}

impl Verdict {
    /// Whether B is lower or higher.
    pub fn differs(self) -> bool {
        matches!(self, Verdict::Lower | Verdict::Higher)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Lower => "lower",
            Verdict::Higher => "higher",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
        })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Method::PairedT => "paired-t",
            Method::WelchT => "welch-t",
            Method::PairedScore => "newcombe-paired",
            Method::Score => "newcombe",
            Method::Medians => "medians",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(numbers: &[f64]) -> Vec<Value> {
        numbers.iter().map(|&number| Value::Number(number)).collect()
    }

    fn shares(yes: usize, of: usize) -> Vec<Value> {
        (0..of).map(|index| Value::Number(f64::from(u8::from(index < yes)))).collect()
    }

    fn close(figure: Option<f64>, to: f64) {
        assert!((figure.unwrap() - to).abs() < 1e-4, "{figure:?} is not {to}");
    }

    /// Differences 1, 2, 3, 4: mean 2.5, s = 1.290994, t(0.975, 3) = 3.182446, so ± 2.054260.
    #[test]
    fn pairs_are_judged_by_their_differences() {
        let (a, b) = (values(&[10.0, 20.0, 30.0, 40.0]), values(&[11.0, 22.0, 33.0, 44.0]));
        let paired = Difference::of(Metric::Polls, Design::Paired, &a, &b);
        assert_eq!((paired.difference, paired.verdict), (Some(2.5), Verdict::Higher));
        close(paired.low, 2.5 - 2.054_260);
        close(paired.high, 2.5 + 2.054_260);
        let unpaired = Difference::of(Metric::Polls, Design::Unpaired, &a, &b);
        assert_eq!((unpaired.difference, unpaired.verdict), (Some(2.5), Verdict::Undecided));
    }

    /// Variances of the means: 2.5 / 5 and 10 / 5, so a standard error of √2.5 = 1.581139, and
    /// 2.5² / (0.5² / 4 + 2² / 4) = 5.882353 degrees of freedom with t = 2.458870: ± 3.887813.
    #[test]
    fn independent_samples_carry_welchs_interval() {
        let (a, b) = (values(&[1.0, 2.0, 3.0, 4.0, 5.0]), values(&[2.0, 4.0, 6.0, 8.0, 10.0]));
        let found = Difference::of(Metric::Polls, Design::Unpaired, &a, &b);
        assert_eq!((found.difference, found.verdict), (Some(3.0), Verdict::Undecided));
        close(found.low, -0.887_813);
        close(found.high, 6.887_813);
    }

    /// The published examples: 56 of 70 against 48 of 80: 0.0524 to 0.3339.
    #[test]
    fn shares_carry_newcombes_interval() {
        let found = Difference::of(
            Metric::DrainedShare,
            Design::Unpaired,
            &shares(48, 80),
            &shares(56, 70),
        );
        close(found.difference, 0.2);
        close(found.low, 0.052_43);
        close(found.high, 0.333_87);
        assert_eq!(found.verdict, Verdict::Higher);
    }

    /// The published example of pairs: 36 in both, 12 and 2 in one only: 0.0569 to 0.3404.
    #[test]
    fn shares_of_pairs_carry_newcombes_interval_for_pairs() {
        let pairs = |of_both: usize, of_a: usize| {
            values(&[vec![1.0; 36], vec![of_both as f64; 12], vec![of_a as f64; 2]].concat())
        };
        let found =
            Difference::of(Metric::DrainedShare, Design::Paired, &pairs(0, 1), &pairs(1, 0));
        close(found.difference, 0.2);
        close(found.low, 0.056_93);
        close(found.high, 0.340_43);
    }

    #[test]
    fn five_pairs_that_all_turned_differ_and_one_alone_does_not() {
        let turned =
            Difference::of(Metric::DrainedShare, Design::Paired, &shares(5, 5), &shares(0, 5));
        assert_eq!((turned.difference, turned.verdict), (Some(-1.0), Verdict::Lower));
        // √2 · (1 − 0.565518) from either end.
        close(turned.high, -1.0 + 2f64.sqrt() * (1.0 - 0.565_518));
        let one =
            Difference::of(Metric::DrainedShare, Design::Paired, &shares(1, 1), &shares(0, 1));
        assert_eq!(one.verdict, Verdict::Undecided);
    }

    #[test]
    fn a_time_differs_where_the_intervals_of_both_medians_are_disjoint() {
        let (short, long) = (values(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), vec![Value::Censored; 6]);
        let of =
            |a: &[Value], b: &[Value]| Difference::of(Metric::TimeToDrain, Design::Paired, a, b);
        let found = of(&short, &long);
        assert_eq!(found.verdict, Verdict::Higher, "never is later than ever");
        assert_eq!((found.difference, found.low, found.high), (None, None, None));
        assert_eq!((found.a.estimate, found.b.estimate), (Some(3.5), None));
        assert_eq!(of(&long, &short).verdict, Verdict::Lower);
        assert_eq!(of(&short[..5], &long[..5]).verdict, Verdict::Undecided, "5 are too few");
        let mixed = [&short[..5], &long[..1]].concat();
        assert_eq!(of(&mixed, &long).verdict, Verdict::Undecided, "both may be censored");
        assert_eq!(of(&long, &long).verdict, Verdict::Same);
    }

    #[test]
    fn same_means_every_replicate() {
        let of = |design, a: &[f64], b: &[f64]| {
            Difference::of(Metric::Polls, design, &values(a), &values(b)).verdict
        };
        assert_eq!(of(Design::Paired, &[1.0, 2.0, 9.0], &[1.0, 2.0]), Verdict::Same, "common ones");
        assert_eq!(of(Design::Paired, &[1.0, 2.0], &[2.0, 1.0]), Verdict::Undecided);
        assert_eq!(of(Design::Unpaired, &[0.0; 3], &[0.0; 5]), Verdict::Same);
        assert_eq!(of(Design::Unpaired, &[1.0; 3], &[2.0; 5]), Verdict::Higher);
        assert_eq!(of(Design::Paired, &[1.0], &[2.0]), Verdict::Undecided, "one is no sample");
        let absent = [Value::Absent; 2];
        let found = Difference::of(Metric::Polls, Design::Paired, &absent, &values(&[1.0, 2.0]));
        assert_eq!((found.verdict, found.difference), (Verdict::Undecided, None));
    }

    #[test]
    fn numbers_beyond_reason_stop_nothing() {
        for design in [Design::Paired, Design::Unpaired] {
            let (a, b) = (values(&[f64::MAX, -f64::MAX]), values(&[-f64::MAX, f64::MAX]));
            for &metric in Metric::ALL {
                let found = Difference::of(metric, design, &a, &b);
                let figures = [found.difference, found.low, found.high];
                assert!(figures.iter().flatten().all(|figure| figure.is_finite()));
            }
        }
    }

    const REFERENCE: [f64; 5] = [10.0, 12.0, 14.0, 16.0, 18.0];

    fn against_reference(own: &[f64]) -> Difference {
        Difference::of(Metric::Polls, Design::Paired, &values(&REFERENCE), &values(own))
    }

    /// Differences 3, −1, 1, 3, −1: mean 1, s = 2, t(0.975, 4) = 2.776445. Both variances are 10, so ν = 8,
    /// t(0.975, 8) = 2.306004 and the standard error is √(2 + 2) = 2.
    #[test]
    fn a_shared_world_narrows_the_interval() {
        let difference = against_reference(&[13.0, 11.0, 15.0, 19.0, 17.0]);
        assert_eq!((difference.difference, difference.b.replicates), (Some(1.0), 5));
        close(difference.half_width(), 2.776_445 * 2.0 / 5f64.sqrt());
        close(difference.pairing_factor, 4.612_008 / 2.483_328);
    }

    /// Differences 8, 4, 0, −4, −8: s² = 40, twice the sum that independent worlds would give.
    #[test]
    fn pairing_harms_where_one_gains_what_the_other_loses() {
        let difference = against_reference(&[18.0, 16.0, 14.0, 12.0, 10.0]);
        close(difference.half_width(), 2.776_445 * 8f64.sqrt());
        close(difference.pairing_factor, 4.612_008 / 7.852_973);
    }

    #[test]
    fn the_same_difference_everywhere_is_certain() {
        let difference = against_reference(&REFERENCE.map(|value| value + 3.0));
        assert_eq!((difference.low, difference.high), (Some(3.0), Some(3.0)));
        assert_eq!(difference.pairing_factor, None, "it would be infinite");
        let same = against_reference(&REFERENCE);
        assert_eq!((same.difference, same.pairing_factor), (Some(0.0), None));
    }

    /// Newcombe's intervals with and without the correlation of the pairs.
    #[test]
    fn shares_that_go_together_gain_from_pairing_too() {
        let (a, b) = (shares(10, 20), shares(12, 20));
        let of = |design| Difference::of(Metric::DrainedShare, design, &a, &b);
        let (paired, unpaired) = (of(Design::Paired), of(Design::Unpaired));
        let factor = unpaired.half_width().unwrap() / paired.half_width().unwrap();
        assert!(factor > 1.5, "{factor}");
        close(paired.pairing_factor, factor);
        assert_eq!(unpaired.pairing_factor, None);
    }
}
