//! The names that somebody may have meant, found by the groups of three letters that they share.

use foldhash::{HashMap, HashMapExt as _};

use crate::number_cast::{place, real, small};

/// Names in one text, numbered in order.
#[derive(Debug, Default)]
pub(crate) struct TrigramNames {
    text: String,
    /// Where each name ends.
    ends: Vec<u32>,
    /// Which names have a group of three letters.
    holders: HashMap<[u8; 3], Vec<u32>>,
    /// How many groups each name has.
    sizes: Vec<u16>,
}

impl TrigramNames {
    pub(crate) fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(small(self.text.len()));
    }

    /// To be called when all names are in.
    pub(crate) fn finish(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
        let mut holders: HashMap<[u8; 3], Vec<u32>> = HashMap::new();
        let mut sizes = Vec::with_capacity(self.len());
        for number in 0..self.len() {
            let groups = groups(self.get(number).unwrap_or_default());
            sizes.push(u16::try_from(groups.len()).unwrap_or(u16::MAX));
            for group in groups {
                holders.entry(group).or_default().push(small(number));
            }
        }
        (self.holders, self.sizes) = (holders, sizes);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<&str> {
        let to = place(*self.ends.get(number)?);
        let from = match number.checked_sub(1) {
            Some(before) => place(*self.ends.get(before)?),
            None => 0,
        };
        self.text.get(from..to)
    }

    /// The numbers of the names that share enough with a wrong one, and how much that is, from
    /// `least` to 1; best first, equals in order. A name that may not be told counts for nothing,
    /// also not as the best one: its absence would tell of it.
    pub(crate) fn nearest(
        &self,
        wrong: &str,
        (most, least): (usize, f32),
        may: &dyn Fn(usize) -> bool,
    ) -> Vec<(usize, f32)> {
        let wanted = groups(wrong);
        let mut counts = vec![0_u8; self.len()];
        let mut met = Vec::new();
        for number in wanted.iter().filter_map(|group| self.holders.get(group)).flatten() {
            let Some(count) = counts.get_mut(place(*number)) else { continue };
            if *count == 0 {
                met.push(place(*number));
            }
            *count = count.saturating_add(1);
        }
        let likeness = |number: usize| {
            let same = counts.get(number).map_or(0, |count| usize::from(*count));
            let size = self.sizes.get(number).map_or(0, |size| usize::from(*size));
            (number, 2.0 * real(same) / real(size + wanted.len()).max(1.0))
        };
        let near = met.into_iter().map(likeness);
        let near = near.filter(|(number, likeness)| *likeness >= least && may(*number));
        let mut near: Vec<_> = near.collect();
        near.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        // Far behind the best one, a name is no help.
        let best = near.first().map_or(0.0, |(_, likeness)| *likeness);
        near.retain(|(_, likeness)| likeness * 1.6 >= best);
        near.truncate(most);
        near
    }
}

/// The groups of three letters of a name, each once; signs between letters and case do not count,
/// the ends do, and what is behind the first 127 bytes does not.
fn groups(name: &str) -> Vec<[u8; 3]> {
    let letters = name.bytes().take(127).filter(|byte| byte.is_ascii_alphanumeric() || *byte > 127);
    let mut window = [0, 0, 0];
    let mut groups = Vec::with_capacity(name.len().min(127) + 2);
    let mut push = |letter: u8| {
        let [_, second, third] = window;
        window = [second, third, letter];
        window
    };
    for letter in letters {
        let group = push(letter.to_ascii_lowercase());
        if group != [0, 0, 0] {
            groups.push(group);
        }
    }
    if !groups.is_empty() {
        groups.push(push(0));
    }
    groups.sort_unstable();
    groups.dedup();
    groups
}
