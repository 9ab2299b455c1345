//! Who is signed in on the page, and the codes that sign in. All of it ends with the process.
//!
//! Of a session the browser has two halves: one in a cookie, which it sends to other ports of this
//! host too, and one in the storage of the page, which is bound to the port. Both are needed, and
//! only their digests are kept here.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::HeaderMap;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::watch;
use tokio::time::timeout;
use uuid::Uuid;

use crate::config::tokens::random;
use crate::http::listen::peers::network;

/// A session ends that was not used for so long.
const IDLE: Duration = Duration::from_hours(12);
/// No session lasts longer.
pub(crate) const LONGEST: Duration = Duration::from_hours(7 * 24);
/// How long a code signs in.
pub(crate) const CODE_LIFE: Duration = Duration::from_mins(10);
/// Sessions and codes at the same time.
const MOST: usize = 1000;
const MOST_CODES: usize = 100;
/// Sessions of one caller: the one that was used the longest ago makes room.
const PER_CALLER: usize = 20;
/// Wrong codes of one address within a minute, and addresses of which that is known.
const WRONG: u32 = 5;
const MOST_PEERS: usize = 1000;
const MINUTE: Duration = Duration::from_mins(1);

type SecretDigest = [u8; 32];

/// On whose behalf a session asks: what was presented when it began, which is looked at again with
/// each request, so that a session is over with its key. Nothing in it: the person of an open server.
pub(crate) type SessionGrant = Arc<HeaderMap>;

/// What a browser is given of a session.
pub(crate) struct SessionHalves {
    pub(crate) cookie: String,
    pub(crate) page: String,
}

/// A session that a request belongs to.
#[derive(Clone)]
pub(crate) struct PageSession {
    id: SecretDigest,
    pub(crate) grant: SessionGrant,
    /// How long it lasts yet, if it is used.
    pub(crate) left: Duration,
}

/// Why nobody is signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignInRefusal {
    /// The code is none, was used, or is too old.
    WrongCode,
    /// There were too many wrong codes.
    TooMany,
    /// There are as many sessions as there may be.
    Full,
}

#[derive(Default)]
pub(crate) struct SessionBook {
    table: Mutex<SessionTable>,
    /// Tells whenever a session ends before its time.
    ended: watch::Sender<()>,
}

#[derive(Default)]
struct SessionTable {
    sessions: HashMap<SecretDigest, KeptSession>,
    codes: HashMap<SecretDigest, (SessionGrant, Instant)>,
    /// When the first wrong code of a minute came, and how many did.
    wrong: HashMap<IpAddr, (Instant, u32)>,
}

struct KeptSession {
    page: SecretDigest,
    /// Tenant and subject.
    whose: (String, String),
    grant: SessionGrant,
    began: Instant,
    used: Instant,
}

impl SessionBook {
    /// A code that signs in once.
    pub(crate) fn code(&self, grant: SessionGrant, now: Instant) -> String {
        let code = Uuid::new_v4().simple().to_string();
        let mut table = self.table();
        table.codes.retain(|_, (_, made)| now.duration_since(*made) < CODE_LIFE);
        while table.codes.len() >= MOST_CODES {
            let oldest = table.codes.iter().min_by_key(|(_, (_, made))| *made);
            let Some(oldest) = oldest.map(|(digest, _)| *digest) else { break };
            table.codes.remove(&oldest);
        }
        table.codes.insert(digest(&code), (grant, now));
        code
    }

    /// What a code is good for; it is good for it once.
    pub(crate) fn spend(
        &self,
        code: &str,
        peer: IpAddr,
        now: Instant,
    ) -> Result<SessionGrant, SignInRefusal> {
        let peer = network(peer);
        let mut table = self.table();
        table.wrong.retain(|_, (first, _)| now.duration_since(*first) < MINUTE);
        let count = table.wrong.get(&peer).map_or(0, |(_, count)| *count);
        if count >= WRONG || (count == 0 && table.wrong.len() >= MOST_PEERS) {
            return Err(SignInRefusal::TooMany);
        }
        let found = table.codes.remove(&digest(code));
        let found = found.filter(|(_, made)| now.duration_since(*made) < CODE_LIFE);
        if let Some((grant, _)) = found {
            return Ok(grant);
        }
        table.wrong.entry(peer).or_insert((now, 0)).1 += 1;
        Err(SignInRefusal::WrongCode)
    }

