//! A four-ary min-heap that removes its top lazily.
//!
//! Most events cause exactly one other, so a `pop` leaves a hole that the next `push` fills with a
//! single sift: half the work of removing and inserting. Four children a node halve the levels of a
//! binary heap and sit in one or two cache lines.

const ARITY: usize = 4;

/// A min-heap of keys.
#[derive(Debug)]
pub(super) struct MinHeap {
    keys: Vec<u64>,
    /// Whether the top has been popped and not yet been replaced.
    hole: bool,
}

impl MinHeap {
    pub fn with_capacity(capacity: usize) -> MinHeap {
        MinHeap { keys: Vec::with_capacity(capacity), hole: false }
    }

    /// The smallest key.
    #[inline]
    pub fn peek(&mut self) -> Option<u64> {
        if self.hole {
            self.close_hole();
        }
        self.keys.first().copied()
    }

    #[inline(never)]
    fn close_hole(&mut self) {
        self.hole = false;
        if let Some(last) = self.keys.pop()
            && !self.keys.is_empty()
        {
            self.sift_down(last);
        }
    }

    /// Removes the key that [`peek`](Self::peek) has just returned.
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(!self.hole && !self.keys.is_empty(), "a pop follows a peek");
        self.hole = true;
    }

    #[inline]
    pub fn push(&mut self, key: u64) {
        if self.hole {
            self.hole = false;
            self.sift_down(key);
        } else {
            self.keys.push(key);
            self.sift_up(key);
        }
    }

    /// Keeps only the keys that `keep` accepts.
    pub fn retain(&mut self, keep: impl FnMut(&u64) -> bool) {
        self.peek();
        let mut keys = std::mem::take(&mut self.keys);
        keys.retain(keep);
        // A sorted list is a heap.
        keys.sort_unstable();
        self.keys = keys;
    }

    #[inline]
    fn sift_up(&mut self, key: u64) {
        let keys = &mut self.keys[..];
        let mut child = keys.len() - 1;
        while child > 0 {
            let parent = (child - 1) / ARITY;
            if keys[parent] <= key {
                break;
            }
            keys[child] = keys[parent];
            child = parent;
        }
        keys[child] = key;
    }

    /// Puts `key` in place of the top.
    #[inline]
    fn sift_down(&mut self, key: u64) {
        let keys = &mut self.keys[..];
        let mut parent = 0;
        loop {
            let first = parent * ARITY + 1;
            let (child, least) = if let Some(&[a, b, c, d]) =
                keys.get(first..first + ARITY).and_then(|four| four.first_chunk::<ARITY>())
            {
                let (i, left) = if b < a { (1, b) } else { (0, a) };
                let (j, right) = if d < c { (3, d) } else { (2, c) };
                if right < left { (first + j, right) } else { (first + i, left) }
            } else if let Some(rest) = keys.get(first..)
                && let Some((i, &least)) = rest.iter().enumerate().min_by_key(|&(_, &key)| key)
            {
                (first + i, least)
            } else {
                break;
            };
            if key <= least {
                break;
            }
            keys[parent] = least;
            parent = child;
        }
        keys[parent] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    proptest! {
        #[test]
        fn it_yields_what_a_binary_heap_yields(
            script in prop::collection::vec(prop_oneof![2 => (0u64..50).prop_map(Some), 1 => Just(None)], 0..400),
        ) {
            let (mut heap, mut oracle) = (MinHeap::with_capacity(4), BinaryHeap::new());
            for step in script {
                match step {
                    Some(key) => {
                        heap.push(key);
                        oracle.push(Reverse(key));
                    }
                    None => {
                        prop_assert_eq!(heap.peek(), oracle.peek().map(|&Reverse(key)| key));
                        if oracle.pop().is_some() {
                            heap.pop();
                        }
                    }
                }
            }
            heap.retain(|key| key % 3 != 0);
            let mut rest: Vec<u64> =
                oracle.into_iter().map(|Reverse(key)| key).filter(|key| key % 3 != 0).collect();
            rest.sort_unstable();
            for key in rest {
                prop_assert_eq!(heap.peek(), Some(key));
                heap.pop();
            }
            prop_assert_eq!(heap.peek(), None);
        }
    }
}
