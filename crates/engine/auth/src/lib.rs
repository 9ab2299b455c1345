//! Who asks, by what was presented; and what the scopes of a caller open.
//!
//! Read in this order: [`AccessControl`] (one answer for whatever is presented), [`ApiKey`],
//! [`JsonWebToken`] (a token as it is written), `issuer` (whose keys are held against it), `claims`
//! (what it must say), [`reach`] (what scopes open), [`ScopedPolicy`] (the same as a policy),
//! [`ProtectedResource`] (what OAuth calls us).
//!
//! A credential is accepted whole or refused: none is passed over, and none makes a caller of the
//! tenant [`LOCAL`], who is the person at the machine. Only this crate names `ring`.

mod access;
mod algorithm;
mod api_key;
mod claims;
mod fetch;
mod issuer;
mod keyset;
mod resource;
mod scope;
mod scoped_policy;
mod token;
mod token_cache;

pub use access::error::AccessError;
pub use access::{AccessControl, AccessSettings, Challenge};
pub use algorithm::Algorithm;
pub use api_key::{ApiKey, KEY_PREFIX, digest, key_text, moment};
pub use issuer::settings::IssuerSettings;
pub use keyset::KeySet;
pub use keyset::signing_key::SigningKey;
pub use resource::ProtectedResource;
pub use scope::{
    AccessLevel, LOCAL, OPERATOR, PROFILE, READ, TOOLS, enters, is_operator, needed, profiles,
    reach,
};
pub use scoped_policy::ScopedPolicy;
pub use token::{JsonWebToken, LONGEST_TOKEN};
