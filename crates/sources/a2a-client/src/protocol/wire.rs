//! Versions of the protocol, the ways it is carried, and how shapes are written in each.

use std::fmt;

/// A version of the protocol that is spoken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolVersion {
    V1,
    V03,
}

impl ProtocolVersion {
    /// `1.0`, `1.0.1`, `0.3.0`; `None`: none that is spoken here.
    pub fn read(text: &str) -> Option<Self> {
        let mut numbers = text.trim().trim_start_matches('v').split('.');
        match (numbers.next()?, numbers.next().unwrap_or("0")) {
            ("1", _) => Some(Self::V1),
            ("0", "3") => Some(Self::V03),
            _ => None,
        }
    }

    /// As the header `A2A-Version` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
            Self::V03 => "0.3",
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How requests and answers are carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolBinding {
    JsonRpc,
    /// Paths and methods of HTTP.
    HttpJson,
}

impl ProtocolBinding {
    /// As a card writes it; `None`: one that is not spoken here.
    pub fn read(text: &str) -> Option<Self> {
        match text.trim().to_ascii_uppercase().as_str() {
            "JSONRPC" | "JSON-RPC" => Some(Self::JsonRpc),
            "HTTP+JSON" | "REST" => Some(Self::HttpJson),
            _ => None,
        }
    }

    /// As a card writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::HttpJson => "HTTP+JSON",
        }
    }
}

/// How a shape is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireForm {
    /// Of 1.0, over every binding.
    Current,
    /// Of 0.3 over JSON-RPC: every object says what it is (`kind`).
    Kinds,
    /// Of 0.3 over HTTP: the JSON of its protocol buffers.
    OldProto,
}

impl WireForm {
    pub fn of(version: ProtocolVersion, binding: ProtocolBinding) -> Self {
        match (version, binding) {
            (ProtocolVersion::V1, _) => Self::Current,
            (ProtocolVersion::V03, ProtocolBinding::JsonRpc) => Self::Kinds,
            (ProtocolVersion::V03, ProtocolBinding::HttpJson) => Self::OldProto,
        }
    }
}
