//! Whom mail and invitations name.

use serde::Serialize;

/// Somebody with an address of mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Person {
    pub address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}
