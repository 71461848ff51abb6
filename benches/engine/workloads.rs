//! What is played: plain polling at several loads, and the shipped restart scenario, for any number of
//! clients.

use herdsim::scenario::{self, Scenario};

/// Something to play.
pub struct Workload {
    pub name: &'static str,
    pub scenario: Scenario,
    pub policy: usize,
    /// Whether loops written by hand play it too.
    pub plain: bool,
}

/// A workload yet to be made.
#[derive(Clone, Copy)]
enum Kind {
    /// Plain polling with so many backends.
    Polling(u32),
    /// The same, all clients restarted.
    Restart(u32),
    /// `deriver-restart` under one of its policies, changed so.
    Deriver(&'static str, &'static [&'static str]),
}

const ALL: [(&str, Kind); 8] = [
    ("plain polling", Kind::Polling(368)),
    ("contended 71 %", Kind::Polling(92)),
    ("contended 93 %", Kind::Polling(70)),
    ("contended 103 %", Kind::Polling(63)),
    ("mass restart", Kind::Restart(184)),
    ("deriver-restart baseline", Kind::Deriver("baseline", &[])),
    ("deriver-restart fix", Kind::Deriver("jittered-no-retry", &[])),
    (
        "retry storm 10 ms",
        Kind::Deriver("baseline", &[r#"policy.baseline.acquire.retry.delay=["10ms"]"#]),
    ),
];

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

/// The workloads whose name contains `only`, for a fleet of `clients`, each over so many simulated
/// `seconds`.
pub fn all(clients: u32, seconds: u32, only: &str) -> impl Iterator<Item = Workload> {
    let wanted = ALL.into_iter().filter(move |(name, _)| name.contains(only));
    wanted.map(move |(name, kind)| Workload::new(name, kind, clients, seconds))
}

impl Workload {
    fn new(name: &'static str, kind: Kind, clients: u32, seconds: u32) -> Workload {
        let scaled =
            |count: u32| (u64::from(clients) * u64::from(count)).div_ceil(u64::from(CLIENTS));
        let mut overrides =
            vec![format!("fleet.clients={clients}"), format!("run.duration={seconds}s")];
        let polling = |text: &str, pool_size, mut overrides: Vec<String>| {
            overrides.push(format!("pooler.pool_size={}", scaled(pool_size)));
            scenario::parse("polling", "benchmark", text, &overrides)
        };
        let (loaded, policy) = match kind {
            Kind::Polling(pool_size) => (polling(POLLING, pool_size, overrides), "polling"),
            Kind::Restart(pool_size) => {
                (polling(&format!("{POLLING}{RESTART}"), pool_size, overrides), "polling")
            }
            Kind::Deriver(policy, more) => {
                overrides.push(format!("pooler.pool_size={}", scaled(368)));
                overrides.push(format!("pooler.max_client_conn={}", scaled(9_000)));
                overrides.push(format!("database.contention.cores={}", scaled(100)));
                overrides.extend(more.iter().map(|&more| more.to_owned()));
                (scenario::load("deriver-restart", &overrides), policy)
            }
        };
        let scenario = loaded.expect("the benchmark's scenario is valid").scenario;
        let policy = scenario.policies.iter().position(|candidate| candidate.name == policy);
        let policy = policy.expect("the scenario has the policy");
        Workload { name, scenario, policy, plain: matches!(kind, Kind::Polling(_)) }
    }
}
