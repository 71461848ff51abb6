//! # herdsim
//!
//! A fleet of clients polls a capped database pool. After a restart everybody knocks at once: will it
//! be a 30-second herd or a 4-hour outage, and which policy prevents it? herdsim takes the system as a
//! file, plays every candidate policy against the same random worlds in a discrete-event engine, and
//! reports the distribution of concurrent claims, the time to drain, and what it cost.
//!
//! ## The rooms
//!
//! ```text
//! scenario file ─▶ scenario ─▶ plan (units) ─▶ engine × metrics ─▶ results ─▶ report
//!                    ▲                           ▲
//!                    └── policy ─────────────────┘
//! ```
//!
//! Data flows one way; a stage hands plain structs to the next.
//!
//! | room | what it is | may import |
//! |---|---|---|
//! | [`units`] | instants, spans, shares over integers | – |
//! | [`random`] | stateless draws keyed by what they are for | units |
//! | [`metric`] | every figure of `summary.csv` by name | – |
//! | [`policy`] | what a client decides: pure functions | units, random |
//! | [`scenario`] | what the user wrote, checked | metric, policy, units |
//! | [`theory`] | closed forms: load, capacity, peaks, occupancy, lock-in | scenario, policy, units |
//! | [`plan`] | the ordered units of a run | scenario, policy, units |
//! | [`engine`] | one unit, one thread, deterministic | scenario, policy, random, units |
//! | [`metrics`] | what is measured, per unit and over replicates | engine's observer, metric, scenario, units |
//! | [`results`] | a run's results and their folder | metrics, plan, scenario, units |
//! | [`records`] | unit records on disk: what a long run keeps and a shard leaves | metrics, plan, results, scenario |
//! | [`sweep`] | all units, in parallel, folded in plan order | plan, engine, metrics, results, scenario, units |
//! | [`explore`] | questions whose answers decide what is played next: the edge of a key, a precision | metrics, results, scenario, units |
//! | [`report`] | views: of results as page, pictures, terminal, markdown, JSON; of a scenario's keys | results, metric, metrics, plan, theory, scenario, policy, units |
//! | [`cli`] | the command line | everything |
//!
//! `tests/layers.rs` holds the code to this table.
//!
//! ## As a library
//!
//! A scenario is loaded, played, and its metrics are read; the folder and its views come from
//! [`results`] and [`report`], where they are wanted.
//!
//! ```
//! use herdsim::metric::Metric;
//! use herdsim::{scenario, sweep};
//!
//! let overrides = ["fleet.clients=500", "run.replicates=6"].map(str::to_owned);
//! let mut loaded = scenario::load("deriver-restart", &overrides)?;
//! loaded.scenario.select(&["no-retry".to_owned(), "jittered-no-retry".to_owned()])?;
//! for summary in sweep::play(&loaded.scenario, 2, &|_progress| {}) {
//!     let drained = summary.estimate(Metric::TimeToDrain);
//!     let (low, high) = drained.bounds().expect("six replicates have an interval");
//!     println!("{}: {:?} s ({low} to {high})", summary.policy, drained.estimate);
//!     assert!(summary.estimate(Metric::SvActiveMax).estimate <= Some(368.0));
//! }
//! # Ok::<(), scenario::ScenarioError>(())
//! ```
//!
//! ## What never happens
//!
//! - The engine does no I/O, reads no clock, starts no thread and depends on no hash order.
//! - A policy sees the outcomes of its own client, or of those who share a guard, and nothing else.
//! - Only `scenario` knows TOML, only `cli` knows the command line, the terminal and signals, only
//!   `sweep` starts threads that compute, and `report` never runs anything.
//! - Same scenario, seed, version and target give the same bytes, whatever the number of threads.

pub mod cli;
pub mod engine;
pub mod explore;
pub mod metric;
pub mod metrics;
pub mod plan;
pub mod policy;
pub mod random;
pub mod records;
pub mod report;
pub mod results;
pub mod scenario;
pub mod sweep;
pub mod theory;
pub mod units;
