//! How much a conversation may have.

use toolcrib_agent::ThreadItem;

use super::super::super::api_error::ApiError;

/// Runs and edits of one conversation at the most.
const MOST_ENTRIES: usize = 10_000;
/// Items of one conversation at the most, as a model is given them, and their bytes.
const MOST_ITEMS: usize = 5_000;
const MOST_BYTES: usize = 16 << 20;

/// What a conversation has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ConversationSize {
    /// Runs and edits.
    pub(crate) entries: usize,
    pub(crate) items: usize,
    /// Of its items as JSON.
    pub(crate) bytes: usize,
}

impl ConversationSize {
    /// Refuses to add items to a conversation that would have too much with them.
    pub(crate) fn takes(self, added: &[ThreadItem]) -> Result<(), ApiError> {
        let weigh = |item| serde_json::to_string(item).map_or(0, |text| text.len());
        let bytes: usize = added.iter().map(weigh).sum();
        let fits = self.entries < MOST_ENTRIES
            && self.items.saturating_add(added.len()) <= MOST_ITEMS
            && self.bytes.saturating_add(bytes) <= MOST_BYTES;
        if fits {
            return Ok(());
        }
        let message = format!(
            "with this the conversation has more than one may have ({MOST_ITEMS} items, \
             {MOST_BYTES} bytes, {MOST_ENTRIES} answers): begin another one, with a summary of it"
        );
        Err(ApiError::invalid("conversation", message).coded("conversation_full"))
    }
}

#[cfg(test)]
mod tests {
    use super::{ConversationSize, MOST_ENTRIES};

    #[test]
    fn there_are_as_many_answers_as_are_promised() {
        let takes = |entries| {
            let size = ConversationSize { entries, ..ConversationSize::default() };
            size.takes(&[]).map_err(|error| error.code)
        };
        assert_eq!(takes(MOST_ENTRIES - 1), Ok(()));
        assert_eq!(takes(MOST_ENTRIES), Err("conversation_full"));
    }
}
