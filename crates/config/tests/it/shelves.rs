//! Prompts and resources under the wishes of the file.

use std::sync::Arc;

use futures_util::stream;
use serde_json::{Value, json};
use toolcrib_config::{Environment, LiveConfig, SourceFactory};
use toolcrib_core::{
    BatchOptions, BoxFuture, Call, CallContext, Caller, ClientSession, Effect, JsonFields,
    PlanRequest, RawArguments, ResourceKind, ResourceList, ResourceOperation, ResourceRequest,
    Resources, ServerInfo, Source, SourceError, SourceId, Tool, ToolError, ToolSpec, Toolset,
    UpdateStream, WithResources, tool_with,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpSourceSettings;
use toolcrib_openapi::ApiSettings;

use crate::build::crib;
use crate::workshop::{Workshop, config};

/// A server of the name `id`, which says the secret wherever it can.
struct Teller(String);

fn fields(value: Value) -> JsonFields {
    serde_json::from_value(value).unwrap()
}

impl Resources for Teller {
    fn load(&self) -> BoxFuture<'_, Result<ResourceList, SourceError>> {
        let prompt =
            |name: &str| Arc::new(fields(json!({ "name": name, "description": "hidden-word" })));
        let resource = |uri: &str| Arc::new(fields(json!({ "uri": uri, "name": uri })));
        let template = json!({ "uriTemplate": "file:///{+path}", "name": "file" });
        let said = ServerInfo {
            server: fields(json!({ "name": self.0 })),
            capabilities: fields(json!({ "resources": {}, "prompts": {} })),
            ..ServerInfo::default()
        };
        Box::pin(std::future::ready(Ok(ResourceList {
            prompts: vec![prompt("ask"), prompt("b__ask"), prompt("leave")],
            resources: vec![resource("file:///open"), resource("file:///closed/a")],
            templates: vec![Arc::new(fields(template))],
            said: Arc::new(said),
            ..ResourceList::default()
        })))
    }

    fn lines(&self, visitor: ClientSession) -> Option<UpdateStream> {
        let line = fields(json!({ "to": visitor.caller.subject, "data": "hidden-word" }));
        Some(UpdateStream::new(stream::iter([line])))
    }

    fn is_open(&self) -> bool {
        true
    }

    fn answer<'a>(
        &'a self,
        inquiry: ResourceRequest,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<JsonFields, ToolError>> {
        let said = json!({ "of": self.0, "params": inquiry.params, "word": "hidden-word" });
        Box::pin(std::future::ready(Ok(fields(said))))
    }
}

struct Tellers;

impl SourceFactory for Tellers {
    fn mcp(&self, id: &str, _: McpSourceSettings) -> Arc<dyn Source> {
        Arc::new(WithResources::new(Toolset::default(), Arc::new(Teller(id.to_owned()))))
    }

    fn api(&self, _: &str, _: ApiSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }
}

async fn ask(
    crib: &Crib,
    about: ResourceOperation,
    params: Value,
) -> Result<JsonFields, ToolError> {
    let visitor = ClientSession { caller: Arc::new(Caller::local()), session: None };
    let inquiry = ResourceRequest { about, params: fields(params) };
    crib.inquire(&visitor, inquiry, BatchOptions::default()).await
}

const FILE: &str = r#"
[[source]]
id = "a"
exclude = ["leave", "file:///closed/*"]
mcp = { command = ["x"], env = { KEY = "${env:KEY}" } }

[[source]]
id = "a__b"
prefix = "a__b"
include = ["nothing"]
mcp = { command = ["x"] }
"#;

#[tokio::test]
async fn prompts_and_addresses_are_had_as_tools_are() {
    let workshop = Workshop::default();
    workshop.set("KEY", "hidden-word");
    let crib = crib(&config(FILE).build(&workshop, &Tellers)).await;
    let stock = crib.resources();
    let listed = |kind, key: &str| {
        stock.all(kind).map(|offer| offer.definition[key].clone()).collect::<Vec<_>>()
    };
    // `a__b__ask` would be a prompt of the other source.
    assert_eq!(listed(ResourceKind::Prompt, "name"), ["a__ask"]);
    assert_eq!(listed(ResourceKind::Prompt, "description"), ["[secret]"]);
    assert_eq!(listed(ResourceKind::Resource, "uri"), ["file:///open"]);
    let said = |params: Value| fields(json!({ "of": "a", "params": params, "word": "[secret]" }));
    let asked = ask(&crib, ResourceOperation::Prompt, json!({ "name": "a__ask" })).await.unwrap();
    assert_eq!(asked, said(json!({ "name": "ask" })));
    for uri in ["file:///open", "file:///else"] {
        let read = ask(&crib, ResourceOperation::Resource, json!({ "uri": uri })).await.unwrap();
        assert_eq!(read, said(json!({ "uri": uri })));
    }
    let reference = |name: &str| json!({ "ref": { "type": "ref/prompt", "name": name } });
    let completed = ask(&crib, ResourceOperation::Completion, reference("a__ask")).await.unwrap();
    assert_eq!(completed, said(reference("ask")));
    for gone in [
        "file:///closed/a",
        "file:///closed/b",
        "a__file:///open",
        // Other spellings of what is left out.
        "FILE:///closed/a",
        "file:///Closed/b",
        "file://localhost/closed/b",
        "file:/closed/b",
        "file:////closed/b",
        "file:///%63losed/b",
        "file:///%2563losed/b",
        "file:///closed%2fb",
        "file:///else/../closed/b",
        "file:///closed./b",
        "file:///OPEN",
    ] {
        assert!(
            ask(&crib, ResourceOperation::Resource, json!({ "uri": gone })).await.is_err(),
            "{gone}"
        );
    }
    for gone in ["ask", "a__leave", "a__b__ask"] {
        assert!(
            ask(&crib, ResourceOperation::Prompt, json!({ "name": gone })).await.is_err(),
            "{gone}"
        );
    }
}

