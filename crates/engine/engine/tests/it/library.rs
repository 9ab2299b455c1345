//! Prompts and resources of several sources behind one gate.

use std::sync::Arc;

use serde_json::{Value, json};
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::Notify;
use toolcrib_core::{
    AllowAll, BatchOptions, BoxFuture, CallContext, Caller, ClientSession, CodeResources,
    ErrorKind, JsonFields, RefusalReason, ResourceKind, ResourceList, ResourceOperation,
    ResourceRequest, Resources, SourceError, ToolError, Toolset, WithResources,
};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::Rules;

fn fields(value: Value) -> JsonFields {
    let Value::Object(fields) = value else { panic!("`{value}` is no object") };
    fields
}

/// A prompt `greet`, a resource and a template that says `who` it is.
fn library(who: &'static str) -> CodeResources {
    let says = move |params: JsonFields| async move {
        Ok(fields(json!({ "who": who, "uri": params.get("uri"), "x-new": 1 })))
    };
    CodeResources::default()
        .prompt(fields(json!({ "name": format!("{who}_greet"), "icons": [] })), move |params, _| {
            says(params)
        })
        .resource(fields(json!({ "uri": "note://one", "name": who })), move |params, _| {
            says(params)
        })
        .template(
            fields(json!({ "uriTemplate": format!("{who}://{{id}}/text"), "name": "any" })),
            move |params, _| says(params),
        )
}

fn toolset(name: &str) -> Toolset {
    let tool = toolcrib_core::raw_tool(
        toolcrib_testkit::spec(name, toolcrib_core::Effect::Read),
        |_, _| async { toolcrib_core::ToolOutcome::Done(toolcrib_core::Content::text("done")) },
    );
    Toolset::of([tool]).unwrap()
}

fn source(library: &CodeResources) -> WithResources {
    WithResources::new(Toolset::default(), Arc::new(library.clone()))
}

fn ann() -> ClientSession {
    ClientSession { caller: Arc::new(Caller::new("house", "ann")), session: None }
}

async fn read(crib: &Crib, uri: &str) -> Result<JsonFields, ToolError> {
    ask(crib, ResourceOperation::Resource, json!({ "uri": uri })).await
}

async fn ask(
    crib: &Crib,
    about: ResourceOperation,
    params: Value,
) -> Result<JsonFields, ToolError> {
    let inquiry = ResourceRequest { about, params: fields(params) };
    crib.inquire(&ann(), inquiry, BatchOptions::default()).await
}

async fn two(policy: impl toolcrib_core::Policy + 'static) -> Crib {
    let (first, second) = (library("first"), library("second"));
    Crib::builder()
        .policy(policy)
        .source("first", source(&first))
        .source("second", source(&second))
        .build()
        .await
}

fn no_resource(uri: &str) -> RefusalReason {
    RefusalReason::NoResource { uri: uri.to_owned() }
}

fn reason(error: ToolError) -> Option<RefusalReason> {
    error.refusal.map(|refusal| refusal.reason)
}

#[tokio::test]
async fn an_address_is_the_first_sources_and_each_template_finds_its_own() {
    let crib = two(AllowAll).await;
    let stock = crib.resources();
    let listed = |kind| stock.all(kind).map(|offer| offer.definition.clone()).collect::<Vec<_>>();
    assert_eq!(
        listed(ResourceKind::Prompt),
        [
            Arc::new(fields(json!({ "name": "first_greet", "icons": [] }))),
            Arc::new(fields(json!({ "name": "second_greet", "icons": [] }))),
        ]
    );
    assert_eq!(listed(ResourceKind::Resource).len(), 1);
    let out: Vec<_> = stock.kept_out().iter().map(|out| (out.key.as_str(), &out.source)).collect();
    assert_eq!(out, [("note://one", &toolcrib_core::SourceId::new("second"))]);
    assert!(stock.kept_out()[0].reason.contains("`first` has it already"));
    for (uri, who) in
        [("note://one", "first"), ("first://7/text", "first"), ("second://7/text", "second")]
    {
        let whole = fields(json!({ "who": who, "uri": uri, "x-new": 1 }));
        assert_eq!(read(&crib, uri).await.unwrap(), whole);
    }
    for uri in ["second://7/8/text", "note://two", ""] {
        let error = read(&crib, uri).await.unwrap_err();
        assert_eq!(
            (error.kind, reason(error)),
            (ErrorKind::InvalidArguments, Some(no_resource(uri))),
            "{uri}"
        );
    }
    let greeted =
        ask(&crib, ResourceOperation::Prompt, json!({ "name": "second_greet" })).await.unwrap();
    assert_eq!(greeted["who"], "second");
    let nobody =
        ask(&crib, ResourceOperation::Prompt, json!({ "name": "greet" })).await.unwrap_err();
    assert_eq!(reason(nobody), Some(RefusalReason::InvalidRequest));
}

