//! The database: jobs under exact processor sharing.
//!
//! Each of n active jobs progresses at speed v(n). Instead of stepping them all, a virtual clock V
//! with dV/dt = v(n(t)) keeps the service that a job active all the time would have attained: a
//! job started when the clock stood at V₀ is finished when it stands at V₀ + demand. One heap of
//! these targets serves any v, O(log n) an event (Parekh and Gallager's virtual time of generalised
//! processor sharing, with equal shares).
//!
//! The bits of non-negative floats are ordered as the floats are, so a target's lowest bits can hold its
//! job's slot and the heap compare single words: with 368 jobs that leaves 43 bits of mantissa, a
//! thousandth of a tick after an hour. Should more jobs come than the bits tell apart, they are dealt
//! anew.
//!
//! A completion falls on the first whole tick at which its job is done. Jobs done within the same tick
//! finish in the order of their targets, then of their slots.

use super::client::AttemptId;
use super::course::Step;
use super::heap::MinHeap;
use super::key::{Class, Key, Layout, NEVER};
use crate::scenario::{Contention, Database as Settings};
use crate::units::{SimTime, Span};

/// What a job is executed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A claim whose client waits for the answer.
    Good,
    /// A claim whose client will throw the answer away.
    Captive,
    /// What a dead place costs.
    Dead,
    /// A claim whose client and backend are gone.
    Orphan,
    /// What an attempt itself costs, before it is admitted.
    Attempt(AttemptId),
}

/// A job at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub client: u32,
    pub work: Work,
    pub started: SimTime,
    /// Since when its backend has been connected, where it has one.
    pub connected: SimTime,
}

/// Jobs at work and the clock that they share.
#[derive(Debug)]
pub(super) struct Database<'a> {
    layout: Layout,
    contention: &'a Contention,
    /// v(n) and 1/v(n), for as many n as have been met.
    speeds: Vec<(f64, f64)>,
    /// How many times slower a disturbance makes it: 1 is not at all, infinite is standing still.
    slowdown: f64,
    /// The virtual clock, in ticks of attained service.
    clock: f64,
    /// When `clock` was last brought up to date.
    updated: SimTime,
    /// Targets of running jobs, each with its slot in the low bits.
    targets: MinHeap,
    /// The low bits of a target that hold its slot.
    slot_mask: u64,
    /// By slot, and their targets in full.
    jobs: Vec<Option<Job>>,
    dues: Vec<f64>,
    /// Free slots; the last released is the first to be used again.
    free: Vec<u32>,
    /// The next completion, unless it is to be worked out anew.
    next: Option<Key>,
    /// When its jobs were last given away, and by client the part of a tick by which those are done
    /// before the instant that was given for them.
    suspended: SimTime,
    parts: Vec<(u32, f64)>,
}

impl<'a> Database<'a> {
    /// Idle, with room for `expected` jobs; more may come.
    pub fn new(settings: &'a Settings, expected: u32, layout: Layout) -> Database<'a> {
        Database {
            layout,
            contention: &settings.contention,
            // Nothing at work attains nothing.
            speeds: vec![(0.0, f64::INFINITY)],
            slowdown: 1.0,
            clock: 0.0,
            updated: SimTime::ZERO,
            targets: MinHeap::with_capacity(expected as usize),
            slot_mask: u64::from(expected.next_power_of_two()) - 1,
            jobs: vec![None; expected as usize],
            dues: vec![0.0; expected as usize],
            free: (0..expected).rev().collect(),
            next: None,
            suspended: SimTime::ZERO,
            parts: Vec::new(),
        }
    }

    /// The key of the next completion.
    #[inline(always)]
    pub fn next(&mut self) -> Key {
        self.next.unwrap_or_else(|| self.reschedule())
    }

    /// Starts a job.
    #[inline]
    pub fn start(&mut self, now: SimTime, job: Job, demand: Span) {
        self.advance(now);
        if self.free.is_empty() {
            self.grow();
        }
        let slot = self.free.pop().expect("there is a free slot");
        let target = self.clock + demand.ticks() as f64;
        self.jobs[slot as usize] = Some(job);
        self.dues[slot as usize] = target;
        self.targets.push(target.to_bits() & !self.slot_mask | u64::from(slot));
        self.change();
    }

    /// Finishes the job that is due now.
    #[inline]
    pub fn complete(&mut self, now: SimTime) -> Job {
        self.advance(now);
        let due = self.targets.peek().expect("a completion was due");
        self.targets.pop();
        let slot = (due & self.slot_mask) as u32;
        self.free.push(slot);
        let job = self.jobs[slot as usize].take().expect("a busy slot has a job");
        self.change();
        job
    }

    /// Cuts off every running job that `cut` chooses, and returns them in the order of slots.
    pub fn cut_off(&mut self, now: SimTime, cut: impl Fn(&Job) -> bool) -> Vec<Job> {
        self.advance(now);
        let mut doomed = Vec::new();
        for (slot, job) in self.jobs.iter_mut().enumerate() {
            if job.as_ref().is_some_and(&cut) {
                doomed.extend(job.take());
                self.free.push(slot as u32);
            }
        }
        let (running, mask) = (&self.jobs, self.slot_mask);
        self.targets.retain(|&due| running[(due & mask) as usize].is_some());
        self.change();
        doomed
    }

    /// Changes what running jobs are for.
    pub fn rededicate(&mut self, change: impl Fn(&mut Job)) {
        self.jobs.iter_mut().flatten().for_each(change);
    }

    /// The jobs at work, in the order of slots.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter().flatten()
    }

