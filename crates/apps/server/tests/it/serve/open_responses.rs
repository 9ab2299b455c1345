//! Answers of agents against the document of Open Responses, which says what every server of this
//! API gives: <https://www.openresponses.org>.

use std::path::Path;

use serde_json::{Value, json};
use toolcrib_json::schema::{Schema, SchemaBounds};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, events, serving};

/// The schemas of the document.
pub(super) struct OpenResponses(Value);

impl OpenResponses {
    /// `None`: the document is not there.
    pub(super) fn read() -> Option<Self> {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data");
        let text = std::fs::read_to_string(data.join("openresponses/openapi-2026-04-24.json"));
        let document: Value = serde_json::from_str(&text.ok()?).unwrap();
        Some(Self(document["components"]["schemas"].clone()))
    }

    /// What is wrong with a value by the schema of this name.
    pub(super) fn faults(&self, name: &str, value: &Value) -> Option<String> {
        let mut definitions = self.0.to_string();
        definitions = definitions.replace("#/components/schemas/", "#/$defs/");
        let definitions: Value = serde_json::from_str(&definitions).unwrap();
        let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": definitions });
        let bounds =
            SchemaBounds { bytes: 4 << 20, subschemas: 100_000, ..SchemaBounds::default() };
        let schema = Schema::compile_within(&schema, &bounds).unwrap();
        schema.check(value).err().map(|faults| format!("{name}: {faults:?} in {value}"))
    }

    /// The schema of an event, by its type.
    pub(super) fn of_event(&self, kind: &str) -> Option<&str> {
        let schemas = self.0.as_object()?;
        let found = schemas.iter().find(|(name, schema)| {
            let of = schema.pointer("/properties/type/enum/0").and_then(Value::as_str);
            name.ends_with("StreamingEvent") && of == Some(kind)
        });
        found.map(|(name, _)| name.as_str())
    }
}

#[test]
fn answers_and_their_events_are_as_open_responses_has_them() {
    let Some(document) = OpenResponses::read() else { return };
    let model = ScriptedModel::by(|_, body| {
        let asked = body["messages"].to_string();
        if asked.contains("weather") {
            ScriptedTurn::call("get_weather", json!({ "city": "Paris" }))
        } else {
            ScriptedTurn::says("Hello there.")
        }
    })
    .unwrap();
    let serving = serving(&model, ALL);
    let user = |content: Value| json!({ "type": "message", "role": "user", "content": content });
    let image = json!([
        { "type": "input_text", "text": "What is this?" },
        { "type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=" },
    ]);
    let assistant = json!({ "type": "message", "role": "assistant", "content": "Hello Ann." });
    let system = json!({ "type": "message", "role": "system", "content": "Be kind." });
    let tool = json!({
        "type": "function", "name": "get_weather",
        "parameters": { "type": "object", "properties": { "city": { "type": "string" } } },
    });
    let asked = [
        json!({ "input": [user("Say hello.".into())] }),
        json!({ "input": [system, user("Hello.".into())], "instructions": "Be brief." }),
        json!({ "input": [user("The weather?".into())], "tools": [tool] }),
        json!({ "input": [user(image)] }),
        json!({ "input": [user("I am Ann.".into()), assistant, user("Who?".into())] }),
    ];
    let thread = json!({ "model": "assistant", "input": asked[4]["input"] });
    let short = serving.ask("POST", "/v1/responses/compact", &thread.to_string()).json();
    assert_eq!(document.faults("CompactResource", &short), None);
    let next = json!({ "input": [short["output"][0], user("Who am I?".into())] });
    for mut body in asked.into_iter().chain([next]) {
        body["model"] = "assistant".into();
        let whole = serving.ask("POST", "/v1/responses", &body.to_string()).json();
        assert_eq!(document.faults("ResponseResource", &whole), None);
        body["stream"] = true.into();
        let streamed = serving.ask("POST", "/v1/responses", &body.to_string());
        for event in events(&streamed) {
            let kind = event["type"].as_str().unwrap();
            let name = document.of_event(kind).unwrap_or_else(|| unreachable!("{kind}"));
            assert_eq!(document.faults(name, &event), None);
        }
    }
}
