//! What libraries say, as lines of our log: their warnings from `debug` on, all of it at `trace`.

use std::fmt::{Debug, Write as _};

use serde_json::json;
use toolcrib_config::LogLevel;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::log;
use super::recent_calls::cut;

/// Says whole messages, with the arguments of calls in them: those are nobody's but the caller's.
const TALKATIVE: &str = "rmcp";
/// A span has no life of its own here.
const SPAN: u64 = 1;

struct TracingBridge;

/// Listens from now on, if the log wants to hear it.
pub(super) fn listen(level: LogLevel) {
    if level >= LogLevel::Debug {
        // Whoever listens already stays.
        let _ = tracing::subscriber::set_global_default(TracingBridge);
    }
}

impl Subscriber for TracingBridge {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_warning = *metadata.level() <= Level::WARN;
        let is_talk = metadata.target().starts_with(TALKATIVE);
        metadata.is_event() && (is_warning || (log::is_on(LogLevel::Trace) && !is_talk))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(if log::is_on(LogLevel::Trace) { LevelFilter::TRACE } else { LevelFilter::WARN })
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(SPAN)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let is_warning = *event.metadata().level() <= Level::WARN;
        let level = if is_warning { LogLevel::Debug } else { LogLevel::Trace };
        let mut said = EventText(String::new());
        event.record(&mut said);
        let fields = json!({ "library": event.metadata().target(), "message": cut(&said.0) });
        log::line(level, "library", fields);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct EventText(String);

impl Visit for EventText {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // A string takes whatever is written into it.
        let _ = if field.name() == "message" {
            write!(self.0, "{value:?} ")
        } else {
            write!(self.0, "{}={value:?} ", field.name())
        };
    }
}
