//! What is on record of a tool of one source says nothing of a tool of another that has its name.

use std::sync::Arc;

use serde_json::json;
use toolcrib_core::{
    AllowAll, Call, Caller, Effect, ErrorKind, Ledger, PlanRequest, RawArguments, ToolError,
    ToolOutcome, Toolset, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_testkit::{Oracle, ScriptedSource, spec};

/// A crib of one source, whose record others keep too.
async fn of_source(id: &str, tools: Toolset, ledger: &Arc<dyn Ledger>) -> Crib {
    let source = ScriptedSource::default().then(std::time::Duration::ZERO, Ok(tools));
    let builder = Crib::builder().policy(AllowAll).ledger(Arc::clone(ledger));
    builder.source(id, source).build().await
}

async fn call(crib: &Crib, name: &str, key: Option<&str>) -> ToolOutcome {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let arguments = RawArguments::Value(json!({ "n": 1 }));
    let key = key.map(str::to_owned);
    let call = Call { key, ..Call::new("1", name, arguments) };
    crib.run(&plan, vec![call]).await.responses.remove(0).outcome
}

#[tokio::test]
async fn a_key_is_of_the_tool_of_one_source() {
    let (ledger, oracle) = (crate::ledger(), Oracle::default());
    for (source, runs) in [("a", 1), ("b", 2), ("a", 2), ("b", 2)] {
        let tools = Toolset::of([oracle.echo("pay", Effect::Write)]).unwrap();
        let crib = of_source(source, tools, &ledger).await;
        let outcome = call(&crib, "pay", Some("k")).await;
        assert!(matches!(outcome, ToolOutcome::Done(_)), "{outcome:?}");
        assert_eq!(oracle.count("pay"), runs, "at `{source}`");
    }
}

#[tokio::test]
async fn a_call_whose_end_is_unknown_holds_back_none_of_another_source() {
    let ledger = crate::ledger();
    let lost = || {
        let lost = raw_tool(spec("pay", Effect::Write), |_, _| async {
            ToolOutcome::Failed(ToolError::new(ErrorKind::UnknownOutcome, "who knows"))
        });
        Toolset::of([lost]).unwrap()
    };
    let mut told = Vec::new();
    for source in ["a", "b", "a"] {
        let crib = of_source(source, lost(), &ledger).await;
        let ToolOutcome::Failed(error) = call(&crib, "pay", None).await else { panic!("it fails") };
        told.push(error.message.split([':', '.']).next().unwrap().to_owned());
    }
    assert_eq!(told, ["who knows", "who knows", "not run (duplicate_of_unknown)"]);
}
