//! What a task asks for, put to a person.

use serde_json::{Value, json};
use toolcrib_core::{CallContext, HostQuestion, QuestionError, QuestionKind, ToolError};
use url::Url;
use uuid::Uuid;

use super::content::words;
use super::view::TaskView;
use crate::protocol::part::PartContent;
use crate::protocol::state::TaskState;

/// What a person said.
pub(super) enum PersonAnswer {
    Said(String),
    /// It is done, and there is nothing to say.
    Done,
    /// The person does not want to answer.
    Declined,
}

/// Puts to a person what the task waits for. The error says why nobody answered.
pub(super) async fn ask(
    view: &TaskView,
    context: &CallContext,
) -> Result<PersonAnswer, QuestionError> {
    let said = view.status.message.as_ref().and_then(words);
    let question = match view.status.state {
        TaskState::AuthRequired => sign_in(view, said, context),
        TaskState::Unknown
        | TaskState::Submitted
        | TaskState::Working
        | TaskState::InputRequired
        | TaskState::Completed
        | TaskState::Failed
        | TaskState::Canceled
        | TaskState::Rejected => form(&said.unwrap_or_else(|| {
            "The agent needs something more, and does not say what.".to_owned()
        })),
    };
    let answer = context.ask(question).await?;
    if answer.get("action").and_then(Value::as_str) != Some("accept") {
        return Ok(PersonAnswer::Declined);
    }
    let text = answer.pointer("/content/answer").and_then(Value::as_str);
    Ok(match text.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => PersonAnswer::Said(text.to_owned()),
        None => PersonAnswer::Done,
    })
}

fn form(message: &str) -> HostQuestion {
    HostQuestion::new(
        QuestionKind::Form,
        json!({
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": { "answer": {
                    "type": "string",
                    "title": "Answer",
                    "description": "Goes to the agent as it is.",
                } },
                "required": ["answer"],
            },
        }),
    )
}

/// The address to open, where the host can show one; else a form that names it.
fn sign_in(view: &TaskView, said: Option<String>, context: &CallContext) -> HostQuestion {
    let link = link(view);
    let said = said.unwrap_or_else(|| "The agent wants somebody to sign in.".to_owned());
    if let Some(link) = link.as_ref().filter(|_| context.answers().contains(&QuestionKind::Address))
    {
        let params = json!({
            "mode": "url",
            "message": said,
            "url": link.as_str(),
            "elicitationId": Uuid::new_v4().to_string(),
        });
        return HostQuestion::new(QuestionKind::Address, params);
    }
    let message = match &link {
        Some(link) if !said.contains(link.as_str()) => format!("{said} Open {link}"),
        Some(_) | None => said,
    };
    HostQuestion::new(
        QuestionKind::Form,
        json!({
            "message": format!("{message} (Accept once that is done.)"),
            "requestedSchema": {
                "type": "object",
                "properties": { "answer": {
                    "type": "string",
                    "title": "Answer",
                    "description": "For the agent, if it wants to be told something.",
                } },
            },
        }),
    )
}

/// The first address of the web that the task names, in an own part, in data or in words.
fn link(view: &TaskView) -> Option<Url> {
    let parts = &view.status.message.as_ref()?.parts;
    let web = |text: &str| {
        let text = text.trim_matches(|sign: char| "()[]<>\"'`,;.!".contains(sign));
        Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
    };
    parts.iter().find_map(|part| match &part.content {
        PartContent::Address(url) => web(url),
        PartContent::Text(text) => text.split_whitespace().find_map(web),
        PartContent::Data(Value::Object(fields)) => {
            fields.values().filter_map(Value::as_str).find_map(web)
        }
        PartContent::Data(_) | PartContent::Bytes(_) | PartContent::Unknown(_) => None,
    })
}

/// What a call is told whose question has no answer.
pub(super) fn unanswered(view: &TaskView, why: &str) -> ToolError {
    let said = view.status.message.as_ref().and_then(words);
    let asked = said.map(|said| format!(" (\"{said}\")")).unwrap_or_default();
    if view.status.state == TaskState::AuthRequired {
        let place = link(view).map(|link| format!(" at {link}")).unwrap_or_default();
        return ToolError::told(format!(
            "the agent wants somebody to sign in{place}{asked}, and {why}; its task was cancelled. Tell \
             the user, and ask again once that is done"
        ));
    }
    ToolError::told(format!(
        "the agent needs something before it goes on{asked}, and {why}; its task was cancelled. Ask \
         again with what it needs in the message, or tell the user"
    ))
}
