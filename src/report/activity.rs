//! What was measured beside what was simulated: how far the two agree, in three views.
//!
//! Means are of the readings and of the same seconds of the simulation. A reading is *within* if it lies
//! between the least and the most of any replicate, rounded outward, since a reading of a moment is whole. One more replicate, read as the mean of each second, would be within a band of R in a share
//! (R − 1)/(R + 1) of the seconds or more: of R + 1 equals, two are outermost. A reading of a moment
//! scatters more than a mean of a second, so it may leave the band more often. How far two distributions
//! differ is told by the largest difference of their cumulative shares (Kolmogorov and Smirnov's
//! distance), without a test: neighbouring seconds are not independent. The simulated one is of moments
//! over all of the measured window, so readings that are means, or of a part of it, have no such figure.

use super::numbers::{count, percent};
use super::rows::Rows;
use super::scene::{Case, Scene};
use super::table::{self, Column};
use super::text::{Piece, Style, paragraph, truncated};
use super::{markdown, numbers};
use crate::results::{Activity, Archive, Reading};

/// Readings that reach over less of the measured window are compared second by second alone.
const ENOUGH: f64 = 0.95;

/// How a case agrees with what was measured; `None` where that cannot be told.
struct Agreement {
    active: f64,
    p95: Option<f64>,
    within: Option<f64>,
    difference: Option<f64>,
    waiting: f64,
    clients: f64,
}

/// All that is compared.
pub(super) struct Measured<'a> {
    activity: &'a Activity,
    readings: Vec<&'a Reading>,
    /// The share of the measured window that they reach over.
    reach: f64,
    agreements: Vec<(String, Agreement)>,
    rows: Rows,
    replicates: usize,
}

/// For the terminal, behind the report; nothing where nothing was measured.
pub fn terminal(archive: &Archive, style: &Style) -> String {
    let Some(measured) = Measured::of(&Scene::of(archive)) else { return String::new() };
    let heading =
        paragraph("", &format!("measured beside simulated: {}", measured.what()), style.width);
    let table = table::render(measured.columns(style.width / 3), style.width, style.ink);
    let sentences = measured.sentences();
    let sentences: String =
        sentences.iter().map(|line| format!("\n{}", paragraph("", line, style.width))).collect();
    style.glyphs.write(&format!("{heading}{table}{sentences}"))
}

/// The same as Markdown.
pub fn markdown(archive: &Archive) -> String {
    let Some(measured) = Measured::of(&Scene::of(archive)) else { return String::new() };
    let mut out = format!("Measured beside simulated: {}\n\n", markdown::escaped(&measured.what()));
    markdown::push_table(&mut out, &measured.columns(usize::MAX));
    for sentence in measured.sentences() {
        out.push_str(&format!("\n{}\n", markdown::escaped(&sentence)));
    }
    out
}

