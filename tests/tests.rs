//! Integration tests, by subject.

mod client_rules;
mod determinism;
mod incident;
mod laws;
mod steady_state;
mod watch;
