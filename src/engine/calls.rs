//! Calls: acquisitions whose rules are nested, or held back by guards.
//!
//! Where a policy has layers, each client has a call open at each of them. A failed attempt is put to
//! the innermost layer; when that gives up, one try of the layer around it has failed, and so on
//! outwards. A try sets out from the outermost layer that retries: all guards from there inwards are
//! asked when its time has come. Nothing of this exists for policies without layers.

use super::client::BOOT_CHECK;
use super::key::Class;
use super::observer::{Event, Observer};
use super::simulation::Simulation;
use super::timers::Timers;
use crate::policy::guard::{Ending, Meter, Ticket, Verdict};
use crate::policy::{Failure, Guard, Layer, Outcome, Past, Policy, Scope};
use crate::random::{Moment, Purpose};
use crate::units::{SimTime, Span};

/// The calls of all clients, and the counts of their guards.
#[derive(Debug, Default)]
pub(super) struct Calls<'a> {
    /// By client, filled up as they begin.
    stacks: Vec<Stack>,
    /// By policy.
    meters: Vec<Meters<'a>>,
}

/// The calls of one client.
#[derive(Clone, Debug, Default)]
struct Stack {
    /// The layer whose guards are asked next when the present attempt's time has come.
    asking: usize,
    /// The innermost first.
    calls: Vec<Call>,
}

/// A call at one layer.
#[derive(Clone, Debug, Default)]
struct Call {
    /// Tries that have failed.
    failed: u32,
    /// When the first set out.
    began: SimTime,
    /// The last delay.
    previous: Option<Span>,
    /// By guard.
    tickets: Vec<Stub>,
}

/// A ticket, and how often its meter had been renewed when it was issued.
#[derive(Clone, Copy, Debug, Default)]
struct Stub {
    ticket: Ticket,
    renewed: u32,
}

/// The counts of a policy's guards.
#[derive(Debug)]
struct Meters<'a> {
    policy: &'a Policy,
    /// By layer, guard and sharer.
    held: Vec<Vec<Vec<Held>>>,
}

/// The count of a guard, and how often it was begun anew.
#[derive(Debug)]
struct Held {
    meter: Box<dyn Meter>,
    renewed: u32,
}

/// A guard of a client: its layer, its number there, and what it is.
#[derive(Clone, Copy)]
struct Asked<'a> {
    client: u32,
    layer: usize,
    number: usize,
    guard: &'a Guard,
}

impl Stack {
    /// Begins a try of `layer` at an instant, and the calls within it.
    fn begin(&mut self, layer: usize, at: SimTime) {
        self.asking = layer;
        for call in &mut self.calls[..layer] {
            call.begin(at);
        }
    }
}

impl Call {
    fn begin(&mut self, at: SimTime) {
        (self.failed, self.began, self.previous) = (0, at, None);
        for stub in &mut self.tickets {
            stub.ticket = Ticket::default();
        }
    }
}

impl Held {
    fn new(guard: &Guard) -> Held {
        Held { meter: guard.limit.meter(), renewed: 0 }
    }
}

impl<'a, O: Observer, T: Timers> Simulation<'a, O, T> {
    /// A client's acquisition begins at an instant.
    #[inline]
    pub(super) fn begin_calls(&mut self, client: u32, at: SimTime) {
        if !self.facts.layers {
            return;
        }
        let layers = self.policy(client).acquire.layers();
        if let Some(outermost) = layers.len().checked_sub(1) {
            let stack = self.stack(client, layers);
            stack.calls[outermost].begin(at);
            stack.begin(outermost, at);
        }
    }

    /// Whether a client's attempt, whose time has come, is let go by all guards. If not, it asks again
    /// later or has failed.
    pub(super) fn pass_guards(&mut self, client: u32) -> bool {
        let layers = self.policy(client).acquire.layers();
        if layers.is_empty() || self.clients[client as usize].attempt.transaction == BOOT_CHECK {
            return true;
        }
        for layer in (0..=self.stack(client, layers).asking).rev() {
            self.stack(client, layers).asking = layer;
            match self.ask_guards(client, layer) {
                Verdict::Go => self.let_go(client, layer),
                Verdict::Wait(span) => {
                    self.set_timer(client, self.now + span, Class::Alarm);
                    return false;
                }
                Verdict::Reject => {
                    let begins = self.begins(client);
                    self.emit(Event::Rejected { client, begins });
                    self.fail_calls(client, layer, Failure::Rejected, None);
                    return false;
                }
            }
        }
        true
    }

