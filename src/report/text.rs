//! Pieces of text with a meaning, laid out and painted for a given terminal.

use anstyle::AnsiColor;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a report is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns available.
    pub width: usize,
    /// Whether colours may be used; nothing is lost without.
    pub ink: Ink,
    /// Which characters may be used.
    pub glyphs: Glyphs,
}

/// Whether colours may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// No escape sequences.
    Plain,
    /// ANSI colours, which mean something: red never drains, green drains.
    Colour,
}

/// Which characters may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyphs {
    /// Block elements, dashes, signs.
    Unicode,
    /// For `TERM=dumb` or a locale without UTF-8.
    Ascii,
}

/// What a piece of text means, beyond its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Neutral,
    Good,
    Bad,
    /// It did not or would not happen.
    Faint,
}

/// Text that is never broken over two lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub text: String,
    pub tone: Tone,
}

impl Piece {
    pub fn new(text: impl Into<String>) -> Piece {
        Piece { text: text.into(), tone: Tone::Neutral }
    }

    pub fn toned(text: impl Into<String>, tone: Tone) -> Piece {
        Piece { text: text.into(), tone }
    }

    /// Columns that it takes.
    pub fn width(&self) -> usize {
        self.text.width()
    }

    pub fn painted(&self, ink: Ink) -> String {
        let style = match (ink, self.tone) {
            (Ink::Plain, _) | (_, Tone::Neutral) => return self.text.clone(),
            (Ink::Colour, Tone::Good) => AnsiColor::Green.on_default(),
            (Ink::Colour, Tone::Bad) => AnsiColor::Red.on_default(),
            (Ink::Colour, Tone::Faint) => anstyle::Style::new().dimmed(),
        };
        format!("{style}{}{style:#}", self.text)
    }
}

impl Glyphs {
    /// A formula in these characters, before it is laid out: some signs become longer.
    pub fn formula(self, formula: &str) -> String {
        match self {
            Glyphs::Unicode => formula.to_owned(),
            Glyphs::Ascii => formula.chars().map(ascii_of_formula).collect(),
        }
    }

    /// `text` in these characters. Every sign that reports use has one of the same width in ASCII, so
    /// nothing moves.
    pub(super) fn write(self, text: &str) -> String {
        let ascii = |sign| match sign {
            '×' => 'x',
            '·' => '|',
            '–' | '─' | '−' => '-',
            '…' => '~',
            '▲' => '^',
            sign => super::spark::ascii(sign),
        };
        match self {
            Glyphs::Unicode => text.to_owned(),
            Glyphs::Ascii => text.chars().map(ascii).collect(),
        }
    }
}

fn ascii_of_formula(sign: char) -> String {
    let digit = |digits: &str| digits.chars().position(|digit| digit == sign);
    if let Some(power) = digit("⁰¹²³⁴⁵⁶⁷⁸⁹") {
        return format!("^{power}");
    }
    if let Some(index) = digit("₀₁₂₃₄₅₆₇₈₉") {
        return index.to_string();
    }
    let ascii = match sign {
        '·' | '×' => "*",
        '−' => "-",
        '±' => "+/-",
        '≤' => "<=",
        '≥' => ">=",
        '√' => "sqrt",
        '∞' => "inf",
        '′' => "'",
        '…' => "...",
        sign => return sign.to_string(),
    };
    ascii.to_owned()
}

/// `pieces` joined by `separator`, in lines of at most `width` columns, those after the first behind
/// `indent`. A line break takes the place of a separator.
pub(super) fn wrap(
    pieces: &[Piece],
    separator: &str,
    width: usize,
    indent: &str,
    ink: Ink,
) -> String {
    let mut out = String::new();
    let mut column = 0;
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 && column + separator.width() + piece.width() > width {
            out.push('\n');
            out.push_str(indent);
            column = indent.width();
        } else if index > 0 {
            out.push_str(separator);
            column += separator.width();
        }
        out.push_str(&piece.painted(ink));
        column += piece.width();
    }
    out.push('\n');
    out
}

/// A plain paragraph behind `bullet`, its later lines indented as far.
pub fn paragraph(bullet: &str, words: &str, width: usize) -> String {
    let words = format!("{bullet}{words}");
    let pieces: Vec<Piece> = words.split_whitespace().map(Piece::new).collect();
    wrap(&pieces, " ", width, &" ".repeat(bullet.width()), Ink::Plain)
}

/// `text` in at most `width` columns, with `…` where something was cut off.
pub(super) fn truncated(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut column = 0;
    for sign in text.chars() {
        column += sign.width().unwrap_or(0);
        if column >= width {
            break;
        }
        short.push(sign);
    }
    short.push('…');
    short
}

/// `text` with spaces up to `width` columns.
pub(super) fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{text}{:missing$}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_to_its_columns() {
        assert_eq!(truncated("jittered-no-retry", 17), "jittered-no-retry");
        assert_eq!(truncated("jittered-no-retry-2", 17), "jittered-no-retr…");
        assert_eq!(truncated("日本語の方針", 6), "日本…");
    }

    #[test]
    fn a_formula_keeps_its_meaning_in_ascii() {
        let formula = "c⁴ + 15·d₁ − √(4t) ± 2², k ≤ ∞";
        assert_eq!(Glyphs::Ascii.formula(formula), "c^4 + 15*d1 - sqrt(4t) +/- 2^2, k <= inf");
        assert_eq!(Glyphs::Unicode.formula(formula), formula);
        for preset in crate::scenario::presets() {
            let formula = Glyphs::Ascii.formula(&preset.formula);
            assert!(formula.is_ascii(), "{}: {formula}", preset.reference());
            let lacks = preset.lacks.as_deref().unwrap_or_default();
            assert!(Glyphs::Ascii.write(lacks).is_ascii(), "{}: {lacks}", preset.reference());
        }
    }

    #[test]
    fn a_piece_is_never_broken() {
        let pieces = ["11 543 clients", "pool 368", "seed 7"].map(Piece::new);
        let text = wrap(&pieces, " · ", 20, "  ", Ink::Plain);
        assert_eq!(text, "11 543 clients\n  pool 368 · seed 7\n");
    }
}
