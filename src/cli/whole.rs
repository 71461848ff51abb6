//! Single files that a command writes, whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::{Console, Failure};

/// What becomes of a file that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Earlier {
    Stays,
    IsReplaced,
}

/// Whether a file can be written to `path`, before there is anything to write.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    // The file takes its name by a rename, which would put a file in the place of a device.
    if path.exists() && !path.is_file() {
        let error = io::Error::other("it is there and is no ordinary file");
        return Err(Failure::file(path)(error));
    }
    tempfile::tempfile_in(folder_of(path)).map_err(Failure::file(path))?;
    Ok(())
}

/// Writes a picture in the place of any before it, and says so.
pub(super) fn picture(path: &Path, svg: &str, console: &Console) -> Result<(), Failure> {
    write(path, Earlier::IsReplaced, |file| file.write_all(svg.as_bytes()))?;
    console.say(&format!("wrote {}", path.display()));
    Ok(())
}

/// Writes to `path` what `fill` writes.
pub(super) fn write(
    path: &Path,
    earlier: Earlier,
    fill: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), Failure> {
    check(path)?;
    let written = || -> io::Result<()> {
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
        match earlier {
            Earlier::Stays => file.persist_noclobber(path)?,
            Earlier::IsReplaced => file.persist(path)?,
        };
        Ok(())
    };
    written().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::Usage {
            what: format!("{} is there already", path.display()),
            help: "choose another name, or replace it with --force".to_owned(),
        },
        _ => Failure::file(path)(error),
    })
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