    /// A try of a client's `inner` layer has failed: it and those around it decide about another.
    pub(super) fn fail_calls(
        &mut self,
        client: u32,
        inner: usize,
        failure: Failure,
        hint: Option<Span>,
    ) {
        for layer in inner..self.policy(client).acquire.layers().len() {
            self.end_try(client, layer, Ending::Failed(failure));
            if let Some(delay) = self.retry_at(client, layer, failure, hint) {
                let at = self.now + delay;
                self.calls.stacks[client as usize].begin(layer, at);
                self.clients[client as usize].attempt.attempt += 1;
                return self.depart(client, delay);
            }
        }
        self.end_poll(client, Outcome::Error);
    }

    /// What a client's calls were for is done, or has come to nothing.
    #[inline]
    pub(super) fn end_calls(&mut self, client: u32, ending: Ending) {
        if !self.facts.layers {
            return;
        }
        for layer in 0..self.policy(client).acquire.layers().len() {
            self.end_try(client, layer, ending);
        }
    }

    /// A client dies, or will follow other rules: nobody will know how its calls ended.
    pub(super) fn forget_calls(&mut self, client: u32) {
        self.end_calls(client, Ending::Cancelled);
        if let Some(stack) = self.calls.stacks.get_mut(client as usize) {
            *stack = Stack::default();
        }
    }

    /// A client starts, and with it the counts that are its own, or those of the process whose first
    /// client it is.
    pub(super) fn renew_guards(&mut self, client: u32) {
        for (layer, rules) in self.policy(client).acquire.layers().iter().enumerate() {
            for (number, guard) in rules.guards.iter().enumerate() {
                let own = match guard.scope {
                    Scope::Client => true,
                    Scope::Process(clients) => self.parts.rank(client).is_multiple_of(clients),
                    // A call's own is begun with the call.
                    Scope::Call | Scope::Fleet => false,
                };
                if own {
                    self.renew(Asked { client, layer, number, guard });
                }
            }
        }
    }

    /// The calls of a client whose policy has such layers.
    fn stack(&mut self, client: u32, layers: &[Layer]) -> &mut Stack {
        let (stacks, index) = (&mut self.calls.stacks, client as usize);
        if stacks.len() <= index {
            stacks.resize_with(index + 1, Stack::default);
        }
        let stack = &mut stacks[index];
        if stack.calls.is_empty() {
            let tickets = |layer: &Layer| vec![Stub::default(); layer.guards.len()];
            let call = |layer| Call { tickets: tickets(layer), ..Call::default() };
            stack.calls = layers.iter().map(call).collect();
            stack.asking = layers.len() - 1;
        }
        stack
    }

    fn ask_guards(&mut self, client: u32, layer: usize) -> Verdict {
        let now = self.now;
        self.guards(client, layer)
            .map(|asked| self.held(asked).meter.ask(now))
            .find(|verdict| *verdict != Verdict::Go)
            .unwrap_or(Verdict::Go)
    }

    /// A try at a layer sets out.
    fn let_go(&mut self, client: u32, layer: usize) {
        let (first, now) = (self.call(client, layer).failed == 0, self.now);
        for asked in self.guards(client, layer) {
            if first && asked.guard.scope == Scope::Call {
                self.renew(asked);
            }
            self.with(asked, |held, Stub { ticket, renewed }| {
                ticket.open = true;
                // A meter that was begun anew meanwhile knows nothing of the retry that its predecessor
                // let go.
                ticket.retry &= held.renewed == *renewed;
                *renewed = held.renewed;
                held.meter.depart(now, ticket, first);
            });
        }
        if layer > 0 {
            self.emit(Event::OuterTry { client, within: layer as u8 });
        }
    }

    /// A try at a layer has ended, if one was under way; a retry that was to come will not.
    fn end_try(&mut self, client: u32, layer: usize, ending: Ending) {
        if self.calls.stacks.get(client as usize).is_none_or(|stack| stack.calls.is_empty()) {
            return;
        }
        let now = self.now;
        for asked in self.guards(client, layer) {
            self.with(asked, |held, Stub { ticket, renewed }| {
                let ending = if ticket.open { ending } else { Ending::Cancelled };
                if (ticket.open || ticket.retry) && held.renewed == *renewed {
                    held.meter.end(now, ticket, ending);
                }
                (ticket.open, ticket.retry) = (false, false);
            });
        }
    }

