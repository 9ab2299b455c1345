//! Sources that give no tools now, as whoever searches hears of them.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    BoxFuture, Call, Caller, Discovery, Effect, PlanRequest, RawArguments, Source, SourceError,
    Toolset,
};
use toolcrib_engine::discovery::{DiscoveryQuery, DiscoverySettings, UnavailableSource};
use toolcrib_engine::rules::Rules;
use toolcrib_engine::{Crib, CribBuilder};
use toolcrib_testkit::{Behaviour, Oracle, ScriptedSource, spec};

use crate::builder;

const NOW: Duration = Duration::ZERO;

/// A source that is down, and whose address is nobody's business.
fn down() -> ScriptedSource {
    ScriptedSource::default().then(NOW, Err("cannot reach 10.1.2.3 with the key hunter2"))
}

fn shop(names: &[&str]) -> Toolset {
    let tool = |name: &&str| {
        let mut spec = spec(name, Effect::Read);
        "Lists the orders of a shop.".clone_into(&mut spec.summary);
        Oracle::default().tool(spec, Behaviour::Echo)
    };
    Toolset::of(names.iter().map(tool)).unwrap()
}

fn lazy() -> CribBuilder {
    builder().discovery(DiscoverySettings { mode: Discovery::Lazy, ..DiscoverySettings::default() })
}

async fn told(crib: &Crib, tool: &str, arguments: Value) -> (String, Value) {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let call = Call::new("1", tool, RawArguments::Value(arguments));
    let report = crib.run(&plan, vec![call]).await;
    let response = &report.responses[0];
    let data = response.content().and_then(|content| content.structured.clone());
    (response.text(), data.unwrap_or_default())
}

#[tokio::test(start_paused = true)]
async fn a_search_names_the_sources_that_give_nothing_and_none_of_their_secrets() {
    let slow = ScriptedSource::default().then(Duration::from_hours(1), Ok(shop(&["late"])));
    let crib = lazy()
        .source("shop", shop(&["orders"]))
        .source("mail", down())
        .source_within("slow", slow, Duration::from_secs(2))
        .build()
        .await;
    let away = json!([
        { "source": "mail", "reason": "it could not list them" },
        { "source": "slow", "reason": "it did not list them in time" },
    ]);
    let said = "\nThe source `mail` gives no tools now: it could not list them.\
                \nThe source `slow` gives no tools now: it did not list them in time.\
                \nWhat you miss may be there: search again later, or tell the user, before you say \
                that no tool does it.";
    for query in [json!({ "query": "list orders" }), json!({ "query": "send a mail" }), json!({})] {
        let (text, data) = told(&crib, "discover_tools", query).await;
        assert!(text.ends_with(said), "{text}");
        assert_eq!(data["away"], away);
        assert!(!text.contains("10.1.2.3") && !text.contains("hunter2"), "{text}");
    }
    let (text, _) = told(&crib, "get_tool_schema", json!({ "name": "mail_send" })).await;
    assert!(text.ends_with(said), "{text}");
    // Who searches one source hears of that one, and not that there is none of its name.
    let of = |source: &str| json!({ "query": "list orders", "sources": [source] });
    let (text, data) = told(&crib, "discover_tools", of("Mail")).await;
    assert_eq!((&data["away"], &data["unknown"]), (&json!([away[0]]), &json!([])), "{text}");
    let (text, data) = told(&crib, "discover_tools", of("shop")).await;
    assert_eq!((data.get("away"), text.contains("gives no tools")), (None, false), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_source_is_named_only_to_whom_a_plain_tool_of_it_would_be_shown() {
    let named = async |rules: &str| {
        let crib = lazy()
            .policy(Rules::parse(rules).unwrap())
            .source("shop", shop(&["orders"]))
            .source("mail", Stemmed("mail__"))
            .build()
            .await;
        let names = crib
            .unavailable_sources(&Caller::local())
            .into_iter()
            .map(|away| away.source.to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(named(r#"allow = ["*"]"#).await, ["mail"]);
    assert_eq!(named(r#"allow = ["source:mail effect:read"]"#).await, ["mail"]);
    assert_eq!(named(r#"allow = ["mail__*"]"#).await, ["mail"]);
    assert_eq!(named(r#"allow = ["source:shop"]"#).await, [""; 0]);
    assert_eq!(named("allow = [\"*\"]\ndeny = [\"source:mail\"]").await, [""; 0]);
    assert_eq!(named("allow = [\"*\"]\ndeny = [\"mail__*\"]").await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_is_being_loaded_or_has_an_old_list_is_told_apart() {
    let crib = lazy()
        .source(
            "shop",
            ScriptedSource::default().then(NOW, Ok(shop(&["orders"]))).then(NOW, Err("off")),
        )
        .source("late", ScriptedSource::default().then(Duration::from_secs(5), Ok(shop(&["late"]))))
        .open();
    let starting = {
        let crib = crib.clone();
        tokio::spawn(async move { crib.start().await })
    };
    tokio::time::sleep(Duration::from_secs(1)).await;
    let source = toolcrib_core::SourceId::new("late");
    let reason = "it is still being loaded";
    assert_eq!(crib.unavailable_sources(&Caller::local()), [UnavailableSource { source, reason }]);
    starting.await.unwrap();
    assert_eq!(crib.unavailable_sources(&Caller::local()), []);
    // An old list is a list.
    assert_eq!(crib.reload(&toolcrib_core::SourceId::new("shop")).await, Some(false));
    assert_eq!(crib.unavailable_sources(&Caller::local()), []);
}

#[tokio::test(start_paused = true)]
async fn of_many_sources_that_give_nothing_a_handful_is_named() {
    let all = (0..20).fold(lazy().source("shop", shop(&["orders"])), |builder, number| {
        builder.source(&format!("s{number}"), down())
    });
    let crib = all.build().await;
    let (text, data) = told(&crib, "discover_tools", json!({ "query": "list orders" })).await;
    assert_eq!(text.matches("gives no tools now").count(), 5, "{text}");
    assert!(text.contains("\n15 more sources give none."), "{text}");
    assert_eq!(data["away"].as_array().unwrap().len(), 5);
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let search =
        DiscoveryQuery { text: "list orders".to_owned(), limit: 5, ..DiscoveryQuery::default() };
    assert_eq!(crib.find(&plan, search).await.unwrap().away.len(), 20);
}

/// Down, and known for how its names begin.
struct Stemmed(&'static str);

impl Source for Stemmed {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(async { Err(SourceError::new("it is down")) })
    }

    fn name_prefix(&self) -> Option<&str> {
        Some(self.0)
    }
}
