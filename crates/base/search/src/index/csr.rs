//! Lists of numbers, one for each document, in one piece of memory.

use crate::number_cast::{place, small};

#[derive(Debug)]
pub(crate) struct CsrArray {
    /// Where each list begins; one entry more than lists.
    starts: Vec<u32>,
    numbers: Vec<u32>,
}

impl Default for CsrArray {
    fn default() -> Self {
        Self { starts: vec![0], numbers: Vec::new() }
    }
}

impl CsrArray {
    /// The next list.
    pub(crate) fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.numbers.extend(list);
        self.starts.push(small(self.numbers.len()));
    }

    /// To be called when all lists are in.
    pub(crate) fn finish(&mut self) {
        self.starts.shrink_to_fit();
        self.numbers.shrink_to_fit();
    }

    /// The list of that number; empty if there is none.
    pub(crate) fn get(&self, number: usize) -> &[u32] {
        let bounds = self.starts.get(number).zip(self.starts.get(number + 1));
        let range = bounds.map(|(from, to)| place(*from)..place(*to));
        range.and_then(|range| self.numbers.get(range)).unwrap_or_default()
    }
}
