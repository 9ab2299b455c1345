//! Random batches, and what holds for every one of them.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, Call, Caller, CribLimits, Effect, Ending, ErrorKind, PlanRequest, RawArguments,
    ToolOutcome, Toolset, Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_testkit::{Behaviour, FixedPolicy, Oracle, spec};

const TOOLS: [(&str, Effect, bool); 9] = [
    ("read", Effect::Read, false),
    ("write", Effect::Write, false),
    ("asked", Effect::Destroy, false),
    ("denied", Effect::Read, false),
    ("crash", Effect::Read, false),
    ("hang", Effect::Write, false),
    ("flaky", Effect::Read, false),
    ("control", Effect::Read, true),
    ("other_control", Effect::Read, true),
];

fn behaviour(name: &str) -> Behaviour {
    match name {
        "crash" => Behaviour::Panic,
        "hang" => Behaviour::Hang,
        "flaky" => Behaviour::FailFirst(ErrorKind::Network, 1),
        "write" => Behaviour::Sleep(Duration::from_millis(20)),
        _ => Behaviour::Echo,
    }
}

fn crib(oracle: &Oracle, ledger: &Arc<MemoryLedger>) -> Crib {
    let tools = TOOLS.map(|(name, effect, control)| {
        let mut spec = spec(name, effect);
        spec.traits.takes_control = control;
        oracle.tool(spec, behaviour(name))
    });
    let policy = FixedPolicy::default()
        .with("asked", Verdict::Ask("a person must say yes".into()))
        .with("denied", Verdict::Deny("not for you".into()));
    let limits = CribLimits { max_calls: 8, ..CribLimits::default() };
    Crib::builder()
        .policy(policy)
        .ledger(Arc::clone(ledger) as Arc<dyn toolcrib_core::Ledger>)
        .limits(limits)
        .build_fixed(Toolset::of(tools).unwrap())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn arguments() -> impl Strategy<Value = RawArguments> {
    prop_oneof![
        1 => Just(RawArguments::Absent),
        4 => (0..3i64).prop_map(|n| RawArguments::Value(json!({ "n": n }))),
        1 => value().prop_map(RawArguments::Value),
        1 => value().prop_map(|value| RawArguments::Text(value.to_string())),
        2 => prop::sample::select(vec![
            "", "{", "{'n': 1}", "{\"n\": 1,}", "not json", "[1]", "```json\n{\"n\": 2}\n```",
            "{\"n\": \"1\"}", "\u{0}", "{\"n\": 1}{\"n\": 2}",
        ]).prop_map(|text| RawArguments::Text(text.into())),
        1 => ".{0,20}".prop_map(RawArguments::Text),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let name = prop_oneof![
        8 => prop::sample::select(TOOLS.map(|(name, ..)| name.to_owned()).to_vec()),
        1 => ".{0,12}",
    ];
    let id = prop_oneof![Just("same".to_owned()), "[a-z]{1,4}", ".{0,3}"];
    prop_oneof![
        9 => (id.clone(), name, arguments())
            .prop_map(|(id, name, arguments)| Call::new(id, name, arguments)),
        1 => id.prop_map(|id| Call::malformed(id, "it has no function")),
    ]
}

/// Words by which each text of ours tells a model what to do next.
const ADVICE: [&str; 12] = [
    "again",
    "call",
    "Call",
    "try",
    "Try",
    "do not repeat",
    "tell the user",
    "ask the user",
    "Correct",
    "Send",
    "answer without",
    "go on",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn every_call_is_answered_once_in_order_and_nothing_runs_that_must_not(
        calls in prop::collection::vec(call(), 0..14),
        cancel_after in prop::option::weighted(0.2, 0..40u64),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time().start_paused(true).build().unwrap();
        let (oracle, ledger) = (Oracle::default(), Arc::new(MemoryLedger::default()));
        let crib = crib(&oracle, &ledger);
        let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
        let asked = calls.clone();
        let report = runtime.block_on(async {
            let options = BatchOptions::default();
            let token = options.cancel.clone();
            let cancelling = async {
                if let Some(pause) = cancel_after {
                    tokio::time::sleep(Duration::from_millis(pause)).await;
                    token.cancel();
                }
            };
            let (report, ()) = tokio::join!(crib.run_with(&plan, calls, options), cancelling);
            report
        });

        // One answer for each call, in call order, whose text says what to do next.
        prop_assert_eq!(report.responses.len(), asked.len());
        for (call, response) in asked.iter().zip(&report.responses) {
            prop_assert_eq!(&call.id, &response.id);
            prop_assert!(!response.debug.flags.contains(&toolcrib_core::CallFlag::Approved));
            let text = response.text();
            let advised = ADVICE.iter().any(|advice| text.contains(advice));
            prop_assert!(!response.is_error() || advised, "{text}");
            prop_assert!(!text.contains("scripted"), "a cause reached the model: {text}");
        }

        // Nothing ran that was denied or has to be asked about.
        prop_assert_eq!(oracle.count("denied") + oracle.count("asked"), 0);
        // A controlling tool ran alone or not at all.
        let runs = oracle.runs();
        let controls = oracle.count("control") + oracle.count("other_control");
        prop_assert!(controls == 0 || runs.len() == 1, "{runs:?}");
        // At most the limit ran, each as often as its answer says, and never a broken call.
        let own = report.responses.iter().filter(|response| response.duplicate_of.is_none());
        let ran: Vec<_> = own.filter(|response| response.debug.attempts > 0).collect();
        prop_assert!(ran.len() <= 8);
        let attempts: u32 = ran.iter().map(|response| response.debug.attempts).sum();
        prop_assert_eq!(runs.len(), attempts as usize);
        for response in &ran {
            prop_assert!(response.debug.attempts == 1 || response.name == "flaky", "{response:?}");
        }
        for (_, arguments) in &runs {
            let n = arguments.get("n");
            prop_assert!(n.is_none_or(|n| n.as_f64().is_some_and(|n| n.fract() == 0.0)));
        }
        // Every call that was planned has an end, and the ends tell what happened.
        let rows = ledger.rows();
        prop_assert!(rows.iter().all(|row| row.ending.is_some()), "{rows:?}");
        let executed = rows.iter().filter(|row| row.ending != Some(Ending::NotExecuted)).count();
        prop_assert_eq!(executed, ran.len());
        // A duplicate has the very answer of its original.
        for response in &report.responses {
            if let Some(first) = &response.duplicate_of {
                let original = report.responses.iter()
                    .find(|other| &other.id == first && other.duplicate_of.is_none());
                prop_assert!(original.is_some());
            }
            if let ToolOutcome::Pending(pending) = &response.outcome {
                prop_assert!(pending.ticket.as_str().len() > 30);
            }
        }
    }
}
