//! The tool by which a model reads what was too large for it: there for whoever has something to
//! read.

use std::sync::{Arc, Weak};

use arc_swap::ArcSwap;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;
use toolcrib_core::{
    BoxFuture, CallContext, Caller, Catalog, Content, Effect, InvalidName, Ledger, ResultHandle,
    SourceId, Tool, ToolError, ToolSpec, tool_with,
};

const NAME: &str = "read_result";
/// Where it comes from, for rules: no source of a file has this name with a tool of that one.
pub(crate) const SOURCE: &str = "toolcrib";

const DEFAULT_PIECE: usize = 16 * 1024;
const LARGEST_PIECE: usize = 64 * 1024;
/// What a piece may have in bytes, so that none is cut again.
const ROOM: usize = 8 * LARGEST_PIECE;

/// Which piece.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The handle that the cut result named.
    handle: String,
    /// Letters to pass over: `next` of the piece before.
    #[serde(default)]
    offset: usize,
    /// Letters to give at the most, up to 65536.
    limit: Option<usize>,
    /// A JSON pointer into the data of the result.
    path: Option<String>,
}

/// The tool, and the snapshots that have it.
pub(crate) struct Reading {
    tool: Arc<dyn Tool>,
    ledger: Arc<dyn Ledger>,
    /// The snapshots that were asked for, and what each is with the tool.
    latest: ArcSwap<Vec<(Weak<Catalog>, Arc<Catalog>)>>,
    /// Counts how often somebody began to have something to read.
    began: watch::Sender<u64>,
}

impl Reading {
    /// `None` only if the name were none.
    pub(crate) fn of(ledger: &Arc<dyn Ledger>) -> Option<Arc<Self>> {
        let tool = tool(Arc::clone(ledger)).ok()?;
        let (began, _) = watch::channel(0);
        let ledger = Arc::clone(ledger);
        Some(Arc::new(Self { tool, ledger, latest: ArcSwap::default(), began }))
    }

    pub(crate) fn spec(&self) -> Arc<ToolSpec> {
        self.tool.shared_spec()
    }

    /// What a caller is shown: the snapshot, with the tool if there is something to read.
    pub(crate) fn catalog(&self, caller: &Caller, snapshot: Arc<Catalog>) -> Arc<Catalog> {
        if !self.ledger.keeps_for(caller) {
            return snapshot;
        }
        let is_of =
            |(of, _): &&(Weak<Catalog>, _)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(&snapshot));
        if let Some((_, known)) = self.latest.load().iter().find(is_of) {
            return Arc::clone(known);
        }
        let with = snapshot.with(Arc::clone(&self.tool)).map(Arc::new);
        let Some(with) = with else { return snapshot };
        // What nobody is shown any more is not kept.
        self.latest.rcu(|latest| {
            let of_now = latest.iter().filter(|(of, _)| of.strong_count() > 0).cloned();
            of_now.chain([(Arc::downgrade(&snapshot), Arc::clone(&with))]).collect::<Vec<_>>()
        });
        with
    }

    pub(crate) fn has(&self, caller: &Caller) -> bool {
        self.ledger.keeps_for(caller)
    }

    pub(crate) fn begins(&self) {
        self.began.send_modify(|count| *count += 1);
    }

    /// Resolves when somebody begins to have something to read.
    pub(crate) fn begun(&self) -> BoxFuture<'static, ()> {
        let mut began = self.began.subscribe();
        Box::pin(async move {
            // The sender lives as long as the crib; without one nothing begins any more.
            if began.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

fn tool(ledger: Arc<dyn Ledger>) -> Result<Arc<dyn Tool>, InvalidName> {
    let description = "Reads a result that was too large to be shown whole, a piece at a time. \
                       Call it with the handle that the cut result named.";
    let mut spec = ToolSpec::new(NAME, description, Effect::Read)?;
    spec.origin.source = SourceId::new(SOURCE);
    spec.traits.capability = true;
    spec.limits.max_result_bytes = Some(ROOM);
    Ok(tool_with(spec, move |wanted: Wanted, context: CallContext| {
        let ledger = Arc::clone(&ledger);
        async move { piece(&*ledger, context.caller(), wanted).await }
    }))
}

async fn piece(ledger: &dyn Ledger, caller: &Caller, wanted: Wanted) -> Result<Content, ToolError> {
    let handle = ResultHandle(wanted.handle);
    let kept = ledger.kept(caller, &handle).await.ok_or_else(|| {
        ToolError::told("there is no such result: it may be too old. Make the call again")
    })?;
    let limit = wanted.limit.unwrap_or(DEFAULT_PIECE).clamp(1, LARGEST_PIECE);
    let excerpt = kept.excerpt(wanted.offset, limit, wanted.path.as_deref());
    let excerpt = excerpt.ok_or_else(|| {
        ToolError::told("the result has nothing at this JSON pointer: leave `path` out")
    })?;
    let end = excerpt.offset.saturating_add(excerpt.text.chars().count());
    let more = excerpt.next.map_or("the end".to_owned(), |next| format!("go on at offset {next}"));
    let place = format!("[{} to {end} of {} letters; {more}]", excerpt.offset, excerpt.total);
    Ok(Content {
        parts: vec![toolcrib_core::Part::text(excerpt.text), toolcrib_core::Part::text(place)],
        ..Content::default()
    })
}
