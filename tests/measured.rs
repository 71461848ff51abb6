//! Fleets that were run on a real PgBouncer: their scenarios, and what was measured
//! (`tests/data/real_pooler`).
//!
//! The time of a backend's login is the run's own, 1 / its logins per second when saturated (where it had no
//! time to saturate, that of the run most like it); a claim takes as long as it held its backend. Nothing
//! else is fitted.

use crate::watch::written;
use herdsim::scenario::Scenario;

/// A run on the real pooler, in the words of a scenario.
#[derive(Clone, Copy)]
pub struct Run {
    pub name: &'static str,
    pub clients: u32,
    pub pool_size: u32,
    pub max_client_conn: u32,
    pub duration: &'static str,
    pub warm_up: &'static str,
    /// When everybody is restarted within 200 ms.
    pub restart: Option<&'static str>,
    pub claim: &'static str,
    pub login: &'static str,
    /// Connections that the database allows.
    pub login_limit: Option<u32>,
    pub dead_waiters: &'static str,
    pub patience: Option<&'static str>,
    pub leave: &'static str,
    pub acquire: &'static str,
    pub start_up: &'static str,
    /// Whether sleeps vary by ± 50 %.
    pub jitter: bool,
    /// The first poll interval and the longest.
    pub intervals: [&'static str; 2],
    /// Windows that are compared, in seconds of the run.
    pub windows: &'static [(usize, usize)],
}

const ONCE: &str = "'once'";
/// tenacity's, as the fleet's library uses it.
const RETRY: &str = "{ retry = { delay = [{ exponential = { base = '100ms', factor = 2 } }, \
                     { add = ['0s', '1s'] }, { clamp = '2s' }], stop = { elapsed = '10s' } } }";
const SPREAD: &str = "{ uniform = ['0s', '30s'] }";

/// Nobody restarts, nobody gives up.
const STEADY: Run = Run {
    name: "",
    clients: 1_000,
    pool_size: 40,
    max_client_conn: 5_000,
    duration: "130s",
    warm_up: "15s",
    restart: None,
    claim: "'170600us'",
    login: "2ms",
    login_limit: None,
    dead_waiters: "'by-leave'",
    patience: None,
    leave: "close",
    acquire: ONCE,
    start_up: "'0s'",
    jitter: true,
    intervals: ["1s", "10s"],
    windows: &[(15, 130)],
};

/// Everybody restarts, nobody gives up.
const RESTART: Run = Run {
    clients: 1_154,
    pool_size: 20,
    duration: "150s",
    restart: Some("35s"),
    claim: "'170900us'",
    jitter: false,
    intervals: ["1s", "30s"],
    windows: &[(35, 45), (45, 65), (65, 85), (100, 150)],
    ..STEADY
};

/// Everybody restarts, and gives up after two seconds.
const PATIENCE: Run = Run {
    pool_size: 10,
    max_client_conn: 899,
    duration: "260s",
    restart: Some("40s"),
    claim: "'170600us'",
    patience: Some("2001ms"),
    leave: "terminate",
    windows: &[(40, 50), (60, 100), (130, 160), (200, 255)],
    ..RESTART
};

/// More clients than the pool can serve. A backend is held for the claim and two round trips.
const SATURATED: Run = Run {
    clients: 120,
    pool_size: 10,
    duration: "15s",
    warm_up: "3s",
    intervals: ["200ms", "200ms"],
    windows: &[(3, 15)],
    ..STEADY
};

pub const STEADY_RUNS: [Run; 2] = [
    Run { name: "ss_p40_const", ..STEADY },
    Run {
        name: "ss_p20_exp",
        pool_size: 20,
        claim: "{ exponential = { mean = '168100us' } }",
        ..STEADY
    },
];

pub const RESTARTED_RUNS: [Run; 3] = [
    Run { name: "rs_nojitter", ..RESTART },
    Run { name: "rs_nojitter_backlog4096", ..RESTART },
    Run { name: "rs_spread", start_up: SPREAD, jitter: true, ..RESTART },
];

pub const SATURATED_RUNS: [Run; 6] = [
    Run { name: "tx_single", ..SATURATED },
    Run { name: "tx_pipe", ..SATURATED },
    Run { name: "tx_begin_rtt0", ..SATURATED },
    Run { name: "tx_begin_rtt5", claim: "'180600us'", ..SATURATED },
    Run { name: "tx_begin_rtt20", claim: "'210600us'", ..SATURATED },
    Run { name: "tx_begin_rtt50", claim: "'270600us'", ..SATURATED },
];

pub fn patient_runs() -> Vec<Run> {
    let retry = Run { acquire: RETRY, ..PATIENCE };
    let jittered = Run { start_up: SPREAD, jitter: true, ..PATIENCE };
    let jittered_retry = Run { acquire: RETRY, ..jittered };
    let fin = Run { leave: "close", ..retry };
    let stays = |run| Run { leave: "stays", login: "4ms", ..run };
    let orphan = Run { dead_waiters: "{ kept = 'login' }", ..fin };
    vec![
        Run { name: "dw_fin_fast_retry", login: "2200us", ..fin },
        Run { name: "dw_fin_slow50_retry", login: "55ms", ..fin },
        Run { name: "dw_term_fast_retry", login: "3300us", ..retry },
        Run { name: "dw_term_slow15_retry", login: "19800us", ..retry },
        Run { name: "dw_term_slow15_retry_118", login: "20ms", ..retry },
        Run { name: "dw_term_slow15_retryj", login: "20500us", ..jittered_retry },
        Run { name: "dw_term_slow15_once", login: "21300us", ..PATIENCE },
        Run { name: "dw_term_slow15_oncej", login: "19800us", ..jittered },
        Run { name: "dw_term_slow50_oncej", login: "54600us", ..jittered },
        Run { name: "dw_psycopg_fast_retry", ..stays(retry) },
        Run { name: "dw_psycopg_fast_retryj", ..stays(jittered_retry) },
        Run { name: "dw_psycopg_fast_oncej", ..stays(jittered) },
        Run { name: "dw_orphan_slow8_retry", login: "12300us", ..orphan },
        Run { name: "dw_orphan_lim12_retry", login: "2200us", login_limit: Some(12), ..orphan },
    ]
}

/// The same in the simulator, in 20 worlds.
pub fn scenario(run: &Run) -> Scenario {
    written(&text(run))
}

/// How the same is written as a scenario.
pub fn text(run: &Run) -> String {
    let Run { clients, pool_size, max_client_conn, duration, warm_up, .. } = run;
    let Run { claim, login, dead_waiters, leave, acquire, start_up, .. } = run;
    let [shortest, longest] = run.intervals;
    let limit = run.login_limit.map_or(String::new(), |limit| format!("limit = {limit}"));
    let patience =
        run.patience.map_or(String::new(), |patience| format!("patience = '{patience}'"));
    let jitter = if run.jitter { ", { scale = [0.5, 1.5] }" } else { "" };
    let restart = run.restart.map_or(String::new(), |at| {
        format!("[[disturbance]]\nat = '{at}'\nrestart = {{ over = '200ms' }}")
    });
    format!(
        "title = 'real'
         [run]
         duration = '{duration}'
         warm_up = '{warm_up}'
         replicates = 20
         seed = 31
         [fleet]
         clients = {clients}
         initial = {{ warm = {{ interval = '{longest}' }} }}
         [pooler]
         preset = 'pgbouncer@1.25'
         pool_size = {pool_size}
         max_client_conn = {max_client_conn}
         dead_waiters = {dead_waiters}
         [pooler.logins]
         time = '{login}'
         at_once = 1
         {limit}
         [database]
         claim = {claim}
         {restart}
         [policy.real]
         {patience}
         leave = '{leave}'
         start_up = {start_up}
         poll = [{{ exponential = {{ base = '{shortest}', factor = 2 }} }}, {{ clamp = '{longest}' }}{jitter}]
         acquire = {acquire}"
    )
}

/// What is compared of every second.
pub const FIGURES: [&str; 7] =
    ["active", "cl_waiting", "attempts", "refused", "abandoned", "good", "wasted"];

/// The figures of every second of a measured run.
pub fn series(name: &str) -> Vec<[f64; 7]> {
    let (header, rows) = table(name);
    let place = |figure: &&str| header.iter().position(|column| column == figure).unwrap();
    let columns: Vec<usize> = FIGURES.iter().map(place).collect();
    rows.iter().map(|row| std::array::from_fn(|figure| row[columns[figure]])).collect()
}

/// Share of time at 0, 1, 2, … active backends in a measured run.
pub fn occupancy(name: &str) -> Vec<f64> {
    table(&format!("{name}.occupancy")).1.iter().map(|row| row[1]).collect()
}

fn table(name: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let path = format!("{}/tests/data/real_pooler/{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let mut table = csv::Reader::from_path(&path).expect("the measured run is there");
    let header = table.headers().unwrap().iter().map(str::to_owned).collect();
    let number = |field: &str| field.parse().expect("a number");
    let rows = table.records().map(|row| row.unwrap().iter().map(number).collect()).collect();
    (header, rows)
}
