//! Which library an inquiry is for, and which rules it must pass.

use std::sync::Arc;

use serde_json::Value;
use toolcrib_json::invisible::is_unseen;

use super::address::ResourceAddress;
use super::catalog::{ResourceCatalog, ResourceEntry, SourceResources};
use super::kind::ResourceKind;
use super::resources::{ResourceOperation, ResourceRequest};
use crate::call::caller::Caller;
use crate::call::json_fields::JsonFields;
use crate::call::name::{SourceId, ToolName};
use crate::outcome::refusal::{Refusal, RefusalReason};
use crate::outcome::{ErrorKind, ToolError};
use crate::policy::{Policy, UnlistedAccess, UnlistedResource};
use crate::tool::effect::Effect;
use crate::tool::spec::ToolSpec;

/// Where an inquiry goes.
#[derive(Clone)]
pub(crate) struct ResourceRoute {
    pub(crate) from: Arc<SourceResources>,
    /// What runs in its name.
    pub(crate) spec: ToolSpec,
}

impl ResourceCatalog {
    /// The library that answers; what the caller may not see is not there. `open`: the source that
    /// may be asked for more than it lists.
    pub(crate) fn seek(
        &self,
        inquiry: &ResourceRequest,
        caller: &Caller,
        policy: &dyn Policy,
        open: Option<&SourceId>,
    ) -> Result<ResourceRoute, ToolError> {
        // Where one thing is denied, something else may be another name of it.
        let open = open.filter(|_| !policy.is_per_tool()).and_then(|open| self.open(open));
        let seen = |offer: &&ResourceEntry| policy.sees(caller, &offer.spec);
        let text = |key: &str| inquiry.params.get(key).and_then(Value::as_str);
        let found = match inquiry.about {
            ResourceOperation::Prompt => {
                let name = text("name").unwrap_or_default();
                self.prompt(name, open, seen).ok_or_else(|| no_prompt(name))
            }
            ResourceOperation::Resource => {
                self.resource(text("uri").unwrap_or_default(), caller, policy)
            }
            ResourceOperation::Completion => {
                let about = inquiry.params.get("ref");
                let text = |key: &str| about?.get(key)?.as_str();
                let (name, uri) = (text("name"), text("uri").unwrap_or_default());
                let is_prompt = text("type") == Some("ref/prompt");
                let template = self.get(ResourceKind::Template, uri).filter(seen);
                match template {
                    _ if is_prompt => {
                        let name = name.unwrap_or_default();
                        self.prompt(name, open, seen).ok_or_else(|| no_prompt(name))
                    }
                    Some(offer) => Ok(ResourceRoute::of(offer)),
                    None => self.resource(uri, caller, policy),
                }
            }
            ResourceOperation::Level => {
                let spec = |held: &SourceResources| {
                    held.spec(ResourceKind::Resource, "logging", &JsonFields::new())
                };
                let sole = self.sole("logging", |held| policy.sees(caller, &spec(held)));
                let found =
                    sole.map(|held| ResourceRoute::at(held, ResourceKind::Resource, "logging"));
                found
                    .ok_or_else(|| Refusal::new(RefusalReason::UnknownMethod, "nobody logs").told())
            }
            ResourceOperation::Method(ref method) | ResourceOperation::Notice(ref method) => {
                let found = open.and_then(|held| ResourceRoute::method(held, method));
                found.ok_or_else(|| no_method(method))
            }
        }?;
        let is_permitted = policy.sees(caller, &found.spec);
        if is_permitted { Ok(found) } else { Err(missing(inquiry)) }
    }

    /// Whether there is somebody to answer.
    pub fn has(
        &self,
        inquiry: &ResourceRequest,
        caller: &Caller,
        policy: &dyn Policy,
        open: Option<&SourceId>,
    ) -> bool {
        self.seek(inquiry, caller, policy, open).is_ok()
    }

    /// The library of a source that may be asked for more than it lists.
    fn open(&self, source: &SourceId) -> Option<&Arc<SourceResources>> {
        let mut libraries = self.libraries.iter();
        libraries.find(|held| held.source == *source && held.library.is_open())
    }

    fn prompt(
        &self,
        name: &str,
        open: Option<&Arc<SourceResources>>,
        is_seen: impl Fn(&&ResourceEntry) -> bool,
    ) -> Option<ResourceRoute> {
        if let Some(offer) = self.get(ResourceKind::Prompt, name) {
            return Some(offer).filter(is_seen).map(ResourceRoute::of);
        }
        // What is listed and could not be taken stays out.
        let may_be = !name.contains(is_unseen) && !self.keeps_out(ResourceKind::Prompt, name);
        let has =
            |held: &&Arc<SourceResources>| held.holdings.said.capabilities.contains_key("prompts");
        let held = open.filter(has).filter(|_| may_be)?;
        Some(ResourceRoute::at(held, ResourceKind::Prompt, name))
    }

