//! How an attempt fails: the classes of error that rules tell apart.

use serde::Serialize;

/// A class of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// It was answered with an error at once: the client limit is reached, or nobody listens.
    Refused,
    /// It was told to come more slowly: a rate limiter refused it.
    Throttled,
    /// Its client, or the pooler, waited too long.
    TimedOut,
    /// It was under way, and its connection was cut.
    Dropped,
    /// It was held back by a guard of its own client and never set out.
    Rejected,
}

impl Failure {
    /// All classes.
    pub const ALL: [Failure; 5] = [
        Failure::Refused,
        Failure::Throttled,
        Failure::TimedOut,
        Failure::Dropped,
        Failure::Rejected,
    ];

    /// As it is written in files.
    pub fn name(self) -> &'static str {
        match self {
            Failure::Refused => "refused",
            Failure::Throttled => "throttled",
            Failure::TimedOut => "timed-out",
            Failure::Dropped => "dropped",
            Failure::Rejected => "rejected",
        }
    }
}

/// Something for each class of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ByFailure<T>(pub [T; Failure::ALL.len()]);

impl<T: Copy> ByFailure<T> {
    /// The same for all.
    pub fn all(value: T) -> ByFailure<T> {
        ByFailure([value; Failure::ALL.len()])
    }

    /// That of a class.
    pub fn of(&self, failure: Failure) -> T {
        self.0[failure as usize]
    }

    /// With another for a class.
    pub fn with(mut self, failure: Failure, value: T) -> ByFailure<T> {
        self.0[failure as usize] = value;
        self
    }
}
