//! How many backends are active at once, as a line for each row of the table: from none on the left to all on
//! the right, the higher the more of the time.

use unicode_width::UnicodeWidthStr;

use super::courses::names;
use super::numbers::{count, percent};
use super::spark;
use super::text::padded;
use crate::metrics::{Levels, PolicySummary};
use crate::results::Results;

/// The lines in at most `width` columns, names in at most `name_width`.
pub(super) fn render(results: &Results, name_width: usize, width: usize) -> String {
    let names = names(results, name_width);
    let label = names.iter().map(|name| name.width()).max().unwrap_or(0) + 4;
    let held = |policy: &PolicySummary| policy.occupancy.all.held.len();
    let levels = results.policies.iter().map(held).max().unwrap_or(0);
    let cells = width.saturating_sub(label).min(levels).max(1);
    let shares: Vec<Vec<f64>> = results
        .policies
        .iter()
        .map(|policy| binned(&policy.occupancy.all, levels, cells))
        .collect();
    let highest = shares.iter().flatten().copied().fold(0.0, f64::max);
    if highest == 0.0 {
        return String::new();
    }
    let full = count(levels.saturating_sub(1) as f64);
    let mut out = format!("time at 0 – {full} active backends, {} = full\n", percent(highest));
    for (name, shares) in names.iter().zip(&shares) {
        let line = spark::line(shares, highest);
        out.push_str(format!("{}{line}", padded(&format!("  {name}"), label)).trim_end());
        out.push('\n');
    }
    let room = cells.saturating_sub(1);
    out.push_str(&format!("{:label$}0{full:>room$}\n", ""));
    out
}

/// The share of time in each of `cells` equal parts of `levels` levels.
fn binned(held: &Levels, levels: usize, cells: usize) -> Vec<f64> {
    let total = held.total().max(1) as f64;
    let mut shares = vec![0.0; cells];
    for (level, held) in held.held.iter().enumerate() {
        shares[level * cells / levels] += *held as f64 / total;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_share_is_in_one_part_and_the_highest_level_in_the_last() {
        let held = Levels { held: vec![1, 1, 0, 0, 2] };
        assert_eq!(binned(&held, 5, 2), [0.5, 0.5]);
        assert_eq!(binned(&held, 5, 5), [0.25, 0.25, 0.0, 0.0, 0.5]);
        assert_eq!(binned(&held, 10, 2), [1.0, 0.0], "of a pool that others have made larger");
    }
}
