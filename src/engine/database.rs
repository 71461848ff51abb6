//! The database: claims under exact processor sharing.
//!
//! Each of n active claims progresses at speed v(n). Instead of stepping them all, a virtual clock V
//! with dV/dt = v(n(t)) keeps the service that a claim active all the time would have attained: a
//! claim started when the clock stood at V₀ is finished when it stands at V₀ + demand. One heap of
//! these targets serves any v, O(log n) an event (Parekh and Gallager's virtual time of generalised
//! processor sharing, with equal shares).
//!
//! The bits of non-negative floats are ordered as the floats are, so a target's lowest bits can hold its
//! backend and the heap compare single words: with 368 backends that leaves 43 bits of mantissa, a
//! thousandth of a tick after an hour.
//!
//! A completion falls on the first whole tick at which its claim is done. Claims done within the same
//! tick finish in the order of their targets, then of their backends.

use super::heap::MinHeap;
use super::key::{Class, Key, Layout, NEVER};
use crate::scenario::Database as Settings;
use crate::units::{SimTime, Span};

/// A claim at work on a backend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub client: u32,
    /// Whether its client waits for the answer.
    pub good: bool,
    pub started: SimTime,
}

/// Backends at work and the clock that they share.
#[derive(Debug)]
pub(super) struct Database {
    layout: Layout,
    /// v(n) and 1/v(n) for n = 0..=pool_size.
    speeds: Vec<(f64, f64)>,
    /// The virtual clock, in ticks of attained service.
    clock: f64,
    /// When `clock` was last brought up to date.
    updated: SimTime,
    /// Targets of running claims, each with its backend in the low bits.
    targets: MinHeap,
    /// The low bits of a target that hold its backend.
    backend_mask: u64,
    /// By backend.
    claims: Vec<Option<Claim>>,
    /// Idle backends; the last released is the first to be used again.
    idle: Vec<u32>,
    /// The next completion.
    next: Key,
}

impl Database {
    pub fn new(settings: &Settings, pool_size: u32, layout: Layout) -> Database {
        // Nothing at work attains nothing.
        let speed = |active| if active == 0 { 0.0 } else { settings.contention.speed(active) };
        Database {
            layout,
            speeds: (0..=pool_size).map(|active| (speed(active), 1.0 / speed(active))).collect(),
            clock: 0.0,
            updated: SimTime::ZERO,
            targets: MinHeap::with_capacity(pool_size as usize),
            backend_mask: u64::from(pool_size.next_power_of_two()) - 1,
            claims: vec![None; pool_size as usize],
            idle: (0..pool_size).rev().collect(),
            next: NEVER,
        }
    }

    /// The key of the next completion.
    #[inline]
    pub fn next(&self) -> Key {
        self.next
    }

    /// Whether a backend is idle.
    #[inline]
    pub fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Starts a claim on an idle backend.
    #[inline]
    pub fn start(&mut self, now: SimTime, claim: Claim, demand: Span) {
        self.advance(now);
        let backend = self.idle.pop().expect("a claim starts on an idle backend");
        self.claims[backend as usize] = Some(claim);
        let target = self.clock + demand.ticks() as f64;
        self.targets.push(target.to_bits() & !self.backend_mask | u64::from(backend));
        self.reschedule(now);
    }

    /// Finishes the claim that is due now.
    #[inline]
    pub fn complete(&mut self, now: SimTime) -> Claim {
        self.advance(now);
        let due = self.targets.peek().expect("a completion was due");
        self.targets.pop();
        let backend = (due & self.backend_mask) as u32;
        let claim = self.release(backend);
        self.reschedule(now);
        claim
    }

    /// Cuts off every running claim that `cut` chooses, and returns them in the order of backends.
    pub fn cut_off(&mut self, now: SimTime, cut: impl Fn(&Claim) -> bool) -> Vec<Claim> {
        self.advance(now);
        let doomed: Vec<u32> = (0..self.claims.len() as u32)
            .filter(|&backend| self.claims[backend as usize].as_ref().is_some_and(&cut))
            .collect();
        let claims = doomed.iter().map(|&backend| self.release(backend)).collect();
        let (running, mask) = (&self.claims, self.backend_mask);
        self.targets.retain(|&due| running[(due & mask) as usize].is_some());
        self.reschedule(now);
        claims
    }

