//! Units as types: instants, spans and shares, all over integers.
//!
//! The simulation's tick is one microsecond. Nothing outside a draw, a delay formula or the
//! database's virtual clock handles time as a float, so that sums are exact and results are the
//! same on every machine.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Ticks in a second: the tick is one microsecond.
pub const TICKS_PER_SECOND: u64 = 1_000_000;

/// An instant of the simulation, in microseconds since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, bytemuck::Zeroable)]
pub struct SimTime(u64);

/// A length of time in microseconds. Arithmetic saturates at [`Span::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

/// A share between 0 and 1, kept in parts per billion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ratio(u32);

impl SimTime {
    /// The start of the simulation.
    pub const ZERO: SimTime = SimTime(0);
    /// Later than anything that happens.
    pub const NEVER: SimTime = SimTime(u64::MAX);

    /// The instant `ticks` microseconds after the start.
    pub const fn from_ticks(ticks: u64) -> SimTime {
        SimTime(ticks)
    }

    /// Microseconds since the start.
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for printing and plotting.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / TICKS_PER_SECOND as f64
    }

    /// The time that has passed since `earlier`, zero if `earlier` is not earlier.
    pub const fn since(self, earlier: SimTime) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The largest span, about 292,000 years: where delays that would overflow come to rest.
    pub const MAX: Span = Span(i64::MAX as u64);

    /// A span of `ticks` microseconds.
    pub const fn from_ticks(ticks: u64) -> Span {
        if ticks > Span::MAX.0 { Span::MAX } else { Span(ticks) }
    }

    /// A span of whole seconds.
    pub const fn from_secs(seconds: u64) -> Span {
        Span::from_ticks(seconds.saturating_mul(TICKS_PER_SECOND))
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span::from_ticks(millis.saturating_mul(1_000))
    }

    /// The span nearest to `ticks` microseconds: negative and NaN give zero, too large gives
    /// [`Span::MAX`].
    #[inline]
    pub fn from_ticks_f64(ticks: f64) -> Span {
        // Too large ones saturate at the largest `i64`, which is the largest span.
        Span(((ticks + 0.5) as i64).max(0) as u64)
    }

    /// Length in microseconds.
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// Length in seconds, for printing and plotting.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / TICKS_PER_SECOND as f64
    }

    /// Length in milliseconds, for printing.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }
}

impl Ratio {
    const WHOLE: u32 = 1_000_000_000;
    /// Nothing.
    pub const ZERO: Ratio = Ratio(0);
    /// Everything.
    pub const ONE: Ratio = Ratio(Ratio::WHOLE);

    /// The share nearest to `share`; `None` unless it lies in 0..=1.
    pub fn new(share: f64) -> Option<Ratio> {
        (0.0..=1.0).contains(&share).then(|| Ratio((share * Ratio::WHOLE as f64).round() as u32))
    }

    /// The share as a number in 0..=1.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / Ratio::WHOLE as f64
    }

    /// This share of `count`, to the nearest whole one.
    pub fn of(self, count: u32) -> u32 {
        ((count as u64 * self.0 as u64 + Ratio::WHOLE as u64 / 2) / Ratio::WHOLE as u64) as u32
    }
}

