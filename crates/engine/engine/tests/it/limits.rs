//! The bounds of a crib, each at one less, at itself and at one more.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    AllowAll, Call, Caller, CatalogBounds, CribLimits, Effect, PlanRequest, QuarantineReason,
    RawArguments, ToolOutcome, Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_testkit::{Behaviour, Oracle, spec};

/// A crib of tools with these names and schemas.
fn crib(limits: CribLimits, tools: &[(&str, Value)]) -> Crib {
    let oracle = Oracle::default();
    let tools = tools.iter().map(|(name, input)| {
        let mut spec = spec(name, Effect::Read);
        spec.input = input.clone().into();
        oracle.tool(spec, Behaviour::Echo)
    });
    Crib::builder().policy(AllowAll).limits(limits).build_fixed(Toolset::of(tools).unwrap())
}

fn within(catalog: CatalogBounds) -> CribLimits {
    CribLimits { catalog, ..CribLimits::default() }
}

fn kept_out(crib: &Crib) -> Vec<QuarantineReason> {
    crib.catalog().quarantined().iter().map(|tool| tool.reason.clone()).collect()
}

async fn run(crib: &Crib, calls: Vec<Call>) -> Vec<ToolOutcome> {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let report = crib.run(&plan, calls).await;
    report.responses.into_iter().map(|response| response.outcome).collect()
}

#[test]
fn a_crib_has_as_many_tools_as_it_may_have_and_names_as_long() {
    let object = || json!({ "type": "object" });
    let counted = |count: usize| {
        let names: Vec<_> = (0..count).map(|number| format!("t{number}")).collect();
        let tools: Vec<_> = names.iter().map(|name| (name.as_str(), object())).collect();
        let bounds = CatalogBounds { tools: 3, ..CatalogBounds::default() };
        kept_out(&crib(within(bounds), &tools))
    };
    assert_eq!((counted(2), counted(3)), (vec![], vec![]));
    assert_eq!(counted(4), [QuarantineReason::TooMany { most: 3 }]);
    let bounds = CatalogBounds { name: 8, ..CatalogBounds::default() };
    let tools = ["a".repeat(7), "b".repeat(8), "c".repeat(9)];
    let tools = tools.each_ref().map(|name| (name.as_str(), object()));
    assert_eq!(kept_out(&crib(within(bounds), &tools)), [QuarantineReason::LongName { most: 8 }]);
}

/// Whether schemas that take so much of what is set are used.
fn taken(set: impl Fn(&mut CatalogBounds), schema: impl Fn(usize) -> Value) -> [bool; 3] {
    let mut bounds = CatalogBounds::default();
    set(&mut bounds);
    [9, 10, 11]
        .map(|size| kept_out(&crib(within(bounds.clone()), &[("x", schema(size))])).is_empty())
}

#[test]
fn a_schema_costs_as_much_as_it_may_cost() {
    let to_its_bound = [true, true, false];
    let schema = |bounds: &mut CatalogBounds| Arc::make_mut(&mut bounds.schema).clone();
    let set = |change: fn(&mut toolcrib_json::schema::SchemaBounds)| {
        move |bounds: &mut CatalogBounds| {
            let mut own = schema(bounds);
            change(&mut own);
            bounds.schema = Arc::new(own);
        }
    };
    // Hundred bytes and some.
    let sized = |bytes: usize| {
        let empty = json!({ "type": "object", "description": "" }).to_string().len();
        json!({ "type": "object", "description": "x".repeat(90 + bytes - empty) })
    };
    assert_eq!(taken(set(|bounds| bounds.bytes = 100), sized), to_its_bound);
    let deep = |levels: usize| {
        let within = json!({ "default": 1 });
        let nested = (2..levels).fold(within, |inner, _| json!({ "default": inner }));
        json!({ "default": nested })
    };
    assert_eq!(taken(set(|bounds| bounds.depth = 10), deep), to_its_bound);
    let wide = |subschemas: usize| {
        let fields = (1..subschemas).map(|number| (number.to_string(), json!({})));
        json!({ "properties": fields.collect::<serde_json::Map<_, _>>() })
    };
    assert_eq!(taken(set(|bounds| bounds.subschemas = 10), wide), to_its_bound);
    let many = |ways: usize| json!({ "anyOf": vec![json!({ "type": "object" }); ways - 1] });
    assert_eq!(taken(set(|bounds| bounds.unfold = 10), many), to_its_bound);
    // What goes beyond these costs itself alone.
    let checked = |set: fn(&mut toolcrib_json::schema::SchemaBounds),
                   of: &dyn Fn(usize) -> Value| {
        [9, 10, 11].map(|size| {
            let mut bounds = CatalogBounds::default();
            set(Arc::make_mut(&mut bounds.schema));
            let crib = crib(within(bounds), &[("x", of(size))]);
            let catalog = crib.catalog();
            catalog.get("x").unwrap().schema().unwrap().left().is_empty()
        })
    };
    let pattern = |bytes: usize| json!({ "pattern": "a".repeat(bytes) });
    assert_eq!(checked(|bounds| bounds.pattern_bytes = 10, &pattern), to_its_bound);
    let patterns = |count: usize| {
        let fields = (0..count).map(|number| (format!("^a{number}"), json!({})));
        json!({ "patternProperties": fields.collect::<serde_json::Map<_, _>>() })
    };
    assert_eq!(checked(|bounds| bounds.patterns = 10, &patterns), to_its_bound);
}

