//! A batch that tells how it goes: server-sent events, the last of which is the whole answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, channel};
use toolcrib_core::{BatchOptions, CallKey, Host, IdempotencyKey, LogEntry, Progress};

use super::idempotency::ReplyStore;
use super::job::BatchJob;
use crate::http::routes::reply::{self, HttpReply};

/// Events that wait for a reader; of progress, what comes too fast is left out.
const WAITING: usize = 64;
/// A line at least this often shows that the batch goes on.
const BEAT: Duration = Duration::from_secs(15);

struct BatchEventHost {
    ids: Vec<String>,
    events: Sender<Bytes>,
}

impl BatchEventHost {
    fn tell(&self, name: &str, call: CallKey, fields: &Value) {
        let mut data = json!({ "id": self.ids.get(call.place()), "key": call });
        if let (Value::Object(data), Value::Object(fields)) = (&mut data, fields) {
            data.extend(fields.clone());
        }
        let _ = self.events.try_send(event(name, data.to_string().as_bytes()));
    }
}

impl Host for BatchEventHost {
    fn progress(&self, call: CallKey, progress: Progress) {
        let Progress { done, total, message } = progress;
        let fields = json!({ "done": done, "total": total, "message": message });
        self.tell("progress", call, &fields);
    }

    fn log(&self, call: CallKey, entry: LogEntry) {
        self.tell("log", call, &json!(entry));
    }
}

/// One event; JSON holds no line break, so its data is one line.
fn event(name: &str, data: &[u8]) -> Bytes {
    [b"event: ", name.as_bytes(), b"\ndata: ", data, b"\n\n"].concat().into()
}

pub(crate) fn stream(
    work: BatchJob,
    key: Option<IdempotencyKey>,
    replies: ReplyStore,
) -> HttpReply {
    let (events, waiting) = channel(WAITING);
    let ids = work.calls.iter().map(|call| call.id.clone()).collect();
    // Who goes away gives the calls up, unless a key says that the answer will be asked for.
    let gone = key.is_none().then(|| work.cancel.clone().drop_guard());
    let options = work.heard_by(Arc::new(BatchEventHost { ids, events: events.clone() }));
    let options = BatchOptions { key: key.clone(), ..options };
    let started = json!({ "id": work.listing.id }).to_string();
    let _ = events.try_send(event("started", started.as_bytes()));
    tokio::spawn(async move {
        let working = async {
            match key {
                Some(key) => replies.keep(key, work.done(options)).await,
                None => work.done(options).await.reply,
            }
        };
        let mut working = std::pin::pin!(working);
        let answer = loop {
            match tokio::time::timeout(BEAT, working.as_mut()).await {
                Ok(answer) => break answer,
                Err(_) => drop(events.try_send(Bytes::from_static(b": \n\n"))),
            }
        };
        let _ = events.send(event("done", &answer)).await;
    });
    reply::events(waiting, gone)
}