    /// Begins a session of a caller: tenant and subject.
    pub(crate) fn begin(
        &self,
        grant: SessionGrant,
        whose: (&str, &str),
        now: Instant,
    ) -> Result<SessionHalves, SignInRefusal> {
        let whose = (whose.0.to_owned(), whose.1.to_owned());
        let mut table = self.table();
        table.sessions.retain(|_, session| session.left(now) > Duration::ZERO);
        let own = table.sessions.iter().filter(|(_, session)| session.whose == whose);
        if own.clone().count() >= PER_CALLER {
            let oldest = own.min_by_key(|(_, session)| session.used).map(|(id, _)| *id);
            oldest.and_then(|oldest| table.sessions.remove(&oldest));
            self.ended.send_replace(());
        }
        if table.sessions.len() >= MOST {
            return Err(SignInRefusal::Full);
        }
        let halves = SessionHalves { cookie: random(), page: random() };
        let page = digest(&halves.page);
        let session = KeptSession { page, whose, grant, began: now, used: now };
        table.sessions.insert(digest(&halves.cookie), session);
        Ok(halves)
    }

    /// The session of both halves, which is used by this.
    pub(crate) fn find(&self, cookie: &str, page: &str, now: Instant) -> Option<PageSession> {
        let (id, page) = (digest(cookie), digest(page));
        let mut table = self.table();
        let session = table.sessions.get_mut(&id)?;
        let left = session.left(now);
        if left == Duration::ZERO {
            table.sessions.remove(&id);
            return None;
        }
        // Digests are compared, and all of them to their ends: the time tells nothing of a half.
        let difference = session.page.iter().zip(&page).fold(0u8, |sum, (a, b)| sum | (a ^ b));
        if std::hint::black_box(difference) != 0 {
            return None;
        }
        session.used = now;
        Some(PageSession { id, grant: Arc::clone(&session.grant), left: session.left(now) })
    }

    pub(crate) fn end(&self, session: &PageSession) {
        self.table().sessions.remove(&session.id);
        self.ended.send_replace(());
    }

    /// The sessions that last yet: those of a caller, or all of them. `own`: the one that asks.
    pub(crate) fn list(
        &self,
        whose: Option<(&str, &str)>,
        own: Option<&PageSession>,
        now: Instant,
    ) -> Vec<Value> {
        let table = self.table();
        let known = table.sessions.iter().filter(|(_, session)| {
            let (tenant, subject) = (session.whose.0.as_str(), session.whose.1.as_str());
            whose.is_none_or(|whose| whose == (tenant, subject))
                && session.left(now) > Duration::ZERO
        });
        let mut known: Vec<_> = known.collect();
        known.sort_by_key(|(_, session)| std::cmp::Reverse(session.used));
        let row = |(id, session): (&SecretDigest, &KeptSession)| {
            json!({
                "id": name(id),
                "tenant": session.whose.0,
                "subject": session.whose.1,
                "seconds": now.duration_since(session.began).as_secs(),
                "idle_seconds": now.duration_since(session.used).as_secs(),
                "seconds_left": session.left(now).as_secs(),
                "own": own.is_some_and(|own| own.id == *id),
            })
        };
        known.into_iter().map(row).collect()
    }

    /// Ends the session of this name, if it is of this caller or whoever asks may end all.
    pub(crate) fn end_one(&self, wanted: &str, whose: Option<(&str, &str)>) -> bool {
        let mut table = self.table();
        let before = table.sessions.len();
        table.sessions.retain(|id, session| {
            let (tenant, subject) = (session.whose.0.as_str(), session.whose.1.as_str());
            name(id) != wanted || whose.is_some_and(|whose| whose != (tenant, subject))
        });
        let has_ended = table.sessions.len() < before;
        drop(table);
        if has_ended {
            self.ended.send_replace(());
        }
        has_ended
    }

    /// Waits until a session is over. Whoever waits does not use it.
    pub(crate) async fn over(&self, session: &PageSession) {
        let mut ended = self.ended.subscribe();
        loop {
            let left = {
                let table = self.table();
                table.sessions.get(&session.id).map(|session| session.left(Instant::now()))
            };
            let Some(left) = left.filter(|left| *left > Duration::ZERO) else { return };
            // The sender is ours: either it tells, or the time is up.
            let _ = timeout(left, ended.changed()).await;
        }
    }

    /// Ends all sessions of a caller; gives how many there were.
    pub(crate) fn end_all(&self, whose: (&str, &str)) -> usize {
        let mut table = self.table();
        let before = table.sessions.len();
        table
            .sessions
            .retain(|_, session| (session.whose.0.as_str(), session.whose.1.as_str()) != whose);
        self.ended.send_replace(());
        before - table.sessions.len()
    }

    fn table(&self) -> MutexGuard<'_, SessionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptSession {
    fn left(&self, now: Instant) -> Duration {
        let idle = IDLE.saturating_sub(now.duration_since(self.used));
        idle.min(LONGEST.saturating_sub(now.duration_since(self.began)))
    }
}

