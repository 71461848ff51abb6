//! The order of events: (time, class, client) packed into 64 bits.
//!
//! The split is chosen per run from the number of clients: 11,543 clients take 14 bits, 10 million 24;
//! with 3 bits for the class that leaves 47 bits of microseconds (4.4 years) or 37 bits (38 h).

use crate::units::{SimTime, Span};

/// What happens at an instant. Events of the same instant happen in this order, within a class by
/// client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Class {
    /// A disturbance begins.
    Disturbance,
    /// The database finishes a claim, or what an attempt costs it.
    Completion,
    /// A backend has logged in, or may try to.
    Login,
    /// The head of the queue times out.
    Expiry,
    /// The handshake station has done with an attempt.
    Handshake,
    /// A client loses patience, learns that it was refused, asks for a connection of its process or goes
    /// on with its session.
    Alarm,
    /// An attempt reaches the pooler.
    Arrival,
    /// A request or an item of work comes in, or an item is done with.
    Supply,
}

/// Bits of a key that tell the class.
pub(super) const CLASS_BITS: u32 = 3;

/// How a key's bits are split in this run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    client_bits: u32,
    client_mask: Key,
    /// The last instant that fits a key.
    last: SimTime,
}

/// An event's place in the order; smaller happens first.
pub(super) type Key = u64;

/// After everything.
pub(super) const NEVER: Key = u64::MAX;

impl Layout {
    pub fn new(clients: u32) -> Layout {
        let client_bits = (u32::BITS - clients.saturating_sub(1).leading_zeros()).max(1);
        let last = (1 << (u64::BITS - CLASS_BITS - client_bits)) - 1;
        let client_mask = (1 << client_bits) - 1;
        Layout { client_bits, client_mask, last: SimTime::from_ticks(last) }
    }

    /// Bits below those of the time.
    pub fn order_bits(self) -> u32 {
        CLASS_BITS + self.client_bits
    }

    /// The longest run whose instants fit a key.
    pub fn longest_run(self) -> Span {
        self.last.since(SimTime::ZERO)
    }

    /// The key of an event, or [`NEVER`] where its time is beyond any run.
    #[inline]
    pub fn key(self, time: SimTime, class: Class, client: u32) -> Key {
        if time > self.last {
            return NEVER;
        }
        let order = u64::from(class as u8) << self.client_bits | u64::from(client);
        time.ticks() << (CLASS_BITS + self.client_bits) | order
    }

    #[inline]
    pub fn time(self, key: Key) -> SimTime {
        SimTime::from_ticks(key >> (CLASS_BITS + self.client_bits))
    }

    #[inline]
    pub fn class(self, key: Key) -> Class {
        match (key >> self.client_bits) & ((1 << CLASS_BITS) - 1) {
            0 => Class::Disturbance,
            1 => Class::Completion,
            2 => Class::Login,
            3 => Class::Expiry,
            4 => Class::Handshake,
            5 => Class::Alarm,
            6 => Class::Arrival,
            _ => Class::Supply,
        }
    }

    #[inline]
    pub fn client(self, key: Key) -> u32 {
        (key & self.client_mask) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_holds_time_class_and_client_in_that_order() {
        let layout = Layout::new(11_543);
        let at = SimTime::from_ticks;
        let key = layout.key(at(120_000_000), Class::Arrival, 11_542);
        assert_eq!(layout.time(key), at(120_000_000));
        assert_eq!(layout.class(key), Class::Arrival);
        assert_eq!(layout.client(key), 11_542);
        assert!(key < layout.key(at(120_000_001), Class::Disturbance, 0));
        assert!(key > layout.key(at(120_000_000), Class::Alarm, 11_542));
        assert!(key > layout.key(at(120_000_000), Class::Arrival, 11_541));
        assert_eq!(layout.key(SimTime::NEVER, Class::Arrival, 0), NEVER);
    }

    #[test]
    fn the_split_follows_the_number_of_clients() {
        let hours = |clients| Layout::new(clients).longest_run().as_secs_f64() / 3_600.0;
        assert_eq!(Layout::new(11_543).longest_run().ticks(), (1 << 47) - 1);
        assert_eq!(hours(10_000_000).floor(), 38.0);
        assert_eq!(Layout::new(1).longest_run().ticks(), (1 << 60) - 1);
        for clients in [1, 2, 3, 1_024, 1_025, 11_543, 10_000_000, u32::MAX] {
            let promised = crate::scenario::longest_run(clients);
            assert_eq!(Layout::new(clients).longest_run(), promised, "{clients} clients");
        }
    }
}
