//! How a program ended.

use std::fmt;

/// How a program ended.
///
/// Neither is set if nobody could tell: the kernel did not end it in time, or the host waited for
/// our program in our place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// What it returned.
    pub code: Option<i32>,
    /// The number of the signal that killed it.
    pub signal: Option<i32>,
}

/// As it follows the name of a program: "ended with code 3".
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "ended with code {code}"),
            (None, Some(signal)) => write!(f, "was killed by signal {signal}"),
            (None, None) => f.write_str("ended, nobody knows how"),
        }
    }
}
