//! The plan of a run: its units in order, and the shards that they fall to.

use std::num::NonZeroUsize;

use serde::Serialize;

use super::table::{self, Column};
use super::text::{Piece, Style};
use crate::plan::{self, Shard};
use crate::scenario::Scenario;

/// What is played, and by how many.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// How many shards, where there are shards.
    pub shards: Option<NonZeroUsize>,
}

#[derive(Serialize)]
struct Row<'a> {
    number: usize,
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
        let column = |heading: [&'static str; 2], cell: &dyn Fn(&Row<'_>) -> Option<String>| {
            let cells: Option<Vec<String>> = rows.iter().map(cell).collect();
            cells.map(|cells| Column {
                name: heading[1],
                heading,
                weight: u8::MAX,
                cells: cells.into_iter().map(Piece::new).collect(),
            })
        };
        let columns = [
            column(["", "policy"], &|row| Some(row.policy.to_owned())),
            column(["", "variant"], &|row| row.variant.map(str::to_owned)),
            column(["", "replicate"], &|row| Some(row.replicate.to_string())),
            column(["unit", "number"], &|row| Some(row.number.to_string())),
            column(["", "shard"], &|row| row.shard.map(|shard| shard.to_string())),
        ];
        let table = table::render(columns.into_iter().flatten().collect(), style.width, style.ink);
        style.glyphs.write(&format!("{table}\n{}\n", self.count()))
    }

    /// A row per unit.
    pub fn to_csv(&self) -> Vec<u8> {
        let written = "a table in memory can be written";
        let mut table = csv::Writer::from_writer(Vec::new());
        for row in self.rows() {
            table.serialize(row).expect(written);
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
        let units = plan::units(self.scenario).into_iter().enumerate();
        let rows = units.map(|(number, unit)| Row {
            number,
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
        Some(shards.map(|shard| shard.part(plan::units(self.scenario)).len()).collect())
    }

    /// `35 units in 8 shards of 4 or 5`.
    fn count(&self) -> String {
        let units = plan::units(self.scenario).len();
        let Some(shards) = self.shards else { return format!("{units} units") };
        let least = units / shards;
        let most = units.div_ceil(shards.get());
        let each = if least == most { least.to_string() } else { format!("{least} or {most}") };
        format!("{units} units in {shards} shards of {each}")
    }
}
