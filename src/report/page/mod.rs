//! `report.html`: one file that says what came of a run, complete without network and without script.
//!
//! The first screen answers the question; below it stands what the answer rests on, each picture with its
//! numbers. Everything that a scenario's author wrote is escaped.

mod activity;
mod assumptions;
mod board;
mod closed_forms;
mod data;
mod figures;
mod html;
mod reproduce;
mod swept;
mod thresholds;
mod verdict;
mod why;

use html::{Table, details, escaped, fill, list, unbroken};

pub use swept::views as swept_views;

use super::scene::Scene;
use super::svg::{self, Picture};
use super::{check, conduct, happenings, prose};
use crate::results::{Archive, File};
use crate::scenario::Scenario;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page and its pictures, as the files that a results folder keeps them in.
pub fn views(archive: &Archive) -> Vec<File> {
    let scene = Scene::of(archive);
    let pictures = svg::pictures(&scene);
    let page = render(&scene, &pictures);
    let page = File { name: "report.html", bytes: page.into_bytes() };
    let picture =
        |picture: &Picture| File { name: picture.name, bytes: picture.file().into_bytes() };
    std::iter::once(page).chain(pictures.iter().map(picture)).collect()
}

fn render(scene: &Scene<'_>, pictures: &[Picture]) -> String {
    let archive = scene.archive;
    let scenario = scene.scenario();
    let (answer, why) = verdict::answer(scene);
    let facts = prose::facts(scenario).concat().join(" · ");
    fill(
        TEMPLATE,
        &[
            ("style", &style()),
            ("script", SCRIPT),
            ("data", &data::json(scene)),
            ("name", &escaped(&scenario.name)),
            ("title", &escaped(&scenario.title)),
            ("facts", &escaped(&facts)),
            ("happenings", &list(happenings(scenario))),
            ("question", &escaped(&verdict::question(scene))),
            ("answer", &escaped(&answer)),
            ("why", &paragraphs(&why)),
            ("thresholds", &thresholds::render(scene)),
            ("board", &board::render(scene)),
            ("activity", &activity::render(scene, pictures)),
            ("timeline", &details("Timeline as numbers", &rendered(&figures::timeline(scene)))),
            ("sections", &sections(scene, pictures)),
            ("theory", &closed_forms::table(scene).render()),
            ("surprises", &surprises(scene)),
            ("scenario", &escaped(&archive.loaded.source.text)),
            ("command", &escaped(&reproduce::command(&archive.loaded, &archive.provenance.chosen))),
            ("seed", &scenario.run.seed.to_string()),
            ("version", &escaped(&archive.provenance.version)),
            ("target", &escaped(&archive.provenance.target)),
            ("digest", &escaped(&archive.provenance.digest)),
            ("assumptions", &list(assumptions::sentences(scenario))),
            ("metrics", &rendered(&figures::metrics(scene))),
        ],
    )
}

fn style() -> String {
    format!("{STYLE}{}", svg::STYLE)
}

/// What happens, and what all clients do, whatever is compared.
fn happenings(scenario: &Scenario) -> Vec<String> {
    let mut lines = happenings::lines(scenario);
    let common = conduct::of(scenario).0;
    if !common.is_empty() {
        lines.push(format!("all clients {}", common.join(", ")));
    }
    lines
}

fn paragraphs(sentences: &[String]) -> String {
    let paragraph = |text: &String| format!("<p class=\"why\">{}</p>\n", unbroken(text));
    sentences.iter().map(paragraph).collect()
}

/// A section for each picture but the timeline, which the board shows.
fn sections(scene: &Scene<'_>, pictures: &[Picture]) -> String {
    let mut out = String::new();
    for picture in pictures {
        let (id, numbers) = match picture.name {
            "concurrency.svg" => ("distribution", figures::concurrency(scene).render()),
            "drain.svg" => ("drain", figures::drains(scene).render()),
            "clients.svg" => ("clients", String::new()),
            "attempts.svg" => ("cost", figures::cost(scene).render()),
            _ => continue,
        };
        out.push_str(&section(id, picture, &numbers));
    }
    let latencies = rendered(&figures::latencies(scene));
    out.push_str(&format!(
        "<section id=\"latencies\">\n<h2>Latencies</h2>\n<p>Quantiles over all replicates, after the \
         warm-up.</p>\n{}</section>\n",
        details("All latencies", &latencies)
    ));
    out
}

/// A picture with how it is to be read, and its numbers.
fn section(id: &str, picture: &Picture, numbers: &str) -> String {
    format!(
        "<section id=\"{id}\">\n<h2>{}</h2>\n<p>{}</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}, picture\">\
         <figure>\n{}</figure></div>\n{numbers}</section>\n",
        escaped(&picture.title),
        escaped(&picture.about),
        picture.inline(),
    )
}

fn rendered(tables: &[Table]) -> String {
    tables.iter().map(Table::render).collect()
}

/// What about the scenario may surprise, by closed forms.
fn surprises(scene: &Scene<'_>) -> String {
    let found = check::surprises(scene.scenario());
    let all = scene.scenario().policies.len();
    let sentence = |(surprise, names): check::Statement| match names.len() {
        some if some == all => format!("Under every policy: {surprise}"),
        _ => format!("{}: {surprise}", names.join(", ")),
    };
    match found.is_empty() {
        true => String::new(),
        false => list(found.into_iter().map(sentence)),
    }
}
