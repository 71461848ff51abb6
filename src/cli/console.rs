//! The terminal: messages and progress on stderr, data on stdout, and what either can show.

use std::env;
use std::io::{self, Write};
use std::time::Instant;

use anstyle::AnsiColor;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Failure;
use crate::report::{Glyphs, Ink, Style};
use crate::sweep::Progress;

/// Columns where stdout is no terminal.
const DEFAULT_WIDTH: usize = 80;
/// Wider than this, a table's rows are hard to follow.
const WIDEST: usize = 120;

/// How the user wants to be spoken to.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    messages: Show,
    progress: Show,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    Yes,
    No,
}

impl Console {
    /// A console that says as much as it was asked to.
    pub(super) fn new(quiet: bool, no_progress: bool) -> Console {
        let unless = |unwanted| if unwanted { Show::No } else { Show::Yes };
        Console { messages: unless(quiet), progress: unless(quiet || no_progress) }
    }

    /// Writes data to stdout.
    pub(super) fn data(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(Failure::stdout)
    }

    /// Says `text` on stderr, unless asked to be quiet.
    pub(super) fn say(&self, text: &str) {
        if self.messages == Show::Yes {
            to_stderr(&format!("{text}\n"));
        }
    }

    /// Says why a command failed, and what to do.
    pub fn error(&self, failure: &Failure) {
        if let Failure::Scenario(error) = failure {
            // It has its own picture of where it is wrong; escapes are taken out where unwanted.
            to_stderr(&error.render(true));
            return;
        }
        let (red, cyan) = (AnsiColor::Red.on_default().bold(), AnsiColor::Cyan.on_default().bold());
        let mut text = format!("{red}error:{red:#} {failure}\n");
        if let Some(help) = failure.help() {
            text.push_str(&format!("{cyan}help:{cyan:#} {help}\n"));
        }
        to_stderr(&text);
    }

    /// A bar over `units`; it hides itself off a terminal.
    pub(super) fn progress(&self, units: usize) -> Bar {
        let target = match self.progress {
            Show::Yes => ProgressDrawTarget::stderr(),
            Show::No => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(units as u64), target);
        let template = match glyphs() {
            Glyphs::Unicode => "{bar:24} {pos}/{len} units · {msg} · {eta} left",
            Glyphs::Ascii => "[{bar:24}] {pos}/{len} units | {msg} | {eta} left",
        };
        let style = ProgressStyle::with_template(template).expect("the template is a constant");
        let style = match glyphs() {
            Glyphs::Unicode => style.progress_chars("█▉▊▋▌▍▎▏ "),
            Glyphs::Ascii => style.progress_chars("=> "),
        };
        bar.set_style(style);
        bar.set_message("starting");
        Bar { bar, started: now() }
    }

    /// What a report on stdout may look like.
    pub(super) fn style(&self) -> Style {
        let width = terminal_size::terminal_size_of(io::stdout())
            .map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0).min(WIDEST));
        // Escapes are taken out again on the way to a stdout that is to have none.
        Style { width, ink: Ink::Colour, glyphs: glyphs() }
    }
}

/// A progress bar, and since when.
pub(super) struct Bar {
    bar: ProgressBar,
    started: Instant,
}

impl Bar {
    /// Shows how far it is.
    pub fn update(&self, progress: Progress) {
        let seconds = self.seconds().max(1e-3);
        let rate = progress.events as f64 / seconds / 1e6;
        let hours = progress.simulated.as_secs_f64() / 3_600.0;
        self.bar.set_message(format!("{hours:.1} h simulated, {rate:.1} M events/s"));
        self.bar.set_position(progress.units as u64);
    }

    /// How long it has been there, in seconds.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Removes the bar; how long it took in seconds.
    pub fn finish(self) -> f64 {
        self.bar.finish_and_clear();
        self.seconds()
    }
}

/// The only clock outside the simulation: it goes to stderr, never into results.
#[expect(clippy::disallowed_methods, reason = "people want to know how long they waited")]
fn now() -> Instant {
    Instant::now()
}

/// Says `text` on stderr, whatever was asked for.
pub(super) fn to_stderr(text: &str) {
    // Where stderr is gone there is nobody left to tell.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Whether the terminal says that it can do nothing but print. It gets no colours, in CI neither.
pub(super) fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// ASCII for a dumb terminal or a locale that names another encoding. A locale that is not set, as in
/// a container, says nothing about the terminal, which today is UTF-8.
fn glyphs() -> Glyphs {
    let value = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(value);
    glyphs_for(is_dumb(), locale.as_deref())
}

fn glyphs_for(dumb: bool, locale: Option<&str>) -> Glyphs {
    let utf8 = locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    if dumb || !utf8 { Glyphs::Ascii } else { Glyphs::Unicode }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dumb_terminal_or_another_encoding_gets_ascii() {
        assert_eq!(glyphs_for(false, Some("de_DE.UTF-8")), Glyphs::Unicode);
        assert_eq!(glyphs_for(false, None), Glyphs::Unicode);
        assert_eq!(glyphs_for(true, Some("C.utf8")), Glyphs::Ascii);
        assert_eq!(glyphs_for(false, Some("C")), Glyphs::Ascii);
        assert_eq!(glyphs_for(false, Some("de_DE.ISO-8859-1")), Glyphs::Ascii);
    }
}