    fn resource(
        &self,
        uri: &str,
        caller: &Caller,
        policy: &dyn Policy,
    ) -> Result<ResourceRoute, ToolError> {
        if let Some(offer) = self.get(ResourceKind::Resource, uri) {
            // Whose address it is, it stays: no template of another reaches it.
            return Ok(ResourceRoute::of(offer));
        }
        let mut templates = self.seen(ResourceKind::Template, caller, policy);
        let template = templates
            .find(|offer| offer.pattern.as_ref().is_some_and(|pattern| pattern.matches(uri)));
        // A server may have more than it lists; with several, nobody knows whose it is.
        let fits = template.is_some();
        let from = template.map(|offer| &offer.from);
        let seen = |held: &SourceResources| {
            policy.sees(caller, &held.spec(ResourceKind::Resource, uri, &JsonFields::new()))
        };
        let from = from.or_else(|| self.sole("resources", seen));
        let least = if fits { UnlistedAccess::Fitting } else { UnlistedAccess::Named };
        let found = from.filter(|held| self.leave((held, uri), caller, policy) >= least);
        let found = found.map(|held| ResourceRoute::at(held, ResourceKind::Resource, uri));
        found.ok_or_else(|| no_resource(uri))
    }

    /// How far an address may be asked for that the library does not list.
    fn leave(
        &self,
        (held, uri): (&Arc<SourceResources>, &str),
        caller: &Caller,
        policy: &dyn Policy,
    ) -> UnlistedAccess {
        let address = ResourceAddress::new(uri);
        let spec = |uri: &str| held.spec(ResourceKind::Resource, uri, &JsonFields::new());
        let normal = spec(address.normal().unwrap_or(uri));
        let stem = &held.holdings.stem;
        let unlisted =
            UnlistedResource { spec: &spec(uri), normal: &normal, stem, address: &address };
        let leave = policy.leave(caller, &unlisted).and(held.library.leave(uri, &address));
        if leave < UnlistedAccess::Any && self.lists_like(&held.source, &address) {
            // What is listed is asked for as it is listed.
            return UnlistedAccess::Never;
        }
        leave
    }

    /// The only library of those in sight whose server says that it can do this.
    fn sole(
        &self,
        capability: &str,
        is_seen: impl Fn(&SourceResources) -> bool,
    ) -> Option<&Arc<SourceResources>> {
        let can =
            |held: &&Arc<SourceResources>| held.holdings.said.capabilities.contains_key(capability);
        let mut able = self.libraries.iter().filter(can).filter(|held| is_seen(held));
        able.next().filter(|_| able.next().is_none())
    }
}

impl ResourceRoute {
    /// Whether it is still the same, of the same source.
    pub(crate) fn is(&self, was: &Self) -> bool {
        self.from.source == was.from.source && self.spec.fingerprint() == was.spec.fingerprint()
    }

    fn of(offer: &ResourceEntry) -> Self {
        Self { from: Arc::clone(&offer.from), spec: ToolSpec::clone(&offer.spec) }
    }

    /// Something that no list names.
    fn at(held: &Arc<SourceResources>, kind: ResourceKind, key: &str) -> Self {
        Self { from: Arc::clone(held), spec: held.spec(kind, key, &JsonFields::new()) }
    }

    /// A method of which no more than its name is known: it may destroy.
    fn method(held: &Arc<SourceResources>, method: &str) -> Option<Self> {
        let name = ToolName::new(method).ok()?;
        let mut spec = ToolSpec::reader(name, &held.source);
        spec.effect = Effect::Destroy;
        "A method that the protocol does not define.".clone_into(&mut spec.description);
        spec.category = Some("method".to_owned());
        spec.limits.timeout = held.holdings.timeout;
        Some(Self { from: Arc::clone(held), spec })
    }
}

impl Refusal {
    fn told(self) -> ToolError {
        self.into_error(ErrorKind::InvalidArguments)
    }
}

/// What whoever may not know of something is told.
fn missing(inquiry: &ResourceRequest) -> ToolError {
    let text = |key: &str| inquiry.params.get(key).and_then(Value::as_str).unwrap_or_default();
    match inquiry.about {
        ResourceOperation::Resource => no_resource(text("uri")),
        ResourceOperation::Prompt => no_prompt(text("name")),
        ResourceOperation::Method(ref method) | ResourceOperation::Notice(ref method) => {
            no_method(method)
        }
        ResourceOperation::Completion | ResourceOperation::Level => {
            Refusal::new(RefusalReason::InvalidRequest, "there is no such prompt or resource")
                .told()
        }
    }
}

fn no_prompt(name: &str) -> ToolError {
    let told = format!("there is no prompt `{}`: list the prompts", crate::call::name::shown(name));
    Refusal::new(RefusalReason::InvalidRequest, told).told()
}

fn no_method(method: &str) -> ToolError {
    Refusal::new(RefusalReason::UnknownMethod, method).told()
}

fn no_resource(uri: &str) -> ToolError {
    let told = format!("there is no resource `{}`: list them", crate::call::name::shown(uri));
    Refusal::new(RefusalReason::NoResource { uri: uri.to_owned() }, told).told()
}
