//! What tells things apart: fresh identifiers, and hashes.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256, Sha512};
use uuid::Uuid;

use crate::tool::{BasicToolInfo, BasicToolsResult, LONGEST_TEXT, basic};

pub(crate) fn tools() -> BasicToolsResult {
    let uuid = BasicToolInfo {
        name: "uuid_new",
        category: "identity",
        action: "create",
        summary: "Makes fresh UUIDs, random or ordered by time.",
        description: "Makes fresh UUIDs: v4 is random, v7 is ordered by time. Use it when \
                      something needs a unique identifier: one you make up is not unique.",
        steady: false,
    };
    let hash = BasicToolInfo {
        name: "hash_text",
        category: "identity",
        action: "hash",
        summary: "Computes the SHA-256 or SHA-512 of a text.",
        description: "Computes the SHA-256 or SHA-512 of a text in UTF-8, as hex. Use it to check \
                      or make a checksum; it is not meant for passwords.",
        steady: true,
    };
    Ok(vec![
        basic(&uuid, |arguments| Ok(uuid_new(arguments)))?,
        basic(&hash, |arguments| Ok(hash_text(arguments)))?,
    ])
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewUuidArguments {
    /// v4: random; v7: ordered by time, for keys of databases.
    #[serde(default)]
    version: UuidVersion,
    /// How many.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100))]
    count: usize,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum UuidVersion {
    #[default]
    V4,
    V7,
}

fn one() -> usize {
    1
}

#[derive(Serialize, JsonSchema)]
struct NewUuidResult {
    uuids: Vec<String>,
}

fn uuid_new(NewUuidArguments { version, count }: NewUuidArguments) -> NewUuidResult {
    let make = match version {
        UuidVersion::V4 => Uuid::new_v4,
        UuidVersion::V7 => Uuid::now_v7,
    };
    NewUuidResult { uuids: (0..count).map(|_| make().to_string()).collect() }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HashTextArguments {
    /// The text to hash, exactly as it is.
    #[schemars(length(max = LONGEST_TEXT))]
    text: String,
    /// The hash function.
    #[serde(default)]
    algorithm: HashAlgorithm,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum HashAlgorithm {
    #[default]
    Sha256,
    Sha512,
}

#[derive(Serialize, JsonSchema)]
struct HashTextResult {
    algorithm: HashAlgorithm,
    hex: String,
}

fn hash_text(HashTextArguments { text, algorithm }: HashTextArguments) -> HashTextResult {
    let hex = match algorithm {
        HashAlgorithm::Sha256 => hex(&Sha256::digest(&text)),
        HashAlgorithm::Sha512 => hex(&Sha512::digest(&text)),
    };
    HashTextResult { algorithm, hex }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
