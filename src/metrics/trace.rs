//! Every event as a row.

/// Every event as a row.
#[derive(Debug)]
pub struct Trace;
