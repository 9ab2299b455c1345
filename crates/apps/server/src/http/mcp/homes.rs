//! The replicas of a server, as those in which a call or a task may live.

use std::sync::Arc;

use http::Response;
use toolcrib_core::{BoxFuture, LedgerError};
use toolcrib_mcp::{AuthenticatedCaller, ForwardedMcpRequest, McpBody, McpHomes};
use toolcrib_store::Store;

use crate::http::forward::edge::{Forwarded, ReplicaForwards};
use crate::http::forward::envelope::traceparent;
use crate::http::forward::{home_of, replica_of};

/// Those that share a record.
pub(crate) struct ReplicaHomes {
    store: Store,
    /// `None`: this one cannot be asked, and asks nobody.
    forwards: Option<Arc<ReplicaForwards>>,
}

impl ReplicaHomes {
    /// `None`: this process has the record for itself.
    pub(crate) fn of(store: &Store, forwards: Option<&Arc<ReplicaForwards>>) -> Option<Self> {
        let forwards = forwards.map(Arc::clone);
        store.replica().map(|_| Self { store: store.clone(), forwards })
    }
}

impl McpHomes for ReplicaHomes {
    fn own(&self) -> String {
        home_of(&self.store.replica().unwrap_or_default()).to_owned()
    }

    fn is_alive<'a>(&'a self, home: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move { Ok(!self.store.is_over(&replica_of(home)).await?) })
    }

    fn forward<'a>(
        &'a self,
        home: &'a str,
        request: ForwardedMcpRequest,
    ) -> BoxFuture<'a, Option<Response<McpBody>>> {
        Box::pin(async move {
            let reply = self.forwards.as_ref()?.forward(home, &forwarded(request)).await?;
            Some(reply.map(McpBody::new))
        })
    }

    fn forward_to_all(&self, request: ForwardedMcpRequest) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            let Some(forwards) = &self.forwards else { return false };
            forwards.forward_to_all(&forwarded(request)).await
        })
    }
}

fn forwarded(ForwardedMcpRequest { guest, request }: ForwardedMcpRequest) -> Forwarded {
    let AuthenticatedCaller { caller, trace, .. } = guest;
    let (head, body) = request.into_parts();
    Forwarded {
        caller,
        method: head.method,
        path: head.uri.path().to_owned(),
        headers: head.headers,
        body,
        trace: trace.map(traceparent).unwrap_or_default(),
    }
}
