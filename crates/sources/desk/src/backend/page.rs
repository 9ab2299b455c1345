//! A list in pages.

/// One page of a list. `next` is what the following query takes as its `cursor`; it is opaque.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendPage<T> {
    pub items: Vec<T>,
    pub next: Option<String>,
    /// What is kept and cannot be read, each with its id and the reason, and with no more of them
    /// than a person reads.
    pub unread: Vec<String>,
}
