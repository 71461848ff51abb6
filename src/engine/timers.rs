//! What the engine asks of that which keeps the timers of all clients, and the plainest that can do it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::key::{CLASS_BITS, Key, NEVER};

/// Keys to come, in order. None is added that is less than one that was removed.
pub(super) trait Timers {
    /// Empty, with room for so many keys whose lowest bits, so many as these, say nothing of time.
    fn new(keys: usize, order_bits: u32) -> Self;

    /// Adds a key.
    fn push(&mut self, key: Key);

    /// Adds keys, but those that are [`NEVER`].
    fn push_all(&mut self, keys: &[Key]) {
        keys.iter().filter(|&&key| key != NEVER).for_each(|&key| self.push(key));
    }

    /// The least key, if it is less than `bound`.
    fn peek(&mut self, bound: Key) -> Option<Key>;

    /// Removes the key that [`peek`](Self::peek) has just returned.
    fn pop(&mut self);

    /// Moves all keys that are less than `bound` to `keys`, in no order.
    fn take_before(&mut self, bound: Key, keys: &mut Vec<Key>);

    /// Puts back what [`take_before`](Self::take_before) has just moved, all of it.
    fn put_back(&mut self, keys: &mut Vec<Key>);

    /// How far apart the bounds of two successive [`take_before`](Self::take_before) should be, or a
    /// multiple of it.
    fn slot_width(&self) -> Key;
}

/// The heap of the standard library with a pair a timer, as a simulator written by hand would have it.
#[derive(Debug)]
pub(super) struct PlainHeap {
    /// Instant and class, then client.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    client_bits: u32,
}

impl Timers for PlainHeap {
    fn new(keys: usize, order_bits: u32) -> PlainHeap {
        PlainHeap { heap: BinaryHeap::with_capacity(keys), client_bits: order_bits - CLASS_BITS }
    }

    #[inline]
    fn push(&mut self, key: Key) {
        let client = key & ((1 << self.client_bits) - 1);
        self.heap.push(Reverse((key >> self.client_bits, client as u32)));
    }

    #[inline]
    fn peek(&mut self, bound: Key) -> Option<Key> {
        let &Reverse((first, client)) = self.heap.peek()?;
        Some(first << self.client_bits | u64::from(client)).filter(|&key| key < bound)
    }

    #[inline]
    fn pop(&mut self) {
        self.heap.pop();
    }

    fn take_before(&mut self, bound: Key, keys: &mut Vec<Key>) {
        while let Some(key) = self.peek(bound) {
            self.pop();
            keys.push(key);
        }
    }

    fn put_back(&mut self, keys: &mut Vec<Key>) {
        keys.drain(..).for_each(|key| self.push(key));
    }

    /// Some tens of milliseconds.
    fn slot_width(&self) -> Key {
        1 << (self.client_bits + CLASS_BITS + 16)
    }
}