    /// Lets every job progress so many times slower from now on.
    pub fn slow_down(&mut self, now: SimTime, times: f64) {
        self.advance(now);
        self.slowdown = times;
        self.change();
    }

    /// Lets active claims slow each other down by another law from now on.
    pub fn contend(&mut self, now: SimTime, contention: &'a Contention) {
        if std::ptr::eq(self.contention, contention) {
            return;
        }
        self.advance(now);
        self.contention = contention;
        self.speeds.truncate(1);
        self.change();
    }

    /// The most jobs that are executed at full speed, up to `most`.
    pub fn full_speed(&mut self, most: u32) -> u32 {
        self.meet(most as usize);
        let slower = self.speeds[1..].iter().position(|&(speed, _)| speed != 1.0);
        slower.map_or(most, |jobs| most.min(jobs as u32))
    }

    /// Whether all jobs are executed at full speed, and the clock and their targets tell parts of a tick
    /// apart as long as that goes on, up to `end` at most. The clock is left alone: to advance it in two
    /// steps may round it otherwise.
    pub fn is_exact(&mut self, end: SimTime) -> bool {
        let full_speed = self.active() == 0 || self.speed() == (1.0, 1.0);
        let running = self.jobs.iter().zip(&self.dues).filter(|(job, _)| job.is_some());
        let mut dues = running.map(|(_, &due)| due);
        let all_exact = match self.clock.fract() == 0.0 {
            true => dues.all(|due| due.fract() == 0.0),
            false => dues.all(|due| due < self.next_binade()),
        };
        full_speed
            && all_exact
            && self.slowdown == 1.0
            && self.clock + (end.since(self.updated).ticks() as f64)
                < self.most_exact().ticks() as f64
    }

    /// Until when whole ticks can be added to the clock without rounding, jobs being executed at full
    /// speed: the parts of a tick that contention has left on it are told apart up to the next power of two.
    pub fn exact_until(&self) -> SimTime {
        if self.clock.fract() == 0.0 {
            return SimTime::NEVER;
        }
        self.updated + Span::from_ticks((self.next_binade() - self.clock) as u64)
    }

    /// The least power of two above the clock.
    fn next_binade(&self) -> f64 {
        let exponent = self.clock.to_bits() >> (f64::MANTISSA_DIGITS - 1);
        f64::from_bits((exponent + 1) << (f64::MANTISSA_DIGITS - 1))
    }

    /// Less than this are demands whose jobs are done exactly when they have passed: where targets, cut
    /// short by their slots, still tell whole ticks apart.
    pub fn most_exact(&self) -> Span {
        Span::from_ticks((1u64 << (f64::MANTISSA_DIGITS - 1)) >> self.slot_mask.count_ones())
    }

