//! A file that is written whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::{Console, Failure};

/// Whether a file can be written to `path`, before anything is run.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    // The file takes its name by a rename, which would put a file in the place of a device.
    if path.exists() && !path.is_file() {
        let error = io::Error::other("it is there and is no ordinary file");
        return Err(Failure::file(path)(error));
    }
    tempfile::tempfile_in(folder_of(path)).map_err(Failure::file(path))?;
    Ok(())
}

/// Writes a picture, and says so.
pub(super) fn picture(path: &Path, svg: &str, console: &Console) -> Result<(), Failure> {
    write(path, |writer| writer.write_all(svg.as_bytes())).map_err(Failure::file(path))?;
    console.say(&format!("wrote {}", path.display()));
    Ok(())
}

/// Writes what `fill` writes to `path`.
pub(super) fn write(
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
