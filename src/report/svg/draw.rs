//! The few elements of SVG that charts are drawn with. Numbers have one format, text is escaped.

use std::fmt::Write as _;

/// Colours and dashes that `chart.css` has.
const COLOURS: usize = 7;
const DASHES: usize = 4;
/// Shapes of markers.
const MARKERS: usize = 5;

/// Elements in the order they are painted.
#[derive(Default)]
pub(super) struct Drawing(String);

/// Which side of its place a text is on.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A place in the picture: right and down, in units of its view box.
pub(super) type Point = (f64, f64);

impl Drawing {
    /// A line through `points`.
    pub fn line(&mut self, points: &[Point], class: &str) {
        if let Some(path) = path(points.iter().copied()) {
            let _ = writeln!(self.0, r#"<path class="{class}" d="{path}"/>"#);
        }
    }

    /// What lies between two lines.
    pub fn area(&mut self, upper: &[Point], lower: &[Point], class: &str) {
        if let Some(path) = path(upper.iter().chain(lower.iter().rev()).copied()) {
            let _ = writeln!(self.0, r#"<path class="{class}" d="{path}Z"/>"#);
        }
    }

    pub fn text(&mut self, (x, y): Point, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y, text) = (number(x), number(y), escaped(text));
        let _ = writeln!(
            self.0,
            r#"<text class="{class}" x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>"#
        );
    }

    pub fn dot(&mut self, (x, y): Point, radius: f64, class: &str) {
        let [x, y, radius] = [x, y, radius].map(number);
        let _ = writeln!(self.0, r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}"/>"#);
    }

    /// A point of a case, by whose number its shape is chosen.
    pub fn marker(&mut self, case: usize, (x, y): Point) {
        const SIZE: f64 = 3.6;
        let (left, right, up, down) = (x - SIZE, x + SIZE, y - SIZE, y + SIZE);
        match case % MARKERS {
            0 => self.dot((x, y), SIZE, "bars"),
            1 => self.area(&[(left, up), (right, up)], &[(left, down), (right, down)], "bars"),
            2 => self.area(&[(left, down), (x, up)], &[(right, down)], "bars"),
            3 => self.area(&[(left, y), (x, up)], &[(x, down), (right, y)], "bars"),
            _ => self.area(&[(left, up), (x, down)], &[(right, up)], "bars"),
        }
    }

    /// That a point lies above the picture's upper end.
    pub fn beyond(&mut self, (x, y): Point) {
        self.area(&[(x - 4.0, y + 4.0), (x, y - 4.0)], &[(x + 4.0, y + 4.0)], "open");
    }

    /// A rectangle from its upper left corner, more or less opaque.
    pub fn cell(&mut self, (x, y): Point, size: (f64, f64), class: &str, opacity: f64) {
        let [x, y, width, height] = [x, y, size.0, size.1].map(number);
        let _ = writeln!(
            self.0,
            r#"<rect class="cell {class}" x="{x}" y="{y}" width="{width}" height="{height}" fill-opacity="{opacity:.2}"/>"#
        );
    }

    /// A group of all that belongs to a case, by its number: in its colour and with its dash, a pair that
    /// comes back after 28 cases.
    pub fn case(&mut self, case: usize, draw: impl FnOnce(&mut Drawing)) {
        let (colour, dash) = (case % COLOURS, case % DASHES);
        let _ = writeln!(self.0, r#"<g class="s{colour} d{dash}" data-case="{case}">"#);
        draw(self);
        self.0.push_str("</g>\n");
    }

    pub fn finish(self) -> String {
        self.0
    }
}

/// A path through `points`. One between two others of its height adds nothing and is left out.
fn path(points: impl Iterator<Item = Point>) -> Option<String> {
    let tenths = |(x, y): Point| ((10.0 * x).round(), (10.0 * y).round());
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        if let [.., before, last] = kept[..] {
            let [(x0, y0), (x1, y1), (x2, y2)] = [before, last, point].map(tenths);
            if y0 == y1 && y1 == y2 && (x1 - x0) * (x2 - x1) >= 0.0 {
                kept.pop();
            }
        }
        kept.push(point);
    }
    let places = kept.into_iter().map(|(x, y)| format!("{},{}", number(x), number(y)));
    let path = places.collect::<Vec<_>>().join("L");
    (!path.is_empty()).then(|| format!("M{path}"))
}

/// A coordinate: a tenth of a unit is finer than any screen.
pub(super) fn number(number: f64) -> String {
    let text = format!("{number:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// Text that may stand between tags and in quoted attributes, of SVG and of HTML. Characters that XML
/// does not know become spaces.
pub(in crate::report) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(character),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            other if other.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_one_format() {
        let shown = [0.04, -0.04, 3.0, 3.25, 1e4, -2.55].map(number);
        assert_eq!(shown, ["0", "0", "3", "3.2", "10000", "-2.5"]);
    }

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(escaped("<a b=\"c\">&'\u{1}"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39; ");
    }

    #[test]
    fn what_adds_nothing_to_a_line_is_left_out() {
        let drawn = |points: &[Point]| path(points.iter().copied()).unwrap();
        assert_eq!(drawn(&[(0.0, 1.0), (1.0, 1.02), (2.0, 1.0), (3.0, 2.0)]), "M0,1L2,1L3,2");
        assert_eq!(drawn(&[(0.0, 1.0), (2.0, 1.0), (1.0, 1.0)]), "M0,1L2,1L1,1", "it turns back");
    }

    #[test]
    fn a_line_of_no_points_is_not_drawn() {
        let mut drawing = Drawing::default();
        drawing.line(&[], "x");
        drawing.area(&[(0.0, 1.0)], &[(0.0, 2.0)], "x");
        assert_eq!(drawing.finish(), "<path class=\"x\" d=\"M0,1L0,2Z\"/>\n");
    }
}
