//! The calendar: the timers of all clients, as a wheel of buckets in front of a small heap.
//!
//! A heap of millions of keys is slow because each step of a sift is a miss. Here a far key is only
//! appended to the bucket of its time, and looked at again when that time is near:
//!
//! ```text
//! push ─▶ wheel 2 ─▶ wheel 1 ─▶ wheel 0 ─▶ open slot, sorted ─▶ next
//!          2,048² slots a bucket  2,048       1     └─ keys pushed into it since: a heap
//! ```
//!
//! A key's *slot* is its upper bits. Its wheel is the first that reaches so far: each turns with the open
//! slot, and its 2,048 buckets are those that come next. So a key moves down at most once a wheel, and no
//! delay is too long. Buckets are chains of blocks from one pool, written and read in order.
//!
//! The width of a slot follows the density of events, which a storm raises by thousands: whenever as many
//! keys have been dealt as there are in the calendar, slots that held far more or fewer than a hundred are
//! made narrower or wider. Until then, and whatever the density, the open slot costs no more than a sort and
//! a heap.
//!
//! In builds with debug assertions a heap of all keys runs along and must agree at every step.

use super::heap::MinHeap;
use super::key::{Key, NEVER};
use super::order::Sorter;
use super::timers::Timers;

/// Bits of a slot that one wheel tells apart.
const WHEEL_BITS: u32 = 11;
const BUCKETS: usize = 1 << WHEEL_BITS;
const WHEELS: usize = u64::BITS.div_ceil(WHEEL_BITS) as usize;

/// Words of a block, eight cache lines: where the block before it ends, then keys.
const BLOCK: usize = 64;

/// Keys that a slot should hold, as a power of two.
const DENSITY_BITS: i32 = 7;

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
    /// Keys in each wheel.
    filed: [usize; WHEELS],
    /// The slot whose keys come next.
    slot: u64,
    /// Its keys in no order, until the least of them is asked for: then
    mixed: Vec<Key>,
    /// these are they, the next last,
    open: Vec<Key>,
    /// and these those that have come since.
    late: MinHeap,
    sorter: Sorter<Key>,
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
            filed: [0; WHEELS],
            slot: 0,
            mixed: Vec::new(),
            open: Vec::new(),
            late: MinHeap::with_capacity(0),
            sorter: Sorter::default(),
            opened: 0,
            dealt: 0,
            #[cfg(debug_assertions)]
            oracle: MinHeap::with_capacity(keys),
        }
    }

    #[inline(always)]
    fn peek(&mut self, bound: Key) -> Option<Key> {
        let mut key = self.first();
        if key == NEVER {
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
            if self.slot < bound >> self.width {
                keys.append(&mut self.mixed);
            } else {
                keys.extend(self.mixed.extract_if(.., |key| *key < bound));
            }
            let left = self.first() != NEVER || !self.mixed.is_empty();
            if left || !self.open_next(bound) {
                break;
            }
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
        self.put_in_order();
        // They come before all that was left.
        keys.sort_unstable_by(|a, b| b.cmp(a));
        self.dealt -= keys.len();
        self.open.append(keys);
    }

    fn slot_width(&self) -> Key {
        1 << self.width
    }

    #[inline(always)]
    fn push(&mut self, key: Key) {
        #[cfg(debug_assertions)]
        self.oracle.push(key);
        let slot = key >> self.width;
        // Most keys go to the first wheel: one comparison tells them.
        if slot.wrapping_sub(self.slot).wrapping_sub(1) < BUCKETS as u64 - 1 {
            self.file(key, 0);
        } else {
            self.place_elsewhere(key);
        }
    }
}

impl Calendar {
    /// Puts a key where it belongs that is not one of the first wheel's.
    #[inline(never)]
    fn place_elsewhere(&mut self, key: Key) {
        if key >> self.width > self.slot {
            self.file_far(key);
        } else {
            self.put_in_order();
            self.late.push(key);
        }
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
        if !self.mixed.is_empty() || self.open_next(bound) {
            self.put_in_order();
        }
        self.first()
    }

    /// Puts the keys of the open slot in order, if they are not.
    fn put_in_order(&mut self) {
        if !self.mixed.is_empty() {
            std::mem::swap(&mut self.open, &mut self.mixed);
            let first = self.slot << self.width;
            self.sorter.sort(&mut self.open, first..first.saturating_add(1 << self.width));
            self.open.reverse();
        }
    }

    /// Puts a key into its bucket of a wheel that reaches so far.
    #[inline(always)]
    fn file(&mut self, key: Key, wheel: usize) {
        self.wheels.add(bucket(key >> self.width, wheel), key);
        self.filed[wheel] += 1;
    }

    /// Puts a key into its bucket of the first wheel that reaches so far.
    fn file_far(&mut self, key: Key) {
        let ahead = |wheel| coarse(key >> self.width, wheel) - coarse(self.slot, wheel);
        let reaches = |&wheel: &usize| ahead(wheel) < BUCKETS as u64;
        let wheel = (0..WHEELS).find(reaches).expect("the last wheel reaches the last slot");
        self.file(key, wheel);
    }

