//! What a client makes of a server's hint how long to wait (`Retry-After`).

use serde::Serialize;

use super::growth::{Draws, ticks};
use crate::random::Site;
use crate::units::Span;

/// The rule for a hint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hint {
    /// It changes nothing.
    Ignore,
    /// It takes the place of the delay, unless it is longer than this.
    Replace(Span),
    /// The delay is at least as long.
    #[default]
    AtLeast,
    /// A delay that is shorter becomes the hint plus up to this share of it (deadline-cloud: 0.2).
    Spread(f64),
    /// The delay is lengthened towards the hint, by this at most (AWS, retry-after of 2026: 5 s).
    Within(Span),
    /// A hint longer than this ends the retries (azcore); any other replaces the delay.
    GiveUpAbove(Span),
}

impl Hint {
    /// The delay under a hint, `None` to give up. `site` draws the spread.
    #[inline]
    pub fn apply(self, delay: Span, hint: Option<Span>, site: Site) -> Option<Span> {
        match hint {
            Some(hint) => self.apply_given(delay, hint, site),
            None => Some(delay),
        }
    }

    fn apply_given(self, delay: Span, hint: Span, site: Site) -> Option<Span> {
        match self {
            Hint::Ignore => Some(delay),
            Hint::Replace(longest) => Some(if hint <= longest { hint } else { delay }),
            Hint::AtLeast => Some(delay.max(hint)),
            Hint::Spread(share) if delay < hint => {
                let more = Draws::new(site.again()).uniform(0.0, share * ticks(hint));
                Some(hint + Span::from_ticks_f64(more))
            }
            Hint::Spread(_) => Some(delay),
            Hint::Within(most) => Some(delay.max(hint.min(delay + most))),
            Hint::GiveUpAbove(longest) => (hint <= longest).then_some(hint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Moment, Purpose, World};

    #[test]
    fn each_rule_makes_of_a_hint_what_its_library_does() {
        let site = World::new(1, 0).site(Purpose::RetryJitter, 0, Moment::default());
        let secs = Span::from_secs;
        let with = |rule: Hint, delay, hint| rule.apply(secs(delay), Some(secs(hint)), site);
        assert_eq!(with(Hint::Ignore, 2, 9), Some(secs(2)));
        assert_eq!(with(Hint::Replace(secs(120)), 20, 9), Some(secs(9)));
        assert_eq!(with(Hint::Replace(secs(120)), 20, 121), Some(secs(20)));
        assert_eq!(with(Hint::AtLeast, 2, 9), Some(secs(9)));
        assert_eq!(with(Hint::AtLeast, 20, 9), Some(secs(20)));
        assert_eq!(with(Hint::Within(secs(5)), 2, 9), Some(secs(7)));
        assert_eq!(with(Hint::Within(secs(5)), 2, 4), Some(secs(4)));
        assert_eq!(with(Hint::Within(secs(5)), 2, 1), Some(secs(2)));
        assert_eq!(with(Hint::GiveUpAbove(secs(60)), 2, 61), None);
        assert_eq!(with(Hint::GiveUpAbove(secs(60)), 2, 9), Some(secs(9)));
        let spread = with(Hint::Spread(0.2), 2, 10).unwrap();
        assert!((secs(10)..=secs(12)).contains(&spread) && spread != secs(10));
        assert_eq!(with(Hint::Spread(0.2), 20, 10), Some(secs(20)));
        assert_eq!(Hint::GiveUpAbove(secs(1)).apply(secs(2), None, site), Some(secs(2)));
    }
}
