//! Pictures of a finished run, written by hand: small, the same bytes each time, light and dark, and
//! readable at 600 and at 1600 pixels. They need nothing but what a results folder holds.
//!
//! A case keeps its colour (of Okabe and Ito's, which colour-blind readers tell apart) in every picture,
//! and its dash where lines share a plot.

mod activity;
mod attempts;
mod clients;
mod concurrency;
mod drain;
mod draw;
mod fans;
mod grid;
mod heat;
mod lines;
mod scale;
mod strip;
mod sweep;
mod timeline;

use super::scene::Scene;
use super::sweep::names;
use crate::metrics::Metric;
use crate::results::{Points, Swept};
use draw::number;

pub(super) use draw::escaped;
pub(super) use fans::picture as fans;
pub(super) use grid::mean;
pub(super) use scale::times;
pub(super) use strip::strip;
pub(super) use timeline::POINTS;

/// How everything in a picture looks, in light and in dark.
pub(super) const STYLE: &str = include_str!("chart.css");

/// A picture.
pub(super) struct Picture {
    /// The name of its file.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// How it is to be read.
    pub about: String,
    height: f64,
    body: String,
}

/// All pictures of a run, in the order of a report.
pub(super) fn pictures(scene: &Scene<'_>) -> Vec<Picture> {
    let mut pictures = vec![timeline::picture(scene), concurrency::picture(scene)];
    if scene.has_trigger() {
        pictures.push(drain::picture(scene));
    }
    if let Some(activity) = &scene.archive.activity {
        pictures.push(activity::picture(scene, activity));
    }
    pictures.extend([clients::picture(scene), attempts::picture(scene)]);
    pictures
}

/// The picture of a sweep, where one can show its keys: lines of one, a map of two.
pub(super) fn of_sweep(swept: &Swept) -> Option<Picture> {
    let map = || heat::picture(&swept.points, &names(swept), &sweep::drawn(&swept.points)[..2]);
    sweep::picture(swept).or_else(map)
}

/// A map of `metric`.
pub(super) fn map(points: &Points, names: &[String], metric: Metric) -> Option<Picture> {
    heat::picture(points, names, &[metric])
}

impl Picture {
    /// A file of its own.
    pub fn file(&self) -> String {
        format!(
            "{}<style>\n{STYLE}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
            self.head(r#" xmlns="http://www.w3.org/2000/svg""#),
            self.body
        )
    }

    /// A part of a page that has [`STYLE`].
    pub fn inline(&self) -> String {
        format!("{}{}</svg>\n", self.head(""), self.body)
    }

    fn head(&self, namespace: &str) -> String {
        let (width, height) = (number(grid::WIDTH), number(self.height));
        let id = self.name.trim_end_matches(".svg");
        format!(
            "<svg{namespace} class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\">\n\
             <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n",
            escaped(&self.title),
            escaped(&self.about)
        )
    }
}
