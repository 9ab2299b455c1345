//! What a task made, put together of its pieces.

use std::collections::HashSet;

use indexmap::IndexMap;

use crate::protocol::part::{MessagePart, PartContent};
use crate::protocol::task::TaskArtifact;
use crate::transport::fault::AgentFault;

/// Most artifacts of a task.
const MOST: usize = 10_000;

/// The artifacts of one task, in the order in which they began.
pub(crate) struct ArtifactSet {
    artifacts: IndexMap<String, GatheredArtifact>,
    /// Bytes of all, about.
    size: u64,
    /// How many there may be.
    most: u64,
}

struct GatheredArtifact {
    artifact: TaskArtifact,
    size: u64,
    /// The numbers of the pieces that were taken.
    taken: HashSet<u64>,
}

impl ArtifactSet {
    pub(crate) fn new(most: u64) -> Self {
        Self { artifacts: IndexMap::new(), size: 0, most }
    }

    /// All of them as they are now, in place of what was known of them.
    pub(crate) fn replace(&mut self, artifacts: Vec<TaskArtifact>) -> Result<(), AgentFault> {
        self.artifacts.clear();
        self.size = 0;
        artifacts.into_iter().try_for_each(|artifact| self.take(artifact, false).map(drop))
    }

    /// Takes a piece, unless it was taken before; tells whether it was new.
    pub(crate) fn take(
        &mut self,
        artifact: TaskArtifact,
        append: bool,
    ) -> Result<bool, AgentFault> {
        let size = artifact.parts.iter().map(|part| part.size() as u64 + 64).sum::<u64>() + 256;
        let known = self.artifacts.get_mut(&artifact.id);
        if let (Some(known), Some(index)) = (&known, artifact.index)
            && known.taken.contains(&index)
        {
            return Ok(false);
        }
        match known {
            Some(known) if append => {
                known.taken.extend(artifact.index);
                known.size += size;
                extend(&mut known.artifact.parts, artifact.parts);
            }
            Some(_) | None => {
                let old = known.map_or(0, |known| known.size);
                self.size = self.size.saturating_sub(old);
                let taken = artifact.index.into_iter().collect();
                let id = artifact.id.clone();
                self.artifacts.insert(id, GatheredArtifact { artifact, size, taken });
            }
        }
        self.size = self.size.saturating_add(size);
        if self.size > self.most || self.artifacts.len() > MOST {
            return Err(AgentFault::TooLarge(self.most));
        }
        Ok(true)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &TaskArtifact> {
        self.artifacts.values().map(|gathered| &gathered.artifact)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.artifacts.values().all(|gathered| gathered.artifact.parts.is_empty())
    }
}

/// Words go on where words ended: pieces are cut anywhere.
fn extend(parts: &mut Vec<MessagePart>, more: Vec<MessagePart>) {
    let mut more = more.into_iter();
    if let Some(first) = more.next() {
        match (parts.last_mut().map(|last| &mut last.content), first.content) {
            (Some(PartContent::Text(text)), PartContent::Text(next)) => text.push_str(&next),
            (_, content) => parts.push(MessagePart { content, ..first }),
        }
    }
    parts.extend(more);
}
