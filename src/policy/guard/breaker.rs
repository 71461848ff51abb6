//! No tries while too many fail: a circuit breaker.
//!
//! Closed, it lets all tries through and judges their results. Tripped, it is open and lets none
//! through. The first try that comes when it has been `open` so long finds it half-open: it lets
//! `probes` tries through, no more as their results come in, and these decide whether it closes or
//! opens again. A probe that is cancelled gives its place back.
//!
//! Sources: Resilience4j `CircuitBreakerStateMachine` and `CircuitBreakerMetrics`, Polly 8
//! `CircuitStateController` and `AdvancedCircuitBehavior`, sony/gobreaker. Left out: slow calls,
//! failures that do not count, forced states, break times that grow, Resilience4j's limit to the time
//! half-open, and that its wait ends a moment after `open`, not with it.

use serde::Serialize;

use super::window::{Results, Window};
use super::{Ending, Meter, Ticket, Verdict};
use crate::units::{SimTime, Span};

/// A switch that failures open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Breaker {
    /// When it opens.
    pub trip: Trip,
    /// How long nothing is let through then.
    pub open: Span,
    /// Tries that are let through after that: at least 1.
    pub probes: u32,
    /// What becomes of results that come late.
    pub late: Late,
}

/// When a closed breaker opens, and a half-open one again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trip {
    /// After so many failures in a row, at least 1. Half-open, any failure opens it, and as many
    /// successes as it has probes close it.
    Consecutive(u32),
    /// When such a share of results are failures. Half-open, the same share of its probes decides.
    Share {
        /// Failures among results: above 0, up to 1.
        failed: f64,
        /// Which results.
        of: Window,
        /// Results without which nothing is judged: no more than calls in its window, half-open no
        /// more than probes.
        least: u32,
    },
}

/// What becomes of the result of a try that set out before the breaker last changed its state. One that
/// comes while it is open changes nothing in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Late {
    /// It counts as if the try had set out in the present state: half-open, as a probe's
    /// (Resilience4j, Polly).
    #[default]
    Count,
    /// It does not count (gobreaker).
    Ignore,
}

#[derive(Clone, Debug)]
pub(super) struct BreakerMeter {
    limit: Breaker,
    state: State,
    /// Changes of state: what marks the tries that set out in it.
    generation: u32,
}

#[derive(Clone, Debug)]
enum State {
    Closed(Results),
    Open { until: SimTime },
    HalfOpen { let_through: u32, good: u32, failed: u32 },
}

/// What a result makes of the state.
#[derive(Clone, Copy, PartialEq)]
enum Judgement {
    Stay,
    Open,
    Close,
}

impl Breaker {
    /// The defaults of Resilience4j 2.4: 50 of the last 100 calls, 60 s, 10 probes.
    pub fn resilience4j() -> Breaker {
        let trip = Trip::Share { failed: 0.5, of: Window::Calls(100), least: 100 };
        Breaker { trip, open: Span::from_secs(60), probes: 10, late: Late::Count }
    }

    /// The defaults of Polly 8: a tenth of at least 100 calls in 30 s, 5 s; its one probe is fixed.
    pub fn polly() -> Breaker {
        let of = Window::Sampled(Span::from_secs(30));
        let trip = Trip::Share { failed: 0.1, of, least: 100 };
        Breaker { trip, open: Span::from_secs(5), probes: 1, late: Late::Count }
    }

    /// The defaults of sony/gobreaker: more than 5 failures in a row, 60 s, one probe.
    pub fn gobreaker() -> Breaker {
        let trip = Trip::Consecutive(6);
        Breaker { trip, open: Span::from_secs(60), probes: 1, late: Late::Ignore }
    }

    pub(super) fn meter(self) -> BreakerMeter {
        BreakerMeter { limit: self, state: self.closed(), generation: 0 }
    }

