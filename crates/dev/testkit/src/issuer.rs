//! An issuer of tokens with real keys, on a port of the loopback.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    self, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
    EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RsaEncoding, RsaKeyPair,
};
use serde_json::{Value, json};

/// Made for these tests and used for nothing else; making one takes seconds.
const RSA: &[u8] = include_bytes!("../keys/rsa.der");

/// The names of its keys, each with the algorithm that they are used with by default.
pub const KEYS: [(&str, &str); 4] =
    [("rsa", "RS256"), ("p256", "ES256"), ("p384", "ES384"), ("ed25519", "EdDSA")];

/// Answers for its metadata and its keys; dropped, it answers no more.
pub struct TestIssuer {
    shared: Arc<IssuerShared>,
    address: SocketAddr,
    keys: IssuerKeys,
}

#[derive(Default)]
struct IssuerShared {
    /// The paths that were asked for.
    asked: Mutex<Vec<String>>,
    is_down: AtomicBool,
    is_over: AtomicBool,
    jwks: Mutex<Value>,
}

struct IssuerKeys {
    random: SystemRandom,
    rsa: RsaKeyPair,
    p256: EcdsaKeyPair,
    p384: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
}

impl IssuerKeys {
    fn make() -> Option<Self> {
        let random = SystemRandom::new();
        let elliptic = |algorithm: &'static EcdsaSigningAlgorithm| {
            let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).ok()?;
            EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).ok()
        };
        let edwards = Ed25519KeyPair::generate_pkcs8(&random).ok()?;
        Some(Self {
            rsa: RsaKeyPair::from_der(RSA).ok()?,
            p256: elliptic(&ECDSA_P256_SHA256_FIXED_SIGNING)?,
            p384: elliptic(&ECDSA_P384_SHA384_FIXED_SIGNING)?,
            ed25519: Ed25519KeyPair::from_pkcs8(edwards.as_ref()).ok()?,
            random,
        })
    }

    fn jwks(&self) -> Value {
        let rsa: PublicKeyComponents<Vec<u8>> = self.rsa.public().into();
        let point = |key: &EcdsaKeyPair, width: usize| {
            let coordinates = key.public_key().as_ref().get(1..).unwrap_or_default();
            let (x, y) = coordinates.split_at(width);
            (BASE64.encode(x), BASE64.encode(y))
        };
        let (p256, p384) = (point(&self.p256, 32), point(&self.p384, 48));
        json!({ "keys": [
            { "kty": "RSA", "kid": "rsa", "use": "sig",
              "n": BASE64.encode(rsa.n), "e": BASE64.encode(rsa.e) },
            { "kty": "EC", "kid": "p256", "crv": "P-256", "x": p256.0, "y": p256.1 },
            { "kty": "EC", "kid": "p384", "crv": "P-384", "x": p384.0, "y": p384.1 },
            { "kty": "OKP", "kid": "ed25519", "crv": "Ed25519",
              "x": BASE64.encode(self.ed25519.public_key().as_ref()) },
            // What cannot sign a token is passed over.
            { "kty": "oct", "kid": "oct", "k": "c2VjcmV0" },
            { "kty": "RSA", "kid": "enc", "use": "enc", "n": "AQAB", "e": "AQAB" },
        ] })
    }

    fn sign(&self, algorithm: &str, text: &str) -> Vec<u8> {
        let bytes = text.as_bytes();
        let rsa = |encoding: &'static dyn RsaEncoding| {
            let mut signed = vec![0; self.rsa.public().modulus_len()];
            let done = self.rsa.sign(encoding, &self.random, bytes, &mut signed);
            if done.is_ok() { signed } else { Vec::new() }
        };
        let elliptic = |key: &EcdsaKeyPair| {
            let signed = key.sign(&self.random, bytes);
            signed.map(|signed| signed.as_ref().to_vec()).unwrap_or_default()
        };
        match algorithm {
            "RS256" => rsa(&signature::RSA_PKCS1_SHA256),
            "RS384" => rsa(&signature::RSA_PKCS1_SHA384),
            "RS512" => rsa(&signature::RSA_PKCS1_SHA512),
            "PS256" => rsa(&signature::RSA_PSS_SHA256),
            "PS384" => rsa(&signature::RSA_PSS_SHA384),
            "PS512" => rsa(&signature::RSA_PSS_SHA512),
            "ES256" => elliptic(&self.p256),
            "ES384" => elliptic(&self.p384),
            "EdDSA" => self.ed25519.sign(bytes).as_ref().to_vec(),
            // Whoever mistakes the public key for a shared secret would accept this.
            "HS256" => {
                let rsa: PublicKeyComponents<Vec<u8>> = self.rsa.public().into();
                let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &rsa.n);
                ring::hmac::sign(&key, bytes).as_ref().to_vec()
            }
            _ => Vec::new(),
        }
    }
}

impl TestIssuer {
    /// `None`: there is no port, or no randomness.
    pub fn start() -> Option<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).ok()?;
        let address = listener.local_addr().ok()?;
        let keys = IssuerKeys::make()?;
        let shared =
            Arc::new(IssuerShared { jwks: Mutex::new(keys.jwks()), ..IssuerShared::default() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.is_over.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(stream) = stream {
                    serving.answer(stream, address);
                }
            }
        });
        Some(Self { shared, address, keys })
    }

    /// What stands in `iss`.
    pub fn name(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How often a path was asked for.
    pub fn asked(&self, path: &str) -> usize {
        held(&self.shared.asked).iter().filter(|asked| *asked == path).count()
    }

    /// Whether it hangs up on everybody.
    pub fn be_down(&self, is_down: bool) {
        self.shared.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Publishes these keys from now on.
    pub fn publish(&self, jwks: Value) {
        *held(&self.shared.jwks) = jwks;
    }

    /// Publishes its own keys again.
    pub fn publish_all(&self) {
        self.publish(self.keys.jwks());
    }

    /// A token with a head and claims of any kind, signed as its head says.
    pub fn token(&self, head: &Value, claims: &Value) -> String {
        self.token_of(&head.to_string(), &claims.to_string())
    }

    /// The same of texts that may say a thing twice.
    pub fn token_of(&self, head: &str, claims: &str) -> String {
        let algorithm = serde_json::from_str::<Value>(head).unwrap_or_default();
        let algorithm = algorithm.get("alg").and_then(Value::as_str).unwrap_or_default();
        let signed = format!("{}.{}", BASE64.encode(head), BASE64.encode(claims));
        let signature = BASE64.encode(self.keys.sign(algorithm, &signed));
        format!("{signed}.{signature}")
    }
}

impl Drop for TestIssuer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}

impl IssuerShared {
    fn answer(&self, mut stream: TcpStream, address: SocketAddr) {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
            head.extend(byte);
        }
        let head = String::from_utf8_lossy(&head);
        let path = head.split(' ').nth(1).unwrap_or_default();
        held(&self.asked).push(path.to_owned());
        if self.is_down.load(Ordering::Relaxed) {
            return;
        }
        let (status, body) = match path {
            "/.well-known/openid-configuration" => {
                let name = format!("http://{address}");
                ("200 OK", json!({ "issuer": name, "jwks_uri": format!("{name}/keys") }))
            }
            "/keys" => ("200 OK", held(&self.jwks).clone()),
            _ => ("404 Not Found", json!({})),
        };
        let body = body.to_string();
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        );
        let _ = stream.write_all(answer.as_bytes());
    }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
