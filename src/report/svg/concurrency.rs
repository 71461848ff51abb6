//! How many claims run at once: the share of time at each number, and its cumulative sum.

use super::Picture;
use super::draw::Drawing;
use super::grid::{Column, Grid, ROW, Unit};
use crate::metrics::Metric;
use crate::report::numbers::count;
use crate::report::scene::Scene;

/// Bars of a histogram, at most.
const BARS: usize = 46;

pub(super) fn picture(scene: &Scene<'_>) -> Picture {
    let full = scene.most_backends();
    let column = |heading: &str| Column {
        heading: heading.to_owned(),
        unit: Unit::Count,
        x_end: full + 1.0,
        y_end: 1.0,
    };
    let columns = vec![
        column("Share of time at so many active claims"),
        column("… at so many or fewer (0 to 100 %)"),
    ];
    let grid = Grid::new(scene.names(), columns, ROW);
    let mut drawing = Drawing::default();
    grid.frame(&mut drawing);
    for (row, case) in scene.cases.iter().enumerate() {
        let exact = case.record.concurrency.get("all");
        let column = |name: &str| {
            let mut values = exact.map_or_else(Vec::new, |columns| columns.numbers(name));
            let beyond = if name == "cumulative" { 1.0 } else { 0.0 };
            values.resize(full as usize + 1, beyond);
            values
        };
        let (bars, sums) = (grid.panel(row, 0), grid.panel(row, 1));
        let quantile = |metric| case.record.estimate(metric).map_or("–".to_owned(), count);
        let (half, most) = (quantile(Metric::SvActiveP50), quantile(Metric::SvActiveP99));
        let (half, most) = (format!("median {half}"), format!("p99 {most}"));
        drawing.case(row, |drawing| {
            let levels = bars.steps(&binned(&column("share"), BARS));
            drawing.area(&levels, &bars.floor(), "bars");
            drawing.line(&sums.level(1.0), "grid");
            drawing.line(&sums.steps(&column("cumulative")), "line");
            grid.label(drawing, row, &[&half, &most]);
        });
    }
    Picture {
        name: "concurrency.svg",
        title: "How many claims run at once".to_owned(),
        about: "For each policy a histogram of the time spent at each number of active claims, and its \
                cumulative distribution; all replicates pooled, after the warm-up."
            .to_owned(),
        height: grid.height(),
        body: drawing.finish(),
    }
}

/// Shares in at most so many bins of one width.
fn binned(shares: &[f64], most: usize) -> Vec<f64> {
    let width = shares.len().div_ceil(most).max(1);
    let bins = shares.chunks(width).map(|bin| bin.iter().sum());
    // A level of its own each: a wide bin stands for all of its levels.
    bins.flat_map(|sum| std::iter::repeat_n(sum, width)).take(shares.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_keep_every_share() {
        assert_eq!(binned(&[0.5, 0.25, 0.25], 2), [0.75, 0.75, 0.25]);
        assert_eq!(binned(&[1.0], 46), [1.0]);
    }
}
