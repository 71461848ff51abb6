//! The calendar: the timers of all clients, as a wheel of buckets in front of a small heap.
//!
//! A heap of millions of keys is slow because each step of a sift is a miss. Here a far key is only
//! appended to the bucket of its time, and looked at again when that time is near:
//!
//! ```text
//! push ─▶ wheel 2 ─▶ wheel 1 ─▶ wheel 0 ─▶ open slot, sorted ─▶ next
//!          1,024² slots a bucket  1,024       1     └─ keys pushed into it since: a heap
//! ```
//!
//! A key's *slot* is its upper bits. Its wheel is that of the highest group of ten bits in which its slot
//! differs from the open one, so a key moves down at most once a wheel, and no delay is too long. Buckets
//! are chains of blocks from one pool, written and read in order.
//!
//! The width of a slot follows the density of events, which a storm raises by thousands: whenever as many
//! keys have been dealt as there are in the calendar, the slots are made so wide that one holds about
//! sixty. Until then, and whatever the density, the open slot costs no more than a sort and a heap.
//!
//! In builds with debug assertions a heap of all keys runs along and must agree at every step.

use super::heap::MinHeap;
use super::key::{Key, NEVER};
use super::timers::Timers;

/// Bits of a slot that one wheel tells apart.
const WHEEL_BITS: u32 = 10;
const BUCKETS: usize = 1 << WHEEL_BITS;
const WHEELS: usize = u64::BITS.div_ceil(WHEEL_BITS) as usize;

/// Words of a block, eight cache lines: where the block before it ends, then keys.
const BLOCK: usize = 64;

/// Keys that a slot should hold, as a power of two.
const DENSITY_BITS: i32 = 6;

/// To begin with it is supposed that each timer goes off once in so many ticks: half a minute, as in a quiet
/// fleet.
const ROUND: u64 = 30_000_000;

/// No slot is longer to begin with, in ticks.
const LONGEST_SLOT: u64 = 1 << 17;

/// Fewer keys than these say nothing about the density.
const LEAST_DEALT: usize = 4_096;

/// The keys to come, in order.
#[derive(Debug)]
pub(super) struct Calendar {
    /// Bits of a key below its slot.
    width: u32,
    wheels: Wheels,
    /// Keys in the wheels.
    filed: usize,
    /// The slot whose keys come next.
    slot: u64,
    /// Its keys when it was opened, the next last.
    open: Vec<Key>,
    /// Its keys that have come since.
    late: MinHeap,
    /// Slots opened, and keys dealt from them, since the width was last thought over.
    opened: usize,
    dealt: usize,
    #[cfg(debug_assertions)]
    oracle: MinHeap,
}

/// The buckets of all wheels, as chains of blocks.
#[derive(Debug)]
struct Wheels {
    /// Where the last key of each bucket ends, wheel by wheel; 0 if it has none. At the end of a block the
    /// next key begins another.
    ends: Vec<u32>,
    /// Which of them hold any key, 64 in a word.
    used: Vec<u64>,
    /// All blocks, one after the other.
    words: Vec<Key>,
    /// The end of the first of a chain of free blocks, or 0.
    free: u32,
}

impl Timers for Calendar {
    fn new(keys: usize, order_bits: u32) -> Calendar {
        let slot = ((ROUND << DENSITY_BITS) / (keys as u64).max(1)).clamp(1, LONGEST_SLOT);
        Calendar {
            width: order_bits + slot.ilog2(),
            wheels: Wheels {
                ends: vec![0; WHEELS * BUCKETS],
                used: vec![0; WHEELS * BUCKETS / 64],
                words: Vec::with_capacity((keys / (BLOCK - 1) + 2 * BUCKETS) * BLOCK),
                free: 0,
            },
            filed: 0,
            slot: 0,
            open: Vec::new(),
            late: MinHeap::with_capacity(0),
            opened: 0,
            dealt: 0,
            #[cfg(debug_assertions)]
            oracle: MinHeap::with_capacity(keys),
        }
    }

    #[inline(always)]
    fn peek(&mut self, bound: Key) -> Option<Key> {
        let mut key = self.first();
        if key == NEVER && self.filed > 0 {
            key = self.first_of_next(bound);
        }
        #[cfg(debug_assertions)]
        {
            let expected = self.oracle.peek().filter(|&key| key < bound);
            assert_eq!(expected, Some(key).filter(|&key| key < bound), "the heap agrees");
        }
        (key < bound).then_some(key)
    }

    #[inline]
    fn pop(&mut self) {
        let late = self.late.peek().unwrap_or(NEVER);
        match self.open.last() {
            Some(&key) if key <= late => {
                self.open.pop();
            }
            _ => self.late.pop(),
        }
        self.dealt += 1;
        #[cfg(debug_assertions)]
        self.oracle.pop();
    }

