//! Tools that are not shown: found, read and called by those that are.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_core::{
    Call, CallFlag, Caller, Discovery, Effect, ErrorKind, Exposure, PlanRequest, RawArguments,
    Report, Run, ToolOutcome, ToolSpec, Toolset, Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_engine::discovery::{Approver, DiscoveryQuery, DiscoverySettings};
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_engine::rules::ToolPatterns;
use toolcrib_testkit::{Behaviour, FixedPolicy, Oracle, spec};

use crate::builder;

fn lazy(eager: &[&str], confirm: Approver) -> DiscoverySettings {
    DiscoverySettings { mode: Discovery::Lazy, eager: ToolPatterns::read(eager).unwrap(), confirm }
}

pub(crate) fn described(
    name: &str,
    text: &str,
    category: &str,
    action: &str,
    effect: Effect,
) -> ToolSpec {
    let mut spec = spec(name, effect);
    (spec.summary, spec.description) = (text.to_owned(), text.to_owned());
    (spec.category, spec.actions) = (Some(category.to_owned()), vec![action.to_owned()]);
    spec.input = json!({
        "type": "object",
        "properties": { "title": { "type": "string" }, "id": { "type": "integer" } },
        "required": ["title"],
    })
    .into();
    spec
}

fn shop(oracle: &Oracle) -> Toolset {
    let mut strict = described("parse", "Parses a text.", "text", "read", Effect::Read);
    strict.validation = toolcrib_core::Validation::Strict;
    let specs = [
        described("issue_create", "Creates an issue.", "issues", "create", Effect::Write),
        described("issue_list", "Lists issues.", "issues", "list", Effect::Read),
        described(
            "event_delete",
            "Deletes an event of the calendar.",
            "calendar",
            "delete",
            Effect::Destroy,
        ),
        described(
            "event_list",
            "Lists the events of a calendar.",
            "calendar",
            "list",
            Effect::Read,
        ),
        described("secret_read", "Reads a secret.", "vault", "read", Effect::Read),
        strict,
    ];
    Toolset::of(specs.map(|spec| oracle.tool(spec, Behaviour::Echo))).unwrap()
}

fn crib(oracle: &Oracle, discovery: DiscoverySettings) -> Crib {
    let policy = FixedPolicy::default()
        .with("secret_read", Verdict::Deny("not for you".into()))
        .with("event_delete", Verdict::Ask("it deletes".into()));
    builder().policy(policy).discovery(discovery).build_fixed(shop(oracle))
}

fn shown(crib: &Crib, request: PlanRequest) -> Vec<String> {
    let plan = crib.plan(&Caller::local(), request).unwrap();
    let listed = plan.tools().filter(|tool| tool.exposure == Exposure::Listed);
    listed.map(|tool| tool.listed.spec.name.to_string()).collect()
}

async fn call(crib: &Crib, name: &str, arguments: Value) -> Report {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    crib.run(&plan, vec![Call::new("1", name, RawArguments::Value(arguments))]).await
}

async fn text(crib: &Crib, name: &str, arguments: Value) -> String {
    call(crib, name, arguments).await.responses[0].text()
}

#[tokio::test]
async fn a_tool_is_found_by_its_examples_and_aliases() {
    let oracle = Oracle::default();
    let mut ledger = described("ledger_post", "Books an entry.", "books", "create", Effect::Write);
    let mut parse = described("parse", "Parses a text.", "text", "read", Effect::Read);
    let find = async |specs: [&ToolSpec; 2], text: &str| {
        let tools = specs.map(|spec| oracle.tool(spec.clone(), Behaviour::Echo));
        let crib = builder().build_fixed(Toolset::of(tools).unwrap());
        let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
        let search =
            DiscoveryQuery { text: text.to_owned(), limit: 5, ..DiscoveryQuery::default() };
        let found = crib.find(&plan, search).await.unwrap();
        found.tools.into_iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>()
    };
    let (paid, grep) = ("the customer paid", "grep");
    assert_eq!(find([&ledger, &parse], paid).await, [""; 0]);
    assert_eq!(find([&ledger, &parse], grep).await, [""; 0]);
    ledger.examples = vec!["Note that a customer has paid".to_owned()];
    parse.aliases = vec!["grep".to_owned()];
    assert_eq!(find([&ledger, &parse], paid).await, ["ledger_post"]);
    assert_eq!(find([&ledger, &parse], grep).await, ["parse"]);
}