    /// Gives all jobs away, with the instants at which they will be done at full speed.
    pub fn suspend(&mut self, now: SimTime) -> Vec<(Job, SimTime)> {
        self.advance(now);
        self.suspended = now;
        self.parts.clear();
        let mut jobs = Vec::with_capacity(self.active());
        for (slot, running) in self.jobs.iter_mut().enumerate() {
            if let Some(job) = running.take() {
                let due = self.dues[slot];
                let ticks =
                    whole_ticks(f64::from_bits(due.to_bits() & !self.slot_mask) - self.clock);
                let part = ticks.ticks() as f64 - (due - self.clock);
                if part != 0.0 {
                    self.parts.push((job.client, part));
                }
                jobs.push((job, now + ticks));
                self.free.push(slot as u32);
            }
        }
        self.targets.retain(|_| false);
        self.next = None;
        jobs
    }

    /// Follows the clock through `steps`, begun with so many jobs at full speed: it is set to zero
    /// whenever none is at work, and stands still until one is.
    pub fn follow(&mut self, mut active: u32, steps: &[Step]) {
        for step in steps {
            if active == 0 {
                (self.clock, self.updated) = (0.0, step.time());
            }
            active = step.level_after(active);
        }
        if active == 0 {
            self.clock = 0.0;
        }
    }

    /// Takes jobs over that will be done at these instants at full speed.
    pub fn resume(&mut self, now: SimTime, jobs: impl Iterator<Item = (Job, SimTime)>) {
        let mut jobs = jobs.peekable();
        if jobs.peek().is_some() {
            self.clock += now.since(self.updated).ticks() as f64;
        }
        self.updated = now;
        for (job, end) in jobs {
            if self.free.is_empty() {
                self.grow();
            }
            let slot = self.free.pop().expect("there is a free slot");
            let given_away =
                |&&(client, _): &&(u32, f64)| client == job.client && job.started <= self.suspended;
            let part = self.parts.iter().find(given_away).map_or(0.0, |&(_, part)| part);
            let target = self.clock + end.since(now).ticks() as f64 - part;
            self.jobs[slot as usize] = Some(job);
            self.dues[slot as usize] = target;
            self.targets.push(target.to_bits() & !self.slot_mask | u64::from(slot));
        }
        self.change();
    }

    /// Makes room for one more job.
    #[cold]
    fn grow(&mut self) {
        self.free.push(self.jobs.len() as u32);
        self.jobs.push(None);
        self.dues.push(0.0);
        if self.jobs.len() as u64 - 1 > self.slot_mask {
            self.slot_mask = self.slot_mask * 2 + 1;
            self.targets = MinHeap::with_capacity(2 * self.jobs.len());
            for (slot, _) in self.jobs.iter().enumerate().filter(|(_, job)| job.is_some()) {
                self.targets.push(self.dues[slot].to_bits() & !self.slot_mask | slot as u64);
            }
        }
    }

    #[inline]
    fn active(&self) -> usize {
        self.jobs.len() - self.free.len()
    }

    /// v(n) and 1/v(n) for the jobs at work.
    #[inline]
    fn speed(&mut self) -> (f64, f64) {
        let active = self.active();
        if active >= self.speeds.len() {
            self.meet(active);
        }
        self.speeds[active]
    }

    #[cold]
    fn meet(&mut self, active: usize) {
        for n in self.speeds.len()..=active {
            let speed = self.contention.speed(n as u32);
            self.speeds.push((speed, 1.0 / speed));
        }
    }

    /// Brings the virtual clock up to `now`.
    #[inline]
    fn advance(&mut self, now: SimTime) {
        let (speed, _) = self.speed();
        let elapsed = now.since(self.updated).ticks() as f64;
        self.clock +=
            if self.slowdown == 1.0 { elapsed * speed } else { elapsed * speed / self.slowdown };
        self.updated = now;
    }

    /// Jobs, or how fast they are executed, have changed.
    #[inline]
    fn change(&mut self) {
        if self.active() == 0 {
            // An idle database may as well begin its clock anew: it never loses precision.
            self.clock = 0.0;
        }
        self.next = None;
    }

