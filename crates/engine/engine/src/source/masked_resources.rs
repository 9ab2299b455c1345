//! The prompts and resources of a source whose lists tell none of its secrets; what is read and
//! followed is masked by the gate.

use std::sync::Arc;

use toolcrib_core::{
    BoxFuture, CallContext, ClientSession, JsonFields, Mask, ResourceAddress, ResourceKind,
    ResourceList, ResourceRequest, Resources, ServerInfo, SourceError, ToolError, UnlistedAccess,
    UpdateStream,
};

pub(super) struct MaskedResources {
    pub(super) library: Arc<dyn Resources>,
    pub(super) mask: Mask,
}

impl MaskedResources {
    fn masked(&self, holdings: ResourceList) -> ResourceList {
        let list = |mut list: Vec<Arc<JsonFields>>| {
            for fields in &mut list {
                self.mask.each(|redactor| redactor.fields(Arc::make_mut(fields)));
            }
            list
        };
        let mut said = ServerInfo::clone(&holdings.said);
        self.mask.each(|redactor| redactor.fields(&mut said.server));
        self.mask.each(|redactor| redactor.fields(&mut said.capabilities));
        self.mask.each(|redactor| redactor.fields(&mut said.hints));
        if let Some(text) = &mut said.instructions {
            *text = self.mask.text(text);
        }
        ResourceList {
            prompts: list(holdings.prompts),
            resources: list(holdings.resources),
            templates: list(holdings.templates),
            said: Arc::new(said),
            ..holdings
        }
    }
}

impl Resources for MaskedResources {
    fn load(&self) -> BoxFuture<'_, Result<ResourceList, SourceError>> {
        Box::pin(async {
            let loaded = self.library.load().await;
            // Why it has none is told of its tools; this here would have to be masked once more.
            let loaded = loaded.map_err(|_| SourceError::new("it does not list what it has"));
            Ok(self.masked(loaded?))
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        self.library.changed()
    }

    fn change_announced(&self, kind: ResourceKind) -> BoxFuture<'static, ()> {
        self.library.change_announced(kind)
    }

    fn lines(&self, visitor: ClientSession) -> Option<UpdateStream> {
        Some(self.library.lines(visitor)?.masked(self.mask.clone()))
    }

    fn is_open(&self) -> bool {
        self.library.is_open()
    }

    fn leave(&self, uri: &str, address: &ResourceAddress) -> UnlistedAccess {
        self.library.leave(uri, address)
    }

    fn mask(&self) -> Option<&Mask> {
        Some(&self.mask)
    }

    fn answer<'a>(
        &'a self,
        inquiry: ResourceRequest,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<JsonFields, ToolError>> {
        self.library.answer(inquiry, context)
    }

    fn follow<'a>(
        &'a self,
        uri: &'a str,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<UpdateStream, ToolError>> {
        self.library.follow(uri, context)
    }
}
