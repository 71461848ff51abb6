//! What the rows of a report are: policies, variants of one policy, or one in the other.

use crate::metrics::PolicySummary;
use crate::scenario::Scenario;

/// What there is a row for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// Each policy.
    Policies,
    /// Each variant, under one policy.
    Variants,
    /// Each policy in each variant.
    Both,
}

impl Rows {
    pub fn of(scenario: &Scenario) -> Rows {
        match (scenario.policies.len(), scenario.variants.len()) {
            (_, 0) => Rows::Policies,
            (1, _) => Rows::Variants,
            _ => Rows::Both,
        }
    }

    /// The name of a row.
    pub fn name(self, summary: &PolicySummary) -> String {
        self.name_of(&summary.policy, summary.variant.as_deref())
    }

    /// The name of the row of a policy, in a variant where there are variants.
    pub fn name_of(self, policy: &str, variant: Option<&str>) -> String {
        let variant = variant.unwrap_or_default();
        match self {
            Rows::Policies => policy.to_owned(),
            Rows::Variants => variant.to_owned(),
            Rows::Both => format!("{policy} / {variant}"),
        }
    }

    /// What stands above the names.
    pub fn heading(self) -> &'static str {
        match self {
            Rows::Policies => "policy",
            Rows::Variants => "variant",
            Rows::Both => "policy / variant",
        }
    }

    /// One of them and many of them, in a sentence.
    pub fn nouns(self) -> [&'static str; 2] {
        match self {
            Rows::Policies => ["policy", "policies"],
            Rows::Variants => ["variant", "variants"],
            Rows::Both => ["case", "cases"],
        }
    }

    /// `under` a policy, `in` a variant.
    pub fn under(self) -> &'static str {
        match self {
            Rows::Policies => "under",
            Rows::Variants | Rows::Both => "in",
        }
    }

    /// The same at the begin of a sentence.
    pub fn under_at_first(self) -> &'static str {
        match self {
            Rows::Policies => "Under",
            Rows::Variants | Rows::Both => "In",
        }
    }
}