    fn take_before(&mut self, bound: Key, keys: &mut Vec<Key>) {
        loop {
            while let Some(key) = self.late.peek().filter(|&key| key < bound) {
                self.late.pop();
                keys.push(key);
            }
            while let Some(key) = self.open.pop_if(|key| *key < bound) {
                keys.push(key);
            }
            let left = !self.open.is_empty() || self.late.peek().is_some();
            if left || !self.open_next(bound) {
                break;
            }
            // Whole slots need no order.
            while (self.slot + 1) << self.width <= bound {
                keys.append(&mut self.open);
                if !self.open_slot(bound) {
                    break;
                }
            }
            self.open.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.dealt += keys.len();
        #[cfg(debug_assertions)]
        {
            let mut taken = keys.clone();
            taken.sort_unstable();
            for key in taken {
                assert_eq!(self.oracle.peek(), Some(key), "the heap agrees");
                self.oracle.pop();
            }
            assert!(self.oracle.peek().is_none_or(|key| key >= bound), "the heap agrees");
        }
    }

    fn put_back(&mut self, keys: &mut Vec<Key>) {
        #[cfg(debug_assertions)]
        keys.iter().for_each(|&key| self.oracle.push(key));
        // They come before all that was left.
        keys.sort_unstable_by(|a, b| b.cmp(a));
        self.dealt -= keys.len();
        self.open.append(keys);
    }

    fn slot_width(&self) -> Key {
        1 << self.width
    }

    #[inline]
    fn push(&mut self, key: Key) {
        #[cfg(debug_assertions)]
        self.oracle.push(key);
        self.place(key);
    }
}

impl Calendar {
    #[inline(always)]
    fn place(&mut self, key: Key) {
        if key >> self.width <= self.slot {
            self.be_late(key);
        } else {
            self.file(key);
        }
    }

    #[inline(never)]
    fn be_late(&mut self, key: Key) {
        self.late.push(key);
    }

    /// The least key of the open slot, or [`NEVER`].
    #[inline]
    fn first(&mut self) -> Key {
        let late = self.late.peek().unwrap_or(NEVER);
        self.open.last().map_or(late, |&key| key.min(late))
    }

    /// The least key of the next slot, or [`NEVER`] if that begins at `bound` or later.
    #[inline(never)]
    fn first_of_next(&mut self, bound: Key) -> Key {
        if self.open_next(bound) {
            self.open.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.first()
    }

    /// Puts a key of a slot to come into its bucket.
    #[inline(always)]
    fn file(&mut self, key: Key) {
        let slot = key >> self.width;
        let differs = slot ^ self.slot;
        // Most keys go to the first wheel.
        let wheel = if differs < BUCKETS as u64 { 0 } else { differs.ilog2() / WHEEL_BITS };
        self.wheels.add(bucket(slot, wheel), key);
        self.filed += 1;
    }

    /// Opens the next slot that holds a key, unless it begins at `bound` or later; whether it did. Its
    /// keys are in no order.
    #[inline(never)]
    fn open_next(&mut self, bound: Key) -> bool {
        if self.dealt >= LEAST_DEALT.max(self.filed) {
            self.think_over();
            if self.late.peek().is_some() {
                return true;
            }
        }
        self.open_slot(bound)
    }

    /// The same, with the slots as wide as they are.
    fn open_slot(&mut self, bound: Key) -> bool {
        loop {
            let next = |wheel| Some((wheel, self.wheels.first_used(bucket(self.slot, wheel))?));
            let Some((wheel, next)) = (0..WHEELS as u32).find_map(next) else { return false };
            let low = wheel * WHEEL_BITS;
            let above = (self.slot >> low) & !(BUCKETS as u64 - 1);
            let slot = (above | (next % BUCKETS) as u64) << low;
            if slot << self.width >= bound {
                return false;
            }
            self.slot = slot;
            if wheel == 0 {
                self.wheels.take(next, &mut self.open);
                self.filed -= self.open.len();
                self.opened += 1;
                return true;
            }
            let mut keys = Vec::new();
            self.wheels.take(next, &mut keys);
            self.filed -= keys.len();
            for key in keys {
                // What lies in the first slot of the bucket is due.
                if key >> self.width == slot { self.open.push(key) } else { self.file(key) }
            }
            if !self.open.is_empty() {
                self.opened += 1;
                return true;
            }
        }
    }

    /// Makes slots wider or narrower if they have held too few keys or too many. None is open.
    fn think_over(&mut self) {
        let density = self.dealt / self.opened.max(1);
        (self.dealt, self.opened) = (0, 0);
        let off = density.max(1).ilog2() as i32 - DENSITY_BITS;
        if off.abs() < 2 {
            return;
        }
        let mut keys = Vec::with_capacity(self.filed);
        while let Some(bucket) = self.wheels.first_used_of_all() {
            self.wheels.take(bucket, &mut keys);
        }
        let now = self.slot << self.width;
        self.width = self.width.saturating_add_signed(-off).min(u64::BITS - 1);
        self.slot = now >> self.width;
        self.filed = 0;
        for key in keys {
            self.place(key);
        }
    }
}

/// Which bucket of a wheel a slot belongs to, those of the wheels before it counted.
#[inline]
fn bucket(slot: u64, wheel: u32) -> usize {
    wheel as usize * BUCKETS + (slot >> (wheel * WHEEL_BITS)) as usize % BUCKETS
}

impl Wheels {
    #[inline(always)]
    fn add(&mut self, bucket: usize, key: Key) {
        let end = &mut self.ends[bucket];
        if !(*end as usize).is_multiple_of(BLOCK)
            && let Some(word) = self.words.get_mut(*end as usize)
        {
            *word = key;
            *end += 1;
            return;
        }
        self.begin_block(bucket, key);
    }

