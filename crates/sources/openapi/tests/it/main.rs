//! What documents become, seen from outside.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it cannot read")]

mod bounds;
mod corpus;
mod documents;
mod guards;
mod hostile;
mod petstore;
mod prism;
mod real;
mod settings;
mod styles;
mod tokens;
mod unreadable;
mod upstream;
mod written;
mod xml;