    /// The share of failures that trips it when closed, of which results, and of how many at least: so
    /// many failures in a row are all of the last so many.
    fn threshold(self) -> (f64, Window, u32) {
        match self.trip {
            Trip::Consecutive(failures) => (1.0, Window::Calls(failures), failures),
            Trip::Share { failed, of: Window::Calls(calls), least } => {
                (failed, Window::Calls(calls), least.min(calls))
            }
            Trip::Share { failed, of, least } => (failed, of, least),
        }
    }

    fn closed(self) -> State {
        let (_, window, _) = self.threshold();
        State::Closed(window.results())
    }

    fn probes(self) -> u32 {
        self.probes.max(1)
    }

    /// After a result, with such results in the window.
    fn judge_closed(self, failed: bool, results: &Results) -> Judgement {
        let (share, window, least) = self.threshold();
        let judged = results.total() >= least && (failed || window.judges_the_good());
        match judged && share_of(results.failed(), results.total()) >= share {
            true => Judgement::Open,
            false => Judgement::Stay,
        }
    }

    /// After a result, with such results since it was half-open.
    fn judge_half_open(self, good: u32, failed: u32) -> Judgement {
        match self.trip {
            Trip::Consecutive(_) if failed > 0 => Judgement::Open,
            Trip::Consecutive(_) if good >= self.probes() => Judgement::Close,
            Trip::Share { failed: share, least, .. }
                if good + failed >= least.min(self.probes()) =>
            {
                match share_of(failed, good + failed) >= share {
                    true => Judgement::Open,
                    false => Judgement::Close,
                }
            }
            Trip::Consecutive(_) | Trip::Share { .. } => Judgement::Stay,
        }
    }
}

/// The share that `part` is of `whole`, which is not zero.
fn share_of(part: u32, whole: u32) -> f64 {
    part as f64 / whole as f64
}

impl BreakerMeter {
    fn change(&mut self, state: State) {
        self.state = state;
        self.generation = self.generation.wrapping_add(1);
    }

    fn count(&mut self, now: SimTime, failed: bool) {
        let judgement = match &mut self.state {
            State::Closed(results) => {
                results.add(now, failed);
                self.limit.judge_closed(failed, results)
            }
            State::Open { .. } => Judgement::Stay,
            State::HalfOpen { good, failed: bad, .. } => {
                *(if failed { &mut *bad } else { &mut *good }) += 1;
                self.limit.judge_half_open(*good, *bad)
            }
        };
        match judgement {
            Judgement::Stay => {}
            Judgement::Open => self.change(State::Open { until: now + self.limit.open }),
            Judgement::Close => self.change(self.limit.closed()),
        }
    }
}

impl Meter for BreakerMeter {
    fn ask(&mut self, now: SimTime) -> Verdict {
        if let State::Open { until } = self.state
            && now >= until
        {
            self.change(State::HalfOpen { let_through: 0, good: 0, failed: 0 });
        }
        match self.state {
            State::Closed(_) => Verdict::Go,
            State::HalfOpen { let_through, .. } if let_through < self.limit.probes() => Verdict::Go,
            State::HalfOpen { .. } | State::Open { .. } => Verdict::Reject,
        }
    }

    fn depart(&mut self, _: SimTime, ticket: &mut Ticket, _: bool) {
        ticket.mark = self.generation;
        if let State::HalfOpen { let_through, .. } = &mut self.state {
            *let_through += 1;
        }
    }

