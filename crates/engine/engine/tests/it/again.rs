//! Plans for callers who come again.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::json;
use toolcrib_core::{
    BoxFuture, Call, Caller, CribLimits, Discovery, Effect, Fingerprint, Intent, Plan, PlanRequest,
    Policy, RawArguments, ToolSpec, Toolset, Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_engine::discovery::DiscoverySettings;
use toolcrib_engine::rules::ToolPatterns;
use toolcrib_testkit::{Behaviour, Oracle, spec};

/// Shows each caller the tools whose names begin with a letter of its scopes, and counts how often
/// it is asked.
#[derive(Default)]
struct ByLetter {
    asked: Arc<AtomicUsize>,
    version: Arc<Mutex<Option<Fingerprint>>>,
    /// A tool that nobody sees.
    never: Arc<Mutex<Option<&'static str>>>,
}

impl Policy for ByLetter {
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let never = *self.never.lock().unwrap();
        let opens = |scope: &String| tool.name.as_str().starts_with(scope.as_str());
        never != Some(tool.name.as_str()) && caller.scopes.iter().any(opens)
    }

    fn decide<'a>(&'a self, _: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Allow))
    }

    fn version(&self) -> Option<Fingerprint> {
        *self.version.lock().unwrap()
    }
}

const NAMES: [&str; 5] = ["alder", "ash", "beech", "birch", "cedar"];

fn version(name: &str) -> Fingerprint {
    Fingerprint::of(&json!(name))
}

fn crib_under(policy: ByLetter) -> Crib {
    let oracle = Oracle::default();
    let mut large = spec("cedar", Effect::Read);
    large.limits.max_result_bytes = Some(10);
    let small = NAMES.iter().filter(|name| **name != "cedar");
    let small: Vec<_> = small.map(|name| oracle.echo(name, Effect::Read)).collect();
    let tools = small.into_iter().chain([oracle.tool(large, Behaviour::Large(1_000))]);
    Crib::builder().policy(policy).build_fixed(Toolset::of(tools).unwrap())
}

fn caller(number: usize, letters: &[&str]) -> Arc<Caller> {
    let scopes = letters.iter().copied().chain(["read_result"]);
    Caller::new("acme", format!("caller_{number}")).with_scopes(scopes).into()
}

fn lazy() -> DiscoverySettings {
    let eager = ToolPatterns::read(&["a*"]).unwrap();
    DiscoverySettings { mode: Discovery::Lazy, eager, ..DiscoverySettings::default() }
}

fn visible(plan: &Plan) -> Vec<String> {
    plan.tools().map(|tool| tool.listed.spec.name.to_string()).collect()
}

#[test]
fn a_policy_that_says_which_one_it_is_is_asked_once_about_a_caller() {
    let policy = ByLetter::default();
    let (asked, said) = (Arc::clone(&policy.asked), Arc::clone(&policy.version));
    let crib = crib_under(policy);
    let asks = |caller: &Arc<Caller>, request: PlanRequest| {
        let before = asked.load(Ordering::Relaxed);
        crib.plan(caller, request).unwrap();
        asked.load(Ordering::Relaxed) - before
    };
    let (ann, ben) = (caller(0, &["a"]), caller(1, &["b"]));
    // One that cannot tell is asked anew.
    assert_eq!([(), ()].map(|()| asks(&ann, PlanRequest::default())), [5, 5]);
    *said.lock().unwrap() = Some(version("first"));
    let session = PlanRequest::default().in_session("s");
    let counts = [&ann, &ann, &ben, &ann, &ben].map(|caller| asks(caller, session.clone()));
    assert_eq!(counts, [5, 0, 5, 0, 0]);
    // The same caller by another request, and one of the same name who may do something else.
    assert_eq!(asks(&Arc::new(Caller::clone(&ann)), PlanRequest::default()), 0);
    assert_eq!(asks(&caller(0, &["a", "b"]), PlanRequest::default()), 5);
    // Who has wishes is decided about by itself.
    assert_eq!(asks(&ann, PlanRequest::default().disable("ash")), 5);
    assert_eq!(asks(&ann, PlanRequest::default().show(Discovery::Lazy)), 5);
    // Shown in another way, or under another policy.
    crib.set_discovery(lazy());
    assert_eq!([(), ()].map(|()| asks(&ann, PlanRequest::default())), [5, 0]);
    assert_eq!([(), ()].map(|()| asks(&ann, PlanRequest::default().api_defers(true))), [5, 5]);
    *said.lock().unwrap() = Some(version("second"));
    assert_eq!([(), ()].map(|()| asks(&ann, PlanRequest::default())), [5, 0]);
}

