//! The tool that reads what was cut: there for whoever has something to read.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolcrib_core::{
    AllowAll, Call, Caller, CribLimits, Effect, PlanRequest, RawArguments, ResultHandle, Source,
    SourceId, Toolset, Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_testkit::{Behaviour, FixedPolicy, Oracle, spec};

use crate::builder;
use crate::tickets::alice;

fn large(oracle: &Oracle) -> Toolset {
    let mut large = spec("large", Effect::Read);
    large.limits.max_result_bytes = Some(10);
    Toolset::of([oracle.tool(large, Behaviour::Large(1_000))]).unwrap()
}

async fn cut(crib: &Crib, caller: &Caller) -> ResultHandle {
    let plan = crib.plan(caller, PlanRequest::default()).unwrap();
    let report = crib.run(&plan, vec![Call::new("1", "large", RawArguments::Absent)]).await;
    report.responses[0].whole.clone().unwrap()
}

fn names(crib: &Crib, caller: &Caller) -> Vec<String> {
    let plan = crib.plan(caller, PlanRequest::default()).unwrap();
    plan.tools().map(|tool| tool.listed.spec.name.to_string()).collect()
}

#[tokio::test]
async fn it_comes_with_the_first_handle_of_its_caller_and_gives_the_rest() {
    let crib = builder().build_fixed(large(&Oracle::default()));
    let (bob, changed) = (Caller::new("acme", "bob"), crib.changed());
    assert_eq!(names(&crib, &alice()), ["large"]);
    let handle = cut(&crib, &alice()).await;
    tokio::time::timeout(Duration::from_secs(5), changed).await.unwrap();
    assert_eq!(names(&crib, &alice()), ["large", "read_result"]);
    assert_eq!(names(&crib, &bob), ["large"]);
    let read = async |caller: &Caller, arguments| {
        let plan = crib.plan(caller, PlanRequest::default()).unwrap();
        let call = Call::new("1", "read_result", RawArguments::Value(arguments));
        crib.run(&plan, vec![call]).await.responses[0].text()
    };
    let piece = read(&alice(), json!({ "handle": handle, "offset": 995 })).await;
    assert_eq!(piece, "xxxxx\n\n[995 to 1000 of 1000 letters; the end]");
    let piece = read(&alice(), json!({ "handle": handle, "limit": 2 })).await;
    assert_eq!(piece, "xx\n\n[0 to 2 of 1000 letters; go on at offset 2]");
    let unknown = read(&alice(), json!({ "handle": "r_1" })).await;
    assert_eq!(unknown, "Error: there is no such result: it may be too old. Make the call again");
    // Bob has something of his own to read, and still not what is Alice's.
    cut(&crib, &bob).await;
    let theirs = read(&bob, json!({ "handle": handle })).await;
    assert_eq!(theirs, unknown);
}

#[tokio::test]
async fn a_policy_or_a_tool_of_its_name_keeps_it_away() {
    let denying = FixedPolicy::default().with("read_result", Verdict::Deny("no".into()));
    let crib = builder().policy(denying).build_fixed(large(&Oracle::default()));
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let report = crib.run(&plan, vec![Call::new("1", "large", RawArguments::Absent)]).await;
    assert!(!report.responses[0].text().contains("read_result"), "{report:?}");
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let call = Call::new("1", "read_result", RawArguments::Value(json!({ "handle": "r_1" })));
    let refused = crib.run(&plan, vec![call]).await;
    assert!(refused.responses[0].is_error(), "{refused:?}");
    let oracle = Oracle::default();
    let own = Toolset::of([oracle.echo("read_result", Effect::Read)]).unwrap();
    let crib = builder().build_fixed(own.merge(&large(&oracle)).unwrap());
    cut(&crib, &alice()).await;
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let call = Call::new("1", "read_result", RawArguments::Value(json!({ "n": 1 })));
    let report = crib.run(&plan, vec![call]).await;
    assert_eq!((report.responses[0].text(), oracle.count("read_result")), ("{\"n\":1}".into(), 1));
}

#[tokio::test]
async fn a_list_with_a_tool_of_its_name_is_let_go_of_when_another_one_comes() {
    let oracle = Oracle::default();
    let placed = |tools: Toolset| {
        let source: Arc<dyn Source> = Arc::new(tools);
        (SourceId::new("s"), source, Duration::from_secs(5))
    };
    let own = Toolset::of([oracle.echo("read_result", Effect::Read)]).unwrap();
    let crib = builder().placed(placed(own.merge(&large(&oracle)).unwrap())).build().await;
    cut(&crib, &alice()).await;
    assert_eq!(names(&crib, &alice()).len(), 2);
    let before = Arc::downgrade(&crib.catalog());
    crib.replace([placed(large(&oracle))], Arc::new(AllowAll), CribLimits::default()).await;
    assert_eq!(names(&crib, &alice()), ["large", "read_result"]);
    assert!(before.upgrade().is_none(), "it is kept");
}
