//! What just happened, in its order, for whoever follows it: calls, tickets, sources, the catalog.
//!
//! Only what came last is kept, and nothing while nobody follows. Whoever was away for longer is
//! told that something is missing, and looks for itself.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::watch;
use toolcrib_auth::{AccessLevel, is_operator, reach};
use toolcrib_core::{
    CallDecided, CallFinished, CallKey, Caller, Progress, QuestionEvent, TicketId, ToolName,
    ToolOutcome,
};
use toolcrib_engine::catalog::SourceState;

use super::recent_calls::{RecentCall, cut, progress_json};

/// Events that are kept.
const MOST: usize = 1024;
/// Names of tools that one event tells.
const MOST_NAMES: usize = 100;

pub(crate) struct EventFeed {
    ring: Mutex<EventRing>,
    /// The number of the last event.
    last: watch::Sender<u64>,
}

#[derive(Default)]
struct EventRing {
    events: VecDeque<Arc<FeedEvent>>,
    last: u64,
}

/// Something that happened.
pub(crate) struct FeedEvent {
    pub(crate) number: u64,
    pub(crate) topic: EventTopic,
    /// Whose it is; `None`: it is about the server.
    caller: Option<Arc<Caller>>,
    data: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventTopic {
    Call,
    Ticket,
    Source,
    Catalog,
    Config,
    Overlay,
    Freeze,
}

/// What came after an event.
pub(crate) enum EventsSince {
    /// These, the oldest first.
    Events(Vec<Arc<FeedEvent>>),
    /// More than is kept.
    Gap,
}

impl Default for EventFeed {
    fn default() -> Self {
        Self { ring: Mutex::default(), last: watch::Sender::new(0) }
    }
}

impl EventFeed {
    /// The number of the last event, and word of each that comes. From now on events are kept.
    pub(crate) fn follow(&self) -> watch::Receiver<u64> {
        let _ring = self.ring();
        self.last.subscribe()
    }

    pub(crate) fn since(&self, number: u64) -> EventsSince {
        let ring = self.ring();
        let kept = u64::try_from(ring.events.len()).unwrap_or(u64::MAX);
        let Some(missed) = ring.last.checked_sub(number).filter(|missed| *missed <= kept) else {
            return EventsSince::Gap;
        };
        let passed = usize::try_from(kept - missed).unwrap_or(usize::MAX);
        EventsSince::Events(ring.events.iter().skip(passed).cloned().collect())
    }

    pub(super) fn decided(&self, call: &CallDecided<'_>) {
        self.tell(EventTopic::Call, Some(call.caller), || {
            told(
                ("started", call.key, call.caller),
                &json!({
                    "tool": call.tool.spec.name,
                    "source": call.tool.spec.origin.source,
                    "effect": call.tool.spec.effect.as_str(),
                }),
            )
        });
        if call.ticket.is_some() && call.decider.is_some() {
            self.tell(EventTopic::Ticket, Some(call.caller), || {
                told(
                    ("decided", call.key, call.caller),
                    &json!({
                        "tool": call.tool.spec.name,
                        "verdict": call.ruling.as_str(),
                    }),
                )
            });
        }
    }

    pub(super) fn progress(&self, key: CallKey, caller: &Arc<Caller>, progress: &Progress) {
        self.tell(EventTopic::Call, Some(caller), || {
            told(("progress", key, caller), &json!({ "progress": progress_json(progress) }))
        });
    }

    pub(super) fn ended(&self, call: &CallFinished<'_>, ended: &RecentCall) {
        self.tell(EventTopic::Call, Some(call.caller), || {
            told(("ended", call.key, call.caller), &ended.to_json())
        });
        if matches!(call.outcome, ToolOutcome::Pending(_)) {
            self.tell(EventTopic::Ticket, Some(call.caller), || {
                told(("new", call.key, call.caller), &json!({ "tool": cut(call.name) }))
            });
        }
    }

    pub(super) fn questioned(&self, question: &QuestionEvent<'_>) {
        self.tell(EventTopic::Ticket, Some(question.caller), || {
            let of = (question.stage.as_str(), question.key, &**question.caller);
            told(of, &json!({ "tool": question.tool.spec.name }))
        });
    }

    /// The time of a call that waited is up.
    pub(crate) fn expired(&self, ticket: &TicketId, caller: &Arc<Caller>, tool: &ToolName) {
        self.tell(EventTopic::Ticket, Some(caller), || {
            json!({
                "phase": "expired",
                "ticket": ticket,
                "tenant": caller.tenant,
                "caller": caller.subject,
                "tool": tool,
            })
        });
    }

    /// How a source is doing now.
    pub(crate) fn source(&self, state: &SourceState) {
        self.tell(EventTopic::Source, None, || json!(state));
    }

    /// A source is no more.
    pub(crate) fn source_removed(&self, id: &str) {
        self.tell(EventTopic::Source, None, || json!({ "id": id, "removed": true }));
    }

    /// The tools are others, or other rules hold for them.
    pub(crate) fn catalog(&self, added: &[&str], removed: &[&str], changed: &[&str]) {
        let first = |names: &[&str]| json!(names.get(..MOST_NAMES).unwrap_or(names));
        self.tell(EventTopic::Catalog, None, || {
            json!({ "added": first(added), "removed": first(removed), "changed": first(changed) })
        });
    }

