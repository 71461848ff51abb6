//! Views of results: [`mod@page`] with its pictures to look at, [`terminal`] for people, [`markdown`] for a
//! pull request, [`json`] for programs; [`activity`] lays what a monitor saw beside them, [`compare`] sets two
//! finished runs side by side; [`mod@check`] is of a scenario that has none yet, [`explain`] and [`schema`]
//! of the keys of any.
//!
//! Pure functions of [`Results`](crate::results::Results) or a scenario: nothing is run, read or
//! written here, so a report can be made again at any time. What a time that had not come by the end
//! looks like is decided in one place (`columns`): `> 30m`, never a number.

pub mod activity;
pub mod backoff;
mod beside;
pub mod check;
mod columns;
pub mod compare;
mod conduct;
mod courses;
mod differences;
pub mod edge;
pub mod explain;
pub(crate) mod guards;
mod happenings;
mod histogram;
pub mod json;
pub mod map;
pub mod markdown;
mod numbers;
pub mod page;
pub mod plan;
mod prose;
mod rows;
mod scene;
pub mod schema;
mod spark;
mod svg;
pub mod sweep;
mod table;
pub mod terminal;
mod text;
mod thresholds;
mod warnings;

use text::paragraph;
pub use text::{Glyphs, Ink, Style};
