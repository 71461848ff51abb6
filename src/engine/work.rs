//! Work: items arrive, wait in their tenant's queue, are taken by claims and processed.
//!
//! An item is queued, in process with a client, or on its way back from one that died; it is done once. After
//! its processing a worker may need further transactions: it becomes a guest of the pool for them.

use std::collections::{BTreeMap, VecDeque};
use std::f64::consts::TAU;
use std::ops::Range;

use super::client::Phase;
use super::demand;
use super::guest::Guest;
use super::heap::MinHeap;
use super::key::{Class, Key, Layout, NEVER};
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::{Outcome, Past};
use crate::random::{Moment, Purpose, Site, World};
use crate::scenario::{Arrivals, Daily, Work};
use crate::units::{SimTime, Span, TICKS_PER_SECOND};

/// An item of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub tenant: u32,
    /// How many of its tenant came before it.
    pub number: u32,
    /// How often it has been taken.
    pub taken: u16,
    pub arrived: SimTime,
}

/// All items that have arrived and are not done, and when the next ones come.
#[derive(Debug)]
pub(super) struct Works<'a> {
    pub settings: &'a Work,
    layout: Layout,
    source: Source<'a>,
    /// By tenant, in order of arrival.
    queues: Vec<VecDeque<Item>>,
    /// By client, its items in process.
    busy: Vec<u16>,
    /// What ends when; the number tells apart what ends at the same time.
    under_way: BTreeMap<(SimTime, u64), (Step, Item)>,
    steps: u64,
    queued: u64,
}

/// What an item is going through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It is processed by a client.
    Processing(u32),
    /// Its client has died.
    Reclaim,
}

/// Where items come from.
#[derive(Debug)]
enum Source<'a> {
    /// Each tenant's next item.
    Renewal { next: MinHeap, streams: Vec<Stream> },
    /// A trace, and how many of its items have come.
    Trace(&'a [(u32, SimTime)], usize),
}

/// The items of a tenant.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Items so far.
    number: u32,
    /// When the last came, in ticks of a clock that runs as fast as items come.
    time: f64,
    /// By what its intervals are multiplied.
    stretch: f64,
}

impl<'a> Works<'a> {
    pub fn new(settings: &'a Work, clients: u32, layout: Layout, world: &World) -> Works<'a> {
        let tenants = settings.tenants;
        let source = match &settings.arrivals {
            Arrivals::Trace(rows) => Source::Trace(rows, 0),
            Arrivals::Renewal(_) => {
                let stretches = stretches(tenants, settings.skew);
                let stream = |stretch| Stream { number: 0, time: 0.0, stretch };
                let streams = stretches.into_iter().map(stream).collect();
                let next = MinHeap::with_capacity(tenants as usize);
                Source::Renewal { next, streams }
            }
        };
        let mut works = Works {
            settings,
            layout,
            source,
            queues: vec![VecDeque::new(); tenants as usize],
            busy: vec![0; clients as usize],
            under_way: BTreeMap::new(),
            steps: 0,
            queued: 0,
        };
        if matches!(works.source, Source::Renewal { .. }) {
            (0..tenants).for_each(|tenant| works.schedule(tenant, world));
        }
        works
    }

    /// The key of what happens next: an item is done with, or the next arrives.
    pub fn next(&mut self) -> Key {
        let step = self.under_way.keys().next().map(|&(time, _)| time);
        let arrival = match &mut self.source {
            Source::Renewal { next, .. } => next.peek().map(|key| self.layout.time(key)),
            Source::Trace(rows, come) => rows.get(*come).map(|&(_, time)| time),
        };
        let soonest = step.into_iter().chain(arrival).min();
        soonest.map_or(NEVER, |time| self.layout.key(time, Class::Supply, 0))
    }

    /// The item that arrives now, if one does.
    fn arrival(&mut self, now: SimTime, world: &World) -> Option<Item> {
        let (tenant, number) = match &mut self.source {
            Source::Trace(rows, come) => {
                let &(tenant, _) = rows.get(*come).filter(|&&(_, time)| time <= now)?;
                *come += 1;
                (tenant, *come as u32)
            }
            Source::Renewal { next, streams } => {
                let key = next.peek().filter(|&key| self.layout.time(key) <= now)?;
                next.pop();
                let tenant = self.layout.client(key);
                (tenant, streams[tenant as usize].number - 1)
            }
        };
        if matches!(self.source, Source::Renewal { .. }) {
            self.schedule(tenant, world);
        }
        Some(Item { tenant, number, taken: 0, arrived: now })
    }

    /// Draws when a tenant's next item arrives.
    fn schedule(&mut self, tenant: u32, world: &World) {
        let (Source::Renewal { next, streams }, Arrivals::Renewal(law)) =
            (&mut self.source, &self.settings.arrivals)
        else {
            return;
        };
        let stream = &mut streams[tenant as usize];
        let moment = Moment { poll: stream.number, ..Moment::default() };
        let site = world.site(Purpose::Item, tenant, moment);
        let interval = demand::sample(law, site).ticks() as f64 * stream.stretch;
        // A stream begins somewhere within its first interval.
        let first = stream.number == 0;
        stream.time += if first { interval * site.uniform(1) } else { interval.max(1.0) };
        stream.number += 1;
        let time = self.settings.daily.map_or(stream.time, |daily| clock(daily, stream.time));
        let key = self.layout.key(SimTime::from_ticks(time as u64), Class::Arrival, tenant);
        if key != NEVER {
            next.push(key);
        }
    }

    /// Puts an item into its queue: in front of those that arrived after it.
    fn queue(&mut self, item: Item) {
        let queue = &mut self.queues[item.tenant as usize];
        let place = queue.partition_point(|other| other.arrived <= item.arrived);
        queue.insert(place, item);
        self.queued += 1;
    }

    /// Takes an item for a client, if it has a free worker and there is one.
    fn take(&mut self, client: u32) -> Option<Item> {
        let busy = &mut self.busy[client as usize];
        let free = *busy < self.settings.workers;
        let tenant = client % self.settings.tenants;
        let queue = &mut self.queues[tenant as usize];
        let mut item = free.then(|| queue.pop_front())??;
        *busy += 1;
        self.queued -= 1;
        item.taken = item.taken.saturating_add(1);
        Some(item)
    }

    fn begin(&mut self, until: SimTime, step: Step, item: Item) {
        self.under_way.insert((until, self.steps), (step, item));
        self.steps += 1;
    }

    /// Items that wait to be taken.
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// Items that have been taken and not given back, those with guests left out.
    pub fn under_way(&self) -> u64 {
        self.under_way.len() as u64
    }
}

impl<O: Observer, T: Timers> Simulation<'_, O, T> {
    /// Whether all workers of a client are busy.
    #[inline]
    pub(super) fn is_busy(&self, client: u32) -> bool {
        self.works
            .as_ref()
            .is_some_and(|works| works.busy[client as usize] >= works.settings.workers)
    }

