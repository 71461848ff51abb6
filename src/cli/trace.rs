//! `--trace FILE`: every event of one unit, written whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Failure;
use crate::plan;
use crate::scenario::Scenario;
use crate::sweep;

/// Whether a trace of `scenario` can be written to `path`, before anything is run.
pub(super) fn check(scenario: &Scenario, path: &Path) -> Result<(), Failure> {
    let one = |kind: &str, count: usize, flag: &str, first: &str| match count {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage {
            what: format!("`--trace` follows one {kind}, and {count} would be played"),
            help: format!("choose one, as in `{flag} {first}`"),
        }),
    };
    let (policies, variants) = (&scenario.policies, &scenario.variants);
    one("policy", policies.len(), "--policy", &policies[0].name)?;
    let first = variants.first().map_or("", |variant| &variant.name);
    one("variant", variants.len(), "--variant", first)?;
    // The file takes its name by a rename, which would put a file in the place of a device.
    if path.exists() && !path.is_file() {
        let error = io::Error::other("it is there and is no ordinary file");
        return Err(Failure::file(path)(error));
    }
    tempfile::tempfile_in(folder_of(path)).map_err(Failure::file(path))?;
    Ok(())
}

/// Plays the first unit of `scenario` and writes every event of it to `path`.
pub(super) fn write(scenario: &Scenario, path: &Path) -> Result<(), Failure> {
    let (unit, course) = (plan::units(scenario)[0], &scenario.courses()[0]);
    write_whole(path, |writer| sweep::trace(course, unit, writer)).map_err(Failure::file(path))
}

fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&mut std::fs::File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".herdsim-");
    // Temporary files are private by default; this one becomes an ordinary file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder_of(path))?;
    let mut writer = BufWriter::new(file.as_file_mut());
    fill(&mut writer)?;
    writer.flush()?;
    drop(writer);
    file.persist(path)?;
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