impl<'a> Measured<'a> {
    /// What was measured in the window of a scene; `None` where nothing was.
    pub fn of(scene: &Scene<'a>) -> Option<Measured<'a>> {
        let activity = scene.archive.activity.as_ref()?;
        let scenario = scene.scenario();
        let readings: Vec<&Reading> = activity.within(scenario).collect();
        let (first, last) = (readings.first()?.at, readings.last()?.at);
        let apart = match readings.len() {
            1 => 1.0,
            some => (last - first) / (some - 1) as f64,
        };
        let window = scenario.run.duration.as_secs_f64() - scenario.run.warm_up.as_secs_f64();
        let reach = ((last - first + apart) / window).min(1.0);
        let comparable = reach >= ENOUGH && are_moments(&readings);
        let agreement =
            |case: &Case<'_>| Some((case.name.clone(), agreement(case, &readings, comparable)?));
        let agreements = scene.cases.iter().filter_map(agreement).collect();
        let replicates = scene.cases.first()?.record.outcome.replicates.len();
        Some(Measured { activity, readings, reach, agreements, rows: scene.rows, replicates })
    }

    /// What was measured, and when.
    pub fn what(&self) -> String {
        let (first, last) = (self.readings[0].at, self.readings[self.readings.len() - 1].at);
        format!(
            "{} readings of {} from {} to {}",
            count(self.readings.len() as f64),
            self.activity.name,
            numbers::span(first),
            numbers::span(last)
        )
    }

    /// What was measured, then each case.
    pub fn columns(&self, name_width: usize) -> Vec<Column<'static>> {
        let mean_of = |of: fn(&Reading) -> Option<f64>| {
            let values: Option<Vec<f64>> =
                self.readings.iter().map(|reading| of(reading)).collect();
            values.map(|values| values.iter().sum::<f64>() / values.len() as f64)
        };
        let waiting = mean_of(|reading| reading.waiting);
        let clients = mean_of(|reading| reading.clients);
        let measured = [
            mean_of(|reading| Some(reading.active)),
            Some(quantile(&self.sorted(), 0.95)),
            None,
            None,
            waiting,
            clients,
        ];
        let names = std::iter::once("measured".to_owned())
            .chain(self.agreements.iter().map(|(name, _)| truncated(name, name_width)));
        let names = Column {
            name: self.rows.heading(),
            heading: ["", self.rows.heading()],
            weight: u8::MAX,
            cells: names.map(Piece::new).collect(),
        };
        type Cell = fn(&Agreement) -> Option<f64>;
        type Words = fn(f64) -> String;
        let figures: [(&str, [&str; 2], u8, Cell, Words); 6] = [
            ("mean active", ["mean", "active"], 9, |a| Some(a.active), count),
            ("p95 active", ["p95", "active"], 7, |a| a.p95, count),
            ("readings within the band", ["readings", "within"], 8, |a| a.within, percent),
            ("largest difference", ["largest", "difference"], 6, |a| a.difference, percent),
            ("mean waiting", ["mean", "waiting"], 5, |a| Some(a.waiting), count),
            ("mean clients", ["mean", "clients"], 4, |a| Some(a.clients), count),
        ];
        let shown =
            |figure: Option<f64>, words: Words| Piece::new(figure.map_or("–".to_owned(), words));
        let column = |(index, (name, heading, weight, cell, words)): (usize, _)| {
            let (cell, words): (Cell, Words) = (cell, words);
            let first = shown(measured[index], words);
            let cells = self.agreements.iter().map(|(_, agreement)| shown(cell(agreement), words));
            Column { name, heading, weight, cells: std::iter::once(first).chain(cells).collect() }
        };
        let figures = figures.into_iter().enumerate();
        // What the file does not tell has nothing to stand beside.
        let told = figures.filter(|(index, _)| match index {
            4 => waiting.is_some(),
            5 => clients.is_some(),
            _ => true,
        });
        std::iter::once(names).chain(told.map(column)).collect()
    }

    /// How well they agree, and what the figures mean.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        // The one whose distribution differs least, or else with the most readings within.
        let distance =
            |agreement: &Agreement| agreement.difference.or_else(|| Some(1.0 - agreement.within?));
        let told = self.agreements.iter().filter_map(|case| Some((distance(&case.1)?, case)));
        if let Some((_, (name, agreement))) = told.min_by(|(a, _), (b, _)| a.total_cmp(b)) {
            let differs = agreement.difference.map(|difference| {
                format!(
                    "the shares of time at or below any number of active backends differ by {} at most",
                    percent(difference)
                )
            });
            let within = agreement
                .within
                .map(|within| format!("{} of the readings lie within its band", percent(within)));
            let how: Vec<String> = differs.into_iter().chain(within).collect();
            sentences
                .push(format!("Nearest to what was measured is {name}: {}.", how.join(", and ")));
        }
        if self.reach < ENOUGH {
            sentences.push(format!(
                "The readings reach over {} of the measured window: too little to compare \
                 distributions.",
                percent(self.reach)
            ));
        } else if !are_moments(&self.readings) {
            sentences.push(
                "The readings are not whole, so they are means: the distribution of moments is not \
                 compared with them."
                    .to_owned(),
            );
        }
        let replicates = self.replicates as f64;
        sentences.push(match self.replicates {
            1 => "With one replicate there is no band: use --replicates 20 or more.".to_owned(),
            _ => format!(
                "A band holds all {} replicates of each second. One more replicate, read as means \
                 of a second, would lie within it in {} of the seconds or more; readings of a \
                 moment scatter more.",
                count(replicates),
                percent((replicates - 1.0) / (replicates + 1.0))
            ),
        });
        if self.readings.iter().all(|reading| reading.clients.is_some()) {
            sentences.push("Simulated clients are the most of each second.".to_owned());
        }
        sentences
    }

    fn sorted(&self) -> Vec<f64> {
        sorted(&self.readings)
    }
}

