//! What a token must say of itself, and the caller that it is about.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use toolcrib_core::Caller;

use crate::issuer::settings::IssuerSettings;

/// By how much clocks may differ, in seconds.
const LEEWAY: f64 = 60.0;
/// Longest name of a caller, in bytes.
const LONGEST_NAME: usize = 255;
const MOST_SCOPES: usize = 200;
const MOST_AUDIENCES: usize = 50;

type Claims = Map<String, Value>;

/// What a token says when its signature is right.
#[derive(Debug, Clone)]
pub(crate) struct VerifiedToken {
    pub(crate) caller: Caller,
    audiences: Vec<String>,
    /// Without leeway.
    end: SystemTime,
}

impl VerifiedToken {
    pub(crate) fn read(claims: &Claims, settings: &IssuerSettings) -> Result<Self, &'static str> {
        let end = in_time(claims, now())?;
        // Whoever shows such a token must prove to hold a key, which we do not ask for.
        if claims.contains_key("cnf") {
            return Err("it is bound to a key");
        }
        Ok(Self { caller: caller(claims, settings)?, audiences: audiences(claims)?, end })
    }

    /// Whether it is made out to one of these, letter by letter.
    pub(crate) fn is_for(&self, names: &[String]) -> bool {
        self.audiences.iter().any(|audience| names.contains(audience))
    }

    /// How long it is good for, without leeway.
    pub(crate) fn left(&self) -> Duration {
        self.end.duration_since(SystemTime::now()).unwrap_or_default()
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// A moment of a token, in seconds; a claim that is there and is none is refused.
fn moment(claims: &Claims, name: &str) -> Result<Option<f64>, &'static str> {
    match claims.get(name) {
        None => Ok(None),
        Some(value) => {
            let seconds = value.as_f64().filter(|seconds| (0.0..1e12).contains(seconds));
            seconds.map(Some).ok_or("one of its times is none")
        }
    }
}

fn in_time(claims: &Claims, now: f64) -> Result<SystemTime, &'static str> {
    let end = moment(claims, "exp")?.ok_or("it does not say when it ends")?;
    if end + LEEWAY <= now {
        return Err("it has expired");
    }
    for name in ["nbf", "iat"] {
        if moment(claims, name)?.is_some_and(|start| start - LEEWAY > now) {
            return Err("its time has not come");
        }
    }
    Ok(UNIX_EPOCH + Duration::from_secs_f64(end))
}

fn audiences(claims: &Claims) -> Result<Vec<String>, &'static str> {
    let wrong = "it does not say for whom it is";
    match claims.get("aud") {
        Some(Value::String(one)) => Ok(vec![one.clone()]),
        Some(Value::Array(all)) if all.len() <= MOST_AUDIENCES => {
            let texts = all.iter().map(|one| one.as_str().map(ToOwned::to_owned));
            texts.collect::<Option<_>>().ok_or(wrong)
        }
        _ => Err(wrong),
    }
}

fn caller(claims: &Claims, settings: &IssuerSettings) -> Result<Caller, &'static str> {
    let name = |claim: &str| {
        let text = claims.get(claim).and_then(Value::as_str);
        text.filter(|text| {
            !text.is_empty() && text.len() <= LONGEST_NAME && !text.chars().any(char::is_control)
        })
    };
    let subject = name(&settings.subject_claim).ok_or("it does not say whose it is")?;
    // Another issuer's tenants begin with another name, so none can speak for those of this one.
    let tenant = match &settings.tenant_claim {
        None => settings.tenant.clone(),
        Some(claim) => {
            let own = name(claim).ok_or("it does not say to which tenant it belongs")?;
            format!("{}/{own}", settings.tenant)
        }
    };
    let mut scopes: BTreeSet<String> = settings.scopes.iter().cloned().collect();
    match claims.get(&settings.scope_claim) {
        None => {}
        Some(Value::String(words)) => {
            scopes.extend(words.split_ascii_whitespace().map(ToOwned::to_owned));
        }
        Some(Value::Array(words)) => {
            let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
            let words = words.ok_or("its scopes cannot be read")?;
            scopes.extend(words.into_iter().map(ToOwned::to_owned));
        }
        Some(_) => return Err("its scopes cannot be read"),
    }
    if scopes.len() > MOST_SCOPES {
        return Err("it has too many scopes");
    }
    Ok(Caller::new(tenant, subject).with_scopes(scopes))
}
