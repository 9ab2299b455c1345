//! Stand-ins that do as a test says: tools, sources, a policy, a ledger, a folder.
pub(crate) mod folder;
pub(crate) mod ledger;
pub(crate) mod oracle;
pub(crate) mod policy;
pub(crate) mod source;
