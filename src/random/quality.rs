//! Whether the draws are random enough, in the orders in which the engine reads them.
//!
//! Philox is keyed by what a draw is for, so the numbers that meet in a simulation are those of
//! neighbouring counters and keys: of consecutive clients, polls, attempts or lanes, of two purposes of
//! the same poll, of two replicates. Each such walk is put to a small battery:
//!
//! - every bit, and every bit of a word against the next word's, is set half of the time;
//! - pairs of successive words are uniform on a grid of 32 × 32, by their top bits and by their lowest
//!   bits (which choose the ziggurat's layer), and so are top against lowest bits of one word;
//! - birthday spacings (Marsaglia, Tsang: Some difficult-to-pass tests of randomness, J. Stat. Softw.
//!   7(3), 2002), by the upper and the lower half of a word.
//!
//! Each gives a p-value, and the worst of a walk must not be beyond [`LIMIT`]. All walks together would
//! fail by chance for one seed in about 4,500.

use statrs::distribution::{ChiSquared, ContinuousCDF, DiscreteCDF, Poisson};

use super::*;

/// The smallest p-value, on either side, that is taken for chance.
const LIMIT: f64 = 1e-6;

/// Words of a walk.
const WORDS: u64 = 1 << 18;

type Walk<'a> = &'a dyn Fn(u64) -> u64;

/// The least likely figure of a walk: how probable one so extreme is, and what it is about.
fn worst(walk: Walk<'_>) -> (f64, &'static str) {
    let words: Vec<u64> = (0..WORDS).map(walk).collect();
    let next: Vec<u64> = words.chunks_exact(2).map(|pair| pair[0] ^ pair[1]).collect();
    let top = |word: u64| (word >> 59) as usize;
    let lowest = |word: u64| (word & 31) as usize;
    let low = |word: u64| word as u32;
    let high = |word: u64| (word >> 32) as u32;
    [
        (bits(&words), "bits"),
        (bits(&next), "bits against the next word's"),
        (grid(words.chunks_exact(2).map(|pair| (top(pair[0]), top(pair[1])))), "pairs"),
        (grid(words[1..].chunks_exact(2).map(|pair| (top(pair[0]), top(pair[1])))), "other pairs"),
        (grid(words.chunks_exact(2).map(|pair| (lowest(pair[0]), lowest(pair[1])))), "low pairs"),
        (grid(words.iter().map(|&word| (top(word), lowest(word)))), "top against lowest bits"),
        (spacings(words.iter().map(|&word| high(word))), "birthday spacings"),
        (spacings(words.iter().map(|&word| low(word))), "birthday spacings, lower half"),
    ]
    .into_iter()
    .min_by(|a, b| a.0.total_cmp(&b.0))
    .expect("there are figures")
}

/// The smaller of both tails of a chi-squared figure.
fn chi_squared(chi2: f64, freedom: f64) -> f64 {
    let law = ChiSquared::new(freedom).expect("degrees of freedom");
    law.cdf(chi2).min(law.sf(chi2))
}

/// That each of 64 bits is set half of the time.
fn bits(words: &[u64]) -> f64 {
    let n = words.len() as f64;
    let mut set = [0u32; 64];
    for word in words {
        for (bit, set) in set.iter_mut().enumerate() {
            *set += (word >> bit & 1) as u32;
        }
    }
    chi_squared(set.iter().map(|&set| (f64::from(set) - n / 2.0).powi(2) * 4.0 / n).sum(), 64.0)
}

/// That points are uniform on a grid of 32 × 32.
fn grid(points: impl Iterator<Item = (usize, usize)>) -> f64 {
    let mut cells = vec![0u32; 32 * 32];
    for (x, y) in points {
        cells[32 * x + y] += 1;
    }
    uniform(&cells)
}

/// That all cells are as probable.
fn uniform(cells: &[u32]) -> f64 {
    let expected = cells.iter().sum::<u32>() as f64 / cells.len() as f64;
    let chi2 = cells.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    chi_squared(chi2, cells.len() as f64 - 1.0)
}

/// Of n = 4,096 birthdays in a year of m = 2³² days, n³ / 4m = 4 spacings between neighbours repeat
/// others on average, Poisson.
fn spacings(days: impl Iterator<Item = u32>) -> f64 {
    const BIRTHDAYS: usize = 4_096;
    let days: Vec<u32> = days.collect();
    let mut repeated = 0;
    for year in days.chunks_exact(BIRTHDAYS) {
        let mut year = year.to_vec();
        year.sort_unstable();
        let mut spacings: Vec<u32> = year.windows(2).map(|pair| pair[1] - pair[0]).collect();
        spacings.sort_unstable();
        repeated += spacings.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
    }
    let law = Poisson::new(4.0 * (days.len() / BIRTHDAYS) as f64).expect("a mean");
    law.cdf(repeated).min(if repeated == 0 { 1.0 } else { law.sf(repeated - 1) })
}

fn moment(poll: u32, attempt: u32) -> Moment {
    Moment { poll, transaction: 0, attempt }
}