    /// The file is in force, or is not, for these reasons.
    pub(crate) fn config(&self, problems: &[String]) {
        self.tell(EventTopic::Config, None, || json!({ "problems": problems }));
    }

    /// Other fields are changed over the file.
    pub(crate) fn overlay(&self, changes: &Value) {
        self.tell(EventTopic::Overlay, None, || changes.clone());
    }

    /// Other calls are frozen: whoever may know which asks for them.
    pub(crate) fn freeze(&self) {
        self.tell(EventTopic::Freeze, None, || json!({}));
    }

    fn tell(&self, topic: EventTopic, of: Option<&Arc<Caller>>, data: impl FnOnce() -> Value) {
        let mut ring = self.ring();
        ring.last += 1;
        if self.last.receiver_count() == 0 {
            ring.events.clear();
            return;
        }
        if ring.events.len() >= MOST {
            ring.events.pop_front();
        }
        let (number, caller) = (ring.last, of.cloned());
        ring.events.push_back(Arc::new(FeedEvent { number, topic, caller, data: data() }));
        self.last.send_replace(number);
    }

    /// The number of the last event, whether it was kept or not.
    pub(crate) fn last(&self) -> u64 {
        self.ring().last
    }

    fn ring(&self) -> MutexGuard<'_, EventRing> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The data of an event of a call.
fn told((phase, key, caller): (&str, CallKey, &Caller), more: &Value) -> Value {
    let (tenant, subject) = (&caller.tenant, &caller.subject);
    let mut told = json!({ "phase": phase, "key": key, "tenant": tenant, "caller": subject });
    if let (Value::Object(fields), Value::Object(more)) = (&mut told, more) {
        fields.extend(more.clone());
    }
    told
}

impl FeedEvent {
    /// What a reader may know of it; `None`: nothing. Names of tools that rules hide from others are
    /// for the operator, and so is how sources are doing.
    pub(crate) fn told_to(&self, reader: &Caller) -> Option<Value> {
        let is_own = self.caller.as_ref().is_some_and(|caller| caller.is(reader));
        let is_told = match self.topic {
            EventTopic::Call => is_own || is_operator(reader),
            EventTopic::Ticket => {
                is_own || is_operator(reader) && reach(reader, None) == AccessLevel::All
            }
            EventTopic::Source | EventTopic::Config | EventTopic::Overlay => is_operator(reader),
            EventTopic::Catalog if !is_operator(reader) => return Some(json!({})),
            EventTopic::Catalog | EventTopic::Freeze => true,
        };
        is_told.then(|| self.data.clone())
    }
}

impl EventTopic {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Ticket => "ticket",
            Self::Source => "source",
            Self::Catalog => "catalog",
            Self::Config => "config",
            Self::Overlay => "overlay",
            Self::Freeze => "freeze",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(since: EventsSince) -> Option<Vec<u64>> {
        match since {
            EventsSince::Events(events) => Some(events.iter().map(|event| event.number).collect()),
            EventsSince::Gap => None,
        }
    }

    #[test]
    fn what_came_last_is_kept_as_long_as_somebody_follows() {
        let feed = EventFeed::default();
        feed.source_removed("early");
        assert_eq!((feed.last(), numbers(feed.since(1))), (1, Some(vec![])));
        assert_eq!(numbers(feed.since(0)), None);
        let follows = feed.follow();
        (0..3).for_each(|_| feed.source_removed("s"));
        assert_eq!(numbers(feed.since(1)), Some(vec![2, 3, 4]));
        assert_eq!(numbers(feed.since(3)), Some(vec![4]));
        assert_eq!((numbers(feed.since(0)), numbers(feed.since(5))), (None, None));
        (0..MOST).for_each(|_| feed.source_removed("s"));
        assert_eq!(numbers(feed.since(3)), None);
        assert_eq!(numbers(feed.since(4)).map(|kept| kept.len()), Some(MOST));
        drop(follows);
        feed.source_removed("late");
        assert_eq!(numbers(feed.since(1027)), None);
    }

    #[test]
    fn a_reader_is_told_of_its_own_and_the_operator_of_all() {
        let (ann, bob) = (Caller::new("acme", "ann"), Caller::new("acme", "bob"));
        let operator = Caller::new("acme", "op").with_scopes(["operator"]);
        let whole = Caller::new("acme", "op").with_scopes(["operator", "tools"]);
        let told = |topic, of: Option<&Caller>| {
            let caller = of.map(|caller| Arc::new(caller.clone()));
            let event = FeedEvent { number: 1, topic, caller, data: json!({ "x": 1 }) };
            [&ann, &bob, &operator, &whole].map(|reader| event.told_to(reader))
        };
        let (all, bare) = (Some(json!({ "x": 1 })), Some(json!({})));
        let of_call = told(EventTopic::Call, Some(&ann));
        assert_eq!(of_call, [all.clone(), None, all.clone(), all.clone()]);
        let of_ticket = told(EventTopic::Ticket, Some(&ann));
        assert_eq!(of_ticket, [all.clone(), None, None, all.clone()]);
        for topic in [EventTopic::Source, EventTopic::Config, EventTopic::Overlay] {
            assert_eq!(told(topic, None), [None, None, all.clone(), all.clone()]);
        }
        let of_catalog = [bare.clone(), bare, all.clone(), all];
        assert_eq!(told(EventTopic::Catalog, None), of_catalog);
    }
}
