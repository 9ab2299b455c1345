//! A client for the conformance suite of the Model Context Protocol: a crib with one MCP server.
//!
//! The suite starts it once for each of its scenarios and tells it by variables which one it is;
//! the last argument is the address of the server. What is under test are the ways that every
//! source goes: load, plan, run, and the log-in of the command line.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use http::header::LOCATION;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};
use toolcrib_core::{
    AllowAll, BatchOptions, BoxFuture, Call, CallKey, Caller, Host, HostQuestion, PlanRequest,
    QuestionError, QuestionKind, SourceId, ToolSpec,
};
use toolcrib_egress::{Egress, EgressRequest as HttpRequest, Network};
use toolcrib_engine::Crib;
use toolcrib_mcp::{
    HttpAuthorization, HttpSettings, McpEnvironment, McpSource, McpSourceSettings, McpTransport,
    OAuthSettings, login,
};
use url::Url;

type Failure = Box<dyn Error + Send + Sync>;

/// The suite kills what takes 30 seconds, and says less than we do.
const PATIENCE: Duration = Duration::from_secs(25);
/// The suite knows this address and does not open it.
const CLIENT_METADATA: &str = "https://conformance-test.local/client-metadata.json";
const SOURCE: &str = "suite";
/// One server changes its authorization server right after the first request with a token.
const LOG_INS: usize = 2;