#[tokio::test]
async fn a_profile_with_one_source_stands_for_its_server() {
    let source = |id: &str, prefix: &str| {
        format!("[[source]]\nid = \"{id}\"\nprefix = \"{prefix}\"\nmcp = {{ command = [\"x\"] }}\n")
    };
    let profile = |name: &str, sources: &str| {
        format!("[profile.{name}]\nsources = [{sources}]\nallow = [\"*\"]\n")
    };
    let text = [
        source("bare", ""),
        source("named", "named"),
        profile("one", "\"bare\""),
        profile("prefixed", "\"named\""),
        profile("both", "\"bare\", \"named\""),
    ];
    let means = Environment::new(Arc::new(Workshop::default()), Arc::new(Tellers));
    let live = LiveConfig::start(&config(&text.concat()), means).await.unwrap();
    let sole = |profile: &str| live.view(profile).unwrap().sole();
    assert_eq!(sole("one").unwrap().server["name"], "bare");
    assert_eq!((sole("prefixed"), sole("both"), live.crib().sole()), (None, None, None));
    let one = live.view("one").unwrap();
    let offers = one.resources();
    let executor = one.executor();
    let caller = Caller::local();
    let seen = offers.seen(ResourceKind::Prompt, &caller, executor.policy());
    let seen: Vec<_> = seen.map(|offer| offer.definition["name"].clone()).collect();
    assert_eq!(seen, ["ask", "b__ask", "leave"]);
    live.reload(&source("bare", ""), "crib.toml").await.unwrap();
    assert_eq!(live.crib().sole().unwrap().server["name"], "bare");
}

/// A server that answers to any name, and says its secret.
struct Open(WithResources);

impl Source for Open {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        self.0.load()
    }

    fn unlisted_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let mut spec = ToolSpec::new(name, "hidden-word", Effect::Destroy).ok()?;
        spec.origin.source = SourceId::new("open");
        Some(tool_with(spec, |_: Value, _| async { Ok("hidden-word") }))
    }

    fn library(&self) -> Option<Arc<dyn Resources>> {
        self.0.library()
    }
}

struct Openers;

impl SourceFactory for Openers {
    fn mcp(&self, id: &str, _: McpSourceSettings) -> Arc<dyn Source> {
        Arc::new(Open(WithResources::new(Toolset::default(), Arc::new(Teller(id.to_owned())))))
    }

    fn api(&self, _: &str, _: ApiSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }
}

#[tokio::test]
async fn what_a_server_does_not_list_is_had_where_the_file_says_nothing_of_its_tools() {
    let workshop = Workshop::default();
    workshop.set("KEY", "hidden-word");
    for (wishes, is_had) in [
        ("prefix = \"\"", true),
        ("prefix = \"p\"", false),
        ("prefix = \"\"\ninclude = [\"*\"]", false),
        ("prefix = \"\"\nexclude = [\"other\"]", false),
        ("prefix = \"\"\n[tool.other]\nenabled = false", false),
    ] {
        let server = "mcp = { command = [\"x\"], env = { KEY = \"${env:KEY}\" } }";
        let text = format!("allow = [\"*\"]\n[[source]]\nid = \"open\"\n{server}\n{wishes}\n");
        let crib = crib(&config(&text).build(&workshop, &Openers)).await;
        let caller = Caller::local();
        let plan = crib.plan_unlisted(&caller, PlanRequest::default(), "any");
        assert_eq!(plan.is_some(), is_had, "{wishes}");
        for (about, params) in [
            (ResourceOperation::Method("x/any".into()), json!({})),
            (ResourceOperation::Prompt, json!({ "name": "any" })),
        ] {
            let answered = ask(&crib, about.clone(), params).await;
            let word = answered.ok().map(|answered| answered["word"].clone());
            assert_eq!(word, is_had.then(|| json!("[secret]")), "{wishes} {about:?}");
        }
        let visitor = ClientSession { caller: Arc::new(Caller::local()), session: None };
        if let Some(mut lines) = crib.lines(visitor) {
            let line = fields(json!({ "to": "local", "data": "[secret]" }));
            assert_eq!(lines.next().await, Some(line), "{wishes}");
        }
        let Some(plan) = plan else { continue };
        assert_eq!(plan.get("any").unwrap().listed.spec.description, "[secret]");
        let call = Call::new("1", "any", RawArguments::Absent);
        assert_eq!(crib.run(&plan, vec![call]).await.responses[0].text(), "[secret]");
    }
}
