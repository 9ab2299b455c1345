//! What the replicas of a cluster know each other by.

use ring::hmac;
use toolcrib_core::Secret;

/// Bytes of a mark.
pub const MARK: usize = 32;

/// A key that whoever has the secret of a cluster can make, for one end alone.
pub struct ClusterKey {
    marks: hmac::Key,
    /// One whose marks are good as well.
    other: Option<hmac::Key>,
}

impl ClusterKey {
    /// `end`: what the key is for. Keys of two ends tell nothing of each other.
    pub fn new(secret: &Secret, end: &str) -> Self {
        Self { marks: derived(secret, end), other: None }
    }

    /// Takes the marks of another secret for good as well, while one takes the place of the other.
    #[must_use]
    pub fn opening(self, secret: Option<&Secret>, end: &str) -> Self {
        Self { other: secret.map(|secret| derived(secret, end)), ..self }
    }

    /// The mark of these texts in their order: no others have the same one.
    pub fn mark(&self, texts: &[&[u8]]) -> [u8; MARK] {
        let tag = tag(&self.marks, texts);
        let mut mark = [0; MARK];
        mark.iter_mut().zip(tag.as_ref()).for_each(|(to, from)| *to = *from);
        mark
    }

    /// Whether it is theirs. The time that it takes tells nothing of the right one.
    pub fn is_mark(&self, mark: &[u8], texts: &[&[u8]]) -> bool {
        [Some(&self.marks), self.other.as_ref()].into_iter().flatten().any(|key| {
            let own = tag(key, texts);
            // What is compared is marked once more, so that nobody can choose it.
            hmac::verify(key, mark, hmac::sign(key, own.as_ref()).as_ref()).is_ok()
        })
    }
}

fn derived(secret: &Secret, end: &str) -> hmac::Key {
    let whole = hmac::Key::new(hmac::HMAC_SHA256, secret.expose().as_bytes());
    hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&whole, end.as_bytes()).as_ref())
}

fn tag(key: &hmac::Key, texts: &[&[u8]]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(key);
    for text in texts {
        context.update(&text.len().to_be_bytes());
        context.update(text);
    }
    context.sign()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(secret: &str, end: &str) -> ClusterKey {
        ClusterKey::new(&Secret::new(secret), end)
    }

    #[test]
    fn while_a_secret_is_exchanged_the_marks_of_both_are_good() {
        let other = Secret::new("theirs");
        let both = key("ours", "forwards").opening(Some(&other), "forwards");
        let marks = [key("ours", "forwards"), key("theirs", "forwards")];
        assert!(marks.iter().all(|key| both.is_mark(&key.mark(&[b"a"]), &[b"a"])));
        assert_eq!(both.mark(&[b"a"]), key("ours", "forwards").mark(&[b"a"]));
        assert!(!both.is_mark(&key("nobody's", "forwards").mark(&[b"a"]), &[b"a"]));
        assert!(!both.is_mark(&key("theirs", "other").mark(&[b"a"]), &[b"a"]));
    }

    #[test]
    fn a_mark_is_good_for_its_texts_its_secret_and_its_end_alone() {
        let ours = key("ours", "forwards");
        let mark = ours.mark(&[b"a", b"bc"]);
        assert!(key("ours", "forwards").is_mark(&mark, &[b"a", b"bc"]));
        let others: [&[&[u8]]; 4] =
            [&[b"ab", b"c"], &[b"abc"], &[b"a", b"bc", b""], &[b"a", b"bd"]];
        for texts in others {
            assert!(!ours.is_mark(&mark, texts), "{texts:?}");
        }
        assert!(!key("theirs", "forwards").is_mark(&mark, &[b"a", b"bc"]));
        assert!(!key("ours", "answers").is_mark(&mark, &[b"a", b"bc"]));
        for cut in [&mark[..31], &[], &[0; 32]] {
            assert!(!ours.is_mark(cut, &[b"a", b"bc"]));
        }
        for place in 0..MARK {
            let mut changed = mark;
            changed[place] ^= 1;
            assert!(!ours.is_mark(&changed, &[b"a", b"bc"]));
        }
    }
}
