//! A key of a scenario and the values that it takes one after the other.

use serde::{Deserialize, Serialize};

use super::ScenarioError;
use crate::units;

/// A key and its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// The dotted path, as in an override.
    pub key: String,
    /// The values as they would be written.
    pub values: Vec<String>,
}

impl Axis {
    /// More values of a key than this are a mistake rather than a wish.
    pub const MOST_VALUES: usize = 1_000;

    /// Reads `key=a,b,c`, or `key=from..to:n` for n values evenly apart, both ends included; ends that
    /// are whole numbers give whole numbers, and ends may have the same unit, as in `1s..5s:5`.
    ///
    /// # Errors
    ///
    /// If it is written otherwise.
    pub fn parse(text: &str) -> Result<Axis, ScenarioError> {
        let wrong = |message: String| {
            let help = "write key=a,b,c or key=from..to:n, as in fleet.clients=1000..8000:8";
            ScenarioError::plain(message, help.to_owned())
        };
        let Some((key, values)) = text.split_once('=') else {
            return Err(wrong(format!("`{text}` gives a key no values")));
        };
        let read = match values.split_once("..") {
            Some((from, rest)) => range(from.trim(), rest),
            None => {
                let values = values.split(',').map(|value| value.trim().to_owned());
                Some(values.filter(|value| !value.is_empty()).collect())
            }
        };
        match read {
            Some(values)
                if (1..=Axis::MOST_VALUES).contains(&values.len()) && !key.trim().is_empty() =>
            {
                Ok(Axis { key: key.trim().to_owned(), values })
            }
            Some(values) if values.len() > Axis::MOST_VALUES => {
                Err(wrong(format!("`{text}` has more than {} values", Axis::MOST_VALUES)))
            }
            _ => Err(wrong(format!("`{text}` is no key with values"))),
        }
    }

    /// A number and the unit behind it, as in `30s`; `10k` is 10000 without a unit.
    pub fn number(text: &str) -> Option<(f64, &str)> {
        if let Some(count) = units::count(text) {
            return Some((count as f64, ""));
        }
        let unit = text.find(|c: char| c.is_ascii_alphabetic() || c == '/').unwrap_or(text.len());
        let (number, unit) = text.split_at(unit);
        let number: f64 = number.trim().replace('_', "").parse().ok()?;
        number.is_finite().then_some((number, unit))
    }

    /// A number in at most six decimals.
    pub fn written(value: f64) -> String {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// How many combinations of values there are.
    pub fn count(axes: &[Axis]) -> usize {
        axes.iter().fold(1, |count: usize, axis| count.saturating_mul(axis.values.len()))
    }

    /// Every combination of values: by axis the number of the value, the last changing fastest.
    pub fn combinations(axes: &[Axis]) -> Vec<Vec<usize>> {
        axes.iter().fold(vec![Vec::new()], |combinations, axis| {
            let each = |combination: &Vec<usize>| {
                let combination = combination.clone();
                (0..axis.values.len()).map(move |index| [&combination[..], &[index]].concat())
            };
            combinations.iter().flat_map(each).collect()
        })
    }

    /// The values of combination number `index`.
    pub fn values_at(axes: &[Axis], index: usize) -> Vec<&str> {
        let mut rest = index;
        let mut values: Vec<&str> = axes
            .iter()
            .rev()
            .map(|axis| {
                let value = &axis.values[rest % axis.values.len()];
                rest /= axis.values.len();
                &**value
            })
            .collect();
        values.reverse();
        values
    }

    /// Its value number `index` as an override.
    pub fn set(&self, index: usize) -> String {
        format!("{}={}", self.key, self.values[index])
    }
}

/// `to:n` after a `from`.
fn range(from: &str, rest: &str) -> Option<Vec<String>> {
    let (to, count) = rest.split_once(':')?;
    let count: usize = count.trim().parse().ok().filter(|&count| count >= 2)?;
    if count > Axis::MOST_VALUES {
        return Some(vec![String::new(); count]);
    }
    let ((low, unit), (high, other)) = (Axis::number(from)?, Axis::number(to.trim())?);
    let whole = |text: &str| units::count(text.trim_start_matches('-')).is_some();
    let whole = unit.is_empty() && whole(from) && whole(to.trim());
    let value = |index: usize| {
        let value = low + (high - low) * index as f64 / (count - 1) as f64;
        match whole {
            true => format!("{:.0}", value.round()),
            false => format!("{}{unit}", Axis::written(value)),
        }
    };
    (unit == other).then(|| (0..count).map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_listed_or_evenly_apart() {
        let values = |text: &str| Axis::parse(text).unwrap().values;
        assert_eq!(values("k=1s, 2s,5s"), ["1s", "2s", "5s"]);
        assert_eq!(values("k=100..400:4"), ["100", "200", "300", "400"]);
        assert_eq!(values("k=10..15:3"), ["10", "13", "15"], "whole ends, whole values");
        assert_eq!(values("k=0..1.0:3"), ["0", "0.5", "1"]);
        assert_eq!(values("k=1k..2k:4"), ["1000", "1333", "1667", "2000"]);
        assert_eq!(values("k=1k,2k"), ["1k", "2k"]);
        assert_eq!(values("k=1s..2s:3"), ["1s", "1.5s", "2s"]);
        assert_eq!(values("k=500ms"), ["500ms"]);
        assert_eq!(Axis::parse(" a.b =1,2").unwrap().set(1), "a.b=2");
    }

    #[test]
    fn combinations_are_in_the_order_of_reading() {
        let axes = [Axis::parse("a=1,2").unwrap(), Axis::parse("b=1..3:3").unwrap()];
        let all = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]];
        assert_eq!(Axis::combinations(&axes), all);
        assert_eq!(Axis::count(&axes), all.len());
        for (index, [a, b]) in all.into_iter().enumerate() {
            assert_eq!(Axis::values_at(&axes, index), [&axes[0].values[a], &axes[1].values[b]]);
        }
        assert_eq!(Axis::combinations(&[]), [[0usize; 0]]);
    }

    #[test]
    fn what_is_no_axis_is_refused() {
        for wrong in
            ["k", "k=", "=1", "k=1..2", "k=1..2:1", "k=1s..2m:3", "k=a..b:3", "k=1..2:9999"]
        {
            assert!(Axis::parse(wrong).is_err(), "{wrong}");
        }
    }
}