    fn release(&mut self, backend: u32) -> Claim {
        self.idle.push(backend);
        self.claims[backend as usize].take().expect("a busy backend has a claim")
    }

    fn active(&self) -> usize {
        self.claims.len() - self.idle.len()
    }

    /// Brings the virtual clock up to `now`.
    #[inline]
    fn advance(&mut self, now: SimTime) {
        let (speed, _) = self.speeds[self.active()];
        self.clock += now.since(self.updated).ticks() as f64 * speed;
        self.updated = now;
    }

    /// Works out when the next claim is done if nothing changes before.
    #[inline]
    fn reschedule(&mut self, now: SimTime) {
        self.next = match self.targets.peek() {
            None => {
                // An idle database may as well begin its clock anew: it never loses precision.
                self.clock = 0.0;
                NEVER
            }
            Some(due) => {
                let missing = f64::from_bits(due & !self.backend_mask) - self.clock;
                let (_, slowness) = self.speeds[self.active()];
                let ticks = whole_ticks(missing.max(0.0) * slowness);
                self.layout.key(now + ticks, Class::Completion, 0)
            }
        };
    }
}

/// The least number of whole ticks that are not fewer than `ticks`.
#[inline]
fn whole_ticks(ticks: f64) -> Span {
    let floor = ticks as u64;
    Span::from_ticks(floor + u64::from((floor as f64) < ticks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Contention, Demand};

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + Span::from_millis(millis)
    }

    fn database(contention: Contention, pool_size: u32) -> Database {
        let settings = Settings { claim: Demand::Constant(Span::ZERO), contention };
        Database::new(&settings, pool_size, Layout::new(100))
    }

    fn start(database: &mut Database, millis: u64, client: u32, demand: u64) {
        let claim = Claim { client, good: true, started: at(millis) };
        database.start(at(millis), claim, Span::from_millis(demand));
    }

    /// Completions as (time in ms, client).
    fn run(mut database: Database) -> Vec<(f64, u32)> {
        let mut done = Vec::new();
        while database.next() != NEVER {
            let now = database.layout.time(database.next());
            let claim = database.complete(now);
            done.push((now.ticks() as f64 / 1_000.0, claim.client));
        }
        done
    }

    #[test]
    fn without_contention_each_claim_takes_its_demand() {
        let mut database = database(Contention::None, 2);
        start(&mut database, 0, 1, 100);
        start(&mut database, 30, 2, 20);
        assert_eq!(run(database), [(50.0, 2), (100.0, 1)]);
    }

    /// One core: alone 0–30 at speed 1, both 30–70 at 1/2 (20 each), then client 1's last 50 alone.
    #[test]
    fn on_one_core_two_claims_share_it() {
        let mut database = database(Contention::Cores(1), 2);
        start(&mut database, 0, 1, 100);
        start(&mut database, 30, 2, 20);
        assert_eq!(run(database), [(70.0, 2), (120.0, 1)]);
    }

    /// Two at speed (1/2)^2 = 1/4 each: 80 ms for the 20; then 60 left of the first's 80.
    #[test]
    fn a_retrograde_database_does_less_with_more() {
        let mut database = database(Contention::Power { knee: 1, gamma: 2.0 }, 2);
        start(&mut database, 0, 1, 80);
        start(&mut database, 0, 2, 20);
        assert_eq!(run(database), [(80.0, 2), (140.0, 1)]);
    }

    #[test]
    fn a_cut_off_claim_gives_its_speed_to_the_others() {
        let mut database = database(Contention::Cores(1), 3);
        for client in 1..=3 {
            start(&mut database, 0, client, 30);
        }
        // At 30 each has attained 10; two go, the third's 20 are done at full speed.
        let cut = database.cut_off(at(30), |claim| claim.client != 2);
        assert_eq!(cut.iter().map(|claim| claim.client).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(run(database), [(50.0, 2)]);
    }

    #[test]
    fn equal_targets_finish_by_backend_within_one_tick() {
        let mut database = database(Contention::Cores(1), 3);
        for client in [7, 5, 6] {
            start(&mut database, 0, client, 10);
        }
        assert_eq!(run(database), [(30.0, 7), (30.0, 5), (30.0, 6)]);
    }
}
