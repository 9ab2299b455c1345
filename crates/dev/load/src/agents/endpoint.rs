//! A client of the endpoints of agents, and of a model alone.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model::{DONE, LoadModel};
use crate::client::connection::ClientConnection;
use crate::test_bed::BASICS;
use crate::{LoadError, LoadTarget};

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The definition of the tool that is called.
const TOOLS: &str = r#""tools":[{"type":"function","function":{"name":"text_count","description":"Counts the characters, words and lines of a text.","parameters":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}}}]"#;

/// The file of a server with one agent over this model.
pub(crate) fn configuration(model: &LoadModel) -> String {
    format!(
        "[model]\nurl = \"http://{}/v1\"\nname = \"load\"\n\n\
         [agent.assistant]\nbudget = {{ turns = 1000, calls = 1000 }}\n\n{BASICS}",
        model.address
    )
}

/// A client with one connection.
pub(crate) struct EndpointClient {
    line: ClientConnection,
    head: String,
}

impl EndpointClient {
    pub(crate) async fn open(target: &LoadTarget) -> Result<Self, LoadError> {
        let line = ClientConnection::open(&target.address).await?;
        // Of no account where nobody speaks A2A.
        let mut head = format!(
            "Host: {}\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n",
            target.address
        );
        if let Some(token) = &target.token {
            write!(head, "Authorization: Bearer {token}\r\n")?;
        }
        Ok(Self { line, head })
    }

    /// A client of a server whose agent has its tool.
    pub(crate) async fn open_agent(target: &LoadTarget) -> Result<Self, LoadError> {
        let mut client = Self::open(target).await?;
        let last = Instant::now() + PATIENCE;
        while !client.text("GET", "/v1/tools", "").await?.contains("\"text_count\"") {
            if Instant::now() > last {
                return Err("the agent has no tool".into());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(client)
    }

    /// The answer to a request; one that is no success is an error.
    pub(crate) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<Value, LoadError> {
        let body = self.text(method, path, body).await?;
        Ok(serde_json::from_str(&body)?)
    }

    /// Time from the request to the place of its answer where this stands; the answer is read to
    /// its end.
    pub(crate) async fn until(
        &mut self,
        path: &str,
        body: &str,
        marker: &str,
    ) -> Result<Duration, LoadError> {
        let begun = Instant::now();
        self.begin(path, body, marker).await?;
        let took = begun.elapsed();
        self.rest().await?;
        Ok(took)
    }

    /// Begins to read a stream, up to the place where this stands.
    pub(crate) async fn begin(
        &mut self,
        path: &str,
        body: &str,
        marker: &str,
    ) -> Result<(), LoadError> {
        let request = self.request("POST", path, body);
        let answer = self.line.ask_until(request.as_bytes(), marker.as_bytes());
        tokio::time::timeout(PATIENCE, answer).await?
    }

    /// The rest of a stream.
    pub(crate) async fn rest(&mut self) -> Result<String, LoadError> {
        let rest = tokio::time::timeout(PATIENCE, self.line.rest_of_chunks()).await??;
        Ok(String::from_utf8(rest)?)
    }

    /// Has an agent take so many steps, by `/v1/chat/completions`.
    pub(crate) async fn steps(&mut self, count: usize) -> Result<Duration, LoadError> {
        let message = json!({ "role": "user", "content": format!("steps:{count}") });
        let body = json!({ "model": "assistant", "messages": [message] }).to_string();
        let begun = Instant::now();
        let told = self.text("POST", "/v1/chat/completions", &body).await?;
        let took = begun.elapsed();
        if told.contains(DONE) { Ok(took) } else { Err(no_end(&told)) }
    }

    /// The least that a loop does: asks the model, appends what it said and what came of it.
    pub(crate) async fn bare_steps(&mut self, count: usize) -> Result<Duration, LoadError> {
        let begun = Instant::now();
        let mut messages = format!(r#"{{"role":"user","content":"steps:{count}"}}"#);
        for step in 0..=count {
            let body =
                format!(r#"{{"model":"load","messages":[{messages}],{TOOLS},"stream":true}}"#);
            let told = self.text("POST", "/v1/chat/completions", &body).await?;
            if told.contains("\"stop\"") != (step == count) {
                return Err(no_end(&told));
            }
            // A string takes whatever is written.
            let _ = write!(
                messages,
                r#",{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{step}","type":"function","function":{{"name":"text_count","arguments":"{{\"text\":\"step {step}\"}}"}}}}]}},{{"role":"tool","tool_call_id":"call_{step}","content":"{{\"characters\":6,\"words\":2,\"lines\":1}}"}}"#
            );
        }
        Ok(begun.elapsed())
    }

    async fn text(&mut self, method: &str, path: &str, body: &str) -> Result<String, LoadError> {
        let request = self.request(method, path, body);
        let reply = tokio::time::timeout(PATIENCE, self.line.ask(request.as_bytes())).await??;
        let told = String::from_utf8(reply.body)?;
        if (200..300).contains(&reply.status) {
            return Ok(told);
        }
        let told: String = told.chars().take(400).collect();
        Err(format!("`{method} {path}` is answered with {}: {told}", reply.status).into())
    }

    fn request(&self, method: &str, path: &str, body: &str) -> String {
        let Self { head, .. } = self;
        format!("{method} {path} HTTP/1.1\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len())
    }
}

fn no_end(told: &str) -> LoadError {
    format!("the model did not end after its steps: {told}").into()
}
