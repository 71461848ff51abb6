//! What is followed over a unit: the densest arrivals, each trigger to its drain, the fleet to its service.

use super::{BadTimes, Drain};
use crate::scenario::{DrainRule, Scenario};
use crate::units::{SimTime, Span};

/// The width of the sliding window of `peak_arrivals_100ms`.
const PEAK_WINDOW: Span = Span::from_millis(100);

/// Arrivals that are worth forgetting together.
const FORGOTTEN: usize = 1_024;

/// The most arrivals within a sliding window.
#[derive(Debug)]
pub(super) struct PeakCount {
    from: SimTime,
    /// The last arrivals, as many as the peak and perhaps some before them.
    last: Vec<SimTime>,
    peak: usize,
}

impl PeakCount {
    pub fn new(from: SimTime) -> PeakCount {
        PeakCount { from, last: Vec::new(), peak: 0 }
    }

    #[inline]
    pub fn count(&mut self, now: SimTime) {
        if now >= self.from {
            self.last.push(now);
            self.follow(self.last.len() - 1);
        }
    }

    /// Takes arrivals in order.
    pub fn count_all(&mut self, arrivals: &[SimTime]) {
        let early = arrivals.partition_point(|&arrival| arrival < self.from);
        let new = self.last.len();
        self.last.extend_from_slice(&arrivals[early..]);
        // Mostly it is no denser than before, which needs no going through one after the other.
        let pairs = self.last[new..].iter().zip(&self.last[new - self.peak..]);
        let is_denser = pairs.fold(false, |any, (now, before)| any | is_dense(*before, *now));
        self.follow(if is_denser { new } else { self.last.len() });
    }

    /// Raises the peak wherever, from arrival `new` on, as many as it is came within a window before one
    /// more.
    #[inline]
    fn follow(&mut self, new: usize) {
        for now in new..self.last.len() {
            self.peak += usize::from(is_dense(self.last[now - self.peak], self.last[now]));
        }
        if self.last.len() > 2 * self.peak + FORGOTTEN {
            self.last.drain(..self.last.len() - self.peak);
        }
    }

    /// The most so far.
    pub fn peak(&self) -> u64 {
        self.peak as u64
    }
}

/// Whether two arrivals are within one window.
#[inline]
fn is_dense(before: SimTime, now: SimTime) -> bool {
    now.since(before) < PEAK_WINDOW
}

/// Follows every trigger to its drain.
#[derive(Debug)]
pub(super) struct DrainWatch {
    rule: DrainRule,
    bad: BadTimes,
    /// The triggers, then the responses.
    courses: Vec<Course>,
    triggers: usize,
    /// When the measured window and the first trigger are: the backlog in between says what is usual.
    calm: (SimTime, SimTime),
    /// The most items waiting then.
    calm_most: u64,
    /// Since when more wait than is usual.
    over_since: Option<SimTime>,
    /// By client, the last trigger that restarted it (from 1) while its first poll since has not
    /// ended.
    first_poll_of: Vec<u16>,
}

/// The course of a disturbance.
#[derive(Debug)]
struct Course {
    at: SimTime,
    /// When it had run its course, as far as is known.
    over: SimTime,
    /// Restarted clients whose first poll has not ended.
    outstanding: u32,
}

impl DrainWatch {
    pub fn new(scenario: &Scenario) -> DrainWatch {
        let clients = scenario.fleet.clients;
        let courses = scenario.happenings().map(|happening| {
            let over = happening.at + happening.action.over(clients);
            Course { at: happening.at, over, outstanding: 0 }
        });
        DrainWatch {
            rule: scenario.drain,
            bad: BadTimes::new(scenario.drain.hold),
            calm: (
                SimTime::ZERO + scenario.run.warm_up,
                scenario.first_trigger().unwrap_or(SimTime::NEVER),
            ),
            calm_most: 0,
            over_since: None,
            courses: courses.collect(),
            triggers: scenario.disturbances.len(),
            first_poll_of: vec![0; clients as usize],
        }
    }

    #[inline]
    pub fn failed(&mut self, now: SimTime) {
        self.bad.book(now, now);
    }

    #[inline]
    pub fn waited(&mut self, now: SimTime, waited: Span) {
        if waited > self.rule.wait {
            self.bad.book(now - waited + self.rule.wait, now);
        }
    }

    /// The backlog goes up or down. Beyond its undisturbed band, the most before the first trigger and three
    /// standard deviations of such a count, it keeps the fleet from having drained.
    pub fn backlog(&mut self, now: SimTime, before: u64, after: u64) {
        let (opens, trigger) = self.calm;
        if trigger <= opens || now < opens {
            return;
        }
        if now < trigger {
            self.calm_most = self.calm_most.max(before).max(after);
            return;
        }
        let band = self.calm_most as f64 + 3.0 * (self.calm_most as f64).sqrt();
        match self.over_since {
            None if after as f64 > band => self.over_since = Some(now),
            Some(since) if after as f64 <= band => {
                self.over_since = None;
                self.bad.book(since, now);
            }
            _ => {}
        }
    }

