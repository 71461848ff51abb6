//! The program: reads the command line, does it, and ends with one of the documented exit codes.
//!
//! 0 done (a closed pipe counts as done), 1 a threshold fails, 2 bad scenario, usage or I/O, 130 interrupted. A panic stays 101: a bug.

use std::process::ExitCode;

use herdsim::cli::{Cli, Failure};

fn main() -> ExitCode {
    let cli = Cli::from_args();
    let console = cli.console();
    match cli.run(&console) {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            console.error(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}
