//! Results that were too large for a model, for a while.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{Caller, Content, Reference, ResultHandle};

/// What a kept result takes besides its texts, at the least.
const OVERHEAD: usize = 256;

/// All of them together; the oldest go first.
const ROOM: usize = 64 * 1024 * 1024;

#[derive(Default)]
pub(super) struct StoredResults {
    results: VecDeque<StoredResult>,
    /// How many of them each caller has, by tenant and subject.
    owners: HashMap<(String, String), usize>,
    size: usize,
}

struct StoredResult {
    handle: ResultHandle,
    caller: Caller,
    content: Arc<Content>,
    size: usize,
}

impl StoredResults {
    pub(super) fn keep(&mut self, caller: &Caller, content: Arc<Content>) -> Option<ResultHandle> {
        let size = size(&content);
        if size > ROOM {
            return None;
        }
        while self.size + size > ROOM {
            let oldest = self.results.pop_front()?;
            self.size -= oldest.size;
            self.leaves(&oldest.caller);
        }
        *self.owners.entry(owner(caller)).or_default() += 1;
        let handle = ResultHandle::unguessable();
        self.size += size;
        self.results.push_back(StoredResult {
            handle: handle.clone(),
            caller: caller.clone(),
            content,
            size,
        });
        Some(handle)
    }

    fn leaves(&mut self, caller: &Caller) {
        let owner = owner(caller);
        if let Some(count) = self.owners.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                self.owners.remove(&owner);
            }
        }
    }

    pub(super) fn has(&self, caller: &Caller) -> bool {
        !self.owners.is_empty() && self.owners.contains_key(&owner(caller))
    }

    pub(super) fn get(&self, caller: &Caller, handle: &ResultHandle) -> Option<Arc<Content>> {
        let mine = |kept: &&StoredResult| &kept.handle == handle && kept.caller.is(caller);
        self.results.iter().find(mine).map(|kept| Arc::clone(&kept.content))
    }
}

fn owner(caller: &Caller) -> (String, String) {
    (caller.tenant.clone(), caller.subject.clone())
}

/// The bytes of a result, those of its small parts in round numbers.
fn size(content: &Content) -> usize {
    let data = |value: &Value| value.to_string().len();
    let parts: usize = content.parts.iter().map(|part| part.size() + OVERHEAD).sum();
    let of_reference = |reference: &Reference| {
        let url = reference.url.as_ref().map_or(0, String::len);
        reference.id.len() + reference.title.len() + url + reference.text.len() + OVERHEAD
    };
    let references: usize = content.references.iter().map(of_reference).sum();
    let extra: usize = content.extra.iter().map(|(key, value)| key.len() + data(value)).sum();
    let reminder = content.reminder.as_ref().map_or(0, String::len);
    let structured = content.structured.as_ref().map_or(0, data);
    OVERHEAD + parts + references + extra + reminder + structured
}
