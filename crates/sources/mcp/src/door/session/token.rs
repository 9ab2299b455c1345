//! Binds a session to who began it, without a list of sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use foldhash::quality::RandomState;
use sha2::{Digest, Sha256};
use toolcrib_core::Caller;
use uuid::Uuid;

pub(crate) struct SessionTokens {
    /// A secret of this process.
    secret: [u8; 32],
    /// Names that were opened before: each request of a session comes with one.
    opened: Mutex<HashMap<Box<str>, CachedSession, RandomState>>,
}

/// Names that are remembered, at the most.
const MOST: usize = 4_096;

struct CachedSession {
    caller: Caller,
    profile: Option<Arc<str>>,
    opened: ResolvedSession,
}

/// What stands behind the name of a session that its client knows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResolvedSession {
    /// What we call it.
    pub(crate) session: Arc<str>,
    /// A name of it for tools, by which nobody can enter it.
    pub(crate) conversation: Arc<str>,
}

impl SessionTokens {
    pub(crate) fn fresh() -> Self {
        // 244 random bits of the operating system.
        let random = || Uuid::new_v4().into_bytes();
        let digest = Sha256::new().chain_update(random()).chain_update(random()).finalize();
        Self { secret: digest.into(), opened: Mutex::default() }
    }

    fn opened(&self) -> MutexGuard<'_, HashMap<Box<str>, CachedSession, RandomState>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of a session as its client knows it.
    pub(crate) fn put(&self, session: &str, caller: &Caller, profile: Option<&str>) -> String {
        format!("{session}.{}", self.mark(session, caller, profile))
    }

    /// The session behind such a name; `None`: it was sealed for somebody else, or never.
    pub(crate) fn open(
        &self,
        sealed: &str,
        caller: &Arc<Caller>,
        profile: Option<&Arc<str>>,
    ) -> Option<ResolvedSession> {
        if let Some(known) = self.opened().get(sealed)
            && known.caller.is(caller)
            && known.profile.as_ref() == profile
        {
            return Some(known.opened.clone());
        }
        let (session, mark) = sealed.rsplit_once('.')?;
        // Digests of both are compared, so that the time it takes tells nothing about the mark of a
        // name that was never shown.
        let right = Sha256::digest(self.mark(session, caller, profile.map(Arc::as_ref)));
        if Sha256::digest(mark) != right {
            return None;
        }
        let digest = self.digest(&["conversation", session]);
        let conversation = BASE64_URL_SAFE_NO_PAD.encode(digest).into();
        let opened = ResolvedSession { session: session.into(), conversation };
        // Without the scopes of now, which may be many.
        let caller = Caller::new(&*caller.tenant, &*caller.subject);
        let known =
            CachedSession { caller, profile: profile.map(Arc::clone), opened: opened.clone() };
        let mut all = self.opened();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(sealed.into(), known);
        Some(opened)
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
        let mut inner = Sha256::new().chain_update(self.secret);
        for text in texts {
            inner.update(text.len().to_be_bytes());
            inner.update(text);
        }
        Sha256::new().chain_update(self.secret).chain_update(inner.finalize()).finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_open_to_who_began_it_and_to_nobody_else() {
        let (seal, ann) = (SessionTokens::fresh(), Arc::new(Caller::new("a", "nn")));
        let sealed = seal.put("s-1", &ann, None);
        let opened = seal.open(&sealed, &ann, None).unwrap();
        assert_eq!(&*opened.session, "s-1");
        let wider = Arc::new(Caller::clone(&ann).with_scopes(["more"]));
        let (other, profile) = (Arc::new(Caller::new("an", "n")), Arc::from(""));
        // The second time it is remembered, for whom as well.
        for _ in 0..2 {
            assert_eq!(seal.open(&sealed, &ann, None).as_ref(), Some(&opened));
            assert_eq!(seal.open(&sealed, &wider, None).as_ref(), Some(&opened));
            assert_eq!(seal.open(&sealed, &other, None), None);
            assert_eq!(seal.open(&sealed, &ann, Some(&profile)), None);
            assert_eq!(seal.open(&sealed.replace("s-1", "s-2"), &ann, None), None);
            assert_eq!(SessionTokens::fresh().open(&sealed, &ann, None), None);
            for nothing in ["", ".", "s-1", "s-1."] {
                assert_eq!(seal.open(nothing, &ann, None), None);
            }
        }
    }

    #[test]
    fn no_more_names_are_remembered_than_there_is_room_for() {
        let (seal, ann) = (SessionTokens::fresh(), Arc::new(Caller::new("a", "nn")));
        for number in 0..=MOST {
            let sealed = seal.put(&format!("s-{number}"), &ann, None);
            assert!(seal.open(&sealed, &ann, None).is_some());
            assert!(seal.opened().len() <= MOST);
        }
    }
}