/// What a session is called where it is listed: too little of its digest to be anything else.
fn name(id: &SecretDigest) -> String {
    id.iter().take(8).fold(String::from("s_"), |name, byte| format!("{name}{byte:02x}"))
}

fn digest(secret: &str) -> SecretDigest {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const ANN: (&str, &str) = ("acme", "ann");

    #[test]
    fn a_code_signs_in_once_and_within_its_time() {
        let (book, now) = (SessionBook::default(), Instant::now());
        let spend = |code: &str, later| book.spend(code, HERE, now + later).map(drop);
        let code = book.code(SessionGrant::default(), now);
        assert_eq!(spend(&code, Duration::ZERO), Ok(()));
        assert_eq!(spend(&code, Duration::ZERO), Err(SignInRefusal::WrongCode));
        let code = book.code(SessionGrant::default(), now);
        assert_eq!(spend(&code, CODE_LIFE), Err(SignInRefusal::WrongCode));
        let code = book.code(SessionGrant::default(), now);
        assert_eq!(spend(&code, CODE_LIFE.saturating_sub(Duration::from_millis(1))), Ok(()));
    }

    #[test]
    fn of_many_codes_the_oldest_is_forgotten() {
        let (book, now) = (SessionBook::default(), Instant::now());
        let later = |count: usize| now + Duration::from_millis(count as u64);
        let codes: Vec<_> = (0..=MOST_CODES)
            .map(|count| book.code(SessionGrant::default(), later(count)))
            .collect();
        let spend = |at: usize| book.spend(&codes[at], HERE, later(MOST_CODES)).map(drop);
        assert_eq!((spend(0), spend(1)), (Err(SignInRefusal::WrongCode), Ok(())));
    }

    #[test]
    fn whoever_guesses_waits_a_minute_and_nobody_else_does() {
        let (book, now) = (SessionBook::default(), Instant::now());
        let code = book.code(SessionGrant::default(), now);
        let other: IpAddr = "2001:db8::1".parse().unwrap();
        for _ in 0..WRONG {
            let guess = book.spend("guess", HERE, now).map(drop);
            assert_eq!(guess, Err(SignInRefusal::WrongCode));
        }
        assert_eq!(book.spend(&code, HERE, now).map(drop), Err(SignInRefusal::TooMany));
        assert_eq!(book.spend("guess", other, now).map(drop), Err(SignInRefusal::WrongCode));
        assert!(book.spend(&code, HERE, now + MINUTE).is_ok());
    }

    #[test]
    fn a_session_needs_both_of_its_own_halves() {
        let (book, now) = (SessionBook::default(), Instant::now());
        let begin = || book.begin(SessionGrant::default(), ANN, now).ok().unwrap();
        let (one, two) = (begin(), begin());
        let is = |cookie: &str, page: &str| book.find(cookie, page, now).is_some();
        assert!(is(&one.cookie, &one.page) && is(&two.cookie, &two.page));
        assert!(!is(&one.cookie, &two.page) && !is(&two.cookie, &one.page));
        assert!(!is(&one.page, &one.cookie) && !is(&one.cookie, "") && !is("", &one.page));
        assert_eq!(book.end_all(("acme", "bob")), 0);
        assert_eq!(book.end_all(ANN), 2);
        assert!(!is(&one.cookie, &one.page));
    }

    #[test]
    fn a_session_ends_when_it_rests_and_when_it_is_old() {
        let (book, mut now) = (SessionBook::default(), Instant::now());
        let half = book.begin(SessionGrant::default(), ANN, now).ok().unwrap();
        let step = IDLE.saturating_sub(Duration::from_secs(1));
        let mut steps = 0;
        while book.find(&half.cookie, &half.page, now).is_some() {
            (now, steps) = (now + step, steps + 1);
        }
        assert_eq!(steps, 15, "seven days in steps of almost twelve hours");
        let half = book.begin(SessionGrant::default(), ANN, now).ok().unwrap();
        assert!(book.find(&half.cookie, &half.page, now + IDLE).is_none());
    }

    #[test]
    fn one_caller_has_so_many_sessions_and_the_oldest_makes_room() {
        let (book, now) = (SessionBook::default(), Instant::now());
        let first = book.begin(SessionGrant::default(), ANN, now).ok().unwrap();
        let second = book.begin(SessionGrant::default(), ANN, now).ok().unwrap();
        assert!(book.find(&first.cookie, &first.page, now + MINUTE).is_some());
        for _ in 2..=PER_CALLER {
            let begun = book.begin(SessionGrant::default(), ANN, now + MINUTE);
            assert!(begun.is_ok());
        }
        assert!(book.find(&first.cookie, &first.page, now + MINUTE).is_some());
        assert!(book.find(&second.cookie, &second.page, now + MINUTE).is_none());
    }
}