#[tokio::main]
async fn main() -> ExitCode {
    let outcome = match Scene::read() {
        Ok(scene) => timeout(PATIENCE, scene.play()).await.unwrap_or_else(|late| Err(late.into())),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// One scenario.
struct Scene {
    name: String,
    url: Url,
    given: Given,
    folder: std::path::PathBuf,
}

/// What the suite gives with some scenarios.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    client_id: Option<String>,
    client_secret: Option<String>,
    #[serde(rename = "toolCalls")]
    calls: Vec<GivenCall>,
}

#[derive(Deserialize)]
struct GivenCall {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl Scene {
    #[expect(clippy::disallowed_methods, reason = "the suite speaks by variables")]
    fn read() -> Result<Self, Failure> {
        let url = std::env::args().next_back().ok_or("the last argument is the address")?;
        let given = std::env::var("MCP_CONFORMANCE_CONTEXT").ok();
        Ok(Self {
            name: std::env::var("MCP_CONFORMANCE_SCENARIO")?,
            url: Url::parse(&url)?,
            given: given.map(|text| serde_json::from_str(&text)).transpose()?.unwrap_or_default(),
            folder: std::env::temp_dir().join(format!("toolcrib-suite-{}", uuid::Uuid::new_v4())),
        })
    }

    async fn play(&self) -> Result<(), Failure> {
        let played = self.play_in_folder().await;
        let _ = std::fs::remove_dir_all(&self.folder);
        played
    }

    async fn play_in_folder(&self) -> Result<(), Failure> {
        let http = self.http();
        let settings = McpSourceSettings::new(McpTransport::Http(Box::new(http.clone())));
        let source = McpSource::new(SOURCE, settings, McpEnvironment::default());
        let crib = Crib::builder().policy(AllowAll).source(SOURCE, source).build().await;
        for _ in 0..LOG_INS {
            if self.is_protected() && trouble(&crib).is_some() {
                login(&http, &Caller::local(), |url| drop(tokio::spawn(browse(url)))).await?;
                crib.reload(&SourceId::new(SOURCE)).await;
            }
        }
        if let Some(trouble) = trouble(&crib) {
            return Err(trouble.into());
        }
        self.call_everything(&crib).await
    }

    /// Runs every listed tool in one batch.
    async fn call_everything(&self, crib: &Crib) -> Result<(), Failure> {
        let plan = crib.plan(&Caller::local(), PlanRequest::default())?;
        let specs: Vec<Arc<ToolSpec>> =
            plan.tools().map(|tool| Arc::clone(&tool.listed.spec)).collect();
        let calls = specs.iter().enumerate().map(|(number, spec)| {
            let arguments = self.arguments(spec, &specs);
            Call::new(number.to_string(), spec.name.as_str(), Value::Object(arguments).into())
        });
        let options = BatchOptions { host: Some(Arc::new(Person)), ..BatchOptions::default() };
        let report = crib.run_with(&plan, calls.collect(), options).await;
        for response in report.responses {
            // The suite judges what it saw; this is for whoever reads its folder.
            eprintln!("{}: {}", response.name, response.text());
        }
        Ok(())
    }

    /// What the suite gives, else the least that the tool wants.
    fn arguments(&self, spec: &ToolSpec, all: &[Arc<ToolSpec>]) -> Map<String, Value> {
        let name = spec.name.as_str();
        if let Some(call) = self.given.calls.iter().find(|call| call.name == name) {
            return call.arguments.clone();
        }
        // One tool is to be given the schema of the other, as it is kept.
        let other = all.iter().find(|other| other.name != spec.name);
        match (name, other) {
            ("json_schema_echo", Some(other)) => {
                Map::from_iter([("schema".to_owned(), other.input.value())])
            }
            _ => arguments(&spec.input.value()),
        }
    }

    /// Whether a person has to log in.
    fn is_protected(&self) -> bool {
        self.name.starts_with("auth/") && !self.is_machine()
    }

    fn is_machine(&self) -> bool {
        self.name.starts_with("auth/client-credentials")
    }

    fn http(&self) -> HttpSettings {
        let oauth = OAuthSettings {
            client_id: self.given.client_id.clone(),
            client_secret: self.given.client_secret.clone().map(toolcrib_core::Secret::new),
            client_metadata: Url::parse(CLIENT_METADATA).ok(),
            tokens: Some(self.folder.clone()),
            machine: self.is_machine(),
            ..OAuthSettings::default()
        };
        let is_protected = self.is_protected() || self.is_machine();
        HttpSettings {
            url: self.url.clone(),
            headers: Vec::new(),
            authorization: if is_protected {
                HttpAuthorization::OAuth(oauth)
            } else {
                HttpAuthorization::None
            },
            network: loopback(),
        }
    }
}

/// Why there are no tools.
fn trouble(crib: &Crib) -> Option<String> {
    crib.sources().into_iter().find_map(|source| source.error)
}

/// The suite's authorization servers are on this machine.
fn loopback() -> Network {
    let private = ["127.0.0.1", "::1"].into_iter().filter_map(|address| address.parse().ok());
    Network { private: private.collect() }
}

/// The least that a schema wants.
fn arguments(schema: &Value) -> Map<String, Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match schema.pointer(&format!("/properties/{name}/type"))?.as_str()? {
        "number" => Some(json!(1.5)),
        "integer" => Some(json!(1)),
        "boolean" => Some(json!(true)),
        "array" => Some(json!([])),
        "object" => Some(json!({})),
        _ => Some(json!("text")),
    };
    names.map(|name| (name.to_owned(), value(name).unwrap_or_else(|| json!("text")))).collect()
}

/// Somebody who agrees to everything.
struct Person;

impl Host for Person {
    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Form, QuestionKind::Address, QuestionKind::Sample, QuestionKind::Roots]
    }

    fn ask(&self, _: CallKey, ask: HostQuestion) -> BoxFuture<'_, Result<Value, QuestionError>> {
        Box::pin(async move {
            Ok(match ask.question {
                QuestionKind::Form => json!({"action": "accept", "content": filled(&ask.params)}),
                QuestionKind::Address => {
                    let url = ask.params.get("url").and_then(Value::as_str);
                    let url = url.and_then(|url| Url::parse(url).ok());
                    tokio::spawn(browse(url.ok_or(QuestionError::Unable)?));
                    json!({"action": "accept"})
                }
                QuestionKind::Sample => json!({
                    "role": "assistant", "model": "nobody", "stopReason": "endTurn",
                    "content": {"type": "text", "text": "Yes."},
                }),
                QuestionKind::Roots => json!({"roots": []}),
            })
        })
    }
}

/// A form as it comes: what has a default keeps it, what is needed gets something.
fn filled(params: &Value) -> Map<String, Value> {
    let Some(schema) = params.get("requestedSchema") else { return Map::new() };
    let mut fields = arguments(schema);
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, field) in properties.into_iter().flatten() {
        if let Some(default) = field.get("default") {
            fields.insert(name.clone(), default.clone());
        }
    }
    fields
}

/// What a browser does: opens an address and goes where it is sent.
async fn browse(url: Url) {
    let Ok(egress) = Egress::open([], loopback()) else { return };
    let mut next = Some(url);
    while let Some(url) = next {
        let answer = egress.send(HttpRequest::new(Method::GET, url)).await;
        let Ok(answer) = answer else { return };
        let to = answer.headers.get(LOCATION).and_then(|to| to.to_str().ok());
        next = to.and_then(|to| Url::parse(to).ok());
        sleep(Duration::from_millis(1)).await;
    }
}
