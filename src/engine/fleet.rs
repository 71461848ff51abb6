//! Who follows which policy.

use crate::policy::{ClientPool, Policy};
use crate::scenario::Candidate;

/// The parts of a fleet, and what its clients follow now.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    /// Those of the parts, then others that clients have taken up.
    policies: Vec<&'a Policy>,
    /// By client, its policy; empty where all follow the first.
    follows: Vec<u16>,
    /// By client, its part and how many clients before it belong to the same; empty where there is
    /// one part.
    members: Vec<(u8, u32)>,
    /// Clients of each part.
    counts: Vec<u32>,
}

impl<'a> Parts<'a> {
    /// Deals `clients` out to the parts of a candidate so that any first k of them are mixed as the
    /// shares say, to within one.
    pub fn new(candidate: &'a Candidate, clients: u32) -> Parts<'a> {
        let policies = candidate.parts.iter().map(|part| &part.policy).collect();
        if candidate.parts.len() == 1 {
            let (follows, members) = (Vec::new(), Vec::new());
            return Parts { policies, follows, members, counts: vec![clients] };
        }
        let mut counts = vec![0u32; candidate.parts.len()];
        let deal = |dealt| {
            let lack = |part: usize| {
                candidate.parts[part].share.as_f64() * f64::from(dealt) - f64::from(counts[part])
            };
            let part = (1..counts.len())
                .fold(0, |most, part| if lack(part) > lack(most) { part } else { most });
            counts[part] += 1;
            (part as u8, counts[part] - 1)
        };
        let members: Vec<(u8, u32)> = (1..=clients).map(deal).collect();
        let follows = members.iter().map(|&(part, _)| u16::from(part)).collect();
        Parts { policies, follows, members, counts }
    }

    /// The part that a client belongs to.
    #[inline]
    pub fn part(&self, client: u32) -> usize {
        self.members.get(client as usize).map_or(0, |&(part, _)| usize::from(part))
    }

    /// The policy that a client follows now.
    #[inline]
    pub fn policy(&self, client: u32) -> &'a Policy {
        self.policies[self.follows.get(client as usize).map_or(0, |&policy| usize::from(policy))]
    }

    /// How many of these clients, from the first on, follow the same policy.
    pub fn alike(&self, mut clients: impl ExactSizeIterator<Item = u32> + Clone) -> usize {
        let all = clients.len();
        if self.follows.is_empty() {
            return all;
        }
        let first = clients.clone().next().map(|client| self.follows[client as usize]);
        clients.position(|client| Some(self.follows[client as usize]) != first).unwrap_or(all)
    }

    /// Lets a client follow another policy. It stays in its part, and so in its process.
    pub fn follow(&mut self, client: u32, policy: &'a Policy) {
        if self.follows.is_empty() {
            self.follows = vec![0; self.counts.iter().sum::<u32>() as usize];
        }
        let known = self.policies.iter().rposition(|&known| std::ptr::eq(known, policy));
        let number = known.unwrap_or_else(|| {
            self.policies.push(policy);
            self.policies.len() - 1
        });
        self.follows[client as usize] = number as u16;
    }

    /// The pool of the process that a client belongs to.
    #[inline]
    pub fn client_pool(&self, client: u32) -> Option<ClientPool> {
        self.policies[self.part(client)].client_pool
    }

    /// The parts in order: the policy of each and its clients.
    pub fn sizes(&self) -> impl Iterator<Item = (&'a Policy, u32)> {
        self.policies.iter().copied().zip(self.counts.iter().copied())
    }

    /// Which process of so many `clients` a client belongs to, those of the parts before it counted.
    pub fn process(&self, client: u32, clients: u32) -> usize {
        let before = self.counts[..self.part(client)].iter().map(|count| count.div_ceil(clients));
        before.sum::<u32>() as usize + (self.rank(client) / clients) as usize
    }

    /// How many clients before this one belong to the same part.
    pub fn rank(&self, client: u32) -> u32 {
        self.members.get(client as usize).map_or(client, |&(_, rank)| rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Pipeline;
    use crate::scenario::Part;
    use crate::units::{Ratio, Span};

    #[test]
    fn any_first_k_clients_are_mixed_as_the_shares_say() {
        let part = |share| Part {
            share: Ratio::new(share).unwrap(),
            policy: Policy::polling(Pipeline::constant(Span::from_secs(1))),
        };
        let candidate = Candidate {
            name: "mixed".into(),
            parts: vec![part(0.968), part(0.032)],
            handling: None,
        };
        let parts = Parts::new(&candidate, 11_543);
        for k in [100, 1_000, 11_543] {
            let second = parts.members[..k].iter().filter(|(part, _)| *part == 1).count();
            assert!((second as f64 - 0.032 * k as f64).abs() <= 1.0, "{second} of {k}");
        }
        let last = parts.members.iter().rev().find(|(part, _)| *part == 1);
        assert_eq!(last.unwrap().1 + 1, 369);
    }
}
