//! Values that flags take, as people write them.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;

use crate::units::{self, Span};

/// A whole number within a range, perhaps with `k` or `M` behind it.
pub(super) fn count(
    range: RangeInclusive<u32>,
) -> impl Fn(&str) -> Result<u32, String> + Clone + Send + Sync + 'static {
    move |written| {
        let number = units::count(written).and_then(|number| u32::try_from(number).ok());
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            format!("write a whole number from {low} to {high}, as in 500, 1_000 or 10k")
        })
    }
}

/// A whole number of things to be done at once, or to be divided into.
pub(super) fn some(written: &str) -> Result<NonZeroUsize, String> {
    let number = count(1..=1_000_000)(written)?;
    Ok(NonZeroUsize::new(number as usize).expect("it is at least 1"))
}

/// Where random worlds come from.
pub(super) fn seed(written: &str) -> Result<u64, String> {
    units::count(written).ok_or_else(|| "write a whole number, as in 7".to_owned())
}

/// A duration longer than none.
pub(super) fn positive(written: &str) -> Result<Span, String> {
    match written.parse::<Span>() {
        Ok(Span::ZERO) => Err("it must be longer than zero".to_owned()),
        Ok(span) => Ok(span),
        Err(error) => Err(format!("{error}; write it with its unit, as in 30s or 40ms")),
    }
}
