//! Stateless random draws, keyed by what they are for.
//!
//! Every draw is a pure function of (seed, replicate, purpose, client, poll, transaction, attempt),
//! never of the policy or of the order in which events happen to be handled. So all policies meet
//! the same worlds (common random numbers), a policy that draws more jitter shifts nobody else's
//! numbers, and replicate r of seed s can be played alone.
//!
//! The bits come from Philox2x64 with 7 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers:
//! as easy as 1, 2, 3, SC 2011), which passes BigCrush with 6: a 128-bit counter holds who draws and
//! when, a 64-bit key the world and the purpose. Exponentials are our own ziggurat over constant
//! tables; laws that need a varying number of draws read a small stream of their own.

#[cfg(test)]
mod quality;
mod tables;
mod ziggurat;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// What a draw is for. Draws of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Where in its interval a warm client stands at time 0.
    WarmPhase,
    /// When within a disturbance's span a client comes back.
    RestartSkew,
    /// The start-up spread of a policy.
    StartUp,
    /// Jitter of a poll's sleep.
    PollJitter,
    /// Jitter of a retry's delay.
    RetryJitter,
    /// Service demand of a claim.
    Demand,
    /// Service demand of a dead waiter.
    DeadDemand,
    /// Demand of an attempt itself.
    AttemptCost,
    /// How long a refusal takes.
    RefusalDelay,
    /// How long a backend's login takes; the client is the number of the login.
    Login,
    /// How long a client keeps its connection.
    Lifetime,
    /// How long until the next request of the background load; the client is the number of the request.
    Request,
    /// Jitter of an outer retry's delay.
    OuterJitter,
    /// How long until a tenant's next item; the client is the tenant.
    Item,
    /// How long an item is processed and whether that fails; the client is the tenant.
    Processing,
    /// Jitter of a retry's delay by a layer around the innermost.
    LayerJitter,
}

const PURPOSES: usize = Purpose::LayerJitter as usize + 1;

/// One independent random world: a replicate of a seed.
#[derive(Clone, Debug)]
pub struct World {
    keys: [u64; PURPOSES],
}

/// When in a client's life a draw is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// The client's poll number, or for start-up draws the number of its restarts.
    pub poll: u32,
    /// The transaction within the poll.
    pub transaction: u8,
    /// The attempt within the transaction, 0 where the draw must not depend on it.
    pub attempt: u32,
}

/// The place of one decision in the space of draws; its *lanes* are independent draws for it.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    key: u64,
    who: u64,
    when: u64,
}

impl World {
    /// The world of `replicate` under `seed`.
    pub fn new(seed: u64, replicate: u32) -> World {
        let world = philox(seed, u64::from(replicate), WORLD_KEY)[0];
        World { keys: std::array::from_fn(|purpose| philox(purpose as u64, 0, world)[0]) }
    }

    /// Where `client` draws for `purpose` at `moment`.
    #[inline]
    pub fn site(&self, purpose: Purpose, client: u32, moment: Moment) -> Site {
        Site {
            key: self.keys[purpose as usize],
            who: u64::from(client) | u64::from(moment.transaction) << 32,
            when: u64::from(moment.poll) << 32 | u64::from(moment.attempt),
        }
    }
}

impl Site {
    /// 64 uniform bits of `lane`.
    #[inline(always)]
    pub fn bits(&self, lane: u8) -> u64 {
        philox(self.who | u64::from(lane) << 56, self.when, self.key)[0]
    }

    /// A uniform number in [0, 1) with 53 bits, from `lane`.
    #[inline]
    pub fn uniform(&self, lane: u8) -> f64 {
        unit_interval(self.bits(lane))
    }

    /// An exponential number of mean 1, from lane 0.
    #[inline]
    pub fn exponential(&self) -> f64 {
        let [first, second] = philox(self.who, self.when, self.key);
        ziggurat::exponential(first, second)
    }

    /// The same decision taken once more, with lanes of its own.
    #[inline]
    pub fn again(&self) -> Site {
        Site { who: self.who ^ 1 << 48, ..*self }
    }

    /// The same decision one attempt earlier.
    #[inline]
    pub fn before(&self) -> Site {
        Site { when: self.when.wrapping_sub(1), ..*self }
    }

    /// What is decided once for all attempts of an acquisition.
    #[inline]
    pub fn sequence(&self) -> Site {
        Site { who: self.who ^ 1 << 49, when: self.when & !u64::from(u32::MAX), ..*self }
    }

    /// What a client decides once and for all.
    #[inline]
    pub fn client(&self) -> Site {
        Site { who: self.who & u64::from(u32::MAX) | 1 << 50, when: 0, ..*self }
    }

    /// A stream for laws that need a varying number of draws, from lane 0.
    pub fn stream(&self) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.bits(0))
    }
}

/// Separates this program's worlds from any other use of the same generator.
const WORLD_KEY: u64 = u64::from_be_bytes(*b"herdsim\0");

/// The top 53 bits as a multiple of 2^-53 in [0, 1).
#[inline]
fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Philox2x64-7: two words for a counter of two words under a key.
#[inline]
fn philox(low: u64, high: u64, key: u64) -> [u64; 2] {
    const ROUNDS: u32 = 7;
    philox_rounds::<ROUNDS>(low, high, key)
}

#[inline(always)]
fn philox_rounds<const ROUNDS: u32>(mut low: u64, mut high: u64, mut key: u64) -> [u64; 2] {
    const MULTIPLIER: u64 = 0xD2B7_4407_B1CE_6E93;
    const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;
    for _ in 0..ROUNDS {
        let product = u128::from(low) * u128::from(MULTIPLIER);
        low = (product >> 64) as u64 ^ key ^ high;
        high = product as u64;
        key = key.wrapping_add(WEYL);
    }
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers of the authors' Random123 distribution (file `kat_vectors`).
    #[test]
    fn philox_gives_its_authors_known_answers() {
        let pi = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0];
        assert_eq!(philox(0, 0, 0), [0xb41d_a69f_bfef_c666, 0x511e_9ce1_a553_4056]);
        assert_eq!(
            philox(u64::MAX, u64::MAX, u64::MAX),
            [0xa469_6cc0_4462_015d, 0x7247_82da_e171_69e9]
        );
        assert_eq!(philox(pi[0], pi[1], pi[2]), [0x98ed_1534_392b_f372, 0x6752_8b15_6888_2fd5]);
        assert_eq!(
            philox_rounds::<10>(pi[0], pi[1], pi[2]),
            [0x0a5e_742c_2997_341c, 0xb0f8_83d3_8000_de5d]
        );
    }

    #[test]
    fn worlds_purposes_and_transactions_differ() {
        let moment = Moment::default();
        let bits = World::new(1, 0).site(Purpose::Demand, 3, moment).bits(0);
        assert_eq!(bits, World::new(1, 0).site(Purpose::Demand, 3, moment).bits(0));
        assert_ne!(bits, World::new(2, 0).site(Purpose::Demand, 3, moment).bits(0));
        assert_ne!(bits, World::new(1, 1).site(Purpose::Demand, 3, moment).bits(0));
        assert_ne!(bits, World::new(1, 0).site(Purpose::DeadDemand, 3, moment).bits(0));
        let second = Moment { transaction: 1, ..moment };
        assert_ne!(bits, World::new(1, 0).site(Purpose::Demand, 3, second).bits(0));
    }
}
