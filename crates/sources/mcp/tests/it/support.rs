//! A source over a scripted server, and a crib around it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolcrib_core::{
    AllowAll, BatchOptions, Call, Caller, CribLimits, ErrorKind, PlanRequest, RawArguments, Report,
    Response, SourceId, ToolOutcome,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::{McpEnvironment, McpSource, McpSourceSettings, McpTransport, StdioSettings};

/// An example of this crate as cargo has built it beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.exists(), "build it: cargo build -p toolcrib-mcp --examples");
    path
}

/// `options`: the era of the server, and what it does besides.
pub(crate) fn settings(options: &[&str]) -> McpSourceSettings {
    McpSourceSettings::new(McpTransport::Stdio(StdioSettings {
        command: example("scripted"),
        arguments: options.iter().map(|option| (*option).to_owned()).collect(),
        environment: Vec::new(),
        folder: None,
    }))
}

pub(crate) fn source(settings: McpSourceSettings) -> Arc<McpSource> {
    let environment = vec![
        ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
        ("GITHUB_TOKEN".to_owned(), "secret".to_owned()),
    ];
    Arc::new(McpSource::new("far", settings, McpEnvironment { environment }))
}

pub(crate) async fn crib(source: &Arc<McpSource>) -> Crib {
    let limits = CribLimits { retries: 0, ..CribLimits::default() };
    crib_within(source, limits).await
}

pub(crate) async fn crib_within(source: &Arc<McpSource>, limits: CribLimits) -> Crib {
    let placed = (SourceId::new("far"), Arc::clone(source) as _, Duration::from_mins(1));
    Crib::builder().policy(AllowAll).limits(limits).placed(placed).build().await
}

pub(crate) fn call(name: &str, arguments: Value) -> Call {
    Call::new("1", name, RawArguments::Value(arguments))
}

pub(crate) async fn run(crib: &Crib, name: &str, arguments: Value) -> Response {
    run_with(crib, name, arguments, BatchOptions::default()).await
}

pub(crate) async fn run_with(
    crib: &Crib,
    name: &str,
    arguments: Value,
    options: BatchOptions,
) -> Response {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    only(crib.run_with(&plan, vec![call(name, arguments)], options).await)
}

pub(crate) async fn run_as(crib: &Crib, caller: &Caller, session: &str, name: &str) -> Response {
    let request = PlanRequest { session: Some(session.into()), ..PlanRequest::default() };
    let plan = crib.plan(caller, request).unwrap();
    only(crib.run(&plan, vec![call(name, Value::Null)]).await)
}

pub(crate) fn only(report: Report) -> Response {
    let [response] = <[Response; 1]>::try_from(report.responses).unwrap();
    response
}

pub(crate) fn failed(response: &Response) -> (ErrorKind, String) {
    match &response.outcome {
        ToolOutcome::Failed(error) => (error.kind, error.message.clone()),
        other @ (ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_)) => {
            panic!("it did not fail: {other:?}")
        }
    }
}

/// Waits for what comes about by itself.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it never came about that {what}");
}
