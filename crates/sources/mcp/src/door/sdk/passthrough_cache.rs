//! What the SDK's types would drop goes around them.
//!
//! A result with fields that the SDK does not know is kept here as text, and a small stand-in goes
//! through the SDK in its place. On the way out, where messages are bytes again, the stand-in is
//! replaced by what it stands for.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use uuid::Uuid;

/// Under this key of `_meta` stands the name of what is kept.
const KEY: &str = "toolcrib/whole";
/// Longest message that can hold a stand-in, in bytes: the id of a request is bounded with it.
const LONGEST: usize = 4_096;
/// Longest id of a request whose result can have a stand-in, in bytes.
const LONGEST_ID: usize = 1_024;
/// A client of an older revision may ask for an answer again for so long.
const LIFE: Duration = Duration::from_mins(1);
/// Bytes that are kept; the oldest go first.
const MOST: usize = 64 * 1024 * 1024;

pub(crate) struct PassthroughCache(Mutex<PassthroughEntries>);

impl Default for PassthroughCache {
    fn default() -> Self {
        Self::of(MOST)
    }
}

struct PassthroughEntries {
    most: usize,
    results: HashMap<String, PassthroughResult>,
    /// The names, oldest first.
    order: VecDeque<(Instant, String)>,
    bytes: usize,
}

struct PassthroughResult {
    text: String,
    /// Nobody can ask for it again.
    once: bool,
}

impl PassthroughCache {
    fn of(most: usize) -> Self {
        let (results, order) = (HashMap::new(), VecDeque::new());
        Self(Mutex::new(PassthroughEntries { most, results, order, bytes: 0 }))
    }

    /// Keeps a result, and gives what goes through the SDK in it: `None` if the answer to
    /// this request has no room for that.
    pub(crate) fn stand_in(
        &self,
        id: &str,
        result: &Value,
        once: bool,
    ) -> Option<Map<String, Value>> {
        if id.len() > LONGEST_ID {
            return None;
        }
        // 122 random bits of the operating system: no text of others holds the name by chance.
        let name = Uuid::new_v4().simple().to_string();
        let stand_in = Map::from_iter([("_meta".to_owned(), json!({ KEY: name }))]);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(name, result.to_string(), once);
        Some(stand_in)
    }

    /// A message, or an event with one, as it goes out.
    pub(crate) fn restore(&self, frame: Bytes) -> Bytes {
        if frame.len() > LONGEST {
            return frame;
        }
        let Ok(text) = str::from_utf8(&frame) else { return frame };
        if !text.contains(KEY) {
            return frame;
        }
        let lines = text.split('\n').map(|line| self.line(line));
        let lines: Vec<_> = lines.collect();
        Bytes::from(lines.join("\n"))
    }

    fn line(&self, line: &str) -> String {
        let (before, message) = match line.strip_prefix("data: ") {
            Some(message) => ("data: ", message),
            None => ("", line),
        };
        let restored = message.contains(KEY).then(|| self.message(message)).flatten();
        restored.map_or_else(|| line.to_owned(), |message| format!("{before}{message}"))
    }

    fn message(&self, message: &str) -> Option<String> {
        let message: Value = serde_json::from_str(message).ok()?;
        let name = message.get("result")?.get("_meta")?.get(KEY)?.as_str()?;
        let result = self.0.lock().unwrap_or_else(PoisonError::into_inner).take(name)?;
        Some(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, message.get("id")?))
    }
}

impl PassthroughEntries {
    fn keep(&mut self, name: String, text: String, once: bool) {
        let now = Instant::now();
        while let Some((since, _)) = self.order.front() {
            let is_late = now.duration_since(*since) > LIFE;
            if !is_late && self.bytes + text.len() <= self.most {
                break;
            }
            let Some((_, oldest)) = self.order.pop_front() else { break };
            self.forget(&oldest);
        }
        self.bytes += text.len();
        self.order.push_back((now, name.clone()));
        self.results.insert(name, PassthroughResult { text, once });
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let result = self.results.get(name)?;
        if !result.once {
            return Some(result.text.clone());
        }
        self.forget(name)
    }

    fn forget(&mut self, name: &str) -> Option<String> {
        let PassthroughResult { text, .. } = self.results.remove(name)?;
        self.bytes -= text.len();
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_becomes_the_result_and_nothing_else_is_touched() {
        let whole = PassthroughCache::default();
        let result = json!({ "content": [], "x-new": [1, "toolcrib/whole"] });
        for (once, again) in [(true, false), (false, true)] {
            let stand_in = whole.stand_in("7", &result, once).unwrap();
            let sent = json!({ "jsonrpc": "2.0", "id": "7", "result": stand_in });
            let event = Bytes::from(format!("id: 3\ndata: {sent}\n\n"));
            let right = json!({ "jsonrpc": "2.0", "id": "7", "result": result });
            let restored = whole.restore(event.clone());
            assert_eq!(restored, Bytes::from(format!("id: 3\ndata: {right}\n\n")));
            assert_eq!(whole.restore(event.clone()) == restored, again);
        }
        let forged = json!({ "id": 1, "result": { "_meta": { KEY: "made up" } } }).to_string();
        for other in [forged.as_str(), "data: toolcrib/whole\n\n", "", ":\n\n"] {
            assert_eq!(whole.restore(Bytes::from(other.to_owned())), other.as_bytes());
        }
        assert!(whole.stand_in(&"i".repeat(2_000), &result, true).is_none());
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let whole = PassthroughCache::of(1_000);
        let large = Value::from("x".repeat(300));
        for _ in 0..20 {
            whole.stand_in("1", &large, false).unwrap();
        }
        let kept = whole.0.lock().unwrap();
        assert!(kept.bytes <= 1_000 && kept.results.len() == kept.order.len());
        assert_eq!(kept.results.len(), 3);
    }
}
