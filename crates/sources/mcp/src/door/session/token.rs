//! Binds the name of a session to who began it, without a list of sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use foldhash::quality::RandomState;
use sha2::{Digest, Sha256};
use toolcrib_core::{Caller, Secret};
use uuid::Uuid;

/// Begins the mark of a name under a secret of one process.
const OF_PROCESS: u8 = 0;
/// Begins the mark of a name under a key of the secret that several processes have.
const OF_CLUSTER: u8 = 1;

pub(crate) struct SessionTokens {
    secret: [u8; 32],
    form: u8,
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
    /// The same for the row by which another process takes it up.
    pub(crate) row: Arc<str>,
}

impl ResolvedSession {
    fn of(sealed: &str, session: &str) -> Self {
        Self {
            session: session.into(),
            conversation: digest_of("conversation", sealed),
            row: digest_of("row", sealed),
        }
    }
}

/// A digest from which nobody learns the name: that has 122 random bits.
fn digest_of(what: &str, sealed: &str) -> Arc<str> {
    let digest = Sha256::new().chain_update(what).chain_update(":").chain_update(sealed);
    BASE64_URL_SAFE_NO_PAD.encode(digest.finalize()).into()
}

impl SessionTokens {
    /// Under the secret that several processes have, or one of this process.
    pub(crate) fn new(secret: Option<&Secret>) -> Self {
        let Some(secret) = secret else {
            // 244 random bits of the operating system.
            let random = || Uuid::new_v4().into_bytes();
            let digest = Sha256::new().chain_update(random()).chain_update(random()).finalize();
            return Self::under(digest.into(), OF_PROCESS);
        };
        // Not the secret itself: others keys of it are for other ends.
        let whole = Self::under(Sha256::digest(secret.expose()).into(), OF_CLUSTER);
        Self::under(whole.digest(&["names of sessions"]), OF_CLUSTER)
    }

    fn under(secret: [u8; 32], form: u8) -> Self {
        Self { secret, form, opened: Mutex::default() }
    }

    fn opened(&self) -> MutexGuard<'_, HashMap<Box<str>, CachedSession, RandomState>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new session, and its name as its client knows it.
    pub(crate) fn begin(
        &self,
        caller: &Caller,
        profile: Option<&str>,
    ) -> (ResolvedSession, String) {
        // 122 random bits of the operating system.
        let session = Uuid::new_v4().to_string();
        let sealed = self.put(&session, caller, profile);
        (ResolvedSession::of(&sealed, &session), sealed)
    }

    fn put(&self, session: &str, caller: &Caller, profile: Option<&str>) -> String {
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
        let opened = ResolvedSession::of(sealed, session);
        self.remember(sealed, caller, profile, &opened);
        Some(opened)
    }

    /// The session behind a name that does not open, if a process before this one may have given it:
    /// whose it is, its row knows. Processes that serve together have one secret, and none of them
    /// gave a name that does not open.
    pub(crate) fn of_process_before(&self, sealed: &str) -> Option<ResolvedSession> {
        let (session, mark) = sealed.rsplit_once('.').filter(|_| self.form == OF_PROCESS)?;
        let mark = BASE64_URL_SAFE_NO_PAD.decode(mark).ok()?;
        let is_ours = mark.len() == 33 && mark.first() == Some(&OF_PROCESS);
        let is_named = session.len() == 36 && Uuid::parse_str(session).is_ok();
        (is_ours && is_named).then(|| ResolvedSession::of(sealed, session))
    }

    /// Opens a name from now on whose row told whose it is.
    pub(crate) fn remember(
        &self,
        sealed: &str,
        caller: &Caller,
        profile: Option<&Arc<str>>,
        opened: &ResolvedSession,
    ) {
        // Without the scopes of now, which may be many.
        let caller = Caller::new(&*caller.tenant, &*caller.subject);
        let known =
            CachedSession { caller, profile: profile.map(Arc::clone), opened: opened.clone() };
        let mut all = self.opened();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(sealed.into(), known);
    }

