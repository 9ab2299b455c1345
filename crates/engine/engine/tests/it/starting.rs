//! What is not there while its source starts is not what nobody has.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, Call, Caller, ClientSession, CribLimits, Effect, ErrorKind, PlanRequest,
    RawArguments, ResourceKind, ResourceOperation, ResourceRequest, SourceId, ToolError,
    ToolOutcome, Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::Rules;
use toolcrib_testkit::{Behaviour, Oracle, ScriptedSource, spec};

use crate::builder;

const NOW: Duration = Duration::ZERO;
const LATE: Duration = Duration::from_secs(5);

fn shop(names: &[&str]) -> Toolset {
    let tool = |name: &&str| Oracle::default().tool(spec(name, Effect::Read), Behaviour::Echo);
    Toolset::of(names.iter().map(tool)).unwrap()
}

async fn failed(crib: &Crib, name: &str) -> Option<ToolError> {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    failed_of(crib, &plan, name).await
}

async fn failed_of(crib: &Crib, plan: &toolcrib_core::Plan, name: &str) -> Option<ToolError> {
    let call = Call::new("1", name, RawArguments::Value(json!({})));
    let mut report = crib.run(plan, vec![call]).await;
    match report.responses.pop().unwrap().outcome {
        ToolOutcome::Failed(error) => Some(error),
        ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => None,
    }
}

fn slow() -> ScriptedSource {
    ScriptedSource::default().then(LATE, Ok(shop(&["orders"])))
}

#[tokio::test(start_paused = true)]
async fn a_name_is_unknown_once_every_source_had_its_first_chance() {
    let crib = builder().source("quick", shop(&["clock"])).source("slow", slow()).open();
    let starts = || async {
        let error = failed(&crib, "orders").await.unwrap();
        assert_eq!(error.kind, ErrorKind::SourceStarting);
        assert_eq!(error.retry_after, Some(Duration::from_secs(1)));
        assert!(error.message.contains("Make the same call again in a moment"), "{error}");
    };
    // Before the start, and while it goes on.
    starts().await;
    let early = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let starting = tokio::spawn({
        let crib = crib.clone();
        async move { crib.start().await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    starts().await;
    assert_eq!(failed(&crib, "clock").await.map(|error| error.kind), None);
    starting.await.unwrap();
    assert_eq!(failed(&crib, "orders").await.map(|error| error.kind), None);
    assert_eq!(failed(&crib, "nobody").await.unwrap().kind, ErrorKind::UnknownTool);
    // A plan of before does not know what came since.
    let error = failed_of(&crib, &early, "orders").await.unwrap();
    assert_eq!(error.kind, ErrorKind::SourceStarting);
    assert_eq!(failed_of(&crib, &early, "nobody").await.unwrap().kind, ErrorKind::UnknownTool);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_comes_later_has_its_first_chance_too() {
    let crib = builder().source("quick", shop(&["clock"])).build().await;
    assert_eq!(failed(&crib, "orders").await.unwrap().kind, ErrorKind::UnknownTool);
    let placed = |name: &str, source| (SourceId::new(name), source, Duration::from_mins(1));
    let replacing = tokio::spawn({
        let crib = crib.clone();
        let sources = [placed("slow", std::sync::Arc::new(slow()) as _)];
        let policy = std::sync::Arc::new(toolcrib_core::AllowAll);
        async move { crib.replace(sources, policy, CribLimits::default()).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(failed(&crib, "orders").await.unwrap().kind, ErrorKind::SourceStarting);
    replacing.await.unwrap();
    assert_eq!(failed(&crib, "orders").await.map(|error| error.kind), None);
}

#[tokio::test(start_paused = true)]
async fn a_view_waits_for_its_own_sources_alone() {
    let crib = builder().source("quick", shop(&["clock"])).source("slow", slow()).open();
    let quick =
        crib.with_policy(std::sync::Arc::new(toolcrib_core::AllowAll), CribLimits::default());
    quick.restrict_sources(Some([SourceId::new("quick")].into()));
    let starting = tokio::spawn({
        let crib = crib.clone();
        async move { crib.start().await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(failed(&quick, "orders").await.unwrap().kind, ErrorKind::UnknownTool);
    assert_eq!(failed(&crib, "orders").await.unwrap().kind, ErrorKind::SourceStarting);
    starting.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_source_that_failed_is_named_where_it_would_have_the_tool() {
    let down =
        || ScriptedSource::default().then(NOW, Err("cannot reach 10.1.2.3 with the key hunter2"));
    let crib = builder().source("quick", shop(&["clock"])).source("down", down()).build().await;
    let error = failed(&crib, "orders").await.unwrap();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    let told = "not run: there is no tool `orders` now, and the source `down`, which may have it, \
                gives no tools: it could not list them. Try again later, or tell the user";
    assert_eq!(error.message, told);
    // To whom the rules keep it from, it is not there.
    let rules = Rules::parse("allow = [\"*\"]\ndeny = [\"source:down\"]").unwrap();
    let crib = Crib::builder().policy(rules).source("quick", shop(&["clock"]));
    let crib = crib.source("down", down()).build().await;
    assert_eq!(failed(&crib, "orders").await.unwrap().kind, ErrorKind::UnknownTool);
}

#[tokio::test]
async fn a_prompt_and_a_resource_are_awaited_as_tools_are() {
    use std::sync::Arc;
    use toolcrib_core::{
        BoxFuture, CallContext, JsonFields, ResourceList, Resources, SourceError, WithResources,
    };
    struct Late(tokio::sync::Notify);
    impl Resources for Late {
        fn load(&self) -> BoxFuture<'_, Result<ResourceList, SourceError>> {
            Box::pin(async {
                self.0.notified().await;
                Ok(ResourceList::default())
            })
        }

        fn answer<'a>(
            &'a self,
            _: ResourceRequest,
            _: &'a CallContext,
        ) -> BoxFuture<'a, Result<JsonFields, ToolError>> {
            Box::pin(std::future::ready(Ok(JsonFields::new())))
        }
    }
    let late = Arc::new(Late(tokio::sync::Notify::new()));
    let crib =
        builder().source("late", WithResources::new(Toolset::default(), late.clone())).open();
    let visitor = ClientSession { caller: Arc::new(Caller::local()), session: None };
    let ask = |about: ResourceOperation, params: Value| {
        let Value::Object(params) = params else { unreachable!("no object") };
        let inquiry = ResourceRequest { about, params };
        let (crib, visitor) = (crib.clone(), visitor.clone());
        async move {
            let answered = crib.inquire(&visitor, inquiry, BatchOptions::default()).await;
            answered.unwrap_err().kind
        }
    };
    let all = || async {
        let completed = json!({ "ref": { "type": "ref/prompt", "name": "a" } });
        let followed = crib.follow(&visitor, "note://a".to_owned(), BatchOptions::default()).await;
        [
            ask(ResourceOperation::Prompt, json!({ "name": "a" })).await,
            ask(ResourceOperation::Resource, json!({ "uri": "note://a" })).await,
            ask(ResourceOperation::Completion, completed).await,
            followed.err().unwrap().kind,
        ]
    };
    assert_eq!(all().await, [ErrorKind::SourceStarting; 4]);
    let starting = tokio::spawn({
        let crib = crib.clone();
        async move { crib.start().await }
    });
    assert_eq!(all().await, [ErrorKind::SourceStarting; 4]);
    late.0.notify_one();
    starting.await.unwrap();
    assert_eq!(crib.resources().all(ResourceKind::Prompt).count(), 0);
    assert_eq!(all().await, [ErrorKind::InvalidArguments; 4]);
}
