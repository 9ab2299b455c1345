//! Sources that are alike: each has its names where the others are not shown.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolcrib_core::{
    BatchOptions, Call, Caller, ClientSession, CodeResources, CribLimits, Decision, Effect,
    JsonFields, PlanRequest, RawArguments, ResourceOperation, ResourceRequest, Run, SourceId,
    TicketError, ToolOutcome, Toolset, WithResources,
};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::Rules;
use toolcrib_testkit::{Oracle, ScriptedSource};

const NOW: Duration = Duration::ZERO;

fn tools(oracle: &Oracle, names: &[&str]) -> Toolset {
    Toolset::of(names.iter().map(|name| oracle.echo(name, Effect::Write))).unwrap()
}

fn scripted(lists: &[&[&str]]) -> ScriptedSource {
    let list = |names: &&[&str]| Ok(tools(&Oracle::default(), names));
    lists.iter().map(list).fold(ScriptedSource::default(), |script, list| script.then(NOW, list))
}

/// The crib as a profile of these sources has it.
fn profile(crib: &Crib, sources: &[&str]) -> Crib {
    let patterns: Vec<_> = sources.iter().map(|source| format!("source:{source}")).collect();
    let rules = Rules::parse(&format!("ask = [\"pay\"]\nallow = {}\n", json!(patterns))).unwrap();
    let view =
        crib.with_policy(Arc::new(rules), CribLimits::default()).for_profile(&sources.join("+"));
    view.restrict_sources(Some(sources.iter().map(SourceId::new).collect::<BTreeSet<_>>()));
    view
}

/// What a caller may call, with its owner.
fn seen(crib: &Crib) -> Vec<String> {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let owner = |spec: &toolcrib_core::ToolSpec| format!("{}/{}", spec.origin.source, spec.name);
    plan.tools().map(|tool| owner(&tool.listed.spec)).collect()
}

async fn call(crib: &Crib, name: &str) -> ToolOutcome {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let call = Call::new("1", name, RawArguments::Value(json!({ "n": 1 })));
    crib.run(&plan, vec![call]).await.responses.remove(0).outcome
}

#[tokio::test(start_paused = true)]
async fn each_of_two_serves_its_names_where_it_is_alone_in_whatever_order_they_start() {
    for (order, pauses) in [(["a", "b"], [0, 5]), (["a", "b"], [5, 0]), (["b", "a"], [0, 5])] {
        let oracles = [Oracle::default(), Oracle::default()];
        let of = |id: &str| &oracles[usize::from(id == "b")];
        let builder = order.iter().zip(pauses).fold(Crib::builder(), |builder, (id, pause)| {
            let list = tools(of(id), &["search", "pay"]);
            builder.source(id, ScriptedSource::default().then(Duration::from_secs(pause), Ok(list)))
        });
        let crib = builder.build().await;
        let [first, other] = order;
        assert_eq!(seen(&crib), [format!("{first}/search"), format!("{first}/pay")]);
        let catalog = crib.catalog();
        let kept_out = catalog.quarantined().iter().map(|tool| tool.reason.to_string());
        let cure =
            format!("its name is taken by a tool of `{first}`: prefix or rename one of them");
        assert_eq!(kept_out.collect::<Vec<_>>(), [cure.clone(), cure], "of `{other}`");
        for id in order {
            let alone = profile(&crib, &[id]);
            assert_eq!(seen(&alone), [format!("{id}/search"), format!("{id}/pay")]);
            assert!(matches!(call(&alone, "search").await, ToolOutcome::Done(_)));
            assert_eq!(of(id).count("search"), 1, "each call is made at its own source");
        }
        assert_eq!(seen(&profile(&crib, &order)), seen(&crib));
    }
}

