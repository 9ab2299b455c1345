//! One issuer of tokens: its keys, had once for all who wait, and kept while it is away.

pub(crate) mod settings;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolcrib_egress::Egress;

use self::settings::IssuerSettings;
use crate::access::error::AccessError;
use crate::claims::VerifiedToken;
use crate::fetch;
use crate::keyset::KeySet;
use crate::token::JsonWebToken;

/// Keys are had again no sooner, whatever names of keys are presented.
const PAUSE: Duration = Duration::from_secs(30);
/// Keys that are older are had again by whoever keeps them warm, while they still count.
const STALE: Duration = Duration::from_mins(15);
/// Keys that are older do not count.
const OLDEST: Duration = Duration::from_hours(24);

/// What only tokens of other kinds say: those that tell a client who signed in, or out (`OpenID`
/// Connect Core 1.0, 2 and 3.1.3.6; Back-Channel Logout 1.0, 2.4). Where `typ` is missing they are
/// known by nothing else.
const FOREIGN: [&str; 4] = ["nonce", "at_hash", "c_hash", "events"];

pub(crate) struct Issuer {
    pub(crate) settings: IssuerSettings,
    /// `Err`: the addresses cannot be reached by anybody.
    egress: Result<Egress, String>,
    state: Mutex<IssuerState>,
    /// Held by whoever asks for keys.
    flight: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct IssuerState {
    keys: Option<(Arc<KeySet>, Instant)>,
    /// When they were last asked for, with or without an answer.
    asked: Option<Instant>,
    trouble: Option<String>,
}

impl IssuerState {
    fn rests(&self) -> bool {
        self.asked.is_some_and(|asked| asked.elapsed() < PAUSE)
    }
}

impl Issuer {
    pub(crate) fn new(settings: IssuerSettings) -> Self {
        let named = [Some(settings.url.clone()), settings.jwks.clone()];
        let egress = Egress::open(named.into_iter().flatten(), settings.network.clone());
        Self {
            egress: egress.map_err(|error| error.to_string()),
            settings,
            state: Mutex::default(),
            flight: tokio::sync::Mutex::default(),
        }
    }

    /// What keeps its keys away; `None`: nothing, or nobody has asked yet.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.state().trouble.clone()
    }

    /// What a token says, if a key of this issuer has signed it.
    pub(crate) async fn verify(
        &self,
        token: &JsonWebToken<'_>,
    ) -> Result<VerifiedToken, AccessError> {
        let keys = self.keys_for(token).await.ok_or(AccessError::Unavailable)?;
        if !keys.has(token) && self.trouble().is_some() {
            // The issuer may have a newer key, and nobody can ask it now.
            return Err(AccessError::Unavailable);
        }
        if !keys.verifies(token) {
            return Err(AccessError::Rejected("its signature is not right"));
        }
        if !token.is_typed && !self.settings.untyped {
            return Err(AccessError::Rejected("it says in no `typ` what it is for"));
        }
        let is_foreign = |claim: &&str| token.claims.contains_key(*claim);
        if !token.is_typed && FOREIGN.iter().any(is_foreign) {
            return Err(AccessError::Rejected("it is no access token"));
        }
        VerifiedToken::read(&token.claims, &self.settings).map_err(AccessError::Rejected)
    }

    /// Asks for keys where there are none that are fresh.
    pub(crate) async fn warm(&self) {
        if self.kept().is_none_or(|(_, age)| age > STALE) {
            self.renew().await;
        }
    }

    /// The keys to hold against a token; `None`: none are to be had.
    async fn keys_for(&self, token: &JsonWebToken<'_>) -> Option<Arc<KeySet>> {
        if let Some((keys, _)) = self.kept()
            && keys.has(token)
        {
            return Some(keys);
        }
        self.renew().await;
        self.kept().map(|(keys, _)| keys)
    }

    fn kept(&self) -> Option<(Arc<KeySet>, Duration)> {
        let state = self.state();
        let (keys, since) = state.keys.as_ref()?;
        let age = since.elapsed();
        (age < OLDEST).then(|| (Arc::clone(keys), age))
    }

    /// Asks for the keys, unless somebody did a moment ago; who comes meanwhile waits for that.
    pub(crate) async fn renew(&self) {
        let _flight = self.flight.lock().await;
        {
            let mut state = self.state();
            if state.rests() {
                return;
            }
            state.asked = Some(Instant::now());
        }
        let fetched = match &self.egress {
            Ok(egress) => fetch::keys(egress, &self.settings).await,
            Err(error) => Err(error.clone()),
        };
        let mut state = self.state();
        match fetched {
            Ok(keys) => {
                state.keys = Some((Arc::new(keys), Instant::now()));
                state.trouble = None;
            }
            Err(trouble) => state.trouble = Some(trouble),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, IssuerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
