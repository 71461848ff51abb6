//! Ctrl-C and SIGTERM: the first ends a run early, the second at once.
//!
//! Elsewhere than on Unix either ends it at once, which loses no unit that is on record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Console;

/// Where the first one is seen.
#[derive(Clone, Default)]
pub(super) struct Interrupt(Arc<AtomicBool>);

/// What the program ends with once it was interrupted.
pub(super) const EXIT_CODE: u8 = 130;

impl Interrupt {
    /// From now on a first signal does not end the program, but is seen here; `console` says so.
    #[cfg(unix)]
    pub fn watch(console: Console) -> Interrupt {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::iterator::Signals;

        let interrupt = Interrupt::default();
        let seen = interrupt.clone();
        // Where signals cannot be had, they end the program as they always did.
        if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) {
            std::thread::spawn(move || {
                for _ in signals.forever() {
                    if seen.0.swap(true, Ordering::Relaxed) {
                        std::process::exit(EXIT_CODE.into());
                    }
                    console
                        .say("interrupted: finishing the units under way; once more stops at once");
                }
            });
        }
        interrupt
    }

    /// Signals are left to the system.
    #[cfg(not(unix))]
    pub fn watch(_: Console) -> Interrupt {
        Interrupt::default()
    }

    /// Whether a signal came.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