#[tokio::test]
async fn a_schema_beyond_what_is_usual_is_held_against_its_calls_where_that_is_set() {
    let schema = json!({ "type": "object", "properties": {
        "a": { "type": "string", "pattern": format!("^{}$", "b".repeat(2_000)) } } });
    let call = |text: String| Call::new("1", "x", RawArguments::Value(json!({ "a": text })));
    let usual = crib(CribLimits::default(), &[("x", schema.clone())]);
    let outcomes = run(&usual, vec![call("b".to_owned())]).await;
    assert!(outcomes[0].is_done(), "{outcomes:?}");
    let mut bounds = CatalogBounds::default();
    Arc::make_mut(&mut bounds.schema).pattern_bytes = 4_000;
    let crib = crib(within(bounds), &[("x", schema)]);
    let outcomes = run(&crib, vec![call("b".repeat(2_000)), call("b".to_owned())]).await;
    assert!(outcomes[0].is_done() && !outcomes[1].is_done(), "{outcomes:?}");
}

#[tokio::test(start_paused = true)]
async fn as_many_calls_wait_for_a_place_as_may_wait() {
    let oracle = Oracle::default();
    let long = Behaviour::Sleep(Duration::from_secs(1));
    let tools = || Toolset::of([oracle.tool(spec("read", Effect::Read), long.clone())]).unwrap();
    let limits = CribLimits { per_source: 1, most_queued: 3, ..CribLimits::default() };
    for (calls, done) in [(3, 3), (4, 4), (5, 4)] {
        let crib = Crib::builder().policy(AllowAll).limits(limits.clone()).build_fixed(tools());
        let calls = (0..calls)
            .map(|n| Call::new(n.to_string(), "read", RawArguments::Value(json!({ "n": n }))));
        let outcomes = run(&crib, calls.collect()).await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_done()).count(), done);
        let busy = |outcome: &&ToolOutcome| {
            matches!(outcome, ToolOutcome::Failed(error)
                if error.kind == toolcrib_core::ErrorKind::Busy)
        };
        assert_eq!(outcomes.iter().filter(busy).count(), outcomes.len() - done);
    }
}

#[tokio::test]
async fn arguments_as_text_are_as_long_as_deep_and_as_many_as_they_may_be() {
    let mut limits = CribLimits::default();
    limits.arguments.bytes = 100;
    limits.arguments.depth = 5;
    limits.arguments.values = 10;
    let crib = crib(limits, &[("x", json!({ "type": "object" }))]);
    let read = async |text: String| {
        let call = Call::new("1", "x", RawArguments::Text(text));
        run(&crib, vec![call]).await[0].is_done()
    };
    // Plain, and with a comma that is taken out.
    for end in ["", ","] {
        let long = |bytes: usize| {
            let empty = format!(r#"{{"a":""{end}}}"#).len();
            format!(r#"{{"a":"{}"{end}}}"#, "x".repeat(bytes - empty))
        };
        let long = [read(long(99)).await, read(long(100)).await, read(long(101)).await];
        assert_eq!(long, [true, true, false], "{end}");
        let deep = |levels: usize| {
            format!(r#"{{"a":{}{}{end}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1))
        };
        let deep = [read(deep(4)).await, read(deep(5)).await, read(deep(6)).await];
        assert_eq!(deep, [true, true, false], "{end}");
        // The object and the list are values too.
        let many = |values: usize| format!(r#"{{"a":[{}0{end}]}}"#, "0,".repeat(values - 3));
        let many = [read(many(9)).await, read(many(10)).await, read(many(11)).await];
        assert_eq!(many, [true, true, false], "{end}");
    }
}
