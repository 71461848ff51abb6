//! Files that cannot be written, vanish or are of another time: a clear error, exit code 2, and what was
//! there before is left as it was.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::cli::{command, herdsim, refused, skipped, stderr, stdout};
use crate::long_runs::files;

/// A run of a few files that takes a moment.
const RUN: &str = "run deriver-restart --replicates 1 --set fleet.clients=100 -q --out r";

/// Runs a script in a file system of its own, of four megabytes; `None`, with the reason said, where this
/// is not permitted. In the script `herdsim` is the program.
fn in_a_small_file_system(script: &str) -> Option<Output> {
    let place = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_herdsim")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let script = format!("mount -t tmpfs -o size=4m small . && cd \"$PWD\" || exit 99\n{script}");
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .current_dir(place.path())
        .env("PATH", path)
        .env("LC_ALL", "C.UTF-8")
        .output();
    match output {
        Ok(output) if !matches!(output.status.code(), Some(99)) && !no_namespace(&output) => {
            Some(output)
        }
        _ => {
            skipped("no file system may be mounted here, so none can be full or read-only");
            None
        }
    }
}

fn no_namespace(output: &Output) -> bool {
    stderr(output).starts_with("unshare:")
}

#[track_caller]
fn went_well(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(output), stderr(output));
}

#[test]
fn on_a_full_disk_earlier_results_stay_and_room_is_all_that_it_takes() {
    let script = format!(
        "set -e\n\
         herdsim {RUN} >/dev/null; cksum r/* > before\n\
         head -c 9m /dev/zero > ballast 2>/dev/null || true\n\
         herdsim {RUN} --seed 2 --force && exit 1 || test $? = 2\n\
         cksum r/* > /dev/shm/after.$$; cmp before /dev/shm/after.$$; rm /dev/shm/after.$$\n\
         test \"$(ls -A)\" = \"$(printf 'ballast\\nbefore\\nr')\"\n\
         rm ballast; herdsim {RUN} --seed 2 --force >/dev/null; test -f r/report.html\n"
    );
    let Some(output) = in_a_small_file_system(&script) else { return };
    went_well(&output);
    let said = stderr(&output);
    assert!(said.contains("No space left on device"), "{said}");
    assert!(said.contains("help: see that there is room"), "{said}");
}

#[test]
fn on_a_full_disk_no_half_of_a_file_is_left() {
    let script = "set -e\n\
         head -c 9m /dev/zero > ballast 2>/dev/null || true\n\
         fails() { \"$@\" && exit 1 || test $? = 2; }\n\
         fails herdsim new mine\n\
         fails herdsim run deriver-restart -q --policy no-retry --set fleet.clients=100 --trace t.csv\n\
         fails herdsim run deriver-restart -q --set fleet.clients=100 --shard 0/2 --out s\n\
         test ! -e mine.toml -a ! -e t.csv -a -z \"$(ls -A results)\"\n\
         rm -r ballast s; herdsim run deriver-restart -q --set fleet.clients=100 --shard 0/2 --out s\n";
    let Some(output) = in_a_small_file_system(script) else { return };
    went_well(&output);
    assert_eq!(stderr(&output).matches("No space left").count(), 3, "{}", stderr(&output));
}

