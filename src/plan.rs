//! The ordered list of units that a run consists of, and how shards divide it.
//!
//! A unit is one (point, policy, variant, replicate): one simulation, one thread, one record. The order is
//! point by point of a sweep, policy by policy, variant by variant, replicate by replicate; results are
//! folded in it whatever the order in which units finish, and wherever.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::scenario::{Axis, Scenario};

/// One simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unit {
    /// Index of the point in the sweep, in the order of [`Axis::combinations`]; 0 where nothing is swept.
    pub point: usize,
    /// Index of the policy in the scenario.
    pub policy: usize,
    /// Index of the variant in the scenario; 0 where it has none.
    pub variant: usize,
    /// The replicate, from 0: which random world.
    pub replicate: u32,
}

impl Unit {
    /// The name of its policy.
    pub fn policy<'a>(&self, scenario: &'a Scenario) -> &'a str {
        &scenario.policies[self.policy].name
    }

    /// The name of its variant, where the scenario has variants.
    pub fn variant<'a>(&self, scenario: &'a Scenario) -> Option<&'a str> {
        scenario.variants.get(self.variant).map(|variant| &*variant.name)
    }

    /// The values that the swept keys have at its point.
    pub fn values<'a>(&self, scenario: &'a Scenario) -> Vec<&'a str> {
        Axis::values_at(&scenario.sweep, self.point)
    }

    /// All of it in words: `fleet.clients=500, baseline / nothing, replicate 3`.
    pub fn in_words(&self, scenario: &Scenario) -> String {
        let values = scenario.sweep.iter().zip(self.values(scenario));
        let point: String = values.map(|(axis, value)| format!("{}={value}, ", axis.key)).collect();
        let variant = self.variant(scenario).map_or_else(String::new, |name| format!(" / {name}"));
        format!("{point}{}{variant}, replicate {}", self.policy(scenario), self.replicate)
    }
}

/// All units of a sweep with these points, in plan order; a plain run has one.
pub fn of_points(points: &[Scenario]) -> Vec<Unit> {
    let at =
        |(point, scenario)| units(scenario).into_iter().map(move |unit| Unit { point, ..unit });
    points.iter().enumerate().flat_map(at).collect()
}

/// All units of `scenario` at one point, in plan order.
pub fn units(scenario: &Scenario) -> Vec<Unit> {
    units_from(scenario, 0)
}

/// Those from replicate number `first` on.
pub fn units_from(scenario: &Scenario, first: u32) -> Vec<Unit> {
    let variants = scenario.variants.len().max(1);
    let pairs = (0..scenario.policies.len())
        .flat_map(|policy| (0..variants).map(move |variant| (policy, variant)));
    pairs
        .flat_map(|(policy, variant)| {
            (first..scenario.run.replicates).map(move |replicate| Unit {
                point: 0,
                policy,
                variant,
                replicate,
            })
        })
        .collect()
}

/// Every n-th unit of a plan, for one of n machines: the policies that take long are spread evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

/// Why a text is no shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardError {
    /// It is not two numbers.
    #[error("write K/N: shard number K of N, counted from 0, as in 0/8")]
    Form,
    /// There is no such shard.
    #[error("shards are counted from 0: of {0} there are 0/{0} to {last}/{0}", last = .0 - 1)]
    Beyond(usize),
}

impl Shard {
    /// Shard number `index` of `count`, from 0; `None` unless `index` is below `count`.
    pub fn new(index: usize, count: usize) -> Option<Shard> {
        (index < count).then_some(Shard { index, count })
    }

    /// The shard, of as many as there are of this one, that unit `number` of a plan falls to.
    pub fn sibling(self, number: usize) -> Shard {
        Shard { index: number % self.count, ..self }
    }

    /// Of how many it is one.
    pub fn count(self) -> usize {
        self.count
    }

    /// Its part of a plan, in plan order.
    pub fn part(self, units: Vec<Unit>) -> Vec<Unit> {
        units.into_iter().skip(self.index).step_by(self.count).collect()
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    /// Reads `3/8`.
    fn from_str(text: &str) -> Result<Shard, ShardError> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            Some((index.trim().parse().ok()?, count.trim().parse().ok()?))
        });
        match numbers {
            Some((index, count)) if count > 0 => {
                Shard::new(index, count).ok_or(ShardError::Beyond(count))
            }
            _ => Err(ShardError::Form),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl Serialize for Shard {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Shard, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_counted_from_zero() {
        assert_eq!("3/8".parse(), Ok(Shard { index: 3, count: 8 }));
        assert_eq!("8/8".parse::<Shard>(), Err(ShardError::Beyond(8)));
        assert_eq!(
            ShardError::Beyond(8).to_string(),
            "shards are counted from 0: of 8 there are 0/8 to 7/8"
        );
        for text in ["3", "3/0", "a/8", "-1/8", "3/8/9", "0x1/8", ""] {
            assert_eq!(text.parse::<Shard>(), Err(ShardError::Form), "{text}");
        }
    }

    #[test]
    fn shards_share_a_plan_out() {
        let units = |count| -> Vec<Unit> {
            (0..count)
                .map(|replicate| Unit { point: 0, policy: 0, variant: 0, replicate })
                .collect()
        };
        let mut all: Vec<Unit> =
            (0..3).flat_map(|index| Shard { index, count: 3 }.part(units(7))).collect();
        assert_eq!(all[..3], Shard { index: 0, count: 3 }.part(units(7)));
        all.sort();
        assert_eq!(all, units(7));
        assert_eq!(Shard { index: 0, count: 3 }.sibling(7).to_string(), "1/3");
    }
}
