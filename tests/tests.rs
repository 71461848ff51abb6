//! One integration binary, a module per subject.

mod bad_input;
mod cli;
mod client_rules;
mod connections;
mod determinism;
mod disturbances;
mod incident;
mod laws;
mod layers;
mod outcomes;
mod readme;
mod real_pooler;
mod recovery;
mod report;
mod results_folder;
mod sample;
mod steady_state;
mod theory;
mod watch;
