//! Secrets stay where they are sent, whatever a source says.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcrib_config::{Environment, LiveConfig, SecretLookup, SourceFactory};
use toolcrib_core::{
    BatchOptions, BoxFuture, Call, CallContext, CallKey, Caller, Content, Effect, ErrorKind, Host,
    HostQuestion, LogEntry, LogLevel, PlanRequest, Progress, QuestionError, QuestionKind,
    RawArguments, Secret, Secrets, Source, SourceError, ToolError, ToolOutcome, Toolset, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::{HttpAuthorization, McpSourceSettings, McpTransport};
use toolcrib_openapi::ApiSettings;
use toolcrib_testkit::spec;

use crate::workshop::config;

/// Variables whose values are their names with a tail, and files likewise.
struct Named;

/// Makes sources that say all they were given.
struct Telling;

struct Teller(String);

impl SecretLookup for Named {
    fn env(&self, name: &str) -> Option<String> {
        Some(format!("value-of-{name}"))
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Ok(format!("first-line-of-{name}\nsecond-line-of-{name}\n"))
    }
}

impl SourceFactory for Telling {
    fn mcp(&self, _: &str, settings: McpSourceSettings) -> Arc<dyn Source> {
        let McpTransport::Stdio(stdio) = settings.transport else { unreachable!("no such test") };
        let told = stdio.environment.iter().map(|(name, value)| (name, value.expose()));
        Arc::new(Teller(json!(told.collect::<std::collections::BTreeMap<_, _>>()).to_string()))
    }

    fn api(&self, _: &str, _: ApiSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }
}

impl Source for Teller {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(async {
            if self.0.contains("fails twice") {
                let cause = SourceError::new("no folder").because("os error 2");
                return Err(SourceError::new("it fails: no folder").because(cause));
            }
            if self.0.contains("fails") {
                return Err(SourceError::new("it fails").because(self.0.clone()));
            }
            let (told, thrown) = (self.0.clone(), self.0.clone());
            let mut tell = spec("tell", Effect::Read);
            tell.description.clone_from(&told);
            let tell = raw_tool(tell, move |_, _| {
                let told = told.clone();
                async move { ToolOutcome::Done(Content::text(told)) }
            });
            let throw = raw_tool(spec("throw", Effect::Read), move |_, _| {
                let error = ToolError::new(ErrorKind::Internal, thrown.clone());
                async move { ToolOutcome::Failed(error) }
            });
            let asked = self.0.clone();
            let ask = raw_tool(spec("ask", Effect::Read), move |_, context| {
                let told = asked.clone();
                async move { ToolOutcome::Done(Content::text(asking(&told, &context).await)) }
            });
            Toolset::of([tell, throw, ask]).map_err(|error| SourceError::new("no").because(error))
        })
    }
}

/// Says this in each way there is while a call runs; gives the answer to its question.
async fn asking(told: &str, context: &CallContext) -> String {
    let logger = Some(told.to_owned());
    context.log(LogEntry { level: LogLevel::Info, logger, data: json!({ told: told }) });
    context.progress(Progress { message: Some(told.to_owned()), ..Progress::default() });
    let name = json!({ "type": "string", "default": told });
    let schema = json!({ "type": "object", "properties": { "name": name } });
    let form = json!({ "message": told, "requestedSchema": schema });
    let mut ask = HostQuestion::new(QuestionKind::Form, form);
    ask.besides.insert("note".to_owned(), json!(told));
    ask.around = Arc::new([("note".to_owned(), json!(told))].into_iter().collect());
    format!("{:?}", context.ask(ask).await)
}

/// Writes down what a call says, and fills in what it asks for.
#[derive(Default)]
struct Hears(Mutex<Vec<String>>);

impl Hears {
    fn note(&self, said: &impl std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{said:?}"));
    }
}

impl Host for Hears {
    fn progress(&self, _: CallKey, progress: Progress) {
        self.note(&progress);
    }

    fn log(&self, _: CallKey, entry: LogEntry) {
        self.note(&entry);
    }

    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Form]
    }

    fn ask(&self, _: CallKey, ask: HostQuestion) -> BoxFuture<'_, Result<Value, QuestionError>> {
        self.note(&ask);
        Box::pin(async { Ok(json!({ "action": "accept", "content": { "name": "Bob" } })) })
    }
}

async fn crib(environment: &str) -> Crib {
    let text = format!(
        "[[source]]\nid = \"a\"\n[source.mcp]\ncommand = [\"x\"]\n[source.mcp.env]\n{environment}"
    );
    let built = config(&text).build(&Named, &Telling);
    built
        .sources
        .into_iter()
        .fold(Crib::builder(), toolcrib_engine::CribBuilder::placed)
        .build()
        .await
}

const ENVIRONMENT: &str = r#"
KEY = "${env:ONE}"
LINE = "Bearer ${env:TWO}"
PEM = "${file:three}"
PASSWORD = "written-out"
MODE = "plain mode"
"#;

