//! The shipped scenarios: the files of `scenarios/`, embedded.

/// A shipped scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// What it is run by: the file's name without its ending.
    pub name: &'static str,
    /// Its file.
    pub text: &'static str,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(Builtin {
            name: $name,
            text: include_str!(concat!("../../scenarios/", $name, ".toml")),
        }),*]
    };
}

const BUILTINS: &[Builtin] = embedded![
    "api-burst",
    "crash-loop",
    "cron-top-of-hour",
    "deadline-notebook",
    "deploy-reconnect-storm",
    "deriver-restart",
    "fail-fast-plus-breaker",
    "items-survive",
    "layered-boto",
    "pgbouncer-login-storm",
    "recovery-actions",
    "restart-cohort",
    "restart-herd",
    "retrograde-database",
    "rolling-upgrade",
    "short-retry-budget",
    "slow-database",
    "small-client-limit",
    "staggered-restart",
    "start-up-window",
    "steady-state",
    "version-mix",
    "which-guard",
];

/// All shipped scenarios, by name.
pub fn builtins() -> impl Iterator<Item = Builtin> + Clone {
    BUILTINS.iter().copied()
}

impl Builtin {
    /// The `title` of its file.
    pub fn title(&self) -> String {
        let loaded = super::parse(self.name, self.name, self.text, &[]);
        loaded.expect("shipped scenarios are valid").scenario.title
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_embedded_and_valid() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter_map(|file| file.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        assert_eq!(files, builtins().map(|builtin| builtin.name).collect::<Vec<_>>());
        assert!(builtins().all(|builtin| !builtin.title().is_empty()));
    }
}
