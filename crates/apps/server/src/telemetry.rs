//! What a server tells of itself: figures, lines of a log, the calls of just now, traces.
//!
//! Nothing here holds the argument of a call or its result but `watched_calls`, for the page, in
//! memory and without secrets. A name comes from whoever called and is bounded where it is kept.

pub(crate) mod export;
pub(crate) mod family;
pub(crate) mod feed;
pub(crate) mod log;
mod metrics;
mod minutes;
mod operations;
pub(crate) mod prometheus;
pub(crate) mod recent_calls;
mod spans;
mod tracing_bridge;
mod watched_calls;

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result, anyhow};
use tokio::sync::mpsc::UnboundedSender;
use toolcrib_config::{Config, LogFormat, LogLevel};
use toolcrib_core::{
    BoxFuture, CallDecided, CallFinished, CallKey, LedgerError, LookupFinished, Observer,
    OutboundFinished, Progress, ProvidedCall, QuestionEvent, TicketId,
};
use toolcrib_store::Store;

pub(crate) use metrics::ServerMetrics;
pub(crate) use operations::{ClientTransport, OperationErrorType, OperationLabels, OperationTrace};
pub(crate) use recent_calls::RecentCalls;
pub(crate) use recent_calls::source_figures::SourceFigures;
pub(crate) use spans::{OtlpSpan, SpanQueue};

use crate::audit::AuditLog;
use crate::config::ProcessLookup;
use crate::secrets::SecretHolder;
use feed::EventFeed;
use minutes::CallMinutes;
use watched_calls::WatchedCalls;

/// How long the last records may take.
const LAST_RECORDS: Duration = Duration::from_secs(5);

/// Logs from now on so much and in this form, and what libraries say with it.
pub(crate) fn start_log(level: LogLevel, form: LogFormat) -> std::io::Result<()> {
    log::start(level, form)?;
    tracing_bridge::listen(level);
    Ok(())
}

/// Sees every call of every door.
pub(crate) struct Telemetry {
    pub(crate) figures: ServerMetrics,
    pub(crate) recent: RecentCalls,
    pub(crate) minutes: CallMinutes,
    /// For whoever follows what happens.
    pub(crate) feed: EventFeed,
    /// For the page.
    pub(crate) watched: WatchedCalls,
    pub(crate) audit: Option<AuditLog>,
    /// `None`: nobody collects traces, and none are kept.
    pub(crate) spans: Option<SpanQueue>,
    /// Hears of every ticket that was used up.
    pub(crate) redeemed: OnceLock<UnboundedSender<TicketId>>,
    /// What must stand in nothing that is written here. It is held here since calls that end after
    /// the last answer, while the sources stop, are written as well.
    pub(crate) secrets: SecretHolder,
}

impl Telemetry {
    /// As a file wants it; a record that it names is opened.
    pub(crate) fn open(file: &Config) -> Result<Self> {
        let audit = file.audit.as_ref().map(AuditLog::open).transpose();
        let audit = audit.context(UNKEPT)?;
        let spans = spans(file)?;
        let (figures, recent) = (ServerMetrics::default(), RecentCalls::default());
        let (feed, minutes) = (EventFeed::default(), CallMinutes::default());
        let (watched, redeemed) = (WatchedCalls::default(), OnceLock::new());
        let secrets = SecretHolder::new();
        Ok(Self { figures, recent, minutes, feed, watched, audit, spans, redeemed, secrets })
    }

    /// Fails as [`Telemetry::open`] would, and leaves all as it is; tells all that is wrong.
    pub(crate) fn try_out(file: &Config) -> Vec<anyhow::Error> {
        let audit = file.audit.as_ref().map(AuditLog::try_out).transpose();
        let audit = audit.context(UNKEPT).err();
        audit.into_iter().chain(spans(file).err()).collect()
    }

    /// Records what a process before left without an end; the store knows more of it.
    pub(crate) async fn resume(&self, store: Option<&Store>) -> Result<()> {
        let Some(audit) = &self.audit else { return Ok(()) };
        audit.resume(store).await.context("cannot go on with the record of decisions")
    }

    /// Writes what is left of the record.
    pub(crate) fn close(&self) {
        if let Some(audit) = &self.audit {
            audit.close(LAST_RECORDS);
        }
    }
}

/// What is said of a record of decisions that cannot be opened.
const UNKEPT: &str = "cannot keep the record of decisions";

/// Those of the collector that a file names.
fn spans(file: &Config) -> Result<Option<SpanQueue>> {
    let collector = file.telemetry(&ProcessLookup).map_err(|missing| {
        let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
        anyhow!("the headers for the collector are not there: {}", lines.join("; "))
    })?;
    collector.map(SpanQueue::new).transpose()
}

impl Observer for Telemetry {
    fn decided<'a>(&'a self, call: CallDecided<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        self.recent.begins(&call, Instant::now());
        self.feed.decided(&call);
        self.watched.decided(&call);
        match &self.audit {
            Some(audit) => audit.decided(&call),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }

    fn ended(&self, call: CallFinished<'_>) {
        if let Some(audit) = &self.audit {
            audit.ended(&call);
        }
        self.figures.ended(&call);
        let ended = self.recent.ends(&call);
        self.feed.ended(&call, &ended);
        self.minutes.ended(call.outcome);
        self.watched.ended(&call);
        let took = ended.took;
        log::call(&call, took);
        if let Some(spans) = &self.spans {
            spans.add(|| OtlpSpan::of_call(&call, SystemTime::now(), took));
        }
    }

    fn questioned(&self, question: QuestionEvent<'_>) {
        if let Some(audit) = &self.audit {
            audit.questioned(&question);
        }
        self.feed.questioned(&question);
        self.watched.questioned(&question);
    }

    fn looked_up(&self, lookup: LookupFinished) {
        self.watched.looked_up(lookup);
    }

    fn returned(&self, outbound: OutboundFinished<'_>) {
        self.figures.operations.returned(&outbound);
        if let Some(spans) = &self.spans {
            spans.add(|| OtlpSpan::of_outbound(&outbound, SystemTime::now()));
        }
    }

    fn redeemed(&self, ticket: &TicketId) {
        if let Some(hears) = self.redeemed.get() {
            // Whoever heard it has gone with the server.
            let _ = hears.send(ticket.clone());
        }
    }

    fn progress(&self, call: CallKey, progress: &Progress) {
        if let Some(caller) = self.recent.progress(call, progress) {
            self.feed.progress(call, &caller, progress);
        }
    }

    fn provided(&self, call: ProvidedCall<'_>) {
        if let Some(audit) = &self.audit {
            audit.provided(&call);
        }
    }
}
