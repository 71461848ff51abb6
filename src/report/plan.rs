//! The plan of a run: its units in order, and the shards that they fall to.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::Serialize;

use super::sweep::short;
use super::table::{self, Column};
use super::text::{Piece, Style};
use crate::plan::{Shard, Unit};
use crate::scenario::Scenario;

/// What is played, and by how many.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The scenario, with the keys that are swept.
    pub scenario: &'a Scenario,
    /// All units, in plan order.
    pub units: &'a [Unit],
    /// How many shards, where there are shards.
    pub shards: Option<NonZeroUsize>,
}

#[derive(Serialize)]
struct Row<'a> {
    number: usize,
    /// The values of the swept keys at its point.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: BTreeMap<&'a str, &'a str>,
    policy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    replicate: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<usize>,
}

#[derive(Serialize)]
struct Whole<'a> {
    scenario: &'a str,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    shards: Option<Vec<usize>>,
    units: Vec<Row<'a>>,
}

impl Plan<'_> {
    /// For people: a row per unit, and how many there are.
    pub fn to_text(&self, style: &Style) -> String {
        let rows = self.rows();
        let column =
            |heading, cell: &dyn Fn(&Row<'_>) -> Option<String>| column(heading, &rows, cell);
        let columns = [
            column(["", "policy"], &|row| Some(row.policy.to_owned())),
            column(["", "variant"], &|row| row.variant.map(str::to_owned)),
        ];
        let keys =
            self.scenario.sweep.iter().map(|axis| {
                column(short(&axis.key), &|row| Some(row.values[&*axis.key].to_owned()))
            });
        let numbers = [
            column(["", "replicate"], &|row| Some(row.replicate.to_string())),
            column(["unit", "number"], &|row| Some(row.number.to_string())),
            column(["", "shard"], &|row| row.shard.map(|shard| shard.to_string())),
        ];
        let columns = columns.into_iter().chain(keys).chain(numbers).flatten().collect();
        let table = table::render(columns, style.width, style.ink);
        style.glyphs.write(&format!("{table}\n{}\n", self.count()))
    }

    /// A row per unit.
    pub fn to_csv(&self) -> Vec<u8> {
        let written = "a table in memory can be written";
        let mut table = csv::Writer::from_writer(Vec::new());
        let keys = || self.scenario.sweep.iter().map(|axis| &*axis.key);
        let variant = (!self.scenario.variants.is_empty()).then_some("variant");
        let names = ["number"].into_iter().chain(keys()).chain(["policy"]).chain(variant);
        let names = names.chain(["replicate"]).chain(self.shards.map(|_| "shard"));
        table.write_record(names).expect(written);
        for row in self.rows() {
            let number = row.number.to_string();
            let values = keys().map(|key| row.values[key].to_owned());
            let fields = [number].into_iter().chain(values).chain([row.policy.to_owned()]);
            let fields = fields.chain(row.variant.map(str::to_owned));
            let fields = fields.chain([row.replicate.to_string()]);
            let fields = fields.chain(row.shard.map(|shard| shard.to_string()));
            table.write_record(fields.collect::<Vec<_>>()).expect(written);
        }
        table.into_inner().expect(written)
    }

    /// Everything.
    pub fn to_json(&self) -> String {
        let units = self.rows();
        let whole = Whole {
            scenario: &self.scenario.name,
            count: units.len(),
            shards: self.sizes(),
            units,
        };
        super::json::pretty(&whole)
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let keys = || self.scenario.sweep.iter().map(|axis| &*axis.key);
        let rows = self.units.iter().enumerate().map(|(number, unit)| Row {
            number,
            values: keys().zip(unit.values(self.scenario)).collect(),
            policy: unit.policy(self.scenario),
            variant: unit.variant(self.scenario),
            replicate: unit.replicate,
            shard: self.shards.map(|shards| number % shards),
        });
        rows.collect()
    }

    /// How many units each shard plays.
    fn sizes(&self) -> Option<Vec<usize>> {
        let count = self.shards?.get();
        let shards = (0..count).filter_map(|index| Shard::new(index, count));
        Some(shards.map(|shard| shard.part(self.units.to_vec()).len()).collect())
    }

    /// `35 units in 8 shards of 4 or 5`.
    fn count(&self) -> String {
        let units = self.units.len();
        let Some(shards) = self.shards else { return format!("{units} units") };
        let least = units / shards;
        let most = units.div_ceil(shards.get());
        let each = if least == most { least.to_string() } else { format!("{least} or {most}") };
        format!("{units} units in {shards} shards of {each}")
    }
}

/// A column, unless a row has nothing to show in it.
fn column<'a>(
    heading: [&'a str; 2],
    rows: &[Row<'_>],
    cell: &dyn Fn(&Row<'_>) -> Option<String>,
) -> Option<Column<'a>> {
    let cells: Option<Vec<String>> = rows.iter().map(cell).collect();
    let cells = cells?.into_iter().map(Piece::new).collect();
    Some(Column { name: heading[1], heading, weight: u8::MAX, cells })
}
