//! For each call that passed the gate exactly one row, with the end that its caller was told.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use toolcrib_core::{
    AllowAll, Call, Caller, Effect, Ending, ErrorKind, Fingerprint, PlanRequest, RawArguments,
    Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_store::{CallFilter, StoreOptions};
use toolcrib_testkit::{Behaviour, Oracle, spec};

use crate::scratch::Scratch;

const TOOLS: [(&str, Effect, bool); 5] = [
    ("read", Effect::Read, true),
    ("write", Effect::Write, true),
    ("wipe", Effect::Destroy, true),
    ("fail", Effect::Write, false),
    ("missing", Effect::Read, false),
];

fn tools(oracle: &Oracle) -> Toolset {
    let tools = TOOLS.iter().filter(|(name, ..)| *name != "missing");
    let tools = tools.map(|(name, effect, works)| {
        let failing = Behaviour::FailFirst(ErrorKind::Tool, usize::MAX);
        let behaviour = if *works { Behaviour::Echo } else { failing };
        oracle.tool(spec(name, *effect), behaviour)
    });
    Toolset::of(tools).unwrap()
}

/// A row as this test compares it: tool, arguments, ending.
type Line = (String, Fingerprint, Option<Ending>);

async fn compare(batches: Vec<Vec<(usize, u8)>>) {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let store = scratch.open(StoreOptions::default()).unwrap();
    let ledger = Arc::new(store.clone());
    let crib = Crib::builder().ledger(ledger).policy(AllowAll).build_fixed(tools(&oracle));
    let mut told: BTreeMap<String, Line> = BTreeMap::new();
    for batch in batches {
        let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
        let calls = batch.iter().enumerate().map(|(id, (tool, n))| {
            Call::new(id.to_string(), TOOLS[*tool].0, RawArguments::Value(json!({ "n": n })))
        });
        let report = crib.run(&plan, calls.collect()).await;
        for (response, (tool, n)) in report.responses.iter().zip(batch) {
            let Some(key) = response.debug.key else { continue };
            let ending = match response.error() {
                None => Ending::Succeeded,
                Some(error) => Ending::Failed(error.kind),
            };
            let line =
                (TOOLS[tool].0.to_owned(), Fingerprint::of(&json!({ "n": n })), Some(ending));
            told.insert(key.to_string(), line);
        }
    }
    let calls =
        store.calls(&Caller::local(), CallFilter::default(), None, 500).await.unwrap().calls;
    let rows = calls.len();
    let recorded: BTreeMap<String, Line> = calls
        .into_iter()
        .map(|call| (call.key, (call.tool, call.arguments, call.ending)))
        .collect();
    assert_eq!((recorded.len(), oracle.runs().len()), (rows, rows));
    assert_eq!(recorded, told);
    assert_eq!(store.lost(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_what_the_callers_were_told_and_what_ran(
        batches in prop::collection::vec(
            prop::collection::vec((0_usize..TOOLS.len(), any::<u8>()), 0..20),
            1..6,
        ),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(compare(batches));
    }
}
