//! The course of a run as sparklines: a line for each row of the table, all on one scale, and below them
//! where the disturbances of all variants are. A wide terminal has two plots side by side.

use unicode_width::UnicodeWidthStr;

use super::numbers::{count, span};
use super::rows::Rows;
use super::spark;
use super::text::{padded, truncated};
use crate::metrics::{PolicySummary, Timeline};
use crate::results::Results;
use crate::scenario::Scenario;
use crate::units::SimTime;

/// Columns from which on there is room for a second plot.
const WIDE: usize = 110;

/// Columns between two plots.
const GAP: usize = 2;

/// What is plotted.
struct Plot {
    /// What it shows, and its scale.
    heading: String,
    full: f64,
    /// Its mean over replicates in a part of the run, `from` one bucket up to another.
    value: fn(&PolicySummary, from: usize, to: usize) -> f64,
}

/// The plots in at most `width` columns, names in at most `name_width`.
pub(super) fn render(results: &Results, name_width: usize, width: usize) -> String {
    let scenario = &results.loaded.scenario;
    let Some(first) = results.policies.first() else { return String::new() };
    let names = names(results, name_width);
    let label = names.iter().map(|name| name.width()).max().unwrap_or(0) + 4;
    let courses = scenario.courses();
    let mut plots = vec![active(scenario, &courses)];
    if width >= WIDE {
        plots.push(clients(results));
    }
    let gaps = GAP * (plots.len() - 1);
    let room = (width.saturating_sub(label + gaps) / plots.len()).max(1);
    let cells = room.min(first.timeline.buckets.len());

    let mut lines = vec![plots.iter().map(|plot| plot.heading.clone()).collect::<Vec<_>>()];
    for policy in &results.policies {
        let line = |plot: &Plot| spark::line(&plot.values(policy, cells), plot.full);
        lines.push(plots.iter().map(line).collect());
    }
    let mut times: Vec<SimTime> =
        courses.iter().flat_map(Scenario::happenings).map(|happening| happening.at).collect();
    times.sort_unstable();
    if !times.is_empty() {
        let marks = marks(&times, &first.timeline, cells, room);
        lines.push(plots.iter().map(|_| marks.clone()).collect());
    }
    let mut out = String::new();
    for (number, parts) in lines.iter().enumerate() {
        let name = number.checked_sub(1).and_then(|row| names.get(row));
        // The first heading begins where names do.
        let (name, first_room) = match (number, name) {
            (0, _) => (String::new(), label + room),
            (_, name) => (padded(&format!("  {}", name.map_or("", |name| name)), label), room),
        };
        let mut line = name;
        for (index, part) in parts.iter().enumerate() {
            let room = if index == 0 { first_room } else { room };
            line.push_str(&padded(part, room + GAP));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The names of the rows, each in at most `width` columns.
pub(super) fn names(results: &Results, width: usize) -> Vec<String> {
    let rows = Rows::of(&results.loaded.scenario);
    results.policies.iter().map(|policy| truncated(&rows.name(policy), width)).collect()
}

fn active(scenario: &Scenario, courses: &[Scenario]) -> Plot {
    let full = f64::from(courses.iter().map(Scenario::largest_pool).max().unwrap_or_default());
    let length = span(scenario.run.duration.as_secs_f64());
    Plot {
        heading: format!("active backends, 0 – {length}, {} = full", count(full)),
        full,
        value: |policy, from, to| {
            let buckets = &policy.timeline.buckets[from..to];
            let held: u64 = buckets.iter().map(|bucket| bucket.sv_active_ticks).sum();
            let time: u64 = (from..to).map(|index| policy.timeline.length(index).ticks()).sum();
            held as f64 / (time as f64 * policy.replicates.len() as f64)
        },
    }
}

/// Client connections, on the scale of the most that any policy has.
fn clients(results: &Results) -> Plot {
    let value = |policy: &PolicySummary, from: usize, to: usize| {
        let buckets = &policy.timeline.buckets[from..to];
        let most = buckets.iter().map(|bucket| bucket.clients_max).max().unwrap_or_default();
        most as f64 / policy.replicates.len() as f64
    };
    let most = |policy: &PolicySummary| value(policy, 0, policy.timeline.buckets.len());
    let full = results.policies.iter().map(most).fold(1.0, f64::max);
    Plot { heading: format!("clients, {} = most", count(full)), full, value }
}

impl Plot {
    /// Its value in each of `cells` equal parts of the run.
    fn values(&self, policy: &PolicySummary, cells: usize) -> Vec<f64> {
        let buckets = policy.timeline.buckets.len();
        let part = |cell: usize| cell * buckets / cells;
        (0..cells).map(|cell| (self.value)(policy, part(cell), part(cell + 1))).collect()
    }
}

/// A line that points at each of these times in order and says when it was, as far as there is
/// room.
fn marks(times: &[SimTime], timeline: &Timeline, cells: usize, room: usize) -> String {
    let mut line = String::new();
    for &time in times {
        let column = cell_of(timeline, time, cells);
        if line.width() > column {
            continue;
        }
        let marked = format!("▲ {}", span(time.as_secs_f64()));
        let mark = if column + marked.width() <= room { &marked } else { "▲" };
        line = padded(&line, column);
        line.push_str(mark);
    }
    line
}

fn cell_of(timeline: &Timeline, at: SimTime, cells: usize) -> usize {
    let buckets = timeline.buckets.len();
    let bucket = timeline.index(at).min(buckets.saturating_sub(1));
    // The cell whose part [cell · buckets / cells, (cell + 1) · buckets / cells) holds the bucket.
    ((bucket + 1) * cells).div_ceil(buckets.max(1)).saturating_sub(1)
}
