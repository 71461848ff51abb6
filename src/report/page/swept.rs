//! The page of a sweep: at which values of its keys the fleet drains, with the picture of them.

use super::html::{Row, Table, escaped, fill, list};
use super::{assumptions, reproduce, section, style};
use crate::metrics::{Metric, Outcome};
use crate::report::rows::Rows;
use crate::report::svg::{self, Picture};
use crate::report::{happenings, prose, sweep, thresholds};
use crate::results::archive::Provenance;
use crate::results::{File, Swept, SweptArchive};

const TEMPLATE: &str = include_str!("swept.html");

/// Values that are named one by one.
const MOST_NAMED: usize = 12;

/// The page of a sweep and its picture, as the files that its results folder keeps them in.
pub fn views(archive: &SweptArchive) -> Vec<File> {
    let SweptArchive { provenance, swept } = archive;
    let picture = svg::of_sweep(swept);
    let page = render(swept, provenance, picture.as_ref());
    let page = File { name: "report.html", bytes: page.into_bytes() };
    let picture =
        picture.map(|picture| File { name: picture.name, bytes: picture.file().into_bytes() });
    std::iter::once(page).chain(picture).collect()
}

fn render(swept: &Swept, provenance: &Provenance, picture: Option<&Picture>) -> String {
    let scenario = &swept.loaded.scenario;
    let (question, answer, why) = verdict(swept);
    let picture = match picture {
        Some(picture) => section("sweep", picture, ""),
        None => String::new(),
    };
    fill(
        TEMPLATE,
        &[
            ("style", &style()),
            ("name", &escaped(&scenario.name)),
            ("title", &escaped(&scenario.title)),
            ("facts", &escaped(&prose::facts(scenario).concat().join(" · "))),
            ("happenings", &list(happenings::lines(scenario))),
            ("question", &escaped(&question)),
            ("answer", &escaped(&answer)),
            ("why", &list(why)),
            ("thresholds", &tally(swept)),
            ("picture", &picture),
            ("points", &points(swept).render()),
            ("assumptions", &list(assumptions::sentences(scenario))),
            ("command", &escaped(&reproduce::command(&swept.loaded, &provenance.chosen))),
            ("seed", &scenario.run.seed.to_string()),
            ("version", &escaped(&provenance.version)),
            ("target", &escaped(&provenance.target)),
            ("digest", &escaped(&provenance.digest)),
            ("scenario", &escaped(&swept.loaded.source.text)),
        ],
    )
}

/// The question, the answer, and for each case where it holds.
fn verdict(swept: &Swept) -> (String, String, Vec<String>) {
    let keys: Vec<&str> = swept.points.axes.iter().map(|axis| &*axis.key).collect();
    let keys = keys.join(" and ");
    let [one, many] = Rows::of(&swept.loaded.scenario).nouns();
    let points = swept.points.outcomes.len();
    if swept.loaded.scenario.first_trigger().is_none() {
        let question = format!("How does the pool stand as {keys} changes?");
        return (
            question,
            format!("Nothing disturbs it: see its figures at {points} points."),
            vec![],
        );
    }
    let names = sweep::names(swept);
    let always = |outcome: &Outcome| outcome.estimate(Metric::DrainedShare).estimate == Some(1.0);
    let drains: Vec<Vec<bool>> = (0..names.len())
        .map(|case| swept.points.outcomes.iter().map(|point| always(&point[case])).collect())
        .collect();
    let everywhere = names.iter().zip(&drains).filter(|(_, drains)| drains.iter().all(|d| *d));
    let everywhere: Vec<&str> = everywhere.map(|(name, _)| &**name).collect();
    let answer = match (everywhere.len(), names.len()) {
        (0, _) => format!("Under no {one} does it drain at every point."),
        (some, all) if some == all => format!("It drains at every point, whatever the {one}."),
        (some, _) if some > MOST_NAMED => format!("It drains at every point in {some} {many}."),
        _ => format!("It drains at every point: {}.", everywhere.join(", ")),
    };
    let partly = names.iter().zip(&drains).filter(|(_, drains)| !drains.iter().all(|d| *d));
    let why = partly.map(|(name, drains)| format!("{name}: {}", whereabouts(swept, drains)));
    (format!("At which {keys} does the fleet drain in every random world?"), answer, why.collect())
}

/// Where one does that does not everywhere.
fn whereabouts(swept: &Swept, drains: &[bool]) -> String {
    let all = drains.len();
    let some = drains.iter().filter(|drains| **drains).count();
    match &swept.points.axes[..] {
        _ if some == 0 => "at none.".to_owned(),
        [axis] if all <= MOST_NAMED => {
            let of = |wanted: bool| {
                let values = axis.values.iter().zip(drains).filter(|(_, d)| **d == wanted);
                values.map(|(value, _)| &**value).collect::<Vec<_>>().join(", ")
            };
            format!("at {}, not at {}.", of(true), of(false))
        }
        _ => format!("at {some} of {all} points."),
    }
}

fn tally(swept: &Swept) -> String {
    let judged = swept.judged();
    match judged.is_empty() {
        true => String::new(),
        false => format!("<p>Thresholds: {}.</p>\n", escaped(&thresholds::tally(&judged))),
    }
}

/// The table of the terminal, with all of its columns.
fn points(swept: &Swept) -> Table {
    let columns = sweep::table(swept);
    let (heads, columns) = columns.split_first().expect("cases have names");
    let row = |index: usize| Row {
        case: None,
        head: heads.cells[index].text.clone(),
        cells: columns.iter().map(|column| column.cells[index].text.clone()).collect(),
    };
    Table {
        caption: "A row for each point".to_owned(),
        corner: Rows::of(&swept.loaded.scenario).heading(),
        columns: columns.iter().map(|column| column.name.to_owned()).collect(),
        rows: (0..heads.cells.len()).map(row).collect(),
    }
}
