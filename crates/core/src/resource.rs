//! What a source offers beside tools: prompts, and resources with their templates.

pub(crate) mod address;
mod catalog;
mod code;
mod completion;
mod kind;
pub(crate) mod resources;
pub(crate) mod route;
mod template;

pub use address::{Address, Named};
pub use catalog::{Held, KeptOut, Offer, Stock};
pub use code::{CodeLibrary, Stocked};
pub use kind::Kind;
pub use resources::{About, Following, Holdings, Inquiry, Library, Said, Visitor};