    /// Adds a block with one key to the chain of a bucket.
    #[inline(never)]
    fn begin_block(&mut self, bucket: usize, key: Key) {
        self.used[bucket / 64] |= 1 << (bucket % 64);
        if self.free == 0 {
            self.words.resize(self.words.len() + BLOCK, 0);
            self.free = self.words.len() as u32;
        }
        let begin = self.free as usize - BLOCK;
        let before = std::mem::replace(&mut self.ends[bucket], begin as u32 + 2);
        self.free = std::mem::replace(&mut self.words[begin], before.into()) as u32;
        self.words[begin + 1] = key;
    }

    /// The first bucket of its wheel that holds a key, from this one on.
    fn first_used(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = self.used[word] & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            if word.is_multiple_of(BUCKETS / 64) {
                return None;
            }
            bits = self.used[word];
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    fn first_used_of_all(&self) -> Option<usize> {
        let word = self.used.iter().position(|&bits| bits != 0)?;
        Some(word * 64 + self.used[word].trailing_zeros() as usize)
    }

    /// Moves the keys of a bucket to `keys`, in no order, and frees its blocks.
    fn take(&mut self, bucket: usize, keys: &mut Vec<Key>) {
        self.used[bucket / 64] &= !(1 << (bucket % 64));
        let mut end = std::mem::take(&mut self.ends[bucket]);
        while end > 0 {
            let begin = (end as usize - 1) / BLOCK * BLOCK;
            keys.extend_from_slice(&self.words[begin + 1..end as usize]);
            let before = std::mem::replace(&mut self.words[begin], self.free.into());
            self.free = (begin + BLOCK) as u32;
            end = before as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A script of delays, some tiny, some immense, between which the least keys are removed.
    fn script() -> impl Strategy<Value = Vec<(u64, usize)>> {
        let delay = prop_oneof![
            4 => 0u64..50,
            4 => 0u64..100_000,
            2 => 0u64..1 << 40,
            1 => 0u64..1 << 62,
        ];
        prop::collection::vec((delay, 0..4usize), 0..2_000)
    }

    proptest! {
        /// The oracle within compares every step; here it is driven to the end.
        #[test]
        fn it_deals_what_a_heap_deals(script in script(), width in 12u32..32, bound in 0u64..1 << 41) {
            let mut calendar = Calendar { width, ..Calendar::new(4, 0) };
            let mut now = 0;
            for (delay, removed) in script {
                calendar.push((now + delay).min(1 << 63));
                if removed == 3 {
                    let (mut keys, until) = (Vec::new(), (now + bound / 8).min(1 << 63));
                    calendar.take_before(until, &mut keys);
                    if delay % 2 == 0 {
                        calendar.put_back(&mut keys);
                    } else {
                        now = until;
                    }
                    continue;
                }
                for _ in 0..removed {
                    calendar.peek(now + bound);
                    let Some(key) = calendar.peek(NEVER) else { break };
                    prop_assert!(key >= now);
                    now = key;
                    calendar.pop();
                }
            }
            let mut last = now;
            while let Some(key) = calendar.peek(NEVER) {
                prop_assert!(key >= last);
                last = key;
                calendar.pop();
            }
        }
    }

    #[test]
    fn slots_begin_as_wide_as_a_quiet_fleet_needs() {
        let width = |keys| Calendar::new(keys, 24).width - 24;
        // 131 ms for 1 and for 11,543 timers, 1 ms for a million.
        assert_eq!([0, 1, 11_543, 1_000_000].map(width), [17, 17, 17, 10]);
    }

    /// Ten thousand timers go off once a minute, then as many every ten milliseconds, then as at first.
    #[test]
    fn slots_follow_a_storm_and_calm_down_again() {
        let mut calendar = Calendar::new(10_000, 0);
        (0..10_000).for_each(|key| calendar.push(key * 6_000));
        let widths = [60_000_000, 10_000, 60_000_000].map(|delay| {
            for _ in 0..100_000 {
                let now = calendar.peek(NEVER).expect("as many as at first");
                calendar.pop();
                calendar.push(now + delay);
            }
            calendar.width
        });
        assert!(widths[1] + 6 < widths[0] && widths[1] + 6 < widths[2], "{widths:?}");
    }
}