    /// A client's claim has succeeded: it takes as many items as it has free workers.
    pub(super) fn take_items(&mut self, client: u32) -> Outcome {
        let mut outcome = Outcome::Empty;
        while let Some(works) = &mut self.works
            && let Some(item) = works.take(client)
        {
            let site = processing_site(&self.world, item);
            let until = self.now + demand::sample(&works.settings.processing, site);
            works.begin(until, Step::Processing(client), item);
            let Item { taken, arrived, .. } = item;
            self.emit(Event::ItemTaken { client, arrived, first: taken == 1 });
            outcome = Outcome::Claimed;
        }
        outcome
    }

    /// An item arrives, or one is done with.
    pub(super) fn work(&mut self) {
        let works = self.works.as_mut().expect("there is work");
        let step = works.under_way.first_entry().filter(|step| step.key().0 <= self.now);
        if let Some(step) = step {
            let (step, item) = step.remove();
            match step {
                Step::Reclaim => self.give_back(item),
                Step::Processing(client) => self.processed(client, item),
            }
        } else if let Some(item) = works.arrival(self.now, &self.world) {
            works.queue(item);
            self.emit(Event::ItemArrived { tenant: item.tenant });
        }
    }

    /// A worker has processed its item.
    fn processed(&mut self, client: u32, item: Item) {
        let works = self.works.as_ref().expect("there is work");
        let failure = works.settings.failure.as_f64();
        if failure > 0.0 && processing_site(&self.world, item).uniform(1) < failure {
            self.end_item(client, item, false);
        } else if works.settings.transactions.is_empty() {
            self.end_item(client, item, true);
        } else {
            let worker = self.settle(Guest::Worker { client, item });
            self.begin_poll(worker, Span::ZERO);
        }
    }

    /// A worker is done with its item, or gives it back.
    pub(super) fn end_item(&mut self, client: u32, item: Item, done: bool) {
        let works = self.works.as_mut().expect("there is work");
        works.busy[client as usize] -= 1;
        if done {
            self.emit(Event::ItemDone { client, arrived: item.arrived });
        } else {
            self.give_back(item);
        }
    }

    fn give_back(&mut self, item: Item) {
        let works = self.works.as_mut().expect("there is work");
        works.queue(item);
        self.emit(Event::ItemReturned { arrived: item.arrived });
    }

