//! Tells quickly that a text holds none of many words: it leaps over what can be part of none.
//!
//! The way of Wu and Manber (A Fast Algorithm for Multi-Pattern Searching, 1994): the last bytes of
//! a window tell how far the window may go on, and most leaps are almost as long as the window.
//! What it cannot rule out is searched again by who can tell.

use std::collections::HashSet;

use foldhash::fast::RandomState;

/// Bytes that a leap is decided by.
const BLOCK: usize = 4;

/// The longest window; what stands in a table is one byte.
const LONGEST: usize = 64;

/// The table has about so many places for each block of the words.
const ROOM: usize = 4;

/// Places of the table, as powers of two: the fewest, and the most, which take 1 MiB.
const PLACES: (u32, u32) = (10, 20);

pub(super) struct Prefilter {
    /// Bytes of each word that are looked at: those it begins with.
    window: usize,
    beginnings: HashSet<Box<[u8]>, RandomState>,
    /// How far the window may go on, by its last block.
    leaps: Vec<u8>,
    /// What is left of a hash of 32 bits.
    shift: u32,
}

impl Prefilter {
    /// Words of `BLOCK` bytes at the least.
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a [u8]> + Clone) -> Self {
        let window = words.clone().map(<[u8]>::len).min().unwrap_or(BLOCK).clamp(BLOCK, LONGEST);
        let beginnings: HashSet<Box<[u8]>, RandomState> =
            words.map(|word| Box::from(word.get(..window).unwrap_or(word))).collect();
        let blocks = beginnings.len() * (window - BLOCK + 1) * ROOM;
        let (fewest, most) = PLACES;
        let power = blocks.max(1).ilog2().clamp(fewest, most);
        let farthest = window - BLOCK + 1;
        let mut leaps = vec![u8::try_from(farthest).unwrap_or(u8::MAX); 1 << power];
        let shift = u32::BITS - power;
        for beginning in &beginnings {
            for (place, block) in beginning.array_windows().enumerate() {
                let rest = u8::try_from(farthest - 1 - place).unwrap_or_default();
                if let Some(leap) = leaps.get_mut(place_of(*block, shift)) {
                    *leap = rest.min(*leap);
                }
            }
        }
        Self { window, beginnings, leaps, shift }
    }

    /// `false`: none of the words is in the text.
    pub(super) fn may_hold(&self, text: &[u8]) -> bool {
        let mut end = self.window;
        while let Some(block) = text.get(..end).and_then(<[u8]>::last_chunk) {
            // A place that is not there would be one that holds the text up.
            let leap = self.leaps.get(place_of(*block, self.shift)).copied().unwrap_or_default();
            if leap > 0 {
                end += usize::from(leap);
                continue;
            }
            let window = text.get(end - self.window..end).unwrap_or_default();
            if self.beginnings.contains(window) {
                return true;
            }
            end += 1;
        }
        false
    }
}

fn place_of(block: [u8; BLOCK], shift: u32) -> usize {
    (u32::from_le_bytes(block).wrapping_mul(0x9e37_79b1) >> shift) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_word_is_never_leapt_over(
            words in prop::collection::vec("[ab]{6,9}|[a-e]{6,80}", 1..40),
            pieces in prop::collection::vec("[a-e]{0,12}", 0..40),
            chosen in any::<prop::sample::Index>(),
        ) {
            let sieve = Prefilter::new(words.iter().map(String::as_bytes));
            let text = pieces.concat();
            let holds = words.iter().any(|word| text.contains(word.as_str()));
            prop_assert!(!holds || sieve.may_hold(text.as_bytes()), "{words:?} {text:?}");
            let text = format!("{text}{}{text}", chosen.get(&words));
            prop_assert!(sieve.may_hold(text.as_bytes()), "{words:?} {text:?}");
        }
    }

    #[test]
    fn a_text_of_other_words_holds_none() {
        let sieve =
            Prefilter::new([b"0123456789abcdef".as_slice(), b"fedcba9876543210++"].into_iter());
        for text in ["", "0123", "0123456789abcde", "a longer text, and 0123456789 in it"] {
            assert!(!sieve.may_hold(text.as_bytes()), "{text}");
        }
    }
}
