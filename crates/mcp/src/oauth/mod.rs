//! OAuth 2.1 for servers over HTTP, as the protocol demands it.
//!
//! Read in this order: [`vault`] (who has tokens), [`authorizer`] (which to send), [`renewal`]
//! (what a refusal leads to), [`discovery`] and [`login`] (how a token is come by), [`store`].
//!
//! What must stay true: tokens and clients belong to the issuer that gave them and to one caller;
//! no code is used whose state and issuer are not ours; only a server that says `invalid_grant`
//! makes us forget a token; no secret and no text of a server gets into an error.

mod authorizer;
mod callback;
mod challenge;
mod client;
mod command;
mod discovery;
mod error;
mod flight;
mod grant;
mod login;
mod metadata;
mod people;
mod pkce;
mod renewal;
mod scopes;
mod seam;
mod store;
mod token;
mod vault;
mod wire;

pub use callback::Answer;
pub use command::{LoginError, login};
pub use error::OAuthError;
pub use login::Login;
pub(crate) use seam::authorizers;

#[cfg(test)]
mod tests;
