//! Results that were too large for a model, for a while.

use std::collections::VecDeque;
use std::sync::Arc;

use toolcrib_core::{Caller, Content, Part, ResultHandle};

/// All of them together; the oldest go first.
const ROOM: usize = 64 * 1024 * 1024;

#[derive(Default)]
pub(super) struct KeptResults {
    results: VecDeque<Kept>,
    size: usize,
}

struct Kept {
    handle: ResultHandle,
    caller: Caller,
    content: Arc<Content>,
    size: usize,
}

impl KeptResults {
    pub(super) fn keep(&mut self, caller: &Caller, content: Arc<Content>) -> Option<ResultHandle> {
        let structured = content.structured.as_ref().map_or(0, |value| value.to_string().len());
        let size = content.parts.iter().map(Part::size).sum::<usize>() + structured;
        if size > ROOM {
            return None;
        }
        while self.size + size > ROOM {
            self.size -= self.results.pop_front()?.size;
        }
        let handle = ResultHandle::unguessable();
        self.size += size;
        self.results.push_back(Kept {
            handle: handle.clone(),
            caller: caller.clone(),
            content,
            size,
        });
        Some(handle)
    }

    pub(super) fn get(&self, caller: &Caller, handle: &ResultHandle) -> Option<Arc<Content>> {
        let mine = |kept: &&Kept| &kept.handle == handle && kept.caller.is(caller);
        self.results.iter().find(mine).map(|kept| Arc::clone(&kept.content))
    }
}