#[tokio::test]
async fn rules_hold_for_what_is_read_as_they_do_for_tools() {
    let rules = r#"
        allow = ["category:prompt source:second", "category:resource"]
        ask = ["name:second://8*"]
        deny = ["name:second://9*", "name:note://one"]
    "#;
    let crib = two(Rules::parse(rules).unwrap()).await;
    let (stock, executor) = (crib.resources(), crib.executor());
    let caller = ann().caller;
    let seen = |kind| stock.seen(kind, &caller, executor.policy()).count();
    assert_eq!(
        (seen(ResourceKind::Prompt), seen(ResourceKind::Resource), seen(ResourceKind::Template)),
        (1, 0, 2)
    );
    assert!(read(&crib, "second://7/text").await.is_ok());
    let asked = read(&crib, "second://8/text").await.unwrap_err();
    assert!(asked.message.contains("permit it by a rule"), "{asked}");
    for gone in ["second://9/text", "note://one"] {
        assert_eq!(reason(read(&crib, gone).await.unwrap_err()), Some(no_resource(gone)), "{gone}");
    }
    let denied =
        ask(&crib, ResourceOperation::Prompt, json!({ "name": "first_greet" })).await.unwrap_err();
    assert_eq!(reason(denied), Some(RefusalReason::InvalidRequest));
    let params = json!({ "ref": { "type": "ref/prompt", "name": "first_greet" } });
    assert!(ask(&crib, ResourceOperation::Completion, params).await.is_err());
    let following = crib.follow(&ann(), "note://one".to_owned(), BatchOptions::default()).await;
    assert_eq!(following.err().and_then(reason), Some(no_resource("note://one")));
}

/// Names of tools end at 128 characters, and rules must not lose what stands behind.
#[tokio::test]
async fn a_rule_reads_the_end_of_a_long_address() {
    let rules = "allow = [\"*\"]\ndeny = [\"name:*/text\"]";
    let crib = two(Rules::parse(rules).unwrap()).await;
    let long = format!("first://{}/text", "a".repeat(500));
    assert_eq!(reason(read(&crib, &long).await.unwrap_err()), Some(no_resource(&long)));
}

#[tokio::test]
async fn whoever_follows_is_told_and_nobody_else() {
    let library = library("first");
    let crib = Crib::builder().policy(AllowAll).source("first", source(&library)).build().await;
    let mut followed = Vec::new();
    for uri in ["note://one", "first://7/text"] {
        let following = crib.follow(&ann(), uri.to_owned(), BatchOptions::default()).await;
        followed.push(following.unwrap());
    }
    library.tell("note://other");
    library.tell("first://7/text");
    let told = followed[1].next().await.unwrap();
    assert_eq!(told, fields(json!({ "uri": "first://7/text" })));
    let silent = tokio::time::timeout(std::time::Duration::from_millis(50), followed[0].next());
    assert!(silent.await.is_err());
}

/// What a load gives, if it ends.
type Load = Option<Result<Vec<&'static str>, ()>>;

/// Plays what each load gives; nothing means that it never ends.
#[derive(Default)]
struct Played {
    loads: Mutex<Vec<Load>>,
    changed: Notify,
}

impl Resources for Played {
    fn load(&self) -> BoxFuture<'_, Result<ResourceList, SourceError>> {
        let next = self.loads.lock().unwrap().pop();
        Box::pin(async move {
            let Some(Some(load)) = next else { return std::future::pending().await };
            let prompt = |name: &&str| Arc::new(fields(json!({ "name": name })));
            let names = load.map_err(|()| SourceError::new("it cannot tell"))?;
            let prompts = names.iter().map(prompt).collect();
            Ok(ResourceList { prompts, ..ResourceList::default() })
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.changed.notified())
    }

    fn answer<'a>(
        &'a self,
        _: ResourceRequest,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<JsonFields, ToolError>> {
        assert!(self.loads.lock().unwrap().len() > 9, "it breaks");
        Box::pin(std::future::pending())
    }
}

fn prompts(crib: &Crib) -> Vec<(String, bool)> {
    let stock = crib.resources();
    let one = |held: &Arc<toolcrib_core::SourceResources>| {
        let name_of = |fields: &Arc<JsonFields>| fields["name"].as_str().unwrap().to_owned();
        let names: Vec<_> = held.holdings.prompts.iter().map(name_of).collect();
        (names.join(" "), held.stale)
    };
    stock.libraries().iter().map(one).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_library_that_hangs_or_fails_costs_nobody_else_anything() {
    let hanging = WithResources::new(toolset("slow"), Arc::new(Played::default()));
    let played = Arc::new(Played::default());
    *played.loads.lock().unwrap() = vec![Some(Err(())), Some(Ok(vec!["one", "two"]))];
    let plays = WithResources::new(toolset("quick"), Arc::clone(&played) as Arc<dyn Resources>);
    let builder = Crib::builder().policy(AllowAll);
    let crib = builder
        .source_within("hanging", hanging, Duration::from_millis(200))
        .source("playing", plays)
        .open();
    let changed = crib.prompts_changed();
    let starting = tokio::spawn({
        let crib = crib.clone();
        async move { crib.start().await }
    });
    changed.await;
    assert_eq!(prompts(&crib), [("one two".to_owned(), false)]);
    while crib.catalog().tools().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    starting.await.unwrap();
    // What was listed stays, and is marked, when the next load fails.
    played.changed.notify_one();
    while prompts(&crib).iter().all(|(_, stale)| !stale) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(prompts(&crib), [("one two".to_owned(), true)]);
    let broke = ask(&crib, ResourceOperation::Prompt, json!({ "name": "one" })).await.unwrap_err();
    assert_eq!(broke.kind, ErrorKind::Internal);
}
