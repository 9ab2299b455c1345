//! The public keys of an issuer (RFC 7517): those that can sign tokens; others are passed over.

pub(crate) mod signing_key;

use ring::signature::{RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::Value;
use toolcrib_json::repair::read_strict;

use crate::algorithm::{Algorithm, SignatureScheme};
use crate::token::{JsonWebToken, decoded};

/// Keys of one set; an issuer has a handful.
const MOST_KEYS: usize = 100;
/// Keys that one token is tried with: more than one have its name only by mistake.
const MOST_TRIES: usize = 4;

/// Public keys; a key that can sign nothing here is not among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeySet(Vec<JsonWebKey>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct JsonWebKey {
    kid: Option<String>,
    /// The one algorithm that it is for, if it says so.
    algorithm: Option<Algorithm>,
    material: KeyMaterial,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyMaterial {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl KeySet {
    /// `None`: it is no set of keys.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let value = read_strict(std::str::from_utf8(bytes).ok()?).ok()?;
        let keys = value.get("keys")?.as_array()?;
        Some(Self::of_keys(keys))
    }

    /// The keys of a list that can sign.
    pub fn of_keys(keys: &[Value]) -> Self {
        Self(keys.iter().take(MOST_KEYS).filter_map(JsonWebKey::read).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it may be a key of these that a token is signed with.
    pub(crate) fn has(&self, token: &JsonWebToken<'_>) -> bool {
        self.of(token.algorithm, token.kid.as_deref()).next().is_some()
    }

    /// Whether a key of these has signed the token.
    pub(crate) fn verifies(&self, token: &JsonWebToken<'_>) -> bool {
        let text = (token.signed, token.signature.as_slice());
        self.has_signed(token.algorithm, token.kid.as_deref(), text)
    }

    /// Whether a key of these has made the signature over the text. `kid`: the name of the key;
    /// without one it must be plain which is meant.
    pub fn has_signed(
        &self,
        algorithm: Algorithm,
        kid: Option<&str>,
        (text, signature): (&str, &[u8]),
    ) -> bool {
        let (text, mut keys) = (text.as_bytes(), self.of(algorithm, kid).take(MOST_TRIES));
        keys.any(|key| key.verifies(algorithm, text, signature))
    }

    fn of<'a>(
        &'a self,
        algorithm: Algorithm,
        kid: Option<&'a str>,
    ) -> impl Iterator<Item = &'a JsonWebKey> {
        // Without a name it must be plain which key is meant.
        let named = move |key: &&JsonWebKey| kid.is_none() || key.kid.as_deref() == kid;
        let fitting = move |key: &&JsonWebKey| named(key) && key.fits(algorithm);
        let is_plain = kid.is_some() || self.0.iter().filter(fitting).count() == 1;
        self.0.iter().filter(fitting).filter(move |_| is_plain)
    }
}

impl JsonWebKey {
    fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let bytes = |name: &str| text(name).and_then(decoded);
        if text("use").is_some_and(|usage| usage != "sig") {
            return None;
        }
        let operations = value.get("key_ops").and_then(Value::as_array);
        if operations.is_some_and(|all| !all.iter().any(|one| one == "verify")) {
            return None;
        }
        let algorithm = match text("alg") {
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        let point = |width: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            let is_whole = x.len() == width && y.len() == width;
            // Both coordinates follow the mark of an uncompressed point.
            is_whole.then(|| [vec![4], x, y].concat())
        };
        let material = match (text("kty")?, text("crv")) {
            ("RSA", _) => {
                KeyMaterial::Rsa { modulus: bare(bytes("n")?), exponent: bare(bytes("e")?) }
            }
            ("EC", Some("P-256")) => KeyMaterial::P256(point(32)?),
            ("EC", Some("P-384")) => KeyMaterial::P384(point(48)?),
            ("OKP", Some("Ed25519")) => KeyMaterial::Ed25519(bytes("x")?),
            _ => return None,
        };
        Some(Self { kid: text("kid").map(ToOwned::to_owned), algorithm, material })
    }

    /// The kind of the key decides, and never the token alone.
    fn fits(&self, algorithm: Algorithm) -> bool {
        let is_kind = match &self.material {
            KeyMaterial::Rsa { .. } => matches!(algorithm.check(), SignatureScheme::Rsa(_)),
            KeyMaterial::P256(_) => algorithm == Algorithm::Es256,
            KeyMaterial::P384(_) => algorithm == Algorithm::Es384,
            KeyMaterial::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        is_kind && self.algorithm.is_none_or(|own| own == algorithm)
    }

    fn verifies(&self, algorithm: Algorithm, signed: &[u8], signature: &[u8]) -> bool {
        match (algorithm.check(), &self.material) {
            (SignatureScheme::Rsa(parameters), KeyMaterial::Rsa { modulus: n, exponent: e }) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, signed, signature).is_ok()
            }
            (
                SignatureScheme::Elliptic(algorithm),
                KeyMaterial::P256(point) | KeyMaterial::P384(point),
            ) => UnparsedPublicKey::new(algorithm, point).verify(signed, signature).is_ok(),
            (SignatureScheme::Edwards(algorithm), KeyMaterial::Ed25519(point)) => {
                UnparsedPublicKey::new(algorithm, point).verify(signed, signature).is_ok()
            }
            (
                SignatureScheme::Rsa(_)
                | SignatureScheme::Elliptic(_)
                | SignatureScheme::Edwards(_),
                _,
            ) => false,
        }
    }
}

/// A number without the zeros before it.
fn bare(number: Vec<u8>) -> Vec<u8> {
    number.into_iter().skip_while(|byte| *byte == 0).collect()
}
