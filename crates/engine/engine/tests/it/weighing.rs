//! `discovery = "auto"`: what the tools cost decides, and nobody waits until it is counted.

use std::time::Duration;

use toolcrib_core::{Caller, Discovery, Effect, Exposure, PlanRequest, Toolset};
use toolcrib_engine::discovery::DiscoverySettings;
use toolcrib_testkit::{Behaviour, Oracle};

use crate::builder;
use crate::discovery::described;

#[tokio::test]
async fn what_is_weighed_is_shown_lazily_where_that_saves_enough() {
    let auto = |count: usize| {
        let oracle = Oracle::default();
        let tools = (0..count).map(|number| {
            let text = format!("Does thing number {number} with all that belongs to it.");
            let spec = described(&format!("t{number}"), &text, "c", "do", Effect::Read);
            oracle.tool(spec, Behaviour::Echo)
        });
        let discovery = DiscoverySettings { mode: Discovery::Auto, ..DiscoverySettings::default() };
        let crib = builder().discovery(discovery).build_fixed(Toolset::of(tools).unwrap());
        let shown = |defers| {
            let request = PlanRequest::default().api_defers(defers);
            crib.plan(&Caller::local(), request).unwrap().shown().clone()
        };
        [shown(false), shown(true)]
    };
    for shown in auto(10) {
        assert_eq!((shown.mode, shown.rest), (Discovery::Direct, Exposure::Listed));
        assert!(shown.because.contains("too few"), "{}", shown.because);
    }
    let many = auto(500).map(|shown| shown.rest);
    assert_eq!(many, [Exposure::Hidden, Exposure::Deferred]);
}

#[tokio::test]
async fn nobody_waits_until_tokens_are_counted() {
    // Words that no other test has counted, and few tokens for their bytes.
    let tools = (0..15).map(|number| {
        let text = format!("{number}{}", " internationalization".repeat(60));
        let spec = described(&format!("w{number}"), &text, "c", "do", Effect::Read);
        Oracle::default().tool(spec, Behaviour::Echo)
    });
    let crib = builder().build_fixed(Toolset::of(tools).unwrap());
    let shown = || {
        let request = PlanRequest::default().show(Discovery::Auto);
        crib.plan(&Caller::local(), request).unwrap().shown().clone()
    };
    // Where nobody can count beside it, a plan goes by bytes, and so it does at first.
    let alone = std::thread::scope(|scope| scope.spawn(shown).join().unwrap());
    let first = shown();
    assert!(alone.because.starts_with("all tools are some 5"), "{}", alone.because);
    assert_eq!((&first, first.mode), (&alone, Discovery::Lazy));
    crib.count_tokens().await;
    let counted = shown();
    assert_eq!((counted.mode, counted.rest), (Discovery::Direct, Exposure::Listed));
    assert!(!counted.because.contains("some"), "{}", counted.because);
}

#[tokio::test]
async fn a_plan_has_tokens_counted_beside_it() {
    let tools = (0..3).map(|number| {
        let text = format!("Does what is counted beside a plan, for the time {number}.");
        let spec = described(&format!("b{number}"), &text, "c", "do", Effect::Read);
        Oracle::default().tool(spec, Behaviour::Echo)
    });
    let crib = builder().build_fixed(Toolset::of(tools).unwrap());
    let is_counted = || {
        let request = PlanRequest::default().show(Discovery::Auto);
        let plan = crib.plan(&Caller::local(), request).unwrap();
        !plan.shown().because.contains("some")
    };
    assert!(!is_counted());
    while !is_counted() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
