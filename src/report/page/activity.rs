//! What a monitor saw beside the simulation: its picture, its figures, and how well they agree.

use super::html::{Row, Table, escaped};
use crate::report::activity::Measured;
use crate::report::scene::Scene;
use crate::report::svg::Picture;

/// A section of its own; nothing where nothing was measured.
pub(super) fn render(scene: &Scene<'_>, pictures: &[Picture]) -> String {
    let Some(measured) = Measured::of(scene) else { return String::new() };
    let columns = measured.columns(usize::MAX);
    let (names, figures) = columns.split_first().expect("the first column has the names");
    let row = |(index, name): (usize, _)| Row {
        // The first row is what was measured.
        case: index.checked_sub(1),
        head: name,
        cells: figures.iter().map(|column| column.cells[index].text.clone()).collect(),
    };
    let table = Table {
        caption: "Active backends, waiting and connected clients".to_owned(),
        corner: names.name,
        columns: figures.iter().map(|column| column.name.to_owned()).collect(),
        rows: names.cells.iter().map(|cell| cell.text.clone()).enumerate().map(row).collect(),
    };
    let picture = pictures.iter().find(|picture| picture.name == "activity.svg");
    let picture = picture.map_or(String::new(), |picture| {
        format!(
            "<p>{}</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}, picture\">\
             <figure>\n{}</figure></div>\n",
            escaped(&picture.about),
            escaped(&picture.title),
            picture.inline()
        )
    });
    let sentences: String = measured
        .sentences()
        .iter()
        .map(|sentence| format!("<p>{}</p>\n", escaped(sentence)))
        .collect();
    format!(
        "<section id=\"activity\">\n<h2>Measured beside simulated</h2>\n<p>{}.</p>\n\
         {picture}{}{sentences}</section>\n",
        escaped(&measured.what()),
        table.render()
    )
}
