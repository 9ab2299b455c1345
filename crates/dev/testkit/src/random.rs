//! Numbers by chance that come again with their seed.

/// A small generator (xorshift); whoever uses it prints the seed.
#[derive(Debug)]
pub struct SeededRandom(u64);

impl SeededRandom {
    /// A seed of zero would give zeros for ever, and stands for one.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    /// A number below the bound, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