    /// Opens the next slot that holds a key, unless it begins at `bound` or later; whether it did.
    #[inline(never)]
    fn open_next(&mut self, bound: Key) -> bool {
        if self.dealt >= LEAST_DEALT.max(self.filed.iter().sum()) {
            self.think_over();
            if !self.mixed.is_empty() {
                return true;
            }
        }
        self.open_slot(bound)
    }

    /// The same, with the slots as wide as they are.
    fn open_slot(&mut self, bound: Key) -> bool {
        loop {
            let in_use = (0..WHEELS).rev().filter(|&wheel| self.filed[wheel] > 0);
            // Of buckets that begin with the same slot the widest comes first: it may hold keys of that slot.
            let next = in_use.map(|wheel| (self.next_used(wheel), wheel)).min_by_key(|next| next.0);
            let Some((slot, wheel)) = next else { return false };
            if slot << self.width >= bound {
                return false;
            }
            self.slot = slot;
            let bucket = bucket(slot, wheel);
            if wheel == 0 {
                self.wheels.take(bucket, &mut self.mixed);
                self.filed[0] -= self.mixed.len();
                self.opened += 1;
                return true;
            }
            let mut keys = Vec::with_capacity(BLOCK);
            while self.wheels.take_block(bucket, &mut keys) {
                self.filed[wheel] -= keys.len();
                keys.drain(..).for_each(|key| self.file_far(key));
            }
        }
    }

    /// The first slot of the next bucket that holds a key, in a wheel that has one.
    fn next_used(&self, wheel: usize) -> u64 {
        let open = coarse(self.slot, wheel);
        let ahead = self.wheels.next_used(wheel, open as usize % BUCKETS);
        (open + ahead) << (wheel as u32 * WHEEL_BITS)
    }

    /// Makes slots wider or narrower if they have held too few keys or too many. The open one holds none.
    fn think_over(&mut self) {
        let density = self.dealt / self.opened.max(1);
        (self.dealt, self.opened) = (0, 0);
        let off = density.max(1).ilog2() as i32 - DENSITY_BITS;
        if off.abs() < 3 {
            return;
        }
        let mut keys = Vec::with_capacity(self.filed.iter().sum());
        while let Some(bucket) = self.wheels.first_used_of_all() {
            self.wheels.take(bucket, &mut keys);
        }
        let now = self.slot << self.width;
        self.width = self.width.saturating_add_signed(-off).min(u64::BITS - 1);
        self.slot = now >> self.width;
        self.filed = [0; WHEELS];
        for key in keys {
            if key >> self.width == self.slot { self.mixed.push(key) } else { self.file_far(key) }
        }
    }
}

/// A slot as a wheel sees it, which tells no finer ones apart.
#[inline]
fn coarse(slot: u64, wheel: usize) -> u64 {
    slot >> (wheel as u32 * WHEEL_BITS)
}

/// Which bucket of a wheel a slot belongs to, those of the wheels before it counted.
#[inline]
fn bucket(slot: u64, wheel: usize) -> usize {
    wheel * BUCKETS + coarse(slot, wheel) as usize % BUCKETS
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

    /// How many buckets of a wheel, which turns, there are from one of them to the first that holds a key.
    fn next_used(&self, wheel: usize, from: usize) -> u64 {
        const WORDS: usize = BUCKETS / 64;
        let used = &self.used[wheel * WORDS..][..WORDS];
        let mut bits = used[from / 64] >> (from % 64);
        let mut passed = 0;
        while bits == 0 {
            // To the next word, and from there on whole words.
            passed = if passed == 0 { 64 - from % 64 } else { passed + 64 };
            bits = used[(from + passed) / 64 % WORDS];
        }
        (passed + bits.trailing_zeros() as usize) as u64
    }

    fn first_used_of_all(&self) -> Option<usize> {
        let word = self.used.iter().position(|&bits| bits != 0)?;
        Some(word * 64 + self.used[word].trailing_zeros() as usize)
    }

    /// Moves the keys of a bucket to `keys`, in no order, and frees its blocks.
    fn take(&mut self, bucket: usize, keys: &mut Vec<Key>) {
        while self.take_block(bucket, keys) {}
    }

    /// Moves the keys of a bucket's last block to `keys`, and frees it; whether there was one.
    fn take_block(&mut self, bucket: usize, keys: &mut Vec<Key>) -> bool {
        let end = self.ends[bucket] as usize;
        if end == 0 {
            self.used[bucket / 64] &= !(1 << (bucket % 64));
            return false;
        }
        let begin = (end - 1) / BLOCK * BLOCK;
        keys.extend_from_slice(&self.words[begin + 1..end]);
        self.ends[bucket] = std::mem::replace(&mut self.words[begin], self.free.into()) as u32;
        self.free = (begin + BLOCK) as u32;
        true
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
        // 131 ms for 1 and for 11,543 timers, 2 ms for a million.
        assert_eq!([0, 1, 11_543, 1_000_000].map(width), [17, 17, 17, 11]);
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
