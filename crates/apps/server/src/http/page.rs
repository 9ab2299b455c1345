//! The web page: its files, who is signed in, and what keeps others out.
//!
//! Read in this order: `door` (where it is), `assets` (what is served of it), `headers` (what every
//! reply tells a browser), `sessions` (who is signed in), `admission` (what a request must bring),
//! `sign_in` (the routes of sessions), `catalog` and `trial` (what it asks for of tools),
//! `provenance` (where the fields of a tool come from), `events`
//! (what it is told as it happens), `now` (what needs a person).

pub(crate) mod admission;
pub(crate) mod assets;
pub(crate) mod catalog;
pub(crate) mod door;
pub(crate) mod events;
pub(crate) mod headers;
pub(crate) mod now;
mod provenance;
pub(crate) mod role;
pub(crate) mod sessions;
pub(crate) mod sign_in;
pub(crate) mod trial;
