//! How much later the first word of an answer comes through the endpoints than from the model.

use std::path::Path;

use serde_json::{Value, json};

use super::endpoint::EndpointClient;
use super::servers::AgentServers;
use crate::LoadError;
use crate::figures::median;
use crate::test_bed::MeasuredPrograms;

/// Where the first word of an answer stands, by the API.
const CHAT: &str = r#""content":"All"#;
const RESPONSES: &str = r#""type":"response.output_text.delta""#;

const CHAT_BODY: &str =
    r#"{"model":"assistant","messages":[{"role":"user","content":"slowly"}],"stream":true}"#;
const RESPONSES_BODY: &str = r#"{"model":"assistant","input":"slowly","stream":true}"#;

/// Milliseconds to the first word, in turns.
pub(super) async fn first_words(
    programs: &MeasuredPrograms,
    below: &Path,
    answers: usize,
) -> Result<Value, LoadError> {
    let servers = AgentServers::start(programs, below)?;
    let chat = ("/v1/chat/completions", CHAT_BODY, CHAT);
    let responses = ("/v1/responses", RESPONSES_BODY, RESPONSES);
    let ways = [
        ("direct_ms", &servers.direct, chat),
        ("chat_ms", &servers.in_memory, chat),
        ("chat_stored_ms", &servers.stored, chat),
        ("responses_ms", &servers.in_memory, responses),
        ("responses_stored_ms", &servers.stored, responses),
    ];
    let mut clients = Vec::new();
    for (name, target, _) in &ways {
        let client = match *name {
            "direct_ms" => EndpointClient::open(target).await?,
            _ => EndpointClient::open_agent(target).await?,
        };
        clients.push((client, Vec::new()));
    }
    for round in 0..=answers {
        for ((.., (path, body, marker)), (client, times)) in ways.iter().zip(&mut clients) {
            let took = client.until(path, body, marker).await?;
            // The first round warms up.
            if round > 0 {
                times.push(took.as_secs_f64() * 1e3);
            }
        }
    }
    let mut found = json!({});
    for ((name, ..), (_, times)) in ways.iter().zip(clients) {
        if let Some(fields) = found.as_object_mut() {
            let middle = (median(times) * 1000.0).round() / 1000.0;
            fields.insert((*name).to_owned(), middle.into());
        }
    }
    Ok(found)
}
