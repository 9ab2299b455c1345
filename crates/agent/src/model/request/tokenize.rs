//! A thread with its tools, for an engine that writes it as tokens.

use serde_json::{Map, Value, json};

use super::ModelRequest;
use super::choice::CallChoice;
use super::generate::GENERATED;
use crate::item::{Echo, ThreadItem};
use crate::model::messages::{answered, messages};
use crate::model::settings::{ModelApi, ModelSettings};
use crate::model::text_calls;

impl ModelRequest<'_> {
    /// The thread with its tools, for an engine that writes it as tokens.
    ///
    /// What is wanted of this turn alone stands at the end: what stands at the beginning must not
    /// change, or no turn goes on with the tokens of the one before.
    pub(super) fn token_body(&self, model: &ModelSettings) -> Map<String, Value> {
        let (tools, items) = (self.text_tools(model), answered(self.items));
        let (told, items) = match model.text_calls {
            Some(format) => {
                let told = text_calls::instructions(format, self.instructions, &tools, false);
                (told, text_calls::retold(format, GENERATED, items))
            }
            None => (self.instructions.to_owned(), items),
        };
        let chat = ModelApi::OpenAiChat;
        let items: Vec<_> = items.into_iter().map(|item| as_of_chat(item, chat)).collect();
        let mut said = Vec::new();
        if !told.is_empty() {
            said.push(json!({ "role": "system", "content": told }));
        }
        said.extend(messages(chat, &items));
        let wish = (!tools.is_empty()).then(|| self.wish()).flatten();
        said.extend(wish.map(|wish| json!({ "role": "user", "content": wish })));
        let mut body = Map::new();
        body.insert("model".to_owned(), model.name.as_str().into());
        body.insert("messages".to_owned(), said.into());
        if model.text_calls.is_none() && !tools.is_empty() {
            body.insert("tools".to_owned(), tools.definitions().to_vec().into());
        }
        body
    }

    /// What is wanted of the calls of this turn, in words.
    fn wish(&self) -> Option<String> {
        let choice = self.choice();
        if *choice == CallChoice::Never {
            return Some(text_calls::CALL_NONE.to_owned());
        }
        choice.in_words(&self.forced())
    }
}

/// A turn of the engine as a message of the chat API, word by word.
fn as_of_chat(item: ThreadItem, chat: ModelApi) -> ThreadItem {
    match item {
        ThreadItem::Assistant { text, calls, echo: Some(echo) } if echo.dialect == GENERATED => {
            // Behind its words stands its thought, which they have already.
            let messages = echo.messages.into_iter().take(1).collect();
            let echo = Echo { dialect: chat.dialect().name().to_owned(), messages };
            ThreadItem::Assistant { text, calls, echo: Some(echo) }
        }
        other @ (ThreadItem::System { .. }
        | ThreadItem::User { .. }
        | ThreadItem::Assistant { .. }
        | ThreadItem::Results { .. }
        | ThreadItem::Summary { .. }) => other,
    }
}