#[test]
fn draws_that_meet_in_a_simulation_are_independent() {
    use Purpose::{Demand, PollJitter, RetryJitter};
    let world = World::new(1, 0);
    let purpose = |purpose: u64, client: u64| Site {
        key: world.keys[purpose as usize],
        ..world.site(Demand, client as u32, moment(7, 0))
    };
    let walks: [(&str, Walk<'_>); 14] = [
        ("clients", &|i| world.site(PollJitter, i as u32, moment(7, 0)).bits(0)),
        ("polls", &|i| world.site(PollJitter, 7, moment(i as u32, 0)).bits(0)),
        ("attempts", &|i| world.site(RetryJitter, 7, moment(7, i as u32)).bits(0)),
        ("lanes", &|i| world.site(RetryJitter, (i / 2) as u32, moment(7, 1)).bits((i % 2) as u8)),
        ("a fleet's polls in turn", &|i| {
            world.site(Demand, (i % 1_000) as u32, moment((i / 1_000) as u32, 0)).bits(0)
        }),
        ("a client's polls and their attempts", &|i| {
            world.site(RetryJitter, 7, moment((i / 4) as u32, (i % 4) as u32)).bits(0)
        }),
        ("transactions", &|i| {
            let transaction = (i % 256) as u8;
            world.site(Demand, (i / 256) as u32, Moment { transaction, ..moment(7, 0) }).bits(0)
        }),
        ("a poll's demand and the sleep after it", &|i| {
            let purpose = if i % 2 == 0 { Demand } else { PollJitter };
            world.site(purpose, (i / 2) as u32, moment(7, 0)).bits(0)
        }),
        ("all purposes of a poll", &|i| purpose(i % PURPOSES as u64, i / PURPOSES as u64).bits(0)),
        ("a decision, taken again, per sequence and per client", &|i| {
            let site = world.site(RetryJitter, (i / 4) as u32, moment(7, 3));
            let sites = [site, site.again(), site.sequence(), site.client()];
            sites[(i % 4) as usize].bits(0)
        }),
        ("both words of an exponential", &|i| {
            let site = world.site(Demand, (i / 2) as u32, moment(7, 0));
            philox(site.who, site.when, site.key)[(i % 2) as usize]
        }),
        ("replicates", &|i| World::new(1, i as u32).site(Demand, 7, moment(7, 0)).bits(0)),
        ("seeds", &|i| World::new(i, 0).site(Demand, 7, moment(7, 0)).bits(0)),
        ("streams", &|i| {
            use rand::Rng;
            world.site(Demand, i as u32, moment(7, 0)).stream().next_u64()
        }),
    ];
    for (name, walk) in walks {
        let (p, figure) = worst(walk);
        assert!(p > LIMIT, "{name}: {figure} are so with probability {p:e}");
    }
}

/// The battery is not blind: fewer rounds, a weak bit, or a shared key are found out.
#[test]
fn the_battery_finds_weak_generators() {
    let world = World::new(1, 0);
    let key = world.keys[0];
    let weak: [(&str, Walk<'_>); 5] = [
        ("two rounds", &|i| philox_rounds::<2>(i, 7, key)[0]),
        ("three rounds", &|i| philox_rounds::<3>(7, i, key)[0]),
        ("a bit that is set too often", &|i| {
            let word = philox(i, 7, key)[0];
            if i % 32 == 0 { word | 1 << 20 } else { word }
        }),
        ("a purpose that repeats another", &|i| philox(i / 2, 7, key)[0]),
        ("a draw that follows the one before", &|i| {
            let before = philox(i / 2 * 2, 7, key)[0];
            if i % 2 == 1 { before / 2 + philox(i, 7, key)[0] / 2 } else { before }
        }),
    ];
    for (name, walk) in weak {
        let (p, _) = worst(walk);
        assert!(p < LIMIT, "{name} passes: {p:e}");
    }
}

/// The ziggurat's draws, as many as a long run makes: cells of equal probability, and the
/// Anderson-Darling statistic, which minds the tail.
#[test]
fn exponential_draws_follow_their_law_far_into_the_tail() {
    const DRAWS: u32 = 1 << 21;
    const CELLS: usize = 2_048;
    let world = World::new(42, 3);
    let mut draws: Vec<f64> = (0..DRAWS)
        .map(|i| world.site(Purpose::Demand, i / 8, moment(i % 8, 0)).exponential())
        .collect();
    let n = f64::from(DRAWS);

    let mut cells = vec![0u32; CELLS];
    for &x in &draws {
        cells[(libm::exp(-x) * CELLS as f64).min(CELLS as f64 - 1.0) as usize] += 1;
    }
    let p = uniform(&cells);
    assert!(p > LIMIT, "{CELLS} cells are so with probability {p:e}");

    draws.sort_unstable_by(f64::total_cmp);
    // A² = −n − Σ (2i − 1)/n · (ln F(xᵢ) + ln (1 − F(xₙ₊₁₋ᵢ))), and here ln (1 − F(x)) = −x.
    let sum: f64 = draws
        .iter()
        .zip(draws.iter().rev())
        .enumerate()
        .map(|(i, (x, y))| (2.0 * i as f64 + 1.0) / n * (libm::log(-libm::expm1(-x)) - y))
        .sum();
    let statistic = -n - sum;
    // Marsaglia, Marsaglia: Evaluating the Anderson-Darling distribution, J. Stat. Softw. 9(2), 2004:
    // 6.0 is the 0.999 quantile.
    assert!(statistic < 6.0, "Anderson-Darling statistic {statistic}");

    // Beyond the tail's start the law begins anew; the distance's 0.999 quantile is 1.95 / √k.
    let tail: Vec<f64> = draws.iter().map(|x| x - tables::TAIL).filter(|x| *x > 0.0).collect();
    let (k, expected) = (tail.len() as f64, n * libm::exp(-tables::TAIL));
    assert!((k - expected).abs() < 4.0 * expected.sqrt(), "{k} of {expected:.0} in the tail");
    let gap = tail
        .iter()
        .enumerate()
        .map(|(i, x)| (-libm::expm1(-x) - (i as f64 + 0.5) / k).abs())
        .fold(0.0, f64::max);
    assert!(gap < 1.95 / k.sqrt(), "Kolmogorov-Smirnov distance of the tail {gap}");
}
