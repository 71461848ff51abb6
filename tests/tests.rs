//! One integration binary, a module per subject.

mod aws;
mod background;
mod bad_input;
mod cli;
mod client_rules;
mod connections;
mod deadline;
mod determinism;
mod disturbances;
mod herds;
mod incident;
mod laws;
mod layers;
mod libraries;
mod measured;
mod outcomes;
mod queues;
mod readme;
mod real_pooler;
mod recovery;
mod report;
mod results_folder;
mod sample;
mod steady_state;
mod watch;
mod work;
