//! An inquiry as a tool that reads, so that it passes the gate that calls pass.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::BoxFuture;
use crate::call::arguments::Arguments;
use crate::call::context::CallContext;
use crate::outcome::content::Content;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::redact::Mask;
use crate::resource::{ResourceRequest, Resources, UpdateStream};
use crate::tool::Tool;
use crate::tool::spec::ToolSpec;

pub(crate) struct ResourceReader {
    pub(crate) spec: ToolSpec,
    pub(crate) library: Arc<dyn Resources>,
    pub(crate) wish: ReaderTask,
    /// Largest answer, in bytes of JSON.
    pub(crate) largest: usize,
}

pub(crate) enum ReaderTask {
    Answer(ResourceRequest),
    Follow(String, Mutex<Option<oneshot::Sender<UpdateStream>>>),
}

impl Tool for ResourceReader {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn mask(&self) -> Option<&Mask> {
        self.library.mask()
    }

    fn call<'a>(&'a self, _: Arguments, context: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let done = match &self.wish {
                ReaderTask::Answer(inquiry) => self.answer(inquiry, context).await,
                ReaderTask::Follow(uri, to) => self.follow(uri, to, context).await,
            };
            ToolOutcome::from(done)
        })
    }
}

impl ResourceReader {
    async fn answer(
        &self,
        inquiry: &ResourceRequest,
        context: &CallContext,
    ) -> Result<Content, ToolError> {
        let extra = self.library.answer(inquiry.clone(), context).await?;
        let (size, largest) = (serde_json::to_vec(&extra).map(|bytes| bytes.len()), self.largest);
        if size.unwrap_or(usize::MAX) > largest {
            let told = format!(
                "the answer is larger than {largest} bytes: ask for less of it, or raise `max_data`"
            );
            return Err(ToolError::new(ErrorKind::Tool, told));
        }
        Ok(Content { extra, ..Content::default() })
    }

    async fn follow(
        &self,
        uri: &str,
        to: &Mutex<Option<oneshot::Sender<UpdateStream>>>,
        context: &CallContext,
    ) -> Result<Content, ToolError> {
        let following = self.library.follow(uri, context).await?;
        let following = match self.library.mask() {
            Some(mask) => following.masked(mask.clone()),
            None => following,
        };
        let to = to.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Whoever wanted it has gone: it ends with this.
        let _ = to.map(|to| to.send(following));
        Ok(Content::default())
    }
}