    /// Works out when the next job is done if nothing changes before.
    #[inline(never)]
    fn reschedule(&mut self) -> Key {
        let next = match self.targets.peek() {
            Some(due) if self.slowdown < f64::INFINITY => {
                let missing = f64::from_bits(due & !self.slot_mask) - self.clock;
                let (_, slowness) = self.speed();
                let ticks = whole_ticks(missing.max(0.0) * slowness * self.slowdown);
                self.layout.key(self.updated + ticks, Class::Completion, 0)
            }
            _ => NEVER,
        };
        self.next = Some(next);
        next
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
    use crate::scenario::Demand;

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + Span::from_millis(millis)
    }

    fn settings(contention: Contention) -> Settings {
        Settings { claims: vec![Demand::Constant(Span::ZERO)], contention, attempt_cost: None }
    }

    fn start(database: &mut Database<'_>, millis: u64, client: u32, demand: u64) {
        let job = Job { client, work: Work::Good, started: at(millis), connected: SimTime::ZERO };
        database.start(at(millis), job, Span::from_millis(demand));
    }

    /// Completions as (time in ms, client).
    fn run(database: &mut Database<'_>) -> Vec<(f64, u32)> {
        let mut done = Vec::new();
        while database.next() != NEVER {
            let now = database.layout.time(database.next());
            let job = database.complete(now);
            done.push((now.ticks() as f64 / 1_000.0, job.client));
        }
        done
    }

    #[test]
    fn without_contention_each_claim_takes_its_demand() {
        let settings = settings(Contention::None);
        let mut database = Database::new(&settings, 1, Layout::new(100));
        start(&mut database, 0, 1, 100);
        start(&mut database, 30, 2, 20);
        assert_eq!(run(&mut database), [(50.0, 2), (100.0, 1)]);
    }

    /// One core: alone 0–30 at speed 1, both 30–70 at 1/2 (20 each), then client 1's last 50 alone.
    #[test]
    fn on_one_core_two_claims_share_it() {
        let settings = settings(Contention::Cores(1));
        let mut database = Database::new(&settings, 2, Layout::new(100));
        start(&mut database, 0, 1, 100);
        start(&mut database, 30, 2, 20);
        assert_eq!(run(&mut database), [(70.0, 2), (120.0, 1)]);
    }

    /// Two at speed (1/2)^2 = 1/4 each: 80 ms for the 20; then 60 left of the first's 80.
    #[test]
    fn a_retrograde_database_does_less_with_more() {
        let settings = settings(Contention::Power { knee: 1, gamma: 2.0 });
        let mut database = Database::new(&settings, 2, Layout::new(100));
        start(&mut database, 0, 1, 80);
        start(&mut database, 0, 2, 20);
        assert_eq!(run(&mut database), [(80.0, 2), (140.0, 1)]);
    }

    #[test]
    fn a_cut_off_claim_gives_its_speed_to_the_others() {
        let settings = settings(Contention::Cores(1));
        let mut database = Database::new(&settings, 3, Layout::new(100));
        for client in 1..=3 {
            start(&mut database, 0, client, 30);
        }
        // At 30 each has attained 10; two go, the third's 20 are done at full speed.
        let cut = database.cut_off(at(30), |job| job.client != 2);
        assert_eq!(cut.iter().map(|job| job.client).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(run(&mut database), [(50.0, 2)]);
    }

    /// 30 of 100 done at full speed, 10 in the next 100 at a tenth, nothing for 50, then the last 60.
    #[test]
    fn a_slow_database_works_at_its_pace_and_a_hanging_one_not_at_all() {
        let settings = settings(Contention::None);
        let mut database = Database::new(&settings, 1, Layout::new(100));
        start(&mut database, 0, 1, 100);
        database.slow_down(at(30), 10.0);
        database.slow_down(at(130), f64::INFINITY);
        assert_eq!(database.next(), NEVER);
        database.slow_down(at(180), 1.0);
        assert_eq!(run(&mut database), [(240.0, 1)]);
    }

    #[test]
    fn equal_targets_finish_by_slot_within_one_tick() {
        let settings = settings(Contention::Cores(1));
        let mut database = Database::new(&settings, 3, Layout::new(100));
        for client in [7, 5, 6] {
            start(&mut database, 0, client, 10);
        }
        assert_eq!(run(&mut database), [(30.0, 7), (30.0, 5), (30.0, 6)]);
    }
}
