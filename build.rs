//! Hands the target triple to the program, since results are the same bytes on the same target only.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let target = std::env::var("TARGET").expect("cargo sets TARGET for build scripts");
    writeln!(std::io::stdout(), "cargo::rustc-env=HERDSIM_TARGET={target}")?;
    writeln!(std::io::stdout(), "cargo::rerun-if-changed=build.rs")
}
