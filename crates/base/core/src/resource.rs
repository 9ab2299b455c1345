//! What a source offers beside tools: prompts, and resources with their templates.

pub(crate) mod address;
mod catalog;
mod code;
mod completion;
mod kind;
pub(crate) mod resources;
pub(crate) mod route;
mod template;

pub use address::{AddressPattern, ResourceAddress};
pub use catalog::{QuarantinedResource, ResourceCatalog, ResourceEntry, SourceResources};
pub use code::{CodeResources, WithResources};
pub use kind::ResourceKind;
pub use resources::{
    ClientSession, ResourceList, ResourceOperation, ResourceRequest, Resources, ServerInfo,
    UpdateStream,
};