    fn end(&mut self, now: SimTime, ticket: &mut Ticket, ending: Ending) {
        let late = ticket.mark != self.generation;
        match (ending, &mut self.state) {
            _ if !ticket.open => {}
            (Ending::Cancelled, State::HalfOpen { let_through, .. }) if !late => *let_through -= 1,
            (Ending::Cancelled, _) => {}
            _ if late && self.limit.late == Late::Ignore => {}
            (Ending::Good, _) => self.count(now, false),
            (Ending::Failed(_), _) => self.count(now, true),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rehearsal::{Call, Happening, any_rate, cues, play};
    use super::*;
    use crate::policy::Failure;

    const BAD: Ending = Ending::Failed(Failure::TimedOut);

    /// A state without what is counted in it.
    #[derive(Debug, PartialEq)]
    enum Stands {
        Closed,
        Open,
        HalfOpen,
    }

    impl BreakerMeter {
        fn stands(&self) -> Stands {
            match self.state {
                State::Closed(_) => Stands::Closed,
                State::Open { .. } => Stands::Open,
                State::HalfOpen { .. } => Stands::HalfOpen,
            }
        }
    }

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + Span::from_millis(millis)
    }

    /// A try that sets out.
    fn let_out(meter: &mut BreakerMeter, millis: u64) -> Call {
        let mut call = Call::default();
        assert_eq!(call.set_out(meter, at(millis)), Verdict::Go);
        call
    }

    fn rejects(meter: &mut BreakerMeter, millis: u64) -> bool {
        Call::default().set_out(meter, at(millis)) == Verdict::Reject
    }

    /// A try that sets out and ends at once.
    fn run(meter: &mut BreakerMeter, millis: u64, ending: Ending) {
        let_out(meter, millis).end(meter, at(millis), ending);
    }

    fn run_all(meter: &mut BreakerMeter, millis: u64, endings: &[(u32, Ending)]) {
        for &(times, ending) in endings {
            for _ in 0..times {
                assert_eq!(meter.stands(), Stands::Closed);
                run(meter, millis, ending);
            }
        }
    }

    #[test]
    fn five_failures_in_a_row_open_it_and_a_success_between_starts_anew() {
        let mut meter = Breaker { trip: Trip::Consecutive(5), ..Breaker::gobreaker() }.meter();
        run_all(&mut meter, 0, &[(4, BAD), (1, Ending::Good), (4, BAD)]);
        assert_eq!(meter.stands(), Stands::Closed);
        run(&mut meter, 7, BAD);
        assert_eq!(meter.stands(), Stands::Open);
        assert!(rejects(&mut meter, 60_006));
        let mut probe = let_out(&mut meter, 60_007);
        assert_eq!(meter.stands(), Stands::HalfOpen);
        assert!(rejects(&mut meter, 60_007));
        probe.end(&mut meter, at(60_008), BAD);
        assert_eq!(meter.stands(), Stands::Open);
        assert!(rejects(&mut meter, 120_007));
        run(&mut meter, 120_008, Ending::Good);
        assert_eq!(meter.stands(), Stands::Closed);
        run_all(&mut meter, 120_009, &[(5, BAD)]);
        assert_eq!(meter.stands(), Stands::Open);
    }

    #[test]
    fn three_probes_in_a_row_must_succeed_where_there_are_three() {
        let limit = Breaker { probes: 3, ..Breaker::gobreaker() };
        let mut meter = limit.meter();
        run_all(&mut meter, 0, &[(6, BAD)]);
        run(&mut meter, 60_000, Ending::Good);
        run(&mut meter, 60_000, Ending::Good);
        assert_eq!(meter.stands(), Stands::HalfOpen);
        run(&mut meter, 60_000, Ending::Good);
        assert_eq!(meter.stands(), Stands::Closed);
        run_all(&mut meter, 60_000, &[(6, BAD)]);
        run(&mut meter, 120_000, Ending::Good);
        run(&mut meter, 120_000, BAD);
        assert_eq!(meter.stands(), Stands::Open);
    }

    #[test]
    fn resilience4j_judges_from_the_hundredth_call_on_and_a_success_may_be_that() {
        let mut meter = Breaker::resilience4j().meter();
        run_all(&mut meter, 0, &[(99, BAD), (1, Ending::Good)]);
        assert_eq!(meter.stands(), Stands::Open);

        let mut meter = Breaker::resilience4j().meter();
        run_all(&mut meter, 0, &[(51, Ending::Good), (49, BAD)]);
        run_all(&mut meter, 0, &[(1, BAD)]);
        assert_eq!(meter.stands(), Stands::Open, "50 of the last 100: a success fell out");
    }

    #[test]
    fn resilience4j_lets_ten_through_and_waits_for_all_of_them() {
        for (failures, then) in [(4, Stands::Closed), (5, Stands::Open)] {
            let mut meter = Breaker::resilience4j().meter();
            run_all(&mut meter, 0, &[(100, BAD)]);
            let mut probes: Vec<Call> = (0..10).map(|_| let_out(&mut meter, 60_000)).collect();
            assert!(rejects(&mut meter, 60_000));
            for (i, probe) in probes.iter_mut().enumerate() {
                assert_eq!(meter.stands(), Stands::HalfOpen);
                let ending = if i < failures { BAD } else { Ending::Good };
                probe.end(&mut meter, at(60_100), ending);
                assert!(i == 9 || rejects(&mut meter, 60_100), "a result lets nobody follow");
            }
            assert_eq!(meter.stands(), then);
        }
    }

    #[test]
    fn resilience4j_may_count_by_seconds_without_a_bound_to_the_calls_it_needs() {
        let trip = Trip::Share { failed: 0.5, of: Window::Seconds(10), least: 4 };
        let mut meter = Breaker { trip, ..Breaker::resilience4j() }.meter();
        run_all(&mut meter, 900, &[(3, BAD)]);
        run_all(&mut meter, 10_000, &[(3, Ending::Good)]);
        run_all(&mut meter, 10_999, &[(2, BAD)]);
        assert_eq!(meter.stands(), Stands::Closed, "2 of 5: the first second is forgotten");
        run(&mut meter, 10_999, BAD);
        assert_eq!(meter.stands(), Stands::Open);
        // Half-open, 4 results of the 10 probes are enough.
        for _ in 0..3 {
            run(&mut meter, 70_999, Ending::Good);
        }
        assert_eq!(meter.stands(), Stands::HalfOpen);
        run(&mut meter, 70_999, BAD);
        assert_eq!(meter.stands(), Stands::Closed);
    }

    #[test]
    fn polly_opens_at_a_tenth_of_a_hundred_but_on_a_failure_only() {
        let mut meter = Breaker::polly().meter();
        run_all(&mut meter, 0, &[(98, BAD), (10, Ending::Good)]);
        assert_eq!(meter.stands(), Stands::Closed);
        run(&mut meter, 0, BAD);
        assert_eq!(meter.stands(), Stands::Open);

        let mut meter = Breaker::polly().meter();
        run_all(&mut meter, 0, &[(9, BAD), (90, Ending::Good), (1, BAD)]);
        assert_eq!(meter.stands(), Stands::Open, "10 of 100");
    }

    #[test]
    fn polly_sends_one_probe_whose_result_decides() {
        let mut meter = Breaker::polly().meter();
        run_all(&mut meter, 0, &[(100, BAD)]);
        assert!(rejects(&mut meter, 4_999));
        let mut probe = let_out(&mut meter, 5_000);
        assert!(rejects(&mut meter, 5_000) && rejects(&mut meter, 99_000));
        probe.end(&mut meter, at(99_000), BAD);
        assert_eq!(meter.stands(), Stands::Open);
        assert!(rejects(&mut meter, 103_999));
        run(&mut meter, 104_000, Ending::Good);
        assert_eq!(meter.stands(), Stands::Closed);
        run_all(&mut meter, 104_000, &[(99, BAD)]);
        assert_eq!(meter.stands(), Stands::Closed, "it forgot what was before");
    }

    #[test]
    fn a_late_result_is_a_probes_where_it_counts_and_nothing_where_it_does_not() {
        for (late, ending, then) in [
            (Late::Count, Ending::Good, Stands::Closed),
            (Late::Count, BAD, Stands::Open),
            (Late::Ignore, Ending::Good, Stands::HalfOpen),
            (Late::Ignore, BAD, Stands::HalfOpen),
        ] {
            let mut meter = Breaker { late, ..Breaker::polly() }.meter();
            let mut while_open = let_out(&mut meter, 0);
            let mut slow = let_out(&mut meter, 0);
            run_all(&mut meter, 0, &[(100, BAD)]);
            while_open.end(&mut meter, at(4_000), ending);
            assert_eq!(meter.stands(), Stands::Open);
            let probe = let_out(&mut meter, 5_000);
            slow.end(&mut meter, at(5_001), ending);
            assert_eq!(meter.stands(), then);
            assert!(probe.ticket.open);
        }
    }

    #[test]
    fn a_cancelled_probe_gives_its_place_back_and_an_older_try_none() {
        let mut meter = Breaker::polly().meter();
        let mut old = let_out(&mut meter, 0);
        run_all(&mut meter, 0, &[(100, BAD)]);
        let mut probe = let_out(&mut meter, 5_000);
        old.end(&mut meter, at(5_001), Ending::Cancelled);
        assert!(rejects(&mut meter, 5_001));
        probe.end(&mut meter, at(5_001), Ending::Cancelled);
        run(&mut meter, 5_002, Ending::Good);
        assert_eq!(meter.stands(), Stands::Closed);
    }

    fn any_trip() -> impl Strategy<Value = Trip> {
        let count = || prop_oneof![0..6u32, any::<u32>()];
        let window = prop_oneof![
            count().prop_map(Window::Calls),
            count().prop_map(Window::Seconds),
            any::<u64>().prop_map(|ticks| Window::Sampled(Span::from_ticks(ticks))),
            (0..20_000_000u64).prop_map(|ticks| Window::Sampled(Span::from_ticks(ticks))),
        ];
        prop_oneof![
            count().prop_map(Trip::Consecutive),
            (any_rate(), window, count()).prop_map(|(failed, of, least)| Trip::Share {
                failed,
                of,
                least
            }),
        ]
    }

    proptest! {
        #[test]
        fn half_open_it_lets_no_more_through_than_its_probes_and_open_nobody(
            trip in any_trip(),
            open in prop_oneof![0..2_000_000u64, any::<u64>()],
            probes in prop_oneof![0..5u32, any::<u32>()],
            late in prop::sample::select(vec![Late::Count, Late::Ignore]),
            cues in cues(),
        ) {
            let limit = Breaker { trip, open: Span::from_ticks(open), probes, late };
            let mut meter = limit.meter();
            let mut generation = 0;
            // Probes that set out since it was half-open, without those that were cancelled.
            let mut sent = 0;
            play(&mut meter, &cues, |meter, scene| {
                if meter.generation != generation {
                    (generation, sent) = (meter.generation, 0);
                }
                match scene.happening {
                    Happening::Asked(verdict) => match meter.stands() {
                        Stands::Closed => assert_eq!(verdict, Verdict::Go),
                        Stands::Open => assert_eq!(verdict, Verdict::Reject),
                        Stands::HalfOpen => {
                            assert_eq!(verdict == Verdict::Go, sent < probes.max(1));
                        }
                    },
                    Happening::SetOut { .. } => {
                        assert!(meter.stands() != Stands::Open);
                        sent += 1;
                    }
                    _ => {}
                }
                if let State::HalfOpen { let_through, .. } = meter.state {
                    assert!(let_through <= probes.max(1));
                    if scene.happening == Happening::Ended(Ending::Cancelled) {
                        assert!(sent - let_through <= 1);
                        sent = let_through;
                    }
                    assert_eq!(let_through, sent);
                    let ours = |ticket: &&Ticket| ticket.open && ticket.mark == generation;
                    assert!(scene.tickets.iter().filter(ours).count() <= sent as usize);
                }
            });
        }
    }
}
