//! What a key of a scenario or a metric means, in words.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::text::{Ink, Piece, wrap};
use crate::metric::{Kind as Estimate, Metric};
use crate::scenario::keys::{Absent, Form, Found, Key, Kind, Plain, Range, Shape, shape, shapes};

/// A key of a scenario, in so many columns: meaning, what may stand there, default, and the keys below it.
pub fn key(found: &Found, width: usize) -> String {
    let Key { kind, means, source, .. } = found.key;
    let mut text = format!("{}\n{}\n", found.path, filled("  ", means, width));
    let mut line = |what: &str, says: &str| {
        text.push_str(&filled(&format!("  {what:<9}"), says, width));
    };
    line("is", &value(found.key));
    match &found.key.absent {
        Absent::Required(example) => line("default", &format!("none: write {example}")),
        Absent::Default(default) => line("default", default),
        Absent::Unsaid => {}
    }
    if found.is_choice() {
        line("choice", "it stands alone, in place of the others of its kind");
    }
    if let Some(source) = source {
        line("source", source);
    }
    for name in kind.shapes() {
        text.push_str(&below(shape(name), width));
    }
    text
}

/// A metric, in so many columns: meaning, unit, and how replicates are put together.
pub fn metric(metric: Metric, width: usize) -> String {
    let estimate = match metric.kind() {
        Estimate::Mean => "the mean of the replicates, with Student's t interval at 95 %",
        Estimate::Share => "a share of the replicates, with Wilson's interval at 95 %",
        Estimate::Time => {
            "the median of the replicates, with an order-statistic interval at 95 %; a time that \
             had not come by the end counts as infinite"
        }
    };
    format!(
        "{metric} (a metric of summary.csv)\n{}\n{}{}",
        filled("  ", metric.means(), width),
        filled("  unit     ", metric.unit(), width),
        filled("  estimate ", estimate, width)
    )
}

/// Every key as a page of documentation: a table for each shape.
pub fn page() -> String {
    let mut page = "\
# The keys of a scenario

Every key that may stand in a scenario, made by `herdsim explain --all` from the table that the program itself uses.
`herdsim explain fleet.clients` shows one of them, and of any metric what it measures. Every value that is no number has
its unit (`\"170ms\"`, `\"900/s\"`); a bare number is refused where a duration is due. Whole numbers may be grouped,
`10_000`, or written short in quotes, `\"10k\"` and `\"1.5M\"`. The README shows a whole scenario, and `scenarios/` has
many; how delays and retries are put together is told in [policies.md](policies.md).

What stands in ‹angle brackets› has keys of its own, in the section of that name.
"
    .to_owned();
    for shape in shapes() {
        let form = match shape.form {
            Form::Table => "",
            Form::Open => "Further keys are the parameters of the preset.\n\n",
            Form::Choice => "One of these stands alone.\n\n",
        };
        let _ = write!(
            page,
            "\n## {}\n\n{form}| key | is | default | meaning |\n|---|---|---|---|\n",
            shape.name
        );
        for key in &shape.keys {
            let default = match &key.absent {
                Absent::Required(_) => "required",
                Absent::Default(default) => default,
                Absent::Unsaid => "",
            };
            let (value, means) = (value(key).replace('|', "\\|"), &key.means);
            let _ = writeln!(page, "| `{}` | {value} | {default} | {means} |", key.name);
        }
    }
    page
}

/// What may stand at a key, with its unit and range.
fn value(key: &Key) -> String {
    let unit = match &key.unit {
        Some(unit) => format!(" ({unit})"),
        None => String::new(),
    };
    format!("{}{unit}{}", key.kind, range(&key.range, &key.kind))
}

fn range(range: &Range, kind: &Kind) -> String {
    let unit = match kind.alternatives() {
        [Kind::Plain(Plain::Rate), ..] => "/s",
        _ => "",
    };
    match (range.from, range.above, range.to) {
        (Some(from), _, Some(to)) => format!(", from {from}{unit} to {to}{unit}"),
        (Some(from), _, None) => format!(", at least {from}{unit}"),
        (None, Some(above), Some(to)) => format!(", above {above}, at most {to}"),
        (None, Some(above), None) => format!(", longer than {above}"),
        (None, None, Some(to)) => format!(", at most {to}"),
        (None, None, None) => String::new(),
    }
}

/// The keys of a shape, a line each.
fn below(shape: &Shape, columns: usize) -> String {
    let width = shape.keys.iter().map(|key| key.name.width()).max().unwrap_or(0);
    let what = if shape.form == Form::Choice { "one of" } else { "keys" };
    let mut text = format!("\n  {what} ‹{}›\n", shape.name);
    for Key { name, means, .. } in &shape.keys {
        text.push_str(&filled(&format!("    {name:width$}  "), means, columns));
    }
    text
}

/// Words behind `prefix`, later lines indented as far.
fn filled(prefix: &str, words: &str, width: usize) -> String {
    let mut words = words.split_whitespace();
    let first = Piece::new(format!("{prefix}{}", words.next().unwrap_or_default()));
    let pieces: Vec<Piece> = std::iter::once(first).chain(words.map(Piece::new)).collect();
    wrap(&pieces, " ", width, &" ".repeat(prefix.width()), Ink::Plain)
}