#[tokio::test(start_paused = true)]
async fn a_ticket_of_one_profile_runs_at_its_own_source_and_under_no_other() {
    let oracles = [Oracle::default(), Oracle::default()];
    let [a, b] = [0, 1].map(|one: usize| {
        ScriptedSource::default().then(NOW, Ok(tools(&oracles[one], &["search", "pay"])))
    });
    let crib = Crib::builder().source("a", a).source("b", b).build().await;
    let views = [profile(&crib, &["a"]), profile(&crib, &["b"])];
    let ToolOutcome::Pending(pending) = call(&views[1], "pay").await else { panic!("it is asked") };
    let (caller, run) = (Caller::local(), Run::default());
    for elsewhere in [&crib, &views[0]] {
        let refused = elsewhere.decide(&caller, &run, &pending.ticket, Decision::Approve).await;
        assert_eq!(refused.unwrap_err(), TicketError::Unknown);
    }
    let done = views[1].decide(&caller, &run, &pending.ticket, Decision::Approve).await.unwrap();
    assert!(matches!(done.outcome, ToolOutcome::Done(_)), "{done:?}");
    assert_eq!(oracles.map(|oracle| oracle.count("pay")), [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_is_shared_unless_a_name_is_lost_and_follows_its_source() {
    let (a, b) = (scripted(&[&["one"], &["one", "two"]]), scripted(&[&["two"], &["two", "three"]]));
    let crib = Crib::builder().source("a", a.clone()).source("b", b.clone()).build().await;
    let alone = profile(&crib, &["b"]);
    let shares = || Arc::ptr_eq(&alone.catalog(), &crib.catalog());
    assert!(shares(), "nobody else has a name of its");
    b.change();
    crib.changed().await;
    assert_eq!((seen(&alone), shares()), (vec!["b/two".to_owned(), "b/three".into()], true));
    a.change();
    crib.changed().await;
    assert_eq!(seen(&crib), ["a/one", "b/two", "b/three"], "a name stays with its owner");
    assert!(shares());
    let other = profile(&crib, &["a"]);
    assert_eq!(seen(&other), ["a/one", "a/two"]);
    assert!(!Arc::ptr_eq(&other.catalog(), &crib.catalog()));
}

#[tokio::test(start_paused = true)]
async fn a_name_stays_with_its_owner_in_a_profile_when_who_had_it_among_all_leaves() {
    let sources = [
        ("a", scripted(&[&["x"]])),
        ("b", scripted(&[&["b"], &["b", "x"]])),
        ("c", scripted(&[&["c", "x"]])),
    ];
    let placed = sources.clone().map(|(id, source)| -> toolcrib_engine::catalog::NamedSource {
        (SourceId::new(id), Arc::new(source), Duration::from_secs(1))
    });
    let builder = Crib::builder();
    let crib =
        placed.iter().cloned().fold(builder, toolcrib_engine::CribBuilder::placed).build().await;
    let both = profile(&crib, &["b", "c"]);
    assert_eq!(seen(&both), ["b/b", "c/c", "c/x"]);
    sources[1].1.change();
    crib.changed().await;
    assert_eq!(seen(&both), ["b/b", "c/c", "c/x"], "`b` came late");
    let [_, b, c] = placed;
    let policy = Arc::new(Rules::parse("allow = [\"*\"]").unwrap());
    crib.replace([b, c], policy, CribLimits::default()).await;
    assert_eq!(seen(&both), ["b/b", "c/c", "c/x"]);
}

/// A prompt, an address and answers that name their owner.
fn library(who: &'static str) -> CodeResources {
    let fields = |value| -> JsonFields { serde_json::from_value(value).unwrap() };
    let says = move |_, _| async move { Ok(fields(json!({ "who": who }))) };
    CodeResources::default()
        .prompt(fields(json!({ "name": "greet" })), says)
        .resource(fields(json!({ "uri": "note://one" })), says)
        .resource(fields(json!({ "uri": format!("note://{who}") })), says)
        .template(fields(json!({ "uriTemplate": "note://{id}" })), says)
}

#[tokio::test]
async fn prompts_and_addresses_are_each_ones_own() {
    let source = |who| WithResources::new(Toolset::default(), Arc::new(library(who)));
    let builder = Crib::builder().source("a", source("a")).source("b", source("b"));
    let crib = builder.build().await;
    for who in ["a", "b"] {
        let alone = profile(&crib, &[who]);
        for (about, params) in [
            (ResourceOperation::Prompt, json!({ "name": "greet" })),
            (ResourceOperation::Resource, json!({ "uri": "note://one" })),
            // One that the other lists, and this one's template has.
            (ResourceOperation::Resource, json!({ "uri": "note://a" })),
            (ResourceOperation::Resource, json!({ "uri": "note://b" })),
        ] {
            let visitor = ClientSession { caller: Arc::new(Caller::local()), session: None };
            let inquiry =
                ResourceRequest { about, params: serde_json::from_value(params).unwrap() };
            let said = alone.inquire(&visitor, inquiry, BatchOptions::default()).await.unwrap();
            assert_eq!(said["who"], who);
        }
    }
}
