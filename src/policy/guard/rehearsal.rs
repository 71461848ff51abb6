//! For the tests of guards: calls that interleave at random, asking and telling as the rules of
//! [`Meter`] want it.

use proptest::prelude::*;

use super::{Ending, Meter, Ticket, Verdict};
use crate::policy::Failure;
use crate::units::{SimTime, Span};

/// What one call shall do next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cue {
    call: usize,
    after: u64,
    act: Act,
    failure: Failure,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Succeed,
    Fail,
    Cancel,
}

/// What has just happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Happening {
    /// A try asked.
    Asked(Verdict),
    /// A try set out; whether it was the first of its call.
    SetOut { first: bool },
    /// A try ended.
    Ended(Ending),
    /// The retry rule asked.
    Retried(Option<Span>),
}

/// What the meter has been told so far.
pub(super) struct Scene<'a> {
    pub(super) now: SimTime,
    /// Of each call.
    pub(super) tickets: &'a [Ticket],
    pub(super) happening: Happening,
}

impl Scene<'_> {
    /// Tries that have set out and not ended.
    pub(super) fn open(&self) -> usize {
        self.tickets.iter().filter(|ticket| ticket.open).count()
    }

    /// Retries that were allowed and have not ended.
    pub(super) fn retries(&self) -> usize {
        self.tickets.iter().filter(|ticket| ticket.retry).count()
    }
}

const CALLS: usize = 6;
/// What the retry rule would wait.
pub(super) const DELAY: Span = Span::from_millis(50);

/// Up to 300 cues, mostly close together, a few ages apart.
pub(super) fn cues() -> impl Strategy<Value = Vec<Cue>> {
    let after = prop_oneof![
        3 => Just(0),
        6 => 0..200_000u64,
        2 => 0..20_000_000u64,
        1 => prop_oneof![20 => 0..1_000_000_000_000u64, 1 => any::<u64>()],
    ];
    let act = prop_oneof![4 => Just(Act::Fail), 3 => Just(Act::Succeed), 1 => Just(Act::Cancel)];
    let failure = prop::sample::select(Failure::ALL.to_vec());
    let cue = (0..CALLS, after, act, failure).prop_map(|(call, after, act, failure)| Cue {
        call,
        after,
        act,
        failure,
    });
    prop::collection::vec(cue, 0..300)
}

/// Any number a parameter may be, and those it may not.
pub(super) fn any_rate() -> impl Strategy<Value = f64> {
    prop_oneof![2 => Just(0.0), 8 => 0.0..2.0, 4 => 0.0..1_000.0, 1 => any::<f64>(), 1 => Just(f64::INFINITY)]
}

/// Plays `cues`, with a look at the meter after each thing that happens, and cancels what is then
/// still under way.
pub(super) fn play<M: Meter>(meter: &mut M, cues: &[Cue], mut look: impl FnMut(&M, &Scene<'_>)) {
    let mut tickets = [Ticket::default(); CALLS];
    let mut tried = [false; CALLS];
    let mut now = SimTime::ZERO;
    for cue in cues {
        let call = cue.call;
        now = now + Span::from_ticks(cue.after);
        let mut seen = |meter: &M, tickets: &[Ticket], happening| {
            look(meter, &Scene { now, tickets, happening });
        };
        let failure = if tickets[call].open {
            let ending = match cue.act {
                Act::Succeed => Ending::Good,
                Act::Fail => Ending::Failed(cue.failure),
                Act::Cancel => Ending::Cancelled,
            };
            end(meter, now, &mut tickets[call], ending);
            seen(meter, &tickets, Happening::Ended(ending));
            (cue.act == Act::Fail).then_some(cue.failure)
        } else if cue.act == Act::Cancel {
            cancel(meter, now, &mut tickets[call]);
            None
        } else {
            let verdict = meter.ask(now);
            seen(meter, &tickets, Happening::Asked(verdict));
            match verdict {
                Verdict::Go => {
                    let first = !tried[call];
                    tried[call] = true;
                    tickets[call].open = true;
                    meter.depart(now, &mut tickets[call], first);
                    seen(meter, &tickets, Happening::SetOut { first });
                    continue;
                }
                Verdict::Wait(span) => {
                    assert!(span > Span::ZERO);
                    continue;
                }
                Verdict::Reject => {
                    cancel(meter, now, &mut tickets[call]);
                    Some(Failure::Rejected)
                }
            }
        };
        let retry =
            failure.and_then(|failure| meter.retry(now, &mut tickets[call], failure, DELAY));
        tickets[call].retry = retry.is_some();
        if failure.is_some() {
            seen(meter, &tickets, Happening::Retried(retry));
        }
        if retry.is_none() {
            (tickets[call], tried[call]) = (Ticket::default(), false);
        }
    }
    for ticket in &mut tickets {
        cancel(meter, now, ticket);
    }
}

fn end<M: Meter>(meter: &mut M, now: SimTime, ticket: &mut Ticket, ending: Ending) {
    meter.end(now, ticket, ending);
    (ticket.open, ticket.retry) = (false, false);
}

/// Cancels what there is to cancel.
fn cancel<M: Meter>(meter: &mut M, now: SimTime, ticket: &mut Ticket) {
    if ticket.open || ticket.retry {
        end(meter, now, ticket, Ending::Cancelled);
    }
}

/// A call for a trace by hand: it does what it is told and keeps its ticket.
#[derive(Default)]
pub(super) struct Call {
    pub(super) ticket: Ticket,
    tried: bool,
}

impl Call {
    /// Its try asks, and sets out where it may.
    pub(super) fn set_out<M: Meter>(&mut self, meter: &mut M, now: SimTime) -> Verdict {
        let verdict = meter.ask(now);
        if verdict == Verdict::Go {
            self.ticket.open = true;
            meter.depart(now, &mut self.ticket, !self.tried);
            self.tried = true;
        }
        verdict
    }

    /// Its try ends.
    pub(super) fn end<M: Meter>(&mut self, meter: &mut M, now: SimTime, ending: Ending) {
        end(meter, now, &mut self.ticket, ending);
    }

    /// May it try again?
    pub(super) fn retry<M: Meter>(
        &mut self,
        meter: &mut M,
        now: SimTime,
        failure: Failure,
    ) -> Option<Span> {
        let retry = meter.retry(now, &mut self.ticket, failure, DELAY);
        self.ticket.retry = retry.is_some();
        retry
    }

    /// A try sets out and fails at once: may it try again?
    pub(super) fn fail<M: Meter>(
        &mut self,
        meter: &mut M,
        now: SimTime,
        failure: Failure,
    ) -> Option<Span> {
        assert_eq!(self.set_out(meter, now), Verdict::Go);
        self.end(meter, now, Ending::Failed(failure));
        self.retry(meter, now, failure)
    }

    /// A try sets out and succeeds at once.
    pub(super) fn succeed<M: Meter>(&mut self, meter: &mut M, now: SimTime) {
        assert_eq!(self.set_out(meter, now), Verdict::Go);
        self.end(meter, now, Ending::Good);
    }
}