impl Add<Span> for SimTime {
    type Output = SimTime;
    #[inline]
    fn add(self, span: Span) -> SimTime {
        SimTime(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for SimTime {
    type Output = SimTime;
    #[inline]
    fn sub(self, span: Span) -> SimTime {
        SimTime(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span::from_ticks(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(std::time::Duration::from_micros(self.0)).fmt(f)
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span::from_ticks(self.0).fmt(f)
    }
}

/// A whole number as people write large ones: `10000`, `10_000`, `10k`, `1.5M`; `None` if it is none.
pub fn count(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, zeros) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 3),
        b'M' => (&text[..text.len() - 1], 6),
        _ => (text, 0_usize),
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let sound = |digits: &str| digits.bytes().all(|c| c.is_ascii_digit() || c == b'_');
    let begins = whole.starts_with(|c: char| c.is_ascii_digit());
    if !begins || !sound(whole) || !sound(decimals) || number.ends_with(['.', '_']) {
        return None;
    }
    let decimals = decimals.replace('_', "");
    let missing = zeros.checked_sub(decimals.len())?;
    format!("{}{decimals}{}", whole.replace('_', ""), "0".repeat(missing)).parse().ok()
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_f64().fmt(f)
    }
}

/// Why a text is not a span: a sentence fragment for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpanError(String);

impl FromStr for Span {
    type Err = SpanError;

    /// Reads `170ms`, `0.5s`, `1m 30s`, `2h`; a bare number is refused.
    fn from_str(text: &str) -> Result<Span, SpanError> {
        let text = text.trim();
        if text.starts_with('-') {
            return Err(SpanError("a duration cannot be negative".into()));
        }
        let duration = humantime::parse_duration(text).map_err(|error| match error {
            humantime::DurationError::NumberOverflow => SpanError("duration is too long".into()),
            _ => SpanError(error.to_string()),
        })?;
        let nanos = duration.as_nanos();
        if !nanos.is_multiple_of(1_000) {
            return Err(SpanError("the finest time step is one microsecond (`1us`)".into()));
        }
        match u64::try_from(nanos / 1_000) {
            Ok(ticks) if ticks <= Span::MAX.0 => Ok(Span(ticks)),
            _ => Err(SpanError("duration is too long".into())),
        }
    }
}

/// With its unit where people read it, in ticks where only programs do.
impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(self),
            false => serializer.serialize_u64(self.0),
        }
    }
}

/// From ticks: what people write is read by [`FromStr`].
impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        u64::deserialize(deserializer).map(Span::from_ticks)
    }
}

/// As a [`Span`] since the start.
impl Serialize for SimTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(self),
            false => serializer.serialize_u64(self.0),
        }
    }
}

/// From ticks, as for a [`Span`].
impl<'de> Deserialize<'de> for SimTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SimTime, D::Error> {
        u64::deserialize(deserializer).map(SimTime::from_ticks)
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_parse_and_print_with_their_unit() {
        for (text, ticks, printed) in [
            ("170ms", 170_000, "170ms"),
            ("0.5s", 500_000, "500ms"),
            ("1m 30s", 90_000_000, "1m 30s"),
            ("32m", 1_920_000_000, "32m"),
            ("0s", 0, "0s"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.ticks(), ticks, "{text}");
            assert_eq!(span.to_string(), printed);
            assert_eq!(printed.parse::<Span>().unwrap(), span);
        }
    }

    #[test]
    fn a_bare_or_negative_number_is_no_span() {
        assert!("30".parse::<Span>().unwrap_err().to_string().contains("time unit needed"));
        assert!("-1s".parse::<Span>().unwrap_err().to_string().contains("negative"));
        assert!("100ns".parse::<Span>().unwrap_err().to_string().contains("microsecond"));
        assert!("99999999999999y".parse::<Span>().is_err());
    }

    #[test]
    fn counts_may_be_grouped_or_end_in_thousands() {
        for (text, number) in [
            ("0", 0),
            ("11543", 11_543),
            ("11_543", 11_543),
            ("10k", 10_000),
            ("1_000k", 1_000_000),
            ("1.5k", 1_500),
            ("1.000_5M", 1_000_500),
            ("1M", 1_000_000),
            (" 7 ", 7),
        ] {
            assert_eq!(count(text), Some(number), "{text}");
        }
        for text in [
            "",
            "k",
            "-1",
            "+1",
            "1K",
            "1kk",
            "1m",
            "1.5",
            "1.",
            "1.k",
            ".5k",
            "1.0005k",
            "_1",
            "1_",
            "1 k",
            "1e3",
            "0x10",
            "99999999999999999999",
            "9999999999999999999M",
            "1.2.3k",
            "١k",
        ] {
            assert_eq!(count(text), None, "{text}");
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Span::MAX + Span::from_secs(1), Span::MAX);
        assert_eq!(Span::from_ticks_f64(f64::INFINITY), Span::MAX);
        assert_eq!(Span::from_ticks_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_ticks_f64(-3.0), Span::ZERO);
        assert_eq!(SimTime::ZERO - Span::from_secs(1), SimTime::ZERO);
    }

    #[test]
    fn a_ratio_counts_to_the_nearest_client() {
        assert_eq!(Ratio::ONE.of(11_543), 11_543);
        assert_eq!(Ratio::new(0.0318).unwrap().of(11_543), 367);
        assert_eq!(Ratio::new(1.01), None);
        assert_eq!(Ratio::new(f64::NAN), None);
    }
}
