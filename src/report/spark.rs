//! A course of values as one line of eighth blocks, all lines of a plot on one shared scale.

/// From nothing to full. Blank is exactly nothing, so that any activity at all is seen.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The same without block elements, by weight.
const WEIGHTS: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '#', '@'];

/// `values` between 0 and `full`, one character each.
pub(super) fn line(values: &[f64], full: f64) -> String {
    values
        .iter()
        .map(|value| {
            let eighths = (value / full * 8.0).ceil();
            BLOCKS[(eighths as usize).min(BLOCKS.len() - 1)]
        })
        .collect()
}

/// The ASCII stand-in for a block; other characters are their own.
pub(super) fn ascii(sign: char) -> char {
    BLOCKS.iter().position(|&block| block == sign).map_or(sign, |level| WEIGHTS[level])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_is_nothing_and_the_full_block_is_full() {
        assert_eq!(line(&[0.0, 0.01, 1.0, 4.0, 7.0, 7.01, 8.0, 9.0], 8.0), " ▁▁▄▇███");
        assert_eq!(line(&[4.0], 8.0).chars().map(ascii).collect::<String>(), "=");
    }
}
