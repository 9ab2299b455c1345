//! Who asks, by what was presented; and what the scopes of a caller open.
//!
//! Read in this order: [`Access`] (one answer for whatever is presented), [`ApiKey`], [`Token`] (a
//! token as it is written), `issuer` (whose keys are held against it), `claims` (what it must say),
//! [`reach`] (what scopes open), [`Scoped`] (the same as a policy), [`Resource`] (what OAuth calls
//! us).
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

pub use access::{Access, AccessSettings, Challenge, Refusal};
pub use algorithm::Algorithm;
pub use api_key::{ApiKey, KEY_PREFIX, digest, key_text, moment};
pub use issuer::IssuerSettings;
pub use resource::Resource;
pub use scope::{
    LOCAL, OPERATOR, PROFILE, READ, Reach, TOOLS, enters, is_operator, needed, profiles, reach,
};
pub use scoped_policy::Scoped;
pub use token::{LONGEST_TOKEN, Token};