#[test]
fn a_snapshot_goes_with_its_last_plan() {
    for discovery in [DiscoverySettings::default(), lazy()] {
        let policy = ByLetter::default();
        *policy.version.lock().unwrap() = Some(version("first"));
        let crib = crib_under(policy);
        crib.set_discovery(discovery);
        let plan = crib.plan(&caller(0, &["a", "b"]), PlanRequest::default()).unwrap();
        let snapshot = Arc::downgrade(plan.catalog());
        drop(crib);
        assert!(snapshot.upgrade().is_some());
        drop(plan);
        assert!(snapshot.upgrade().is_none());
    }
}

#[tokio::test]
async fn other_rules_hold_from_the_next_plan_on() {
    let policy = ByLetter::default();
    *policy.version.lock().unwrap() = Some(version("first"));
    let (crib, ann) = (crib_under(policy), caller(0, &["a"]));
    let plan = || visible(&crib.plan(&ann, PlanRequest::default()).unwrap());
    assert_eq!(plan(), ["alder", "ash"]);
    let stricter = ByLetter::default();
    *stricter.version.lock().unwrap() = Some(version("second"));
    *stricter.never.lock().unwrap() = Some("ash");
    crib.replace([], Arc::new(stricter), CribLimits::default()).await;
    assert_eq!(plan(), ["alder"]);
}

#[tokio::test]
async fn what_a_caller_has_besides_is_there_at_once() {
    let policy = ByLetter::default();
    *policy.version.lock().unwrap() = Some(version("first"));
    let (crib, cleo) = (crib_under(policy), caller(0, &["c"]));
    let plan = || crib.plan(&cleo, PlanRequest::default()).unwrap();
    assert_eq!(visible(&plan()), ["cedar"]);
    let report = crib.run(&plan(), vec![Call::new("1", "cedar", RawArguments::Absent)]).await;
    assert!(report.responses[0].whole.is_some());
    assert_eq!(visible(&plan()), ["cedar", "read_result"]);
}

/// What one request is like: who asks, what is wished, under which of two policies, and in which of
/// two ways the tools are shown from then on, if that changes.
fn requests() -> impl Strategy<Value = Vec<(usize, usize, bool, Option<bool>)>> {
    let changes = prop::option::weighted(0.1, any::<bool>());
    prop::collection::vec((0..70_usize, 0..5_usize, any::<bool>(), changes), 1..120)
}

proptest! {
    #[test]
    fn a_plan_for_who_comes_again_is_the_one_that_is_made_anew(requests in requests()) {
        let policy = ByLetter::default();
        let (said, never) = (Arc::clone(&policy.version), Arc::clone(&policy.never));
        // Nothing is remembered under a policy that cannot say which one it is.
        let anew = crib_under(ByLetter { never: Arc::clone(&never), ..ByLetter::default() });
        let crib = crib_under(policy);
        for (number, wish, is_second, change) in requests {
            if let Some(is_lazy) = change {
                for crib in [&crib, &anew] {
                    crib.set_discovery(if is_lazy { lazy() } else { DiscoverySettings::default() });
                }
            }
            let letters = [["a"].as_slice(), &["b"], &["a", "c"], &[]];
            let caller = caller(number, letters[number % letters.len()]);
            *said.lock().unwrap() = Some(version(if is_second { "second" } else { "first" }));
            *never.lock().unwrap() = is_second.then_some("alder");
            let request = match wish {
                0 => PlanRequest::default().disable("ash"),
                1 => PlanRequest::default().choose("birch"),
                2 => PlanRequest::default().in_session(format!("s{number}")),
                3 => PlanRequest::default().max_calls(3),
                _ => PlanRequest::default(),
            };
            let (again, anew) = (crib.plan(&caller, request.clone()), anew.plan(&caller, request));
            match (again, anew) {
                (Ok(again), Ok(anew)) => {
                    prop_assert_eq!(visible(&again), visible(&anew));
                    prop_assert_eq!(again.reasons(), anew.reasons());
                    prop_assert_eq!(again.caller(), anew.caller());
                    prop_assert_eq!(again.session(), anew.session());
                    prop_assert_eq!(again.max_calls(), anew.max_calls());
                    prop_assert_eq!(again.warnings(), anew.warnings());
                    prop_assert_eq!(again.shown(), anew.shown());
                    prop_assert_eq!(&again.meta_tools().finder, &anew.meta_tools().finder);
                }
                (again, anew) => prop_assert_eq!(again.err(), anew.err()),
            }
        }
    }
}
