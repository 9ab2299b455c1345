//! API keys: the configuration holds their digests, and nobody holds the keys.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use ring::digest::SHA256;
use toolcrib_core::Caller;

/// How every key begins: `tck_NAME.SECRET`.
pub const KEY_PREFIX: &str = "tck_";

/// A key as it stands in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The part of the key that is no secret.
    pub id: String,
    /// SHA-256 of the whole key, which has 256 random bits: to be slow about it would add nothing.
    pub digest: [u8; 32],
    pub tenant: String,
    pub subject: String,
    pub scopes: Vec<String>,
    /// `None`: until it is taken out.
    pub expires: Option<Timestamp>,
}

impl ApiKey {
    pub(crate) fn caller(&self) -> Caller {
        Caller::new(&self.tenant, &self.subject).with_scopes(&self.scopes)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.expires.is_some_and(|end| end <= Timestamp::now())
    }
}

/// A whole key.
pub fn key_text(id: &str, secret: &str) -> String {
    format!("{KEY_PREFIX}{id}.{secret}")
}

/// The name within a key.
pub(crate) fn id_of(key: &str) -> Option<&str> {
    Some(key.strip_prefix(KEY_PREFIX)?.split_once('.')?.0)
}

/// SHA-256.
pub fn digest(text: &str) -> [u8; 32] {
    let digest = ring::digest::digest(&SHA256, text.as_bytes());
    // It has 32 bytes; another length would match nothing.
    digest.as_ref().try_into().unwrap_or_default()
}

/// Whether two digests are one; the time that it takes tells nothing.
pub(crate) fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let difference = one.iter().zip(other).fold(0u8, |sum, (own, its)| sum | (own ^ its));
    std::hint::black_box(difference) == 0
}

/// A moment as a person writes it: `2027-01-31`, which begins in UTC, or
/// `2027-01-31T12:00:00+01:00`.
pub fn moment(text: &str) -> Option<Timestamp> {
    // A date reads the time behind it too, and forgets it.
    if text.len() == "2027-01-31".len() {
        let day = text.parse::<Date>().ok()?;
        return Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp());
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_days_or_exact() {
        let text = |text: &str| moment(text).map(|moment| moment.to_string());
        assert_eq!(text("2027-01-31").as_deref(), Some("2027-01-31T00:00:00Z"));
        assert_eq!(text("2027-01-31T12:00:00+01:00").as_deref(), Some("2027-01-31T11:00:00Z"));
        for wrong in ["", "soon", "2027-02-30", "2027-01-31T12:00:00", "30"] {
            assert_eq!(text(wrong), None, "{wrong}");
        }
    }
}
