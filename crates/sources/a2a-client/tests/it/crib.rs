//! A crib over one agent, and a host that writes down what it hears.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcrib_a2a_client::{A2aSettings, A2aSource};
use toolcrib_core::{
    AllowAll, BatchOptions, BoxFuture, Call, CallKey, Caller, Host, HostQuestion, PlanRequest,
    Progress, QuestionError, QuestionKind, RawArguments, Response, Source, SourceError, SourceId,
    Toolset,
};
use toolcrib_engine::Crib;
use url::Url;

/// Hears progress, and answers the questions that it knows with one answer.
#[derive(Default)]
pub(crate) struct Listener {
    pub(crate) answers: Vec<QuestionKind>,
    pub(crate) answer: Value,
    pub(crate) heard: Mutex<Vec<Value>>,
}

impl Host for Listener {
    fn progress(&self, _: CallKey, progress: Progress) {
        self.heard.lock().unwrap().push(json!(progress.message));
    }

    fn answers(&self) -> &[QuestionKind] {
        &self.answers
    }

    fn ask(&self, _: CallKey, ask: HostQuestion) -> BoxFuture<'_, Result<Value, QuestionError>> {
        self.heard.lock().unwrap().push(json!([ask.question, ask.params]));
        Box::pin(async { Ok(self.answer.clone()) })
    }
}

pub(crate) fn settings(card: &str) -> A2aSettings {
    A2aSettings::new(Url::parse(card).unwrap())
}

pub(crate) fn source(settings: A2aSettings) -> A2aSource {
    A2aSource::new(SourceId::new("agent"), settings)
}

pub(crate) async fn load(settings: A2aSettings) -> Result<Toolset, SourceError> {
    source(settings).load().await
}

/// A crib of one agent in which everything may be called.
pub(crate) struct Agency(pub(crate) Crib);

impl Agency {
    pub(crate) async fn open(settings: A2aSettings) -> Self {
        Self(Crib::builder().policy(AllowAll).build_fixed(load(settings).await.unwrap()))
    }

    pub(crate) async fn say(&self, message: &str) -> Response {
        self.call("ask", &json!({ "message": message }), BatchOptions::default()).await
    }

    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: &Value,
        options: BatchOptions,
    ) -> Response {
        self.call_in(PlanRequest::default(), tool, arguments, options).await
    }

    pub(crate) async fn call_in(
        &self,
        plan: PlanRequest,
        tool: &str,
        arguments: &Value,
        options: BatchOptions,
    ) -> Response {
        let plan = self.0.plan(&Caller::local(), plan).unwrap();
        let call = Call::new("1", tool, RawArguments::Value(arguments.clone()));
        self.0.run_with(&plan, vec![call], options).await.responses.remove(0)
    }
}

/// Options with this host.
pub(crate) fn heard_by(host: &Arc<Listener>) -> BatchOptions {
    BatchOptions { host: Some(host.clone()), ..BatchOptions::default() }
}
