//! What a line is: its number, its time, what it records, the hash of the line before, and at last
//! its own hash, which is that of all before it in the line.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use toolcrib_json::invisible::exact_json;

use super::rotation::CONTINUES;

/// What the first line holds for the hash of the line before.
pub(super) const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// More than any line of ours has.
pub(super) const LONGEST_LINE: usize = 64 * 1024;
const HASH: &str = ",\"hash\":\"";
/// Of `HASH`, 64 digits, and `"}`.
const TAIL: usize = HASH.len() + 64 + 2;

/// Where a chain ends.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
pub(crate) struct ChainHead {
    /// How many lines there are.
    pub(crate) n: u64,
    /// The hash of the last.
    pub(crate) hash: String,
}

impl ChainHead {
    pub(super) fn none() -> Self {
        Self { n: 0, hash: NOTHING.to_owned() }
    }

    /// The next line with its line break, and the head that it makes.
    pub(super) fn next(&self, record: &Value) -> (String, Self) {
        let n = self.n + 1;
        let mut line = Map::new();
        line.insert("n".to_owned(), n.into());
        line.insert("time".to_owned(), Timestamp::now().to_string().into());
        if let Value::Object(fields) = record {
            line.extend(fields.clone());
        }
        line.insert("prev".to_owned(), self.hash.clone().into());
        // People read it: nothing in it is hidden from the eye.
        let mut text = exact_json(&Value::Object(line).to_string()).into_owned();
        let hash = hash(&text);
        text.pop();
        // A string takes whatever is written into it.
        let _ = writeln!(text, "{HASH}{hash}\"}}");
        (text, Self { n, hash })
    }
}

/// A line that is whole in itself.
pub(super) struct ChainLink {
    pub(super) n: u64,
    pub(super) prev: String,
    pub(super) hash: String,
    /// The file before, where this is the first line of a file that continues one.
    pub(super) continues: Option<String>,
}

impl ChainLink {
    /// Reads a line without its line break; `None`: its hash is not that of what it says.
    pub(super) fn read(line: &str) -> Option<Self> {
        let body = line.get(..line.len().checked_sub(TAIL)?)?;
        let tail = line.get(body.len()..)?;
        let own = tail.strip_prefix(HASH)?.strip_suffix("\"}")?;
        let body = format!("{body}}}");
        if hash(&body) != own {
            return None;
        }
        let fields: Value = serde_json::from_str(&body).ok()?;
        let prev = fields.get("prev")?.as_str()?.to_owned();
        let continues = fields.get("record").is_some_and(|kind| kind == CONTINUES);
        let before = fields.get("file").and_then(Value::as_str).filter(|_| continues);
        let (n, continues) = (fields.get("n")?.as_u64()?, before.map(str::to_owned));
        Some(Self { n, prev, hash: own.to_owned(), continues })
    }
}

fn hash(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    digest.iter().fold(String::with_capacity(64), |hex, byte| hex + &format!("{byte:02x}"))
}
