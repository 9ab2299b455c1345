//! The prompts and resources of a source as an operator wants to have them: under the prefix of
//! its tools, and those that `include` and `exclude` leave.

use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{
    BoxFuture, CallContext, ClientSession, ErrorKind, JsonFields, Mask, Refusal, RefusalReason,
    ResourceAddress, ResourceKind, ResourceList, ResourceOperation, ResourceRequest, Resources,
    SourceError, ToolError, UnlistedAccess, UpdateStream,
};

use super::view_settings::SourceViewSettings;

pub(super) struct ResourceView {
    pub(super) library: Arc<dyn Resources>,
    pub(super) fit: SourceViewSettings,
}

impl ResourceView {
    fn fitted(&self, mut holdings: ResourceList) -> ResourceList {
        let stem = self.fit.stem();
        let wanted = |key: &'static str| {
            move |fields: &Arc<JsonFields>| {
                fields.get(key).and_then(Value::as_str).is_some_and(|name| self.fit.wants(name))
            }
        };
        holdings.resources.retain(wanted("uri"));
        holdings.templates.retain(wanted("uriTemplate"));
        holdings.prompts.retain(wanted("name"));
        for prompt in &mut holdings.prompts {
            if let Some(Value::String(name)) = Arc::make_mut(prompt).get_mut("name") {
                *name = format!("{stem}{name}");
            }
        }
        let is_own = |fields: &Arc<JsonFields>| {
            let name = fields.get("name").and_then(Value::as_str).unwrap_or_default();
            self.fit.owner(name).is_none()
        };
        holdings.prompts.retain(is_own);
        holdings.stem = stem;
        holdings
    }

    /// The inquiry as the source knows it; `None`: it is about something that is left out.
    fn own(&self, mut inquiry: ResourceRequest) -> Option<ResourceRequest> {
        let (stem, named) = match inquiry.about {
            ResourceOperation::Prompt => (self.fit.stem(), inquiry.params.get_mut("name")),
            ResourceOperation::Resource => (String::new(), inquiry.params.get_mut("uri")),
            ResourceOperation::Completion => {
                let about = inquiry.params.get_mut("ref")?;
                if about.get("type").is_some_and(|kind| kind == "ref/prompt") {
                    (self.fit.stem(), about.get_mut("name"))
                } else {
                    (String::new(), about.get_mut("uri"))
                }
            }
            ResourceOperation::Level => return Some(inquiry),
            ResourceOperation::Method(_) | ResourceOperation::Notice(_) => {
                return self.fit.is_of_all().then_some(inquiry);
            }
        };
        let named = named?;
        let own = named.as_str()?.strip_prefix(&stem)?.to_owned();
        if !self.fit.wants(&own) {
            return None;
        }
        *named = Value::from(own);
        Some(inquiry)
    }
}

fn left_out() -> ToolError {
    let told = "there is no such prompt or resource";
    let refusal = Refusal::new(RefusalReason::InvalidRequest, told);
    refusal.into_error(ErrorKind::InvalidArguments)
}

impl Resources for ResourceView {
    fn load(&self) -> BoxFuture<'_, Result<ResourceList, SourceError>> {
        Box::pin(async { Ok(self.fitted(self.library.load().await?)) })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        self.library.changed()
    }

    fn change_announced(&self, kind: ResourceKind) -> BoxFuture<'static, ()> {
        self.library.change_announced(kind)
    }

    fn lines(&self, visitor: ClientSession) -> Option<UpdateStream> {
        self.library.lines(visitor)
    }

    fn is_open(&self) -> bool {
        self.fit.is_of_all() && self.library.is_open()
    }

    fn mask(&self) -> Option<&Mask> {
        self.library.mask()
    }

    fn leave(&self, uri: &str, address: &ResourceAddress) -> UnlistedAccess {
        self.fit.leave(uri, address).and(self.library.leave(uri, address))
    }

    fn answer<'a>(
        &'a self,
        inquiry: ResourceRequest,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<JsonFields, ToolError>> {
        match self.own(inquiry) {
            Some(inquiry) => self.library.answer(inquiry, context),
            None => Box::pin(std::future::ready(Err(left_out()))),
        }
    }

    fn follow<'a>(
        &'a self,
        uri: &'a str,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<UpdateStream, ToolError>> {
        if self.fit.wants(uri) {
            return self.library.follow(uri, context);
        }
        Box::pin(std::future::ready(Err(left_out())))
    }
}