#[tokio::test]
async fn a_lazy_crib_shows_its_core_and_the_tools_that_find_the_rest() {
    let crib = crib(&Oracle::default(), lazy(&["issue_list"], Approver::Person));
    let meta = ["discover_tools", "get_tool_schema", "invoke_tool"];
    assert_eq!(shown(&crib, PlanRequest::default()), [&["issue_list"], &meta[..]].concat());
    // A request has the last word, and a model API that defers needs no tools of ours.
    let all = ["issue_create", "issue_list", "event_delete", "event_list", "parse"];
    assert_eq!(shown(&crib, PlanRequest::default().show(Discovery::Direct)), all);
    assert_eq!(shown(&crib, PlanRequest::default().api_defers(true)), ["issue_list"]);
    // What was chosen is shown and forced, as ever.
    let chosen = PlanRequest::default().choose("parse").choose("issue_create");
    assert_eq!(shown(&crib, chosen), ["issue_create", "parse"]);
}

#[tokio::test]
async fn what_a_run_has_used_is_shown_behind_all_that_was_there_before() {
    let crib = crib(&Oracle::default(), lazy(&["issue_list"], Approver::Person));
    let mut run = Run::default();
    let before = shown(&crib, PlanRequest::default().after(&run));
    for (tool, then) in [("parse", vec!["parse"]), ("event_list", vec!["parse", "event_list"])] {
        let arguments = json!({ "name": tool, "parameters": { "title": "x" } });
        run.absorb(&call(&crib, "invoke_tool", arguments).await);
        let now = shown(&crib, PlanRequest::default().after(&run));
        assert_eq!(now[..before.len()], before[..]);
        assert_eq!(now[before.len()..], then[..]);
    }
}

#[tokio::test]
async fn a_model_finds_reads_and_calls_a_hidden_tool() {
    let oracle = Oracle::default();
    let crib = crib(&oracle, lazy(&[], Approver::Person));
    let found = call(&crib, "discover_tools", json!({ "query": "create an issue" })).await;
    let structured = found.responses[0].content().unwrap().structured.clone().unwrap();
    assert_eq!(structured["tools"][0]["name"], "issue_create");
    assert_eq!(structured["tools"][0]["writes"], true);
    assert_eq!(structured["tools"][0]["actions"], json!(["create"]));
    assert!(found.responses[0].text().contains("issue_create(title: string, id?: integer)"));
    let read = text(&crib, "get_tool_schema", json!({ "name": "issue_create" })).await;
    assert!(read.contains("\"required\":[\"title\"]"), "{read}");
    let arguments = json!({ "name": "issue_create", "parameters": { "title": "x", "id": "3" } });
    let report = call(&crib, "invoke_tool", arguments).await;
    let response = &report.responses[0];
    assert_eq!((response.id.as_str(), response.name.as_str()), ("1", "issue_create"));
    assert_eq!(response.wire.name, "invoke_tool");
    assert_eq!(response.debug.flags, [CallFlag::Relayed]);
    assert_eq!(response.debug.tool.as_ref().unwrap().as_str(), "issue_create");
    assert_eq!(oracle.runs(), [("issue_create".to_owned(), json!({ "title": "x", "id": 3 }))]);
}

