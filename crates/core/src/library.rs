//! What a source offers beside tools: prompts, and resources with their templates.

pub(crate) mod address;
mod code;
pub(crate) mod definition;
mod kind;
mod pattern;
pub(crate) mod seek;
pub(crate) mod stock;
mod values;

pub use address::{Address, Named};
pub use code::{CodeLibrary, Stocked};
pub use definition::{About, Following, Holdings, Inquiry, Library, Said, Visitor};
pub use kind::Kind;
pub use stock::{Held, KeptOut, Offer, Stock};
