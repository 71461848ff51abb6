//! Whether a run fits into memory, before it starts: a run that is killed half-way tells nobody why.

use std::fs;
use std::path::Path;

use super::Failure;
use crate::engine;
use crate::plan;
use crate::scenario::Scenario;

/// What a client takes in a running unit: its state in the engine, a place in the queue and what the
/// recorder keeps of it, rounded up.
const BYTES_PER_CLIENT: u64 = engine::BYTES_PER_CLIENT as u64 + 40;
/// What a running unit takes without its clients: timeline, histograms, levels, rounded up.
const BYTES_PER_UNIT: u64 = 4 << 20;

/// Refuses a run that needs more memory than there is; says nothing where that is unknown.
pub(super) fn check(scenario: &Scenario, jobs: usize) -> Result<(), Failure> {
    let needed = needed(scenario, jobs);
    match available() {
        Some(available) if needed > available => Err(too_large(needed, available)),
        _ => Ok(()),
    }
}

fn needed(scenario: &Scenario, jobs: usize) -> u64 {
    let running = jobs.min(plan::units(scenario).len()) as u64;
    running * (BYTES_PER_UNIT + BYTES_PER_CLIENT * u64::from(scenario.fleet.clients))
}

fn too_large(needed: u64, available: u64) -> Failure {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    Failure::Usage {
        what: format!(
            "the run would take about {:.1} GiB of memory, and {:.1} GiB are available",
            gib(needed),
            gib(available)
        ),
        help: "use fewer clients, or run fewer units at once with `--jobs 1`".to_owned(),
    }
}

/// The least of what the machine has to spare and what a control group allows.
fn available() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| from_meminfo(&text));
    machine.into_iter().chain(group_limit()).min()
}

fn from_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1_024)
}

/// The lowest `memory.max` of our control group (version 2) and the groups around it.
fn group_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let limit = |group: &Path| {
        let text = fs::read_to_string(group.join("memory.max")).ok()?;
        // `max`, which is no number, is no limit.
        text.trim().parse::<u64>().ok()
    };
    let root = Path::new("/sys/fs/cgroup");
    root.join(group).ancestors().take_while(|group| group.starts_with(root)).filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read_in_kibibytes() {
        let text = "MemTotal:       32 kB\nMemAvailable:   16384 kB\nBuffers: 1 kB\n";
        assert_eq!(from_meminfo(text), Some(16 << 20));
        assert_eq!(from_meminfo("MemTotal: 32 kB\n"), None);
    }

    #[test]
    fn a_refusal_names_both_figures_and_the_remedy() {
        let failure = too_large(5 << 30, 3 << 29);
        assert_eq!(
            failure.to_string(),
            "the run would take about 5.0 GiB of memory, and 1.5 GiB are available"
        );
        assert!(failure.help().is_some_and(|help| help.contains("--jobs 1")));
    }
}