    /// After how long a layer whose try has failed has another, if its rule and all its guards agree.
    fn retry_at(
        &mut self,
        client: u32,
        layer: usize,
        failure: Failure,
        hint: Option<Span>,
    ) -> Option<Span> {
        let call = self.call(client, layer);
        call.failed = call.failed.saturating_add(1);
        let Call { failed, began, previous, .. } = *call;
        let retry = self.policy(client).acquire.layers()[layer].retry.as_ref()?;
        let site = match layer.checked_sub(1) {
            None => {
                let moment = self.clients[client as usize].attempt.moment();
                self.site(Purpose::RetryJitter, client, moment)
            }
            Some(outer) => {
                let moment = self.clients[client as usize].attempt.transaction_moment();
                let attempt = (failed - 1) | (outer as u32) << 28;
                self.site(Purpose::LayerJitter, client, Moment { attempt, ..moment })
            }
        };
        let past = Past { previous, elapsed: self.now.since(began) };
        let ruled = retry.next(failed, failure, past, hint, site)?;
        let (mut delay, now) = (ruled, self.now);
        for asked in self.guards(client, layer) {
            let allowed = self.with(asked, |held, Stub { ticket, renewed }| {
                let allowed = held.meter.retry(now, ticket, failure, delay);
                ticket.retry = allowed.is_some();
                *renewed = held.renewed;
                allowed
            });
            match allowed {
                Some(allowed) => delay = allowed,
                None => {
                    self.end_try(client, layer, Ending::Cancelled);
                    self.emit(Event::RetryDenied { client });
                    return None;
                }
            }
        }
        self.call(client, layer).previous = Some(ruled);
        Some(delay)
    }

    /// The guards of a client at a layer.
    fn guards(&self, client: u32, layer: usize) -> impl Iterator<Item = Asked<'a>> + use<'a, O, T> {
        let guards = &self.policy(client).acquire.layers()[layer].guards;
        let asked = move |(number, guard)| Asked { client, layer, number, guard };
        guards.iter().enumerate().map(asked)
    }

    fn call(&mut self, client: u32, layer: usize) -> &mut Call {
        &mut self.calls.stacks[client as usize].calls[layer]
    }

    /// Does something with the count of a guard and the ticket that a client has of it.
    fn with<R>(&mut self, asked: Asked<'_>, act: impl FnOnce(&mut Held, &mut Stub) -> R) -> R {
        let Asked { client, layer, number, .. } = asked;
        let mut stub = self.call(client, layer).tickets[number];
        let done = act(self.held(asked), &mut stub);
        self.call(client, layer).tickets[number] = stub;
        done
    }

    /// The count of a guard, begun if this is the first to ask.
    fn held(&mut self, asked: Asked<'_>) -> &mut Held {
        let Asked { client, layer, number, guard } = asked;
        let (policy, sharer) = (self.policy(client), self.sharer(client, guard.scope));
        let meters = &mut self.calls.meters;
        let known = meters.iter().position(|meters| std::ptr::eq(meters.policy, policy));
        let known = known.unwrap_or_else(|| {
            let none = |layer: &Layer| layer.guards.iter().map(|_| Vec::new()).collect();
            let held = policy.acquire.layers().iter().map(none).collect();
            meters.push(Meters { policy, held });
            meters.len() - 1
        });
        let held = &mut meters[known].held[layer][number];
        if held.len() <= sharer {
            held.resize_with(sharer + 1, || Held::new(guard));
        }
        &mut held[sharer]
    }

    fn renew(&mut self, asked: Asked<'_>) {
        let held = self.held(asked);
        let renewed = held.renewed.wrapping_add(1);
        *held = Held { renewed, ..Held::new(asked.guard) };
    }

    /// Which of those who share nothing with each other a client belongs to. The servers of the
    /// background load are one.
    fn sharer(&self, client: u32, scope: Scope) -> usize {
        let owner = self.guests.owner(client);
        match scope {
            Scope::Call => client as usize,
            _ if self.is_guest(owner) => 0,
            Scope::Client => owner as usize,
            Scope::Process(clients) => self.parts.process(owner, clients),
            Scope::Fleet => 0,
        }
    }
}
