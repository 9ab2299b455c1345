//! Who can be asked to open an address.

use std::sync::Mutex;

use serde_json::json;
use toolcrib_core::{CallContext, HostQuestion, QuestionError, QuestionKind};
use url::Url;
use uuid::Uuid;

use crate::client::oauth::error::{OAuthError, cut};
use crate::client::oauth::shared::locked;

/// The running calls of one caller whose host can ask a person.
#[derive(Default)]
pub(crate) struct PromptableCalls(Mutex<Vec<(Uuid, CallContext)>>);

impl PromptableCalls {
    /// The number by which this one leaves again.
    pub(crate) fn come(&self, context: &CallContext) -> Uuid {
        let number = Uuid::new_v4();
        if context.answers().contains(&QuestionKind::Address) {
            locked(&self.0).push((number, context.clone()));
        }
        number
    }

    pub(crate) fn leave(&self, number: Uuid) {
        locked(&self.0).retain(|(other, _)| *other != number);
    }

    pub(crate) fn is_empty(&self) -> bool {
        locked(&self.0).is_empty()
    }

    /// Shows the address to one of them; returns once that person has agreed to open it.
    pub(crate) async fn show(&self, server: &Url, url: &Url) -> Result<(), OAuthError> {
        let origin = |url: &Url| cut(&url.origin().ascii_serialization());
        let message = format!(
            "The server `{}` wants to know who you are. Log in at `{}` to let toolcrib use it \
             for you.",
            origin(server),
            origin(url)
        );
        let present: Vec<CallContext> =
            locked(&self.0).iter().map(|(_, context)| context.clone()).collect();
        for context in present {
            let params = json!({
                "mode": "url",
                "message": message,
                "url": url.as_str(),
                "elicitationId": Uuid::new_v4().to_string(),
            });
            match context.ask(HostQuestion::new(QuestionKind::Address, params)).await {
                Ok(answer) if answer.get("action") == Some(&json!("accept")) => return Ok(()),
                Ok(_) => return Err(OAuthError::Declined),
                // That call is over, or its host gave up; another may still be there.
                Err(QuestionError::Unable | QuestionError::Cancelled | QuestionError::Late) => {}
            }
        }
        Err(OAuthError::NeedsLogin)
    }
}
