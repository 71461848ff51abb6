//! What is played: plain polling at several loads, and the shipped restart scenario, for any number of
//! clients.

use herdsim::scenario::{self, Scenario};

/// Something to play.
pub struct Workload {
    pub name: &'static str,
    pub scenario: Scenario,
    pub policy: usize,
    /// Whether a loop written by hand plays it too.
    pub plain: bool,
}

/// The clients whose pool, limit and cores the scenarios state; others have as much in proportion.
const CLIENTS: u32 = 11_543;

const POLLING: &str = r#"
title = "Plain polling"
[run]
duration = "600s"
seed = 42
[fleet]
clients = 11_543
initial = { warm = { interval = "30s" } }
[pooler]
pool_size = 368
[database]
claim = { exponential = { mean = "170ms" } }
[policy.polling]
poll = [ "30s", { scale = [0.5, 1.5] } ]
"#;

const RESTART: &str = r#"
[[disturbance]]
at = "60s"
restart = { clients = 1.0, over = "200ms" }
"#;

/// All workloads for a fleet of `clients`, each over so many simulated `seconds`.
pub fn all(clients: u32, seconds: u32) -> Vec<Workload> {
    let polling = |name, pool_size| plain(name, POLLING, pool_size, clients, seconds);
    let deriver = |name, policy, more: &[&str]| deriver(name, policy, clients, seconds, more);
    vec![
        polling("plain polling", 368),
        polling("contended, 71 %", 92),
        polling("contended, 93 %", 70),
        polling("contended, 103 %", 63),
        Workload {
            plain: false,
            ..plain("mass restart", &format!("{POLLING}{RESTART}"), 184, clients, seconds)
        },
        deriver("deriver-restart, baseline", "baseline", &[]),
        deriver("deriver-restart, fix", "jittered-no-retry", &[]),
        deriver(
            "retry storm, 10 ms",
            "baseline",
            &[
                r#"policy.baseline.acquire.retry.delay=["10ms"]"#,
                "policy.baseline.acquire.retry.stop.elapsed=10s",
            ],
        ),
    ]
}

fn plain(
    name: &'static str,
    text: &str,
    pool_size: u32,
    clients: u32,
    seconds: u32,
) -> Workload {
    let overrides = [
        format!("fleet.clients={clients}"),
        format!("pooler.pool_size={}", scaled(pool_size, clients)),
        format!("run.duration={seconds}s"),
    ];
    let loaded = scenario::parse("polling", "benchmark", text, &overrides);
    let scenario = loaded.expect("the benchmark's scenario is valid").scenario;
    Workload { name, scenario, policy: 0, plain: true }
}

fn deriver(
    name: &'static str,
    policy: &str,
    clients: u32,
    seconds: u32,
    more: &[&str],
) -> Workload {
    let mut overrides = vec![
        format!("fleet.clients={clients}"),
        format!("pooler.pool_size={}", scaled(368, clients)),
        format!("pooler.max_client_conn={}", scaled(9_000, clients)),
        format!("database.contention.cores={}", scaled(100, clients)),
        format!("run.duration={seconds}s"),
    ];
    overrides.extend(more.iter().map(|&more| more.to_owned()));
    let loaded = scenario::load("deriver-restart", &overrides);
    let scenario = loaded.expect("the shipped scenario is valid").scenario;
    let policy = scenario.policies.iter().position(|candidate| candidate.name == policy);
    Workload { name, policy: policy.expect("a shipped policy"), scenario, plain: false }
}

fn scaled(of_fleet: u32, clients: u32) -> u32 {
    (u64::from(clients) * u64::from(of_fleet)).div_ceil(u64::from(CLIENTS)) as u32
}
