//! Sources that are slow, dead, late or changed.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use toolcrib_core::{
    BoxFuture, Caller, Catalog, Effect, PlanRequest, QuarantineReason, Source, SourceError,
    SourceId, Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_testkit::{Behaviour, Oracle, ScriptedSource, spec};

fn tools(names: &[&str]) -> Toolset {
    let oracle = Oracle::default();
    Toolset::of(names.iter().map(|name| oracle.echo(name, Effect::Read))).unwrap()
}

const NOW: Duration = Duration::ZERO;

fn listed(catalog: &Catalog) -> Vec<String> {
    let owner = |tool: &toolcrib_core::CatalogTool| {
        let stale = if tool.stale { " (stale)" } else { "" };
        format!("{}/{}{stale}", tool.spec.origin.source, tool.spec.name)
    };
    catalog.tools().iter().map(owner).collect()
}

#[tokio::test(start_paused = true)]
async fn a_dead_and_a_hanging_source_cost_themselves_alone() {
    let hanging = ScriptedSource::default().then(Duration::from_hours(1), Ok(tools(&["c"])));
    let crib = Crib::builder()
        .source("dead", ScriptedSource::default().then(NOW, Err("it is down")))
        .source("good", ScriptedSource::default().then(NOW, Ok(tools(&["a", "b"]))))
        .source_within("slow", hanging, Duration::from_secs(2))
        .build()
        .await;
    assert_eq!(listed(&crib.catalog()), ["good/a", "good/b"]);
    let errors: Vec<_> = crib.sources().into_iter().map(|source| source.error).collect();
    assert_eq!(
        errors,
        [
            Some("it is down: the scripted fault".to_owned()),
            None,
            Some("it did not list its tools within 2s".to_owned())
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_ready_list_is_served_before_the_last_is_up() {
    let slow = ScriptedSource::default().then(Duration::from_secs(20), Ok(tools(&["b"])));
    let sources =
        [("quick", ScriptedSource::default().then(NOW, Ok(tools(&["a"])))), ("slow", slow)];
    let publisher = toolcrib_engine::catalog::Publisher::new(
        sources.map(|(id, source)| {
            let source: std::sync::Arc<dyn toolcrib_core::Source> = std::sync::Arc::new(source);
            (SourceId::new(id), source, Duration::from_secs(30))
        }),
        Box::new(|_, _| None),
        toolcrib_core::CatalogBounds::default(),
    );
    let starting = tokio::spawn({
        let publisher = std::sync::Arc::clone(&publisher);
        async move { publisher.start().await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(listed(&publisher.catalog()), ["quick/a"]);
    starting.await.unwrap();
    assert_eq!(listed(&publisher.catalog()), ["quick/a", "slow/b"]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_later_keeps_its_last_good_list_as_stale() {
    let source = ScriptedSource::default().then(NOW, Ok(tools(&["a"]))).then(NOW, Err("gone"));
    let crib = Crib::builder().source("s", source).build().await;
    assert_eq!(crib.reload(&SourceId::new("s")).await, Some(false));
    assert_eq!(listed(&crib.catalog()), ["s/a (stale)"]);
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    assert_eq!(
        plan.why("a").unwrap().because,
        "it is permitted and no tool was chosen; its source does not answer, this is its last \
         good list"
    );
    assert_eq!(crib.reload(&SourceId::new("nobody")).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_says_it_changed_is_loaded_again_and_a_failed_one_is_retried() {
    let changing =
        ScriptedSource::default().then(NOW, Ok(tools(&["a"]))).then(NOW, Ok(tools(&["b"])));
    let failing = ScriptedSource::default().then(NOW, Err("down")).then(NOW, Ok(tools(&["c"])));
    let crib = Crib::builder()
        .source("changing", changing.clone())
        .source("failing", failing)
        .build()
        .await;
    assert_eq!(listed(&crib.catalog()), ["changing/a"]);
    changing.change();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(listed(&crib.catalog()), ["changing/b", "failing/c"]);
}

#[tokio::test(start_paused = true)]
async fn a_late_clash_is_quarantined_and_shown_with_its_owner() {
    let late =
        ScriptedSource::default().then(NOW, Ok(tools(&["b"]))).then(NOW, Ok(tools(&["a", "b"])));
    let crib = Crib::builder()
        .source("first", late)
        .source("second", ScriptedSource::default().then(NOW, Ok(tools(&["a"]))))
        .build()
        .await;
    crib.reload(&SourceId::new("first")).await;
    // The earlier source in the order comes late: the older tool keeps its name.
    assert_eq!(listed(&crib.catalog()), ["first/b", "second/a"]);
    let catalog = crib.catalog();
    let [quarantined] = catalog.quarantined() else { panic!("one tool is kept out") };
    assert_eq!(quarantined.spec.origin.source, SourceId::new("first"));
    assert_eq!(quarantined.reason, QuarantineReason::NameTaken { owner: "second".into() });
}

#[tokio::test(start_paused = true)]
async fn a_name_stays_with_its_owner_while_its_tool_is_kept_out() {
    let bad =
        tools(&["x"]).respec(|spec| spec.input = json!({"$ref": "http://127.0.0.1:9/x"}).into());
    let owner = ScriptedSource::default()
        .then(NOW, Ok(tools(&["x"])))
        .then(NOW, Ok(bad))
        .then(NOW, Ok(tools(&["x"])));
    let crib = Crib::builder().source("owner", owner).source("other", tools(&["x"])).build().await;
    let mut seen = Vec::new();
    for source in ["owner", "other", "other", "owner"] {
        crib.reload(&SourceId::new(source)).await;
        seen.push(listed(&crib.catalog()));
    }
    assert_eq!(seen, [vec![], vec![], vec![], vec!["owner/x".to_owned()]]);
}

#[tokio::test(start_paused = true)]
async fn a_load_that_began_earlier_and_ends_later_overwrites_nothing() {
    let source = ScriptedSource::default()
        .then(NOW, Ok(tools(&["first"])))
        .then(Duration::from_secs(10), Ok(tools(&["old"])))
        .then(NOW, Ok(tools(&["new"])));
    let crib = Crib::builder().source("s", source).build().await;
    let id = SourceId::new("s");
    tokio::join!(crib.reload(&id), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        crib.reload(&id).await
    });
    assert_eq!(listed(&crib.catalog()), ["s/new"]);
}

#[tokio::test]
async fn a_judge_that_panics_costs_one_tool() {
    let judge: toolcrib_engine::catalog::Judge = Box::new(|spec, _| {
        assert_ne!(spec.name.as_str(), "a", "a bug in the judge");
        None
    });
    let crib = Crib::builder().source("s", tools(&["a", "b"])).judge(judge).build().await;
    assert_eq!(listed(&crib.catalog()), ["s/b"]);
    assert_eq!(crib.catalog().quarantined()[0].reason, QuarantineReason::NotJudged);
}

#[tokio::test(start_paused = true)]
async fn of_20_000_tools_further_ones_are_kept_out_with_the_cure() {
    let names: Vec<_> = (0..19_998).map(|number| format!("t{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let growing = [&["a"][..], &["a", "b"], &["a", "b", "c"]].into_iter();
    let growing = growing.fold(ScriptedSource::default(), |all, now| all.then(NOW, Ok(tools(now))));
    let crib = Crib::builder().source("large", tools(&names)).source("growing", growing);
    let crib = crib.build().await;
    for kept_out in [0, 0, 1] {
        let catalog = crib.catalog();
        let reasons = catalog.quarantined().iter().map(|tool| &tool.reason);
        assert_eq!(
            reasons.collect::<Vec<_>>(),
            vec![&QuarantineReason::TooMany { most: 20_000 }; kept_out]
        );
        assert!(catalog.tools().len() <= 20_000);
        crib.reload(&SourceId::new("growing")).await;
    }
    assert_eq!(crib.catalog().tools().len(), 20_000);
}

/// A source that panics when it is asked for changes.
struct Panicking(ScriptedSource);

impl Source for Panicking {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        self.0.load()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        panic!("a bug in the source")
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_panics_over_changes_and_a_namesake_of_another_are_still_followed() {
    let lists = |before, after| {
        ScriptedSource::default().then(NOW, Ok(tools(&[before]))).then(NOW, Ok(tools(&[after])))
    };
    let down = ScriptedSource::default().then(NOW, Err("down")).then(NOW, Ok(tools(&["c"])));
    let crib =
        Crib::builder().source("s", Panicking(lists("a", "b"))).source("s", down).build().await;
    assert_eq!(listed(&crib.catalog()), ["s/a"]);
    tokio::time::sleep(Duration::from_mins(5)).await;
    assert_eq!(listed(&crib.catalog()), ["s/b", "s/c"]);
}

#[test]
fn two_tools_of_one_name_in_code_are_a_conflict_that_names_owners_and_cure() {
    let oracle = Oracle::default();
    let twice = [oracle.echo("a", Effect::Read), oracle.echo("a", Effect::Read)];
    assert_eq!(
        Crib::new(twice).err().unwrap().to_string(),
        "two tools are named `a`, of `code` and of `code`: prefix or rename one of them"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_source_that_blocks_its_thread_delays_no_other() {
    struct Blocking;
    impl toolcrib_core::Source for Blocking {
        fn load(
            &self,
        ) -> toolcrib_core::BoxFuture<'_, Result<Toolset, toolcrib_core::SourceError>> {
            Box::pin(async {
                std::thread::sleep(Duration::from_secs(3));
                Ok(Toolset::default())
            })
        }
    }
    let started = std::time::Instant::now();
    let crib = Crib::builder()
        .source_within("blocking", Blocking, Duration::from_millis(200))
        .source("good", tools(&["a"]))
        .build()
        .await;
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(listed(&crib.catalog()), ["good/a"]);
    let error = crib.sources()[0].error.clone();
    assert_eq!(error.as_deref(), Some("it did not list its tools within 200ms"));
}

#[tokio::test]
async fn a_function_without_arguments_is_a_tool_and_one_of_a_string_is_kept_out() {
    let nothing =
        toolcrib_core::tool("nothing", "N.", Effect::Read, |(): ()| async { Ok(3) }).unwrap();
    let text =
        toolcrib_core::tool("text", "T.", Effect::Read, |text: String| async { Ok(text) }).unwrap();
    let crib = Crib::new([nothing, text]).unwrap();
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let call = toolcrib_core::Call::new("1", "nothing", toolcrib_core::RawArguments::Absent);
    assert_eq!(crib.run(&plan, vec![call]).await.responses[0].text(), "3");
    assert_eq!(
        plan.why("text").unwrap().because,
        "its schema cannot be used: its arguments are of type `string`: take an object with a \
         named field for each of them"
    );
}

#[test]
fn a_bad_schema_costs_one_tool() {
    let oracle = Oracle::default();
    let mut bad = spec("bad", Effect::Read);
    bad.input =
        json!({"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/x"}}}).into();
    let crib =
        Crib::new([oracle.tool(bad, Behaviour::Echo), oracle.echo("good", Effect::Read)]).unwrap();
    assert_eq!(listed(&crib.catalog()), ["code/good"]);
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    assert_eq!(plan.why("bad").unwrap().rule, "quarantined");
}

#[test]
fn a_toolset_is_a_value_that_filters_prefixes_renames_and_merges() {
    let set = tools(&["read", "write", "drop"]);
    let small = set.filter(|spec| spec.name.as_str() != "drop").prefix("files").unwrap();
    let names = |set: &Toolset| -> Vec<String> {
        set.iter().map(|tool| tool.spec.name.to_string()).collect()
    };
    assert_eq!(names(&small), ["files__read", "files__write"]);
    assert_eq!(small.get("files__read").unwrap().spec.origin.name.as_deref(), Some("read"));
    let renamed = set.rename(|name| (name.as_str() == "drop").then(|| "read2".into())).unwrap();
    assert_eq!(names(&renamed), ["read", "write", "read2"]);
    assert_eq!(names(&set), ["read", "write", "drop"]);
    let merged = small.merge(&renamed).unwrap();
    assert_eq!(merged.len(), 5);
    assert_eq!(
        small.merge(&small).err().unwrap().to_string(),
        "two tools are named `files__read`, of `code (as read)` and of `code (as read)`: prefix \
         or rename one of them"
    );
    let twice = set.rename(|name| (name.as_str() != "drop").then(|| "same".into()));
    assert!(twice.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_order_of_coming_up_changes_nothing(
        pauses in prop::collection::vec(0..1_000u64, 3),
        picks in prop::collection::vec(prop::collection::btree_set(0..6usize, 0..5), 3),
    ) {
        let runtime = || tokio::runtime::Builder::new_current_thread()
            .enable_time().start_paused(true).build().unwrap();
        let make = |pauses: &[u64]| runtime().block_on(async {
            let sources = ["one", "two", "three"].into_iter().zip(pauses).zip(&picks);
            let builder = sources.fold(Crib::builder(), |builder, ((id, pause), picks)| {
                let names: Vec<_> = picks.iter().map(|pick| format!("t{pick}")).collect();
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                let pause = Duration::from_millis(*pause);
                builder.source(id, ScriptedSource::default().then(pause, Ok(tools(&names))))
            });
            let catalog = builder.build().await.catalog();
            let kept_out: Vec<_> = catalog.quarantined().iter()
                .map(|tool| format!("{}/{} {}", tool.spec.origin.source, tool.spec.name, tool.reason))
                .collect();
            (listed(&catalog), kept_out)
        });
        prop_assert_eq!(make(&pauses), make(&[0, 0, 0]));
    }
}

/// A tool that waits until it is let go, so that a call of it runs while the crib changes.
fn waiting(gate: &Arc<tokio::sync::Notify>) -> Toolset {
    let gate = Arc::clone(gate);
    let spec = spec("wait", Effect::Read);
    let tool = toolcrib_core::raw_tool(spec, move |_, _| {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            toolcrib_core::ToolOutcome::Done(toolcrib_core::Content::text("waited"))
        }
    });
    Toolset::of([tool]).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_replacement_starts_only_what_is_new_and_drops_no_running_call() {
    let gate = Arc::new(tokio::sync::Notify::new());
    // A second load of the kept source would say something else.
    let kept =
        ScriptedSource::default().then(NOW, Ok(tools(&["a"]))).then(NOW, Err("loaded twice"));
    let kept: Arc<dyn Source> = Arc::new(kept);
    let placed = |id: &str, source: &Arc<dyn Source>| {
        (SourceId::new(id), Arc::clone(source), Duration::from_secs(5))
    };
    let leaving: Arc<dyn Source> = Arc::new(waiting(&gate));
    let crib = Crib::builder()
        .placed(placed("kept", &kept))
        .placed(placed("leaving", &leaving))
        .build()
        .await;
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let running = tokio::spawn({
        let (crib, plan) = (crib.clone(), plan.clone());
        let call = toolcrib_core::Call::new("1", "wait", toolcrib_core::RawArguments::Absent);
        async move { crib.run(&plan, vec![call]).await }
    });
    tokio::task::yield_now().await;
    let fresh: Arc<dyn Source> = Arc::new(tools(&["b"]));
    let sources = [placed("fresh", &fresh), placed("kept", &kept)];
    let limits = toolcrib_core::CribLimits { max_calls: 3, ..Default::default() };
    crib.replace(sources, Arc::new(toolcrib_core::AllowAll), limits).await;
    assert_eq!(listed(&crib.catalog()), ["fresh/b", "kept/a"]);
    assert_eq!(crib.executor().limits().max_calls, 3);
    drop(leaving);
    gate.notify_one();
    assert_eq!(running.await.unwrap().responses[0].text(), "waited");
}

#[tokio::test(start_paused = true)]
async fn a_source_that_is_started_anew_finds_its_names_kept_for_it() {
    let second = Duration::from_secs(1);
    let placed =
        |id: &str, source: Arc<dyn Source>| (SourceId::new(id), source, Duration::from_secs(5));
    let other: Arc<dyn Source> = Arc::new(tools(&["a", "c"]));
    let crib = Crib::builder()
        .placed(placed("owner", Arc::new(tools(&["a", "b"]))))
        .placed(placed("other", Arc::clone(&other)))
        .build()
        .await;
    let replace = async |owner: Option<ScriptedSource>| {
        let owner = owner.map(|owner| placed("owner", Arc::new(owner)));
        let sources = owner.into_iter().chain([placed("other", Arc::clone(&other))]);
        let (policy, limits) =
            (Arc::new(toolcrib_core::AllowAll), toolcrib_core::CribLimits::default());
        crib.replace(sources, policy, limits).await;
        listed(&crib.catalog())
    };
    let broken = ScriptedSource::default().then(second, Err("it does not start"));
    let again = ScriptedSource::default().then(second, Ok(tools(&["a"])));
    let watched = async {
        tokio::time::sleep(second / 2).await;
        listed(&crib.catalog())
    };
    let (without, meanwhile) = tokio::join!(replace(Some(broken)), watched);
    assert_eq!([meanwhile, without], [["other/c"], ["other/c"]]);
    assert_eq!(replace(Some(again)).await, ["owner/a", "other/c"]);
    // One that has left for good waits for nothing.
    assert_eq!(replace(None).await, ["other/a", "other/c"]);
}

#[tokio::test(start_paused = true)]
async fn a_replacement_that_nobody_waits_for_is_finished_all_the_same() {
    let second = Duration::from_secs(1);
    let slow =
        ScriptedSource::default().then(second, Ok(tools(&["a"]))).then(second, Ok(tools(&["b"])));
    let crib = Crib::builder().build().await;
    let placed: (_, Arc<dyn Source>, _) =
        (SourceId::new("slow"), Arc::new(slow.clone()), Duration::from_secs(5));
    let (policy, limits) =
        (Arc::new(toolcrib_core::AllowAll), toolcrib_core::CribLimits::default());
    let replacing = crib.replace([placed], policy, limits);
    assert!(tokio::time::timeout(second / 2, replacing).await.is_err());
    tokio::time::sleep(second).await;
    assert_eq!(listed(&crib.catalog()), ["slow/a"]);
    // It is followed, too.
    slow.change();
    tokio::time::sleep(2 * second).await;
    assert_eq!(listed(&crib.catalog()), ["slow/b"]);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_change_hears_of_other_tools_and_not_of_the_same_again() {
    let scripted = ScriptedSource::default()
        .then(NOW, Ok(tools(&["a"])))
        .then(NOW, Ok(tools(&["a"])))
        .then(NOW, Ok(tools(&["a", "b"])));
    let crib = Crib::builder().source("s", scripted.clone()).build().await;
    let id = SourceId::new("s");
    let changed = crib.changed();
    crib.reload(&id).await;
    let second = tokio::time::timeout(Duration::from_secs(5), changed).await;
    assert!(second.is_err(), "the same list is no change");
    let changed = crib.changed();
    crib.reload(&id).await;
    tokio::time::timeout(Duration::from_secs(5), changed).await.unwrap();
    assert_eq!(listed(&crib.catalog()), ["s/a", "s/b"]);
}
