//! The prompts and resources that the protocol's own suite asks for, beside its tools.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    AllowAll, CallContext, CodeResources, HostQuestion, JsonFields, QuestionKind, ToolError,
    Toolset, WithResources,
};
use toolcrib_engine::Crib;

use super::fixtures::{self, PICTURE};

/// A crib with all that the suite needs. `time`: what is not done at once takes so long.
pub(crate) async fn crib(time: Duration) -> Crib {
    let tools = Toolset::of(fixtures::all_taking(time)).unwrap();
    let source = WithResources::new(tools, Arc::new(library()));
    Crib::builder().policy(AllowAll).source("fixtures", source).build().await
}

fn fields(value: Value) -> JsonFields {
    let Value::Object(fields) = value else { panic!("`{value}` is no object") };
    fields
}

fn text(params: &JsonFields, path: &str) -> String {
    let params = Value::Object(params.clone());
    params.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned()
}

pub(crate) fn library() -> CodeResources {
    let library = prompts(CodeResources::default());
    let static_text = json!({ "mimeType": "text/plain", "text": "A text that stays." });
    let static_binary = json!({ "mimeType": "image/png", "blob": PICTURE });
    let watched = json!({ "mimeType": "text/plain", "text": "A text to watch." });
    let library = [
        ("test://static-text", static_text),
        ("test://static-binary", static_binary),
        ("test://watched-resource", watched),
    ]
    .into_iter()
    .fold(library, |library, (uri, content)| {
        let definition = json!({ "uri": uri, "name": uri, "mimeType": content["mimeType"] });
        library.resource(fields(definition), move |params, _| {
            let mut content = content.clone();
            async move {
                content["uri"] = params["uri"].clone();
                Ok(fields(json!({ "contents": [content] })))
            }
        })
    });
    let template = json!({
        "uriTemplate": "test://template/{id}/data", "name": "template",
        "mimeType": "application/json",
    });
    let library = library.template(fields(template), |params, _| async move {
        let uri = text(&params, "/uri");
        let id = uri.trim_start_matches("test://template/").trim_end_matches("/data").to_owned();
        let data = json!({ "id": id, "templateTest": true, "data": format!("Data of {id}") });
        let content =
            json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() });
        Ok(fields(json!({ "contents": [content] })))
    });
    library.completion(|params, _| async move {
        let begun = text(&params, "/argument/value");
        let values: Vec<_> = ["paris", "park", "party", "testing"]
            .into_iter()
            .filter(|value| value.starts_with(&begun))
            .collect();
        let total = values.len();
        let completion = json!({ "values": values, "total": total, "hasMore": false });
        Ok(fields(json!({ "completion": completion })))
    })
}

fn message(content: &Value) -> JsonFields {
    fields(json!({ "messages": [{ "role": "user", "content": content }] }))
}

fn prompts(library: CodeResources) -> CodeResources {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<_> = arguments
            .iter()
            .map(|name| json!({ "name": name, "description": name, "required": true }))
            .collect();
        fields(json!({ "name": name, "description": "A fixture.", "arguments": arguments }))
    };
    library
        .prompt(prompt("test_simple_prompt", &[]), |_, _| async {
            Ok(message(&json!({ "type": "text", "text": "A simple prompt." })))
        })
        .prompt(prompt("test_prompt_with_arguments", &["arg1", "arg2"]), |params, _| async move {
            let (one, two) = (text(&params, "/arguments/arg1"), text(&params, "/arguments/arg2"));
            Ok(message(&json!({ "type": "text", "text": format!("With '{one}' and '{two}'.") })))
        })
        .prompt(
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            |params, _| async move {
                let uri = text(&params, "/arguments/resourceUri");
                let inside = json!({ "uri": uri, "mimeType": "text/plain", "text": "Inside." });
                Ok(message(&json!({ "type": "resource", "resource": inside })))
            },
        )
        .prompt(prompt("test_prompt_with_image", &[]), |_, _| async {
            Ok(message(&json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" })))
        })
        .prompt(prompt("test_input_required_result_prompt", &[]), |_, context| asking(context))
}

async fn asking(context: CallContext) -> Result<JsonFields, ToolError> {
    let schema = json!({
        "type": "object", "properties": { "user_context": { "type": "string" } },
        "required": ["user_context"],
    });
    let params = json!({ "message": "Which context?", "requestedSchema": schema });
    let answer = context.ask(HostQuestion::new(QuestionKind::Form, params)).await?;
    Ok(message(&json!({ "type": "text", "text": answer.to_string() })))
}
