//! Watches one unit.

/// Watches one unit and leaves a record.
#[derive(Debug)]
pub struct Recorder;
