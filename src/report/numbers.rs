//! Numbers for people: about three significant digits, units attached.

use crate::metrics::Kind;

/// A count: `7`, `2.4`, `368`, `11 543`, `2.37 M`.
pub(super) fn count(number: f64) -> String {
    let whole = number.fract() == 0.0;
    if number >= 999_995_000.0 {
        format!("{:.2} G", number / 1e9)
    } else if number >= 999_999.5 {
        format!("{:.2} M", number / 1e6)
    } else if number >= 99.95 || whole {
        grouped(number.round() as u64)
    } else {
        format!("{number:.1}")
    }
}

/// Any figure to four significant digits, in whatever unit: `0.5655`, `93.41`, `11 543`, `−2`.
pub(super) fn figure(number: f64) -> String {
    significant(number, 4)
}

/// A figure to so many significant digits, at least all before the point.
pub(super) fn significant(number: f64, digits: usize) -> String {
    let size = number.abs();
    let sign = if number < 0.0 { "−" } else { "" };
    if size >= 999.95 {
        return format!("{sign}{}", count(size.round()));
    }
    let before = (0..3).filter(|&power| size >= 10f64.powi(power)).count();
    let text = format!("{size:.*}", digits.saturating_sub(before));
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    if text == "0" { text.to_owned() } else { format!("{sign}{text}") }
}

/// A share of 1: `0 %`, `< 1 %`, `42 %`, `> 99 %`, `100 %`. Only none is 0 and only all is 100.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if share > 0.0 && percent < 1.0 {
        "< 1 %".to_owned()
    } else if share < 1.0 && percent > 99.0 {
        "> 99 %".to_owned()
    } else {
        format!("{percent:.0} %")
    }
}

/// A factor: `1.0×`, `22.1×`, `221×`.
pub(super) fn factor(ratio: f64) -> String {
    if ratio >= 99.95 { format!("{ratio:.0}×") } else { format!("{ratio:.1}×") }
}

/// A span: `170 ms`, `4.2 s`, `90 s`, `15m 12s`, `4h 10m`.
pub(super) fn span(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    let pair = |major: u64, minor: u64, units: [char; 2]| match minor {
        0 => format!("{major}{}", units[0]),
        _ => format!("{major}{} {minor}{}", units[0], units[1]),
    };
    if whole >= 3_600 {
        let minutes = (seconds / 60.0).round() as u64;
        pair(minutes / 60, minutes % 60, ['h', 'm'])
    } else if whole >= 120 {
        pair(whole / 60, whole % 60, ['m', 's'])
    } else if seconds >= 9.95 || seconds.fract() == 0.0 {
        format!("{whole} s")
    } else if seconds >= 0.999_5 {
        format!("{seconds:.1} s")
    } else if seconds >= 0.009_95 {
        format!("{:.0} ms", seconds * 1e3)
    } else {
        format!("{:.1} ms", seconds * 1e3)
    }
}

/// A figure of a metric, by how it is estimated: a share, a time in seconds, or a mean.
pub(super) fn of_kind(kind: Kind, value: f64) -> String {
    match kind {
        Kind::Share => percent(value),
        Kind::Time => span(value),
        Kind::Mean => count(value),
    }
}

/// A whole number: `11 543`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stay_within_seven_columns() {
        for (number, text) in [
            (0.0, "0"),
            (7.0, "7"),
            (2.44, "2.4"),
            (99.96, "100"),
            (367.6, "368"),
            (11_543.0, "11 543"),
            (237_412.4, "237 412"),
            (999_999.6, "1.00 M"),
            (2_366_000.0, "2.37 M"),
            (1_200_000_000.0, "1.20 G"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn a_figure_of_any_size_keeps_four_digits() {
        for (number, text) in [
            (0.0, "0"),
            (-0.000_04, "0"),
            (0.565_518, "0.5655"),
            (1.0, "1"),
            (-2.5, "−2.5"),
            (93.414_9, "93.41"),
            (368.0, "368"),
            (-11_542.7, "−11 543"),
            (2_366_000.0, "2.37 M"),
        ] {
            assert_eq!(figure(number), text);
        }
        assert_eq!((significant(120.0, 2), significant(1.26, 2)), ("120".into(), "1.3".into()));
    }

    #[test]
    fn only_none_is_zero_percent_and_only_all_is_a_hundred() {
        for (share, text) in
            [(0.0, "0 %"), (0.000_1, "< 1 %"), (0.424, "42 %"), (0.999_9, "> 99 %"), (1.0, "100 %")]
        {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn spans_change_their_unit_with_their_length() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (0.000_25, "0.2 ms"),
            (0.17, "170 ms"),
            (0.999_9, "1.0 s"),
            (4.23, "4.2 s"),
            (31.4, "31 s"),
            (90.0, "90 s"),
            (120.0, "2m"),
            (911.6, "15m 12s"),
            (3_599.7, "1h"),
            (15_000.0, "4h 10m"),
        ] {
            assert_eq!(span(seconds), text);
        }
        assert_eq!(
            (factor(1.0), factor(22.14), factor(221.4)),
            ("1.0×".into(), "22.1×".into(), "221×".into())
        );
    }
}