#[tokio::test]
async fn what_a_server_says_of_its_secrets_is_masked_and_the_rest_is_not() {
    let crib = crib(ENVIRONMENT).await;
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let told = r#"{"KEY":"[secret]","LINE":"Bearer [secret]","MODE":"plain mode","PASSWORD":"[secret]","PEM":"[secret]"}"#;
    assert_eq!(plan.get("a__tell").unwrap().listed.spec.description, told);
    let calls = ["a__tell", "a__throw"].map(|name| Call::new(name, name, RawArguments::Absent));
    let report = crib.run_with(&plan, calls.into(), BatchOptions::default()).await;
    for response in &report.responses {
        assert!(response.text().contains(told), "{}", response.text());
    }
}

#[tokio::test]
async fn what_a_call_says_and_asks_while_it_runs_is_masked() {
    let crib = crib(ENVIRONMENT).await;
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let call = || vec![Call::new("c", "a__ask", RawArguments::Absent)];
    let host = Arc::new(Hears::default());
    let heard = Arc::clone(&host) as Arc<dyn Host>;
    let options = BatchOptions { host: Some(heard), ..BatchOptions::default() };
    let answered = crib.run_with(&plan, call(), options).await;
    assert!(answered.responses[0].text().contains("Bob"), "{}", answered.responses[0].text());
    // Nobody is there who can be asked: it waits under a ticket.
    let waits = crib.run_with(&plan, call(), BatchOptions::default()).await;
    let open = crib.tickets(&Caller::local()).await.unwrap();
    assert_eq!(open.len(), 1);
    let mut said = host.0.lock().unwrap().clone();
    assert_eq!(said.len(), 3);
    said.extend([waits.responses[0].to_json().to_string(), format!("{:?}", open[0])]);
    for said in said {
        assert!(said.contains("[secret]") && said.contains("plain mode"), "{said}");
        let told = ["value-of-", "first-line-of", "written-out"];
        assert!(!told.iter().any(|secret| said.contains(secret)), "{said}");
    }
}

#[tokio::test]
async fn an_error_of_the_start_is_masked_with_its_causes() {
    let crib = crib("KEY = \"${env:ONE}\"\nMODE = \"fails\"\n").await;
    let states = crib.sources();
    assert_eq!(states[0].error.as_deref(), Some(r#"it fails: {"KEY":"[secret]","MODE":"fails"}"#));
}

#[tokio::test]
async fn a_masked_error_tells_nothing_twice() {
    let crib = crib("KEY = \"${env:ONE}\"\nMODE = \"fails twice\"\n").await;
    let states = crib.sources();
    assert_eq!(states[0].error.as_deref(), Some("it fails: no folder: os error 2"));
}

/// Makes sources that say all that any of them was ever given.
#[derive(Default)]
struct Remembering {
    told: Mutex<Vec<String>>,
    learned: Secrets,
}

impl SourceFactory for Remembering {
    fn mcp(&self, id: &str, settings: McpSourceSettings) -> Arc<dyn Source> {
        let mut told = self.told.lock().unwrap();
        match settings.transport {
            McpTransport::Stdio(stdio) => {
                told.extend(stdio.environment.iter().map(|(_, value)| value.expose().to_owned()));
            }
            // A token is had when it is used.
            McpTransport::Http(http) => {
                assert!(matches!(http.authorization, HttpAuthorization::OAuth(_)));
                let token = Secret::new(format!("token-of-{id}"));
                told.push(token.expose().to_owned());
                self.learned.learn([&token]);
            }
        }
        Arc::new(Teller(told.join(" ")))
    }

    fn api(&self, _: &str, _: ApiSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }

    fn learned(&self) -> Secrets {
        self.learned.clone()
    }
}

#[tokio::test]
async fn what_was_a_secret_before_and_what_became_one_since_is_masked() {
    let file = |variable: &str| {
        config(&format!(
            "[[source]]\nid = \"a\"\nmcp = {{ command = [\"x\"], env = {{ KEY = \
             \"${{env:{variable}}}\" }} }}\n[[source]]\nid = \"b\"\nmcp = {{ url = \
             \"https://b/\", oauth = {{}}, poll = \"{}s\" }}\n",
            variable.len()
        ))
    };
    let maker = Arc::new(Remembering::default());
    let means = Environment::new(Arc::new(Named), Arc::<Remembering>::clone(&maker) as _);
    let live = LiveConfig::start(&file("ONE"), means).await.unwrap();
    live.apply(&file("OTHER")).await.unwrap();
    let plan = live.crib().plan(&Caller::local(), PlanRequest::default()).unwrap();
    let calls = ["a__tell", "b__tell", "a__throw", "b__throw"];
    let calls = calls.map(|name| Call::new(name, name, RawArguments::Absent));
    let report = live.crib().run_with(&plan, calls.into(), BatchOptions::default()).await;
    for response in &report.responses {
        let told = response.text();
        assert!(told.contains("[secret] [secret] "), "{told}");
        assert!(!told.contains("value-of-ONE") && !told.contains("token-of-"), "{told}");
        // What another source was given is for that one to keep.
        assert_eq!(told.contains("value-of-OTHER"), response.id.starts_with('b'), "{told}");
    }
    let description = &plan.get("b__tell").unwrap().listed.spec.description;
    assert!(description.starts_with("[secret] [secret]"), "{description}");
    // Whoever prints and records knows the old one too.
    let told = maker.told.lock().unwrap().join(" ");
    let told = live.redactor().text(&maker.learned.redactor().text(&told)).into_owned();
    assert_eq!(told, "[secret] [secret] [secret] [secret]");
}