#[test]
fn where_nothing_may_be_written_nothing_is_run() {
    let script = format!(
        "set -e\n\
         herdsim {RUN} >/dev/null; cksum r/* > before; mount -o remount,ro .\n\
         fails() {{ \"$@\" && exit 1 || test $? = 2; }}\n\
         fails herdsim {RUN}\n\
         fails herdsim {RUN} --seed 2 --force\n\
         fails herdsim run deriver-restart --out other\n\
         fails herdsim report r\n\
         fails herdsim new mine\n\
         fails herdsim man pages\n\
         cksum r/* | cmp - before\n"
    );
    let Some(output) = in_a_small_file_system(&script) else { return };
    went_well(&output);
    assert_eq!(stderr(&output).matches("Read-only file system").count(), 6, "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("help: ").count(), 6, "{}", stderr(&output));
}

#[test]
fn a_stdout_that_takes_nothing_is_said() {
    let Ok(full) = fs::File::options().write(true).open("/dev/full") else {
        return skipped("there is no /dev/full");
    };
    let place = tempfile::tempdir().unwrap();
    for args in [&["list"][..], &["explain", "run"], &["schema"], &["man"], &["completions", "zsh"]]
    {
        let output =
            command(place.path(), args).stdout(full.try_clone().unwrap()).output().unwrap();
        refused(&output, &["cannot write to stdout: No space left", "help: "]);
    }
    let args: Vec<&str> = RUN.split(' ').collect();
    let output = command(place.path(), &args).stdout(full).output().unwrap();
    refused(&output, &["cannot write to stdout"]);
    assert!(place.path().join("r/manifest.json").is_file(), "its results are written all the same");
}

#[test]
fn a_device_is_never_replaced_by_a_file() {
    let place = tempfile::tempdir().unwrap();
    for args in [&["new", "x", "--force", "--out"][..], &["new", "x", "--out"]] {
        let output = herdsim(place.path(), &[args, &["/dev/null"]].concat());
        refused(
            &output,
            &["cannot write /dev/null: it is there and is no ordinary file", "help: "],
        );
    }
    fs::create_dir(place.path().join("mine.toml")).unwrap();
    refused(&herdsim(place.path(), &["new", "mine", "--force"]), &["is no ordinary file"]);
}

#[test]
fn a_file_in_the_place_of_a_folder_is_named() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("file"), "mine").unwrap();
    let run = |out: &str| {
        let args = ["run", "deriver-restart", "--set", "fleet.clients=100", "--out", out];
        herdsim(place.path(), &args)
    };
    refused(&run("file"), &["file is not a folder", "--out"]);
    refused(&run("file/r"), &["file/r", "Not a directory", "--out"]);
    let into = |args: &[&str]| herdsim(place.path(), args);
    refused(&into(&["man", "file"]), &["cannot write file", "help: "]);
    refused(&into(&["new", "x", "--out", "file/x.toml"]), &["cannot write file/x.toml", "help: "]);
    refused(&into(&["report", "file"]), &["file holds no finished results", "help: "]);
    assert_eq!(fs::read_to_string(place.path().join("file")).unwrap(), "mine");
}

/// Starts a run in `folder` and deletes `gone` once it is well under way.
fn bereft(folder: &Path, gone: &Path) -> Output {
    let args = [
        "run",
        "deriver-restart",
        "--replicates=40",
        "--set=fleet.clients=500",
        "--set=run.duration=8m",
        "--out=deep/r",
        "--keep-units",
        "--quiet",
    ];
    let mut child = command(folder, &args);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let log = folder.join("deep/r.units/units.bin");
    while fs::metadata(&log).map_or(0, |log| log.len()) < 20_000 {
        thread::sleep(Duration::from_millis(2));
    }
    fs::remove_dir_all(gone).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn a_folder_that_vanishes_during_a_run_is_made_again() {
    let place = tempfile::tempdir().unwrap();
    let output = bereft(place.path(), &place.path().join("deep"));
    went_well(&output);
    let names: Vec<String> =
        files(&place.path().join("deep/r")).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"manifest.json".to_owned()), "{names:?}");
    let again = herdsim(place.path(), &["report", "deep/r"]);
    went_well(&again);
}

#[test]
fn a_run_whose_own_folder_vanishes_ends_with_an_error() {
    let place = tempfile::tempdir().unwrap();
    let own = place.path().join("own");
    fs::create_dir(&own).unwrap();
    let output = bereft(&own, &own);
    refused(&output, &["error: ", "help: "]);
    assert!(!own.exists());
}

#[test]
fn results_of_a_newer_version_are_neither_read_nor_replaced() {
    let place = tempfile::tempdir().unwrap();
    let args: Vec<&str> = RUN.split(' ').collect();
    went_well(&herdsim(place.path(), &args));
    let manifest = place.path().join("r/manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let own = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&own));
    // Another version has another digest, and may know of more.
    let text = text.replace(&own, "\"version\": \"99.1.0\", \"knows\": \"more\"");
    let digest = text.find("\"digest\": \"").unwrap() + 11;
    fs::write(&manifest, format!("{}0000{}", &text[..digest], &text[digest + 4..])).unwrap();
    let before = files(&place.path().join("r"));
    refused(
        &herdsim(place.path(), &["report", "r"]),
        &["herdsim 99.1.0, which is newer", "help: "],
    );
    refused(&herdsim(place.path(), &["compare", "r", "r"]), &["herdsim 99.1.0, which is newer"]);
    refused(&herdsim(place.path(), &args), &["r holds the results of another run", "--force"]);
    assert!(files(&place.path().join("r")) == before);
}
