//! A JSON web token (RFC 7519) as it is written: read within bounds, believed in nothing yet.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use toolcrib_json::repair::read_strict;

use crate::algorithm::Algorithm;

/// Longest token, in bytes.
pub const LONGEST_TOKEN: usize = 16 * 1024;
/// Longest head of one.
const LONGEST_HEAD: usize = 2 * 1024;
/// Longest name of a key.
const LONGEST_KID: usize = 256;

/// What a token says.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonWebToken<'a> {
    pub algorithm: Algorithm,
    /// The name of the key; `None`: it names none.
    pub kid: Option<String>,
    /// Whether it says in `typ` that it lets somebody in somewhere.
    pub is_typed: bool,
    pub claims: Map<String, Value>,
    /// What is signed.
    pub signed: &'a str,
    pub signature: Vec<u8>,
}

impl<'a> JsonWebToken<'a> {
    /// Reads a token. What it says twice, in other words than the standard's, or with marks that
    /// we do not know, is refused.
    pub fn read(text: &'a str) -> Result<Self, &'static str> {
        if text.len() > LONGEST_TOKEN {
            return Err("it is too long");
        }
        let form = "it is no JSON web token";
        let (signed, signature) = text.rsplit_once('.').ok_or(form)?;
        let (head, claims) = signed.split_once('.').ok_or(form)?;
        if claims.contains('.') || head.len() > LONGEST_HEAD {
            return Err(form);
        }
        let head = object(head).ok_or("its head cannot be read")?;
        let algorithm = head.get("alg").and_then(Value::as_str).and_then(Algorithm::named);
        let algorithm = algorithm.ok_or("its algorithm is not accepted")?;
        let is_typed = is_typed(&head)?;
        if head.contains_key("crit") {
            return Err("it has marks that we do not know");
        }
        let kid = match head.get("kid") {
            None => None,
            Some(Value::String(kid)) if kid.len() <= LONGEST_KID => Some(kid.clone()),
            Some(_) => return Err("the name of its key cannot be read"),
        };
        let claims = object(claims).ok_or("its claims cannot be read")?;
        let signature = decoded(signature).filter(|signature| !signature.is_empty());
        let signature = signature.ok_or("its signature cannot be read")?;
        Ok(Self { algorithm, kid, is_typed, claims, signed, signature })
    }
}

/// Tokens for other ends, such as a logout, are signed with the same keys and say so; some issuers
/// say nothing of any.
fn is_typed(head: &Map<String, Value>) -> Result<bool, &'static str> {
    let Some(kind) = head.get("typ") else { return Ok(false) };
    let kind = kind.as_str().unwrap_or_default();
    let bare = kind.get(..12).filter(|start| start.eq_ignore_ascii_case("application/"));
    let bare = bare.map_or(kind, |start| &kind[start.len()..]);
    if ["JWT", "at+jwt"].iter().any(|known| bare.eq_ignore_ascii_case(known)) {
        return Ok(true);
    }
    Err("its `typ` is neither `JWT` nor `at+jwt`")
}

fn object(text: &str) -> Option<Map<String, Value>> {
    let text = String::from_utf8(decoded(text)?).ok()?;
    match read_strict(&text).ok()? {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

/// One text has one form: padding and stray bits are refused.
pub(crate) fn decoded(text: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()
}