/// Whether readings are of moments and not means: then they are whole.
fn are_moments(readings: &[&Reading]) -> bool {
    readings.iter().all(|reading| reading.active.fract() == 0.0)
}

/// How a case agrees with the readings; distributions only where they are `comparable`.
fn agreement(case: &Case<'_>, readings: &[&Reading], comparable: bool) -> Option<Agreement> {
    let timeline = &case.record.timeline;
    let starts = timeline.numbers("t_s");
    let width = starts.get(1).map_or(1.0, |second| second - starts[0]);
    let bucket = |reading: &Reading| ((reading.at / width) as usize).min(starts.len() - 1);
    let mean = |column: &str| {
        let values = timeline.numbers(column);
        let at = |reading: &&Reading| values.get(bucket(reading)).copied().unwrap_or(0.0);
        readings.iter().map(at).sum::<f64>() / readings.len() as f64
    };
    let (low, high) =
        (case.record.band.numbers("sv_active_low"), case.record.band.numbers("sv_active_high"));
    let is_within = |reading: &&&Reading| {
        let index = bucket(reading);
        let bounds = low.get(index).zip(high.get(index));
        bounds.is_some_and(|(low, high)| (low.floor()..=high.ceil()).contains(&reading.active))
    };
    if starts.is_empty() {
        return None;
    }
    let within = || readings.iter().filter(is_within).count() as f64 / readings.len() as f64;
    let has_band = case.record.outcome.replicates.len() > 1;
    let levels = case.record.concurrency.get("all").filter(|_| comparable);
    let levels = levels.map(|levels| (levels.numbers("active"), levels.numbers("sampled_share")));
    let levels = levels.filter(|(_, shares)| shares.iter().any(|share| *share > 0.0));
    Some(Agreement {
        active: mean("sv_active_mean"),
        p95: levels.as_ref().map(|(active, shares)| quantile_of(active, shares, 0.95)),
        within: has_band.then(within),
        difference: levels
            .as_ref()
            .map(|(active, shares)| distance(&sorted(readings), active, shares)),
        waiting: mean("cl_waiting_mean"),
        clients: mean("clients_max"),
    })
}

fn sorted(readings: &[&Reading]) -> Vec<f64> {
    let mut values: Vec<f64> = readings.iter().map(|reading| reading.active).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The least value that such a share does not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

fn quantile_of(levels: &[f64], shares: &[f64], share: f64) -> f64 {
    let mut sum = 0.0;
    for (level, own) in levels.iter().zip(shares) {
        sum += own;
        // Shares are printed to six digits.
        if sum >= share - 1e-6 {
            return *level;
        }
    }
    levels.last().copied().unwrap_or(0.0)
}

/// The largest difference between the share of `sorted` values and of time at or below any level.
fn distance(sorted: &[f64], levels: &[f64], shares: &[f64]) -> f64 {
    let below = |level: f64| sorted.partition_point(|value| *value <= level) as f64;
    let just_below = |level: f64| sorted.partition_point(|value| *value < level) as f64;
    let all = sorted.len() as f64;
    let mut sum = 0.0;
    let mut largest: f64 = 0.0;
    for (level, own) in levels.iter().zip(shares) {
        // Readings may lie between levels: there the measured share is largest just below the next.
        largest = largest.max((just_below(*level) / all - sum).abs());
        sum += own;
        largest = largest.max((below(*level) / all - sum).abs());
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_differ_by_their_largest_gap() {
        let (levels, shares) = ([0.0, 1.0, 2.0, 3.0], [0.25, 0.25, 0.25, 0.25]);
        assert_eq!(distance(&[0.0, 1.0, 2.0, 3.0], &levels, &shares), 0.0);
        assert_eq!(distance(&[3.0, 3.0], &levels, &shares), 0.75);
        assert_eq!(
            distance(&[0.5, 0.5], &levels, &shares),
            0.75,
            "just below 1 all of them, one in four"
        );
        assert_eq!(distance(&[9.0], &levels, &shares), 1.0);
        assert_eq!(quantile_of(&levels, &shares, 0.5), 1.0);
        assert_eq!(quantile_of(&levels, &shares, 0.95), 3.0);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), 2.0);
    }
}
