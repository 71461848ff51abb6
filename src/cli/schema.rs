//! `herdsim schema`: the keys of a scenario for editors.

use clap::Args;

use super::{Console, Failure};
use crate::report::schema;

/// Print the JSON Schema of scenarios, for editors
#[derive(Debug, Args)]
pub(super) struct Schema {}

impl Schema {
    pub fn run(self, console: &Console) -> Result<(), Failure> {
        console.data(format!("{:#}\n", schema::scenario()).as_bytes())
    }
}
