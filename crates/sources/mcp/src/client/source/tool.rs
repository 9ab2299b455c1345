//! A tool of a server.

use std::sync::Arc;

use toolcrib_core::{
    Arguments, BoxFuture, CallContext, Effect, FormFallback, Tool, ToolOutcome, ToolSpec,
};

use crate::client::call::outgoing::OutgoingRequest;
use crate::client::upstream::pool::UpstreamPool;

pub(crate) struct McpTool {
    /// Its name at the server.
    pub(crate) name: String,
    pub(crate) spec: Arc<ToolSpec>,
    /// Its server runs it as a task alone.
    pub(crate) is_task: bool,
    pub(crate) pool: Arc<UpstreamPool>,
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn shared_spec(&self) -> Arc<ToolSpec> {
        Arc::clone(&self.spec)
    }

    fn is_nonblocking(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let alone;
            let context = match self.pool.settings().questions {
                FormFallback::Ticket | FormFallback::Refused => context,
                FormFallback::PutAway => {
                    alone = context.asking_host_alone();
                    &alone
                }
            };
            let called = async {
                let upstream = self.pool.upstream(context).await?;
                let asked =
                    OutgoingRequest::tool((&self.name, &self.spec), arguments, self.is_task);
                upstream.call(asked, context).await?.outcome()
            };
            called.await.unwrap_or_else(|fault| {
                let reads = self.spec.effect == Effect::Read;
                ToolOutcome::Failed(fault.into_tool_error(self.pool.id.as_str(), reads))
            })
        })
    }
}
