//! Binds a session to who began it, without a list of sessions.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use toolcrib_core::Caller;
use uuid::Uuid;

/// A secret of this process.
pub(super) struct Seal([u8; 32]);

impl Seal {
    pub(super) fn fresh() -> Self {
        // 244 random bits of the operating system.
        let random = || Uuid::new_v4().into_bytes();
        let digest = Sha256::new().chain_update(random()).chain_update(random()).finalize();
        Self(digest.into())
    }

    /// The name of a session as its client knows it.
    pub(super) fn put(&self, session: &str, caller: &Caller, profile: Option<&str>) -> String {
        format!("{session}.{}", self.mark(session, caller, profile))
    }

    /// The session behind such a name; `None`: it was sealed for somebody else, or never.
    pub(super) fn open<'a>(
        &self,
        sealed: &'a str,
        caller: &Caller,
        profile: Option<&str>,
    ) -> Option<&'a str> {
        let (session, mark) = sealed.rsplit_once('.')?;
        // Digests of both are compared, so that the time it takes tells nothing about the mark.
        let right = Sha256::digest(self.mark(session, caller, profile));
        (Sha256::digest(mark) == right).then_some(session)
    }

    /// A name of the session for tools, by which nobody can enter it.
    pub(super) fn conversation(&self, session: &str) -> Arc<str> {
        BASE64_URL_SAFE_NO_PAD.encode(self.digest(&["conversation", session])).into()
    }

    fn mark(&self, session: &str, caller: &Caller, profile: Option<&str>) -> String {
        let of = profile.map_or("all", |_| "one");
        let profile = profile.unwrap_or_default();
        BASE64_URL_SAFE_NO_PAD.encode(self.digest(&[
            "session",
            session,
            &caller.tenant,
            &caller.subject,
            of,
            profile,
        ]))
    }

    /// Keyed twice, and every text with its length: no other texts have the same digest.
    fn digest(&self, texts: &[&str]) -> [u8; 32] {
        let mut inner = Sha256::new().chain_update(self.0);
        for text in texts {
            inner.update(text.len().to_be_bytes());
            inner.update(text);
        }
        Sha256::new().chain_update(self.0).chain_update(inner.finalize()).finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_open_to_who_began_it_and_to_nobody_else() {
        let (seal, ann) = (Seal::fresh(), Caller::new("a", "nn"));
        let sealed = seal.put("s-1", &ann, None);
        assert_eq!(seal.open(&sealed, &ann, None), Some("s-1"));
        let wider = ann.clone().with_scopes(["more"]);
        assert_eq!(seal.open(&sealed, &wider, None), Some("s-1"));
        assert_eq!(seal.open(&sealed, &Caller::new("an", "n"), None), None);
        assert_eq!(seal.open(&sealed, &ann, Some("")), None);
        assert_eq!(seal.open(&sealed.replace("s-1", "s-2"), &ann, None), None);
        assert_eq!(Seal::fresh().open(&sealed, &ann, None), None);
        for nothing in ["", ".", "s-1", "s-1."] {
            assert_eq!(seal.open(nothing, &ann, None), None);
        }
    }
}