#[tokio::test]
async fn what_is_not_there_for_a_caller_is_neither_found_nor_told_nor_called() {
    let oracle = Oracle::default();
    let crib = crib(&oracle, lazy(&[], Approver::Person));
    let found = text(&crib, "discover_tools", json!({ "query": "read a secret" })).await;
    let overview = text(&crib, "discover_tools", json!({})).await;
    let schema = text(&crib, "get_tool_schema", json!({ "name": "secret_read" })).await;
    let called = text(&crib, "invoke_tool", json!({ "name": "secret_read" })).await;
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let description = &plan.get("discover_tools").unwrap().listed.spec.description;
    for text in [&found, &overview, description] {
        assert!(!text.contains("secret_read") && !text.contains("vault"), "{text}");
    }
    assert!(
        description.contains("Categories (with how many tools): calendar 2, issues 2, text 1.")
    );
    assert!(schema.starts_with("Error: there is no tool `secret_read`."), "{schema}");
    assert!(called.starts_with("Error: there is no tool `secret_read`."), "{called}");
    assert!(called.ends_with("Search for one with `discover_tools`"), "{called}");
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn a_search_tells_of_a_denied_tool_what_it_tells_of_one_that_nobody_has() {
    let oracle = Oracle::default();
    let crib = crib(&oracle, lazy(&[], Approver::Person));
    // What is of the denied tool alone, and the same with a letter that nobody has.
    let pairs = [
        ("get_tool_schema", json!({ "name": "secret_read" }), json!({ "name": "secrez_read" })),
        (
            "discover_tools",
            json!({ "query": "list", "categories": ["vault"] }),
            json!({ "query": "list", "categories": ["vauxt"] }),
        ),
        ("discover_tools", json!({ "query": "secret" }), json!({ "query": "secrez" })),
    ];
    for (tool, denied, unknown) in pairs {
        let (of_denied, of_unknown) =
            (text(&crib, tool, denied).await, text(&crib, tool, unknown).await);
        let same = of_unknown.replace("secrez", "secret").replace("vauxt", "vault");
        assert_eq!(of_denied, same, "{tool}");
    }
}

#[tokio::test]
async fn a_model_that_may_no_longer_say_yes_may_not_by_an_older_plan() {
    let oracle = Oracle::default();
    let crib = crib(&oracle, lazy(&[], Approver::Model));
    let delete = json!({ "name": "event_delete", "parameters": { "title": "x" } });
    call(&crib, "invoke_tool", delete).await;
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    crib.set_discovery(lazy(&[], Approver::Person));
    let execute = Call::new("1", "execute_pending", RawArguments::Value(json!({})));
    let report = crib.run(&plan, vec![execute]).await;
    assert!(matches!(report.responses[0].outcome, ToolOutcome::Denied { .. }), "{report:?}");
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn a_wrong_call_says_what_to_do_next() {
    let crib = crib(&Oracle::default(), lazy(&[], Approver::Person));
    let direct = text(&crib, "issue_create", json!({ "title": "x" })).await;
    assert!(direct.contains("call `invoke_tool` with `name`: \"issue_create\""), "{direct}");
    let near = text(&crib, "invoke_tool", json!({ "name": "issues_create" })).await;
    assert!(near.contains("Did you mean `issue_create`"), "{near}");
    let itself = text(&crib, "invoke_tool", json!({ "name": "invoke_tool" })).await;
    assert!(itself.contains("a tool cannot be called through itself"), "{itself}");
    let nameless = text(&crib, "invoke_tool", json!({ "parameters": {} })).await;
    assert!(nameless.contains("`name` must be the name of the tool to call"), "{nameless}");
    let unfit = text(&crib, "invoke_tool", json!({ "name": "issue_create" })).await;
    assert!(unfit.contains("issue_create(title: string"), "{unfit}");
    let nothing = text(&crib, "discover_tools", json!({ "query": "xylophone" })).await;
    assert!(nothing.contains("Nothing fits for \"xylophone\""), "{nothing}");
    let category = json!({ "query": "create an issue", "categories": ["isues"] });
    let category = text(&crib, "discover_tools", category).await;
    assert!(category.contains("There is no category `isues`. Did you mean issues?"), "{category}");
}

#[tokio::test]
async fn what_is_plainly_meant_is_put_right_and_noted() {
    let oracle = Oracle::default();
    let crib = crib(&oracle, lazy(&[], Approver::Person));
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let forms = [
        r#"{"name": "issue_list", "parameters": {"title": "x"}}"#,
        r#"{"name": "issue_list", "parameters": "{\"title\": \"x\"}"}"#,
        r#"{"tool_name": "issue_list", "arguments": {"title": "x"}}"#,
        r#"{"name": "issue_list", "title": "x"}"#,
        r"{'name': 'issue_list', 'parameters': {'title': 'x'},}",
        r#""{\"name\": \"issue_list\", \"parameters\": {\"title\": \"x\"}}""#,
    ];
    for form in forms {
        let call = Call::new("1", "invoke_tool", RawArguments::Text(form.to_owned()));
        let report = crib.run(&plan, vec![call]).await;
        assert!(report.responses[0].outcome.is_done(), "{form}: {}", report.responses[0].text());
    }
    assert!(oracle.runs().iter().all(|(_, arguments)| *arguments == json!({ "title": "x" })));
    // A strict tool is strict on every way.
    let broken = r"{'name': 'parse', 'parameters': {'title': 'x'}}";
    let call = Call::new("1", "invoke_tool", RawArguments::Text(broken.to_owned()));
    let response = &crib.run(&plan, vec![call]).await.responses[0];
    assert_eq!(response.error().unwrap().kind, ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn the_same_call_by_both_ways_runs_once() {
    let oracle = Oracle::default();
    let crib = crib(&oracle, lazy(&["issue_list"], Approver::Person));
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let relayed = json!({ "name": "issue_list", "parameters": { "title": "x" } });
    let calls = vec![
        Call::new("1", "issue_list", RawArguments::Value(json!({ "title": "x" }))),
        Call::new("2", "invoke_tool", RawArguments::Value(relayed)),
    ];
    let report = crib.run(&plan, calls).await;
    assert_eq!(report.responses[1].duplicate_of.as_deref(), Some("1"));
    assert_eq!(oracle.count("issue_list"), 1);
}

#[tokio::test]
async fn why_tells_that_a_tool_is_hidden_and_how_it_is_found() {
    let crib = crib(&Oracle::default(), lazy(&["issue_list"], Approver::Person));
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let why = plan.why("issue_create").unwrap();
    assert_eq!((why.visible, why.exposure), (true, Some(Exposure::Hidden)));
    assert_eq!(
        why.because,
        "it is permitted and no tool was chosen; it is hidden because the configuration shows \
         tools lazily, and it is not in the core that is always shown: a model finds it by \
         `discover_tools` and calls it by `invoke_tool`"
    );
    assert_eq!(plan.why("invoke_tool").unwrap().rule, "discovery");
    assert_eq!(plan.why("issue_list").unwrap().exposure, Some(Exposure::Listed));
}

#[tokio::test]
async fn a_name_that_somebody_has_is_left_to_them() {
    let oracle = Oracle::default();
    let tools = ["invoke_tool", "other"].map(|name| oracle.echo(name, Effect::Read));
    let crib =
        builder().discovery(lazy(&[], Approver::Person)).build_fixed(Toolset::of(tools).unwrap());
    let names = ["toolcrib__discover_tools", "toolcrib__get_tool_schema", "toolcrib__invoke_tool"];
    assert_eq!(shown(&crib, PlanRequest::default()), names);
    call(&crib, "toolcrib__invoke_tool", json!({ "name": "invoke_tool" })).await;
    assert_eq!(oracle.count("invoke_tool"), 1);
}

#[tokio::test]
async fn a_call_that_waits_runs_by_a_model_only_where_the_configuration_says_so() {
    let oracle = Oracle::default();
    let delete = || json!({ "name": "event_delete", "parameters": { "title": "x" } });
    let other = || json!({ "name": "event_delete", "parameters": { "title": "y" } });
    let by_person = crib(&oracle, lazy(&[], Approver::Person));
    let waits = call(&by_person, "invoke_tool", delete()).await;
    let ToolOutcome::Pending(pending) = &waits.responses[0].outcome else { panic!("it must wait") };
    let refused = call(&by_person, "execute_pending", json!({})).await;
    let ToolOutcome::Denied { reason } = &refused.responses[0].outcome else { panic!("denied") };
    assert!(reason.contains(&format!("toolcrib tickets approve {}", pending.ticket)), "{reason}");
    let through = json!({ "name": "execute_pending", "parameters": {} });
    let refused = call(&by_person, "invoke_tool", through).await;
    assert!(matches!(refused.responses[0].outcome, ToolOutcome::Denied { .. }));
    assert_eq!(oracle.runs(), []);

    let by_model = crib(&oracle, lazy(&[], Approver::Model));
    for arguments in [delete(), other()] {
        call(&by_model, "invoke_tool", arguments).await;
    }
    let listed = text(&by_model, "get_pending", json!({})).await;
    assert_eq!(listed.matches("event_delete(").count(), 2, "{listed}");
    let which = text(&by_model, "execute_pending", json!({})).await;
    assert!(which.contains("say which `ticket`"), "{which}");
    let open = by_model.tickets(&Caller::local()).await.unwrap();
    let of = |title: &str| {
        let is_it = |p: &&toolcrib_core::ParkedCall| p.arguments.fields()["title"] == title;
        json!({ "ticket": open.iter().find(is_it).unwrap().ticket })
    };
    assert!(text(&by_model, "clear_pending", of("y")).await.contains("taken back"));
    let ran = text(&by_model, "execute_pending", json!({})).await;
    assert_eq!(ran, r#"{"title":"x"}"#);
    assert_eq!(oracle.runs(), [("event_delete".to_owned(), json!({ "title": "x" }))]);
    assert_eq!(text(&by_model, "get_pending", json!({})).await, "No call waits.");
    assert!(text(&by_model, "execute_pending", of("x")).await.starts_with("Error: "));
}

/// What a call came to: all but who asked, when, and under which of our names.
fn outcome(report: &Report) -> Vec<Value> {
    let told = report.responses.iter().map(|response| {
        let mut told = response.to_json();
        let fields = told.as_object_mut().unwrap();
        fields.shift_remove("ticket");
        if matches!(response.outcome, ToolOutcome::Pending(_)) {
            fields.shift_remove("text");
        }
        let debug = fields["debug"].as_object_mut().unwrap();
        let flags = debug.get("flags").and_then(Value::as_array).cloned().unwrap_or_default();
        let flags: Vec<_> = flags.into_iter().filter(|flag| flag != "relayed").collect();
        debug.insert("flags".to_owned(), json!(flags));
        for key in ["key", "waited_us", "ran_us"] {
            debug.shift_remove(key);
        }
        told
    });
    told.collect()
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (0..3i64).prop_map(|n| json!({ "title": n.to_string() })),
        1 => Just(json!({ "title": "x", "id": "1" })),
        1 => Just(json!({ "title": 3 })),
        1 => Just(json!({})),
        1 => Just(json!("{\"title\": \"x\",}")),
        1 => Just(json!("{'title': 'x'}")),
        1 => Just(json!("nonsense")),
        1 => Just(json!([1])),
        1 => Just(json!(7)),
        1 => Just(Value::Null),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_relayed_call_is_the_direct_call_of_its_tool(
        calls in prop::collection::vec((0..7_usize, value()), 0..10),
    ) {
        let tools = [
            "issue_create", "issue_list", "event_delete", "event_list", "secret_read", "parse",
            "no_such_tool",
        ];
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time().start_paused(true).build().unwrap();
        let run = |relayed: bool| {
            let (oracle, ledger) = (Oracle::default(), Arc::new(MemoryLedger::default()));
            let policy = FixedPolicy::default()
                .with("secret_read", Verdict::Deny("not for you".into()))
                .with("event_delete", Verdict::Ask("it deletes".into()));
            // In both the tools that find others are there, and the others are shown.
            let crib = builder()
                .policy(policy)
                .ledger(Arc::clone(&ledger) as Arc<dyn toolcrib_core::Ledger>)
                .discovery(lazy(&["issue_*", "event_*", "secret_read", "no_*"], Approver::Person))
                .build_fixed(shop(&oracle));
            let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
            let made = calls.iter().enumerate().map(|(number, (tool, arguments))| {
                let (id, tool) = (number.to_string(), tools[*tool]);
                if relayed || tool == "parse" {
                    let parameters = json!({ "name": tool, "parameters": arguments });
                    Call::new(id, "invoke_tool", RawArguments::Value(parameters))
                } else {
                    Call::new(id, tool, RawArguments::from(arguments.clone()))
                }
            });
            let report = runtime.block_on(crib.run(&plan, made.collect()));
            let rows: Vec<_> = ledger.rows().into_iter()
                .map(|row| (row.tool.name.to_string(), row.ending)).collect();
            let mut runs = oracle.runs();
            runs.sort_by_key(|(tool, arguments)| (tool.clone(), arguments.to_string()));
            let mut rows = rows;
            rows.sort_by_key(|(tool, _)| tool.clone());
            (outcome(&report), rows, runs)
        };
        let (direct, relayed) = (run(false), run(true));
        prop_assert_eq!(&direct, &relayed);
        prop_assert!(relayed.2.iter().all(|(tool, _)| tool != "secret_read" && tool != "event_delete"));
    }
}
