//! Problems for people: what is wrong, where, and what to do.

use std::fmt;
use std::io;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Source, builtins};

/// Problems that are shown at once: more than these are seldom read.
const MOST_SHOWN: usize = 20;

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Bytes of the file.
    File(Range<usize>),
    /// Bytes of an override.
    Override {
        /// Which one.
        index: usize,
        /// Its bytes.
        span: Range<usize>,
    },
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// Where; `None` if it is nowhere in particular.
    pub place: Option<Place>,
    /// What to do about it.
    pub help: String,
}

/// Everything that is wrong with a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    source: Option<Source>,
    problems: Vec<Problem>,
}

/// Problems being gathered.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a problem, unless it is known: an inherited value is read once for each heir.
    pub fn add(&mut self, message: impl Into<String>, place: Place, help: impl Into<String>) {
        let problem = Problem { message: message.into(), place: Some(place), help: help.into() };
        if !self.0.contains(&problem) {
            self.0.push(problem);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl ScenarioError {
    pub(super) fn new(source: Source, problems: Problems) -> ScenarioError {
        let mut problems = problems.0;
        problems.sort_by_key(|problem| match &problem.place {
            None => (0, 0),
            Some(Place::File(span)) => (1, span.start),
            Some(Place::Override { index, span }) => (2 + index, span.start),
        });
        ScenarioError { source: Some(source), problems }
    }

    pub(crate) fn plain(message: String, help: String) -> ScenarioError {
        ScenarioError { source: None, problems: vec![Problem { message, place: None, help }] }
    }

    pub(super) fn unknown_builtin(wanted: &str) -> ScenarioError {
        let names = builtins().map(|builtin| builtin.name);
        ScenarioError::plain(
            format!("there is no file and no built-in scenario `{wanted}`"),
            alternatives(wanted, "built-in scenarios", names),
        )
    }

    pub(super) fn unreadable(path: &str, error: &io::Error) -> ScenarioError {
        let help = match error.kind() {
            io::ErrorKind::NotFound => {
                "check the path; `herdsim list scenarios` shows what is built in"
            }
            io::ErrorKind::InvalidData => "a scenario is a TOML file in UTF-8",
            _ => "name a readable scenario file",
        };
        ScenarioError::plain(format!("cannot read `{path}`: {error}"), help.to_owned())
    }

    /// The problems, in the order of their places.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// All problems as text with file, line, caret and remedy, with colours if `color`.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let shown = &self.problems[..self.problems.len().min(MOST_SHOWN)];
        let reports = shown.iter().map(|problem| {
            let title = Level::ERROR.primary_title(problem.message.as_str());
            let group = match self.excerpt(problem) {
                Some(snippet) => title.element(snippet),
                None => Group::with_title(title),
            };
            renderer.render(&[group.element(Level::HELP.message(problem.help.as_str()))]) + "\n"
        });
        let mut text = reports.collect::<Vec<_>>().join("\n");
        let hidden = self.problems.len() - shown.len();
        if hidden > 0 {
            text.push_str(&format!("\nand {hidden} more: correct these first\n"));
        }
        text
    }

    fn excerpt(&self, problem: &Problem) -> Option<Snippet<'_, annotate_snippets::Annotation<'_>>> {
        let source = self.source.as_ref()?;
        let (text, path, span) = match problem.place.as_ref()? {
            Place::File(span) => (source.text.as_str(), source.origin.as_str(), span),
            Place::Override { index, span } => (source.overrides[*index].as_str(), "--set", span),
        };
        let annotation = AnnotationKind::Primary.span(visible(text, span));
        Some(Snippet::source(text).path(path).annotation(annotation))
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for ScenarioError {}

/// The first line of a span, on character boundaries.
fn visible(text: &str, span: &Range<usize>) -> Range<usize> {
    let floor = |at: usize| (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i));
    let start = floor(span.start).unwrap_or(0);
    let end = floor(span.end).unwrap_or(start).max(start);
    match text[start..end].find('\n') {
        Some(line) => start..start + line,
        None => start..end,
    }
}

/// The names that could stand in place of a mistyped one, the nearest first of all: "did you mean `x`?
/// policies to mix are: …", where `what` are policies to mix.
pub(crate) fn alternatives<'a>(
    wrong: &str,
    what: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let known = names.clone().collect::<Vec<_>>().join(", ");
    format!("{}{what} are: {known}", nearest(wrong, names))
}

/// "did you mean `x`? " for the name nearest to a mistyped one, or nothing.
pub(crate) fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .min()
        .filter(|&(distance, name)| distance <= 1 + name.len() / 4)
        .map_or(String::new(), |(_, name)| format!("did you mean `{name}`? "))
}