    fn mark(&self, session: &str, caller: &Caller, profile: Option<&str>) -> String {
        let of = profile.map_or("all", |_| "one");
        let profile = profile.unwrap_or_default();
        let digest =
            self.digest(&["session", session, &caller.tenant, &caller.subject, of, profile]);
        BASE64_URL_SAFE_NO_PAD.encode([&[self.form][..], &digest[..]].concat())
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

    const SESSION: &str = "0b6f6e3c-3f5a-4a7e-9d2e-6a4f3f1f2a10";

    fn fresh() -> SessionTokens {
        SessionTokens::new(None)
    }

    fn shared(secret: &str) -> SessionTokens {
        SessionTokens::new(Some(&Secret::new(secret)))
    }

    #[test]
    fn a_session_is_open_to_who_began_it_and_to_nobody_else() {
        for seal in [fresh(), shared("ours")] {
            let ann = Arc::new(Caller::new("a", "nn"));
            let sealed = seal.put(SESSION, &ann, None);
            let opened = seal.open(&sealed, &ann, None).unwrap();
            assert_eq!(&*opened.session, SESSION);
            let wider = Arc::new(Caller::clone(&ann).with_scopes(["more"]));
            let (other, profile) = (Arc::new(Caller::new("an", "n")), Arc::from(""));
            // The second time it is remembered, for whom as well.
            for _ in 0..2 {
                assert_eq!(seal.open(&sealed, &ann, None).as_ref(), Some(&opened));
                assert_eq!(seal.open(&sealed, &wider, None).as_ref(), Some(&opened));
                assert_eq!(seal.open(&sealed, &other, None), None);
                assert_eq!(seal.open(&sealed, &ann, Some(&profile)), None);
                assert_eq!(seal.open(&sealed.replace("0b6f", "0b6e"), &ann, None), None);
                assert_eq!(fresh().open(&sealed, &ann, None), None);
                for nothing in ["", ".", SESSION, &format!("{SESSION}.")] {
                    assert_eq!(seal.open(nothing, &ann, None), None);
                }
            }
        }
    }

    #[test]
    fn a_name_opens_wherever_the_secret_is_the_same_and_has_the_same_names_there() {
        let (ann, ben) = (Arc::new(Caller::new("a", "nn")), Arc::new(Caller::new("a", "ben")));
        let (named, sealed) = shared("ours").begin(&ann, None);
        assert_eq!(shared("ours").open(&sealed, &ann, None), Some(named.clone()));
        assert_eq!(shared("ours").open(&sealed, &ben, None), None);
        assert_eq!(shared("theirs").open(&sealed, &ann, None), None);
        // By no name that others see does anybody enter.
        for told in [&named.session, &named.conversation, &named.row] {
            assert_eq!(shared("ours").open(told, &ann, None), None);
        }
        assert!(named.conversation != named.row);
    }

    #[test]
    fn a_row_is_looked_for_only_of_what_a_process_before_may_have_named() {
        let ann = Arc::new(Caller::new("a", "nn"));
        let (named, sealed) = fresh().begin(&ann, None);
        assert_eq!(fresh().of_process_before(&sealed), Some(named));
        let (_, of_cluster) = shared("ours").begin(&ann, None);
        assert_eq!(fresh().of_process_before(&of_cluster), None);
        // Who has a secret with others asks about nothing that does not open.
        assert_eq!(shared("ours").of_process_before(&sealed), None);
        let twice = format!("{sealed}.{sealed}");
        for nothing in ["", ".", SESSION, "x.AA", &sealed[1..], &format!("{sealed}A"), &twice] {
            assert_eq!(fresh().of_process_before(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn no_more_names_are_remembered_than_there_is_room_for() {
        let (seal, ann) = (fresh(), Arc::new(Caller::new("a", "nn")));
        for _ in 0..=MOST {
            let (_, sealed) = seal.begin(&ann, None);
            assert!(seal.open(&sealed, &ann, None).is_some());
            assert!(seal.opened().len() <= MOST);
        }
    }
}
