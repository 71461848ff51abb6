//! Questions whose answers decide what is played next: where the edge of something lies, and how many
//! replicates a figure takes.

pub mod precision;
mod tune;

pub use precision::Precision;
pub use tune::{Question, tune};
