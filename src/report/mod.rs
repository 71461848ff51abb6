//! Views of results.
