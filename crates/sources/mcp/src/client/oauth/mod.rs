//! OAuth 2.1 for servers over HTTP, as the protocol demands it.
//!
//! Read in this order: [`caller_tokens`] (who has tokens), [`authorizer`] (which to send),
//! [`renewal`] (what a refusal leads to), [`discovery`] and [`login`] (how a token is come by),
//! [`shared`] (where they are kept).
//!
//! What must stay true: tokens and clients belong to the issuer that gave them and to one caller;
//! no code is used whose state and issuer are not ours; only a server that says `invalid_grant`
//! makes us forget a token; no secret and no text of a server gets into an error.

mod authorizer;
mod caller_tokens;
mod discovery;
mod error;
mod grant;
mod login;
mod registration;
mod renewal;
mod shared;
mod token_endpoint;
mod token_provider;
mod transport;

pub use error::OAuthError;
pub use login::OAuthLogin;
pub use login::callback::AuthorizationResponse;
pub use login::command::{LoginError, login};
pub(crate) use token_provider::authorizers;

#[cfg(test)]
mod tests;
