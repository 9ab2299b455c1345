//! A private key of ours, with which something is signed for others.

use std::fmt;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use serde_json::{Value, json};

/// How a key in PEM begins and ends (PKCS #8, RFC 5958).
const MARKS: (&str, &str) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");

/// A private key: of P-256, of Ed25519, or of RSA.
pub struct SigningKey {
    pair: SigningPair,
    public: Value,
    kid: String,
}

enum SigningPair {
    Elliptic(EcdsaKeyPair),
    Edwards(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

/// Nothing of the key but its public name.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("kid", &self.kid).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// Reads a key in PEM, as `openssl genpkey` writes it. The error has no words of it.
    pub fn of_pem(text: &str) -> Result<Self, &'static str> {
        let (begin, end) = MARKS;
        let body = text.split_once(begin).and_then(|(_, rest)| rest.split_once(end));
        let (body, _) = body.ok_or("it begins `-----BEGIN PRIVATE KEY-----`")?;
        let body: String = body.split_whitespace().collect();
        let der = BASE64_STANDARD.decode(body).map_err(|_| "what is in it is no base64")?;
        let pair = SigningPair::of_der(&der);
        let pair = pair.ok_or("it is a key of P-256, of Ed25519, or of RSA with 2048 bits")?;
        let public = pair.public();
        // RFC 7638: the members of the key alone, by their names.
        let kid = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, public.to_string().as_bytes()));
        Ok(Self { pair, public, kid })
    }

    /// `ES256`, `EdDSA` or `RS256`.
    pub fn algorithm(&self) -> &'static str {
        match self.pair {
            SigningPair::Elliptic(_) => "ES256",
            SigningPair::Edwards(_) => "EdDSA",
            SigningPair::Rsa(_) => "RS256",
        }
    }

    /// The name of the key, which follows from it (RFC 7638).
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The public half (RFC 7517), with its name.
    pub fn public(&self) -> Value {
        let mut public = self.public.clone();
        if let Value::Object(fields) = &mut public {
            fields.insert("kid".to_owned(), self.kid.as_str().into());
        }
        public
    }

    /// The signature over the text; `None`: no random numbers are to be had.
    pub fn sign(&self, text: &str) -> Option<Vec<u8>> {
        let (random, text) = (SystemRandom::new(), text.as_bytes());
        match &self.pair {
            SigningPair::Elliptic(pair) => {
                pair.sign(&random, text).ok().map(|signed| signed.as_ref().to_vec())
            }
            SigningPair::Edwards(pair) => Some(pair.sign(text).as_ref().to_vec()),
            SigningPair::Rsa(pair) => {
                let mut signed = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signed).ok()?;
                Some(signed)
            }
        }
    }
}

impl SigningPair {
    fn of_der(der: &[u8]) -> Option<Self> {
        let elliptic =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &SystemRandom::new());
        if let Ok(pair) = elliptic {
            return Some(Self::Elliptic(pair));
        }
        if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            return Some(Self::Edwards(pair));
        }
        RsaKeyPair::from_pkcs8(der).ok().map(|pair| Self::Rsa(Box::new(pair)))
    }

    /// The members that the name of the key is made of, sorted.
    fn public(&self) -> Value {
        let text = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::Elliptic(pair) => {
                // A mark stands before the two coordinates.
                let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
                let (x, y) = point.split_at_checked(32).unwrap_or_default();
                json!({ "crv": "P-256", "kty": "EC", "x": text(x), "y": text(y) })
            }
            Self::Edwards(pair) => {
                json!({ "crv": "Ed25519", "kty": "OKP", "x": text(pair.public_key().as_ref()) })
            }
            Self::Rsa(pair) => {
                let key: PublicKeyComponents<Vec<u8>> = pair.public().into();
                json!({ "e": text(&key.e), "kty": "RSA", "n": text(&key.n) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, KeySet};

    fn pem(der: &[u8]) -> String {
        let (begin, end) = MARKS;
        format!("{begin}\n{}\n{end}\n", BASE64_STANDARD.encode(der))
    }

    #[test]
    fn what_a_key_signs_is_checked_by_its_public_half_alone() {
        let random = SystemRandom::new();
        let elliptic =
            || EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let edwards = || Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        for [own, other] in [[elliptic(), elliptic()], [edwards(), edwards()]] {
            let own = SigningKey::of_pem(&pem(own.as_ref())).unwrap();
            let other = SigningKey::of_pem(&pem(other.as_ref())).unwrap();
            let algorithm = Algorithm::named(own.algorithm()).unwrap();
            let signed = own.sign("a text").unwrap();
            let keys = KeySet::of_keys(&[own.public(), other.public()]);
            let verifies =
                |kid: &str, text: &str| keys.has_signed(algorithm, Some(kid), (text, &signed));
            assert!(verifies(own.kid(), "a text"));
            assert!(!verifies(own.kid(), "another text"));
            assert!(!verifies(other.kid(), "a text"));
            assert!(!format!("{own:?}").contains("pair"), "{own:?}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused_without_its_words() {
        let (begin, end) = MARKS;
        for bad in ["", "secret", &format!("{begin}\n!{end}"), &pem(b"secret")] {
            assert!(!SigningKey::of_pem(bad).unwrap_err().contains("secret"), "{bad}");
        }
    }
}
