//! How to run it again.

use crate::results::archive::Chosen;
use crate::scenario::Loaded;

/// The command that gives the same bytes.
pub(super) fn command(loaded: &Loaded, chosen: &Chosen) -> String {
    let source = &loaded.source;
    let swept = loaded.scenario.sweep.iter();
    let swept = swept.map(|axis| format!("{}={}", axis.key, axis.values.join(","))).collect();
    let scenario = source.origin.strip_prefix("built-in ").unwrap_or(&source.origin);
    let mut words = vec!["herdsim".to_owned(), "run".to_owned(), quoted(scenario)];
    let flags = [
        ("--policy", &chosen.policies),
        ("--variant", &chosen.variants),
        ("--set", &source.overrides),
        ("--sweep", &swept),
    ];
    for (flag, values) in flags {
        words.extend(values.iter().flat_map(|value| [flag.to_owned(), quoted(value)]));
    }
    words.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("pooler.pool_size=500"), "pooler.pool_size=500");
        assert_eq!(quoted("it's <b>"), r"'it'\''s <b>'");
    }
}
