//! A remote agent whose secrets stand beside it.

use std::sync::Arc;

use serde_json::Value;
use toolcrib_a2a_client::{A2aCredential, A2aSettings, CardKeys, CardSignature, CardVerifier};
use toolcrib_auth::{Algorithm, KeySet};
use toolcrib_core::Secret;

use crate::secrets::template::{SecretLookup, Template, TemplateResolution};

#[derive(Debug, Clone)]
pub(crate) struct A2aTemplate {
    /// All that is no secret.
    pub(crate) plain: A2aSettings,
    pub(crate) headers: Vec<(String, Template)>,
    pub(crate) credential: Option<A2aCredentialTemplate>,
}

/// One way to say who we are.
#[derive(Debug, Clone)]
pub(crate) enum A2aCredentialTemplate {
    Bearer(Template),
    Basic { user: String, password: Template },
    Key(Template),
}

impl A2aTemplate {
    /// `headers`: with what is secret of them filled in.
    pub(crate) fn resolve(
        &self,
        headers: Vec<(String, Secret)>,
        lookup: &dyn SecretLookup,
        found: &mut TemplateResolution,
    ) -> A2aSettings {
        let credential = self.credential.as_ref().map(|credential| match credential {
            A2aCredentialTemplate::Bearer(token) => {
                A2aCredential::Bearer(token.secret(lookup, found))
            }
            A2aCredentialTemplate::Basic { user, password } => A2aCredential::Basic {
                user: user.clone(),
                password: password.secret(lookup, found),
            },
            A2aCredentialTemplate::Key(key) => A2aCredential::Key(key.secret(lookup, found)),
        });
        A2aSettings { headers, credential, ..self.plain.clone() }
    }

    /// What of it is secret.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        let own = self.credential.iter().map(|credential| match credential {
            A2aCredentialTemplate::Bearer(text)
            | A2aCredentialTemplate::Key(text)
            | A2aCredentialTemplate::Basic { password: text, .. } => text,
        });
        self.headers.iter().map(|(_, text)| text).chain(own)
    }
}

/// Public keys that signatures of cards are held against, each by itself: keys that are given by
/// hand seldom have names.
#[derive(Debug)]
struct CardKeySet(Vec<KeySet>);

impl CardVerifier for CardKeySet {
    fn verifies(&self, signature: &CardSignature, signed: &str) -> bool {
        let Some(algorithm) = Algorithm::named(&signature.algorithm) else { return false };
        let signed = (signed, signature.signature.as_slice());
        self.0.iter().any(|key| key.has_signed(algorithm, None, signed))
    }
}

/// Cards that one of these keys (JWK) has signed.
pub(crate) fn signed_by(keys: &[Value]) -> CardKeys {
    let sets = keys.iter().map(|key| KeySet::of_keys(std::slice::from_ref(key)));
    let verifier = Arc::new(CardKeySet(sets.collect()));
    CardKeys { print: Value::from(keys.to_vec()).to_string(), verifier }
}