    pub fn restarted(&mut self, client: u32, index: usize) {
        let number = &mut self.first_poll_of[client as usize];
        if *number > 0 {
            self.courses[usize::from(*number) - 1].outstanding -= 1;
        }
        *number = index as u16 + 1;
        self.courses[index].outstanding += 1;
    }

    /// Whether the end of any poll may count.
    pub fn is_waiting(&self) -> bool {
        self.courses.iter().any(|course| course.outstanding > 0)
    }

    #[inline]
    pub fn polled(&mut self, now: SimTime, client: u32) {
        if self.courses.is_empty() {
            return;
        }
        let number = std::mem::take(&mut self.first_poll_of[client as usize]);
        if number > 0 {
            let course = &mut self.courses[usize::from(number) - 1];
            course.outstanding -= 1;
            course.over = course.over.max(now);
        }
    }

    pub fn finish(mut self, end: SimTime) -> Vec<Drain> {
        if let Some(since) = self.over_since {
            self.bad.book(since, end);
        }
        for course in &mut self.courses {
            if course.outstanding > 0 {
                course.over = SimTime::NEVER;
            }
        }
        let (triggers, responses) = self.courses.split_at(self.triggers);
        let responses = responses.iter().filter(|course| course.over > course.at);
        let busy: Vec<_> = responses.map(|course| (course.at, course.over)).collect();
        let drain = |trigger: &Course| self.bad.drain(trigger.at, trigger.over, end, &busy);
        triggers.iter().map(drain).collect()
    }
}

/// Waits for shares of the fleet to have had a good poll after the first trigger. Who had left
/// before it, and does not come back with it, counts as served.
#[derive(Debug)]
pub(super) struct ServiceWatch {
    trigger: SimTime,
    served: Vec<bool>,
    count: usize,
    goals: [usize; 2],
    reached: [Option<Span>; 2],
}

impl ServiceWatch {
    pub fn new(clients: u32, trigger: Option<SimTime>) -> ServiceWatch {
        let clients = clients as usize;
        ServiceWatch {
            trigger: trigger.unwrap_or(SimTime::NEVER),
            served: vec![false; clients],
            count: 0,
            goals: [clients.div_ceil(2), (clients * 99).div_ceil(100)],
            reached: [None; 2],
        }
    }

    #[inline]
    pub fn served(&mut self, now: SimTime, client: u32) {
        if now < self.trigger || std::mem::replace(&mut self.served[client as usize], true) {
            return;
        }
        self.count += 1;
        for (goal, reached) in self.goals.iter().zip(&mut self.reached) {
            if self.count == *goal {
                *reached = Some(now.since(self.trigger));
            }
        }
    }

    /// Whether a good poll up to `now` may count.
    pub fn is_waiting(&self, now: SimTime) -> bool {
        self.count < self.served.len() && now >= self.trigger
    }

    pub fn left(&mut self, now: SimTime, client: u32) {
        let served = &mut self.served[client as usize];
        if now < self.trigger && !*served {
            *served = true;
            self.count += 1;
        }
    }

    /// Restarts at the trigger come before anything else at that instant.
    pub fn restarted(&mut self, now: SimTime, client: u32) {
        if now == self.trigger && std::mem::take(&mut self.served[client as usize]) {
            self.count -= 1;
        }
    }

    pub fn finish(self) -> [Option<Span>; 2] {
        let passed = |goal: usize| (self.count >= goal).then_some(Span::ZERO);
        std::array::from_fn(|i| self.reached[i].or(passed(self.goals[i])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_peak_is_that_of_all_windows_however_arrivals_are_told(
            gaps in prop::collection::vec((0u64..60_000, 0usize..40), 1..80),
            from in 0u64..1_000_000,
        ) {
            let mut now = SimTime::ZERO;
            // Now and then many at one instant, so that some are forgotten.
            let told: Vec<Vec<SimTime>> = gaps
                .iter()
                .map(|&(gap, many)| {
                    now = now + Span::from_ticks(gap);
                    vec![now; if many == 39 { 700 } else { many }]
                })
                .collect();
            let from = SimTime::from_ticks(from);
            let counted: Vec<SimTime> = told.concat().into_iter().filter(|&at| at >= from).collect();
            let within = |last: usize| {
                counted[..=last].iter().filter(|&&at| counted[last].since(at) < PEAK_WINDOW).count()
            };
            let expected = (0..counted.len()).map(within).max().unwrap_or(0) as u64;
            let (mut singly, mut together) = (PeakCount::new(from), PeakCount::new(from));
            for arrivals in &told {
                arrivals.iter().for_each(|&arrival| singly.count(arrival));
                together.count_all(arrivals);
            }
            prop_assert_eq!(singly.peak(), expected);
            prop_assert_eq!(together.peak(), expected);
        }
    }
}
