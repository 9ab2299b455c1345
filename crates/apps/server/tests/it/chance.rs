//! Numbers that look random, from a seed that a test prints.

use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) struct Chance(u64);

impl Chance {
    /// From the seed in `TOOLCRIB_TEST_SEED`, else from the time; it is printed under the name.
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests may give the seed")]
    pub(crate) fn of(name: &str) -> Self {
        let given = std::env::var("TOOLCRIB_TEST_SEED").ok().and_then(|text| text.parse().ok());
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let seed = given.unwrap_or_else(|| u64::try_from(since.as_millis()).unwrap());
        let out = &mut std::io::stdout();
        writeln!(out, "{name}: TOOLCRIB_TEST_SEED={seed}").unwrap();
        Self(seed)
    }

    /// How many steps to take: as many as `TOOLCRIB_TEST_STEPS` says, for a run that lasts, else so
    /// many.
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests may want more")]
    pub(crate) fn steps(usual: usize) -> usize {
        let given = std::env::var("TOOLCRIB_TEST_STEPS").ok().and_then(|text| text.parse().ok());
        given.unwrap_or(usual)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) >> 1).unwrap() % limit
    }
}