    /// Clients have died: what they had in process is reclaimed after a while. Their workers' claims have
    /// been cut.
    pub(super) fn drop_work(&mut self, died: Range<u32>) {
        let Some(works) = &mut self.works else { return };
        let until = self.now + works.settings.reclaim;
        let dropped =
            |step: &Step| matches!(step, Step::Processing(client) if died.contains(client));
        let keys: Vec<_> = works
            .under_way
            .iter()
            .filter(|(_, (step, _))| dropped(step))
            .map(|(&key, _)| key)
            .collect();
        for key in keys {
            if let Some((_, item)) = works.under_way.remove(&key) {
                works.begin(until, Step::Reclaim, item);
            }
        }
        works.busy[died.start as usize..died.end as usize].fill(0);
        let workers: Vec<_> =
            self.guests.workers().filter(|(_, client, _)| died.contains(client)).collect();
        for (worker, _, item) in workers {
            self.cut_attempt(worker);
            self.leave(worker);
            let works = self.works.as_mut().expect("there is work");
            works.begin(until, Step::Reclaim, item);
        }
    }

    /// A client looks whether a worker is free `wait` from now.
    pub(super) fn look_after(&mut self, client: u32, wait: Span) {
        self.stands[client as usize].phase = Phase::Busy;
        self.set_timer(client, self.now + wait, Class::Alarm);
    }

    /// A client looks whether a worker is free: it polls, or sleeps its base interval and looks again.
    pub(super) fn look(&mut self, client: u32) {
        if !self.is_busy(client) {
            let due = self.clients[client as usize].due;
            self.clients[client as usize].attempt.attempt = 0;
            self.begin_poll(client, Span::ZERO);
            self.clients[client as usize].due = due;
            return;
        }
        let state = &mut self.clients[client as usize];
        // Looks are told apart as attempts are.
        state.attempt.attempt = state.attempt.attempt.saturating_add(1);
        let moment = state.attempt.moment();
        let site = self.site(Purpose::PollJitter, client, moment);
        let sleep = self.policy(client).poll.delay(0, Past::default(), site);
        self.look_after(client, sleep.max(Span::from_ticks(1)));
    }
}

fn processing_site(world: &World, item: Item) -> Site {
    let moment = Moment { poll: item.number, attempt: u32::from(item.taken), ..Moment::default() };
    world.site(Purpose::Processing, item.tenant, moment)
}

/// By what each tenant's intervals are multiplied: Zipf's law over ranks, the mean rate unchanged. Ranks are
/// spread over the tenants, so that the first clients are not the busiest.
fn stretches(tenants: u32, skew: f64) -> Vec<f64> {
    let n = u64::from(tenants);
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (n as f64 * 0.618) as u64;
    let stride = (golden.max(1)..).find(|&stride| gcd(stride, n) == 1).unwrap_or(1);
    let weight = |tenant: u64| ((tenant * stride % n + 1) as f64).powf(-skew);
    let mean = (0..n).map(weight).sum::<f64>() / n as f64;
    (0..n).map(|tenant| mean / weight(tenant)).collect()
}

/// When a clock that runs 1 + a·cos(2π (t − peak) / 24 h) times as fast shows `ticks`.
fn clock(daily: Daily, ticks: f64) -> f64 {
    let day = 86_400.0 * TICKS_PER_SECOND as f64;
    let Daily { amplitude, peak } = daily;
    let phase = |t: f64| TAU * (t - peak.ticks() as f64) / day;
    let shown = |t: f64| t + amplitude * day / TAU * (phase(t).sin() - phase(0.0).sin());
    // It is never ahead or behind by more than this.
    let (mut low, mut high) = (ticks - amplitude * day / 2.0, ticks + amplitude * day / 2.0);
    while high - low > 0.5 {
        let middle = (low + high) / 2.0;
        if shown(middle) < ticks { low = middle } else { high = middle }
    }
    high.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewed_tenants_differ_and_their_mean_rate_does_not() {
        for (tenants, skew) in [(1, 1.0), (7, 0.0), (100, 1.0), (11_543, 1.2)] {
            let stretches = stretches(tenants, skew);
            let rate = stretches.iter().map(|stretch| 1.0 / stretch).sum::<f64>();
            assert!((rate / f64::from(tenants) - 1.0).abs() < 1e-9, "{rate}");
            let least = stretches.iter().copied().fold(f64::INFINITY, f64::min);
            let most = stretches.iter().copied().fold(0.0, f64::max);
            assert!((most / least / f64::from(tenants).powf(skew) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_daily_clock_is_fast_at_its_peak_and_right_each_midnight() {
        let daily = Daily { amplitude: 0.5, peak: Span::from_secs(14 * 3_600) };
        let hour = 3_600e6;
        for days in [1.0, 2.0] {
            assert!((clock(daily, days * 24.0 * hour) / (days * 24.0 * hour) - 1.0).abs() < 1e-9);
        }
        let took = |from: f64| {
            let start = clock(daily, from * hour);
            clock(daily, from * hour + 1e6) - start
        };
        let pace: Vec<f64> = (0..240).map(|tenth| 1e6 / took(f64::from(tenth) / 10.0)).collect();
        let most = pace.iter().copied().fold(0.0, f64::max);
        let least = pace.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((most - 1.5).abs() < 0.01 && (least - 0.5).abs() < 0.01, "{least} to {most}");
    }
}
