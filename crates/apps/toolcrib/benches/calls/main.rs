//! What the crib costs above the bare form of the same work, measured in turns in one run.
//!
//! Every iteration does the bare form and then ours; criterion is given ours, and the ratio of
//! the two sums is printed at the end beside what was promised.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a benchmark, not a service")]

mod safety;

use std::cell::RefCell;
use std::collections::HashSet;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::Criterion;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use toolcrib::json::schema::Schema;
use toolcrib::{
    AllowAll, Call, Caller, Content, Crib, CribLimits, Effect, Plan, PlanRequest, RawArguments,
    Tool, ToolOutcome, ToolSpec, Toolset, raw_tool,
};

const ARGUMENTS: &str = r#"{"title": "Budget review", "start": "2026-11-21T14:00", "guests": 3}"#;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1},
            "start": {"type": "string"},
            "guests": {"type": "integer", "minimum": 0},
            "n": {"type": "integer"}
        },
        "required": ["title", "start"],
        "additionalProperties": false
    })
}

fn tools(count: usize) -> Toolset {
    let tool = |place: usize| -> Arc<dyn Tool> {
        let mut spec = ToolSpec::new(format!("tool_{place}"), "Does nothing.", Effect::Read)
            .expect("the name is legal");
        spec.input = schema().into();
        raw_tool(spec, |_, _| async { ToolOutcome::Done(Content::text("ok")) })
    };
    Toolset::of((0..count).map(tool)).expect("the names differ")
}

fn crib(count: usize) -> Crib {
    let limits = CribLimits { max_calls: 4_000, ..CribLimits::default() };
    Crib::builder().policy(AllowAll).limits(limits).build_fixed(tools(count))
}

fn plan(crib: &Crib) -> Plan {
    crib.plan(&Caller::local(), PlanRequest::default()).expect("nothing was chosen")
}

/// Distinct calls of one tool, as a model writes them: JSON in a string.
fn calls(tool: &str, count: usize) -> Vec<Call> {
    let arguments = |n: usize| ARGUMENTS.replace("3}", &format!("3, \"n\": {n}}}"));
    (0..count)
        .map(|n| Call::new(format!("call_{n}"), tool, RawArguments::Text(arguments(n))))
        .collect()
}

/// The same calls without any of our rules.
async fn bare(calls: Vec<Call>, validator: &Schema) -> Vec<(String, String)> {
    let running: Vec<_> = calls
        .into_iter()
        .map(|call| {
            let validator = validator.clone();
            tokio::spawn(async move {
                let RawArguments::Text(text) = call.arguments else { unreachable!("made above") };
                let arguments: Value = serde_json::from_str(&text).expect("it is JSON");
                assert!(validator.is_valid(&arguments));
                (call.id, "ok".to_owned())
            })
        })
        .collect();
    let mut answers = Vec::with_capacity(running.len());
    for task in running {
        answers.push(task.await.expect("it does not panic"));
    }
    answers
}

/// Sums of the two forms.
#[derive(Default)]
struct Sums {
    bare: Duration,
    ours: Duration,
    rounds: u32,
}

/// Runs the two forms in turns and returns the mean of each.
fn compare(
    criterion: &mut Criterion,
    name: &str,
    mut bare: impl FnMut() -> Duration,
    mut ours: impl FnMut() -> Duration,
) -> (Duration, Duration) {
    let sums = RefCell::new(Sums::default());
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|rounds| {
            let mut total = Duration::ZERO;
            for _ in 0..rounds {
                let (b, o) = (bare(), ours());
                total += o;
                let mut sums = sums.borrow_mut();
                sums.bare += b;
                sums.ours += o;
                sums.rounds += 1;
            }
            total
        });
    });
    let sums = sums.into_inner();
    let rounds = sums.rounds.max(1);
    (sums.bare / rounds, sums.ours / rounds)
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}

fn row(what: &str, bare: Duration, ours: Duration, promise: &str) {
    if ours.is_zero() {
        return; // not asked for on the command line
    }
    let ratio = ours.as_secs_f64() / bare.as_secs_f64().max(1e-9);
    println!("{what:<44} bare {bare:>10.2?}  ours {ours:>10.2?}  ratio {ratio:>6.2}  {promise}");
}

fn batches(criterion: &mut Criterion, runtime: &Runtime) {
    let validator = Schema::compile(&schema()).expect("the schema is good");
    let crib_of_one = crib(1);
    let plan_of_one = plan(&crib_of_one);
    let batch = |count: usize, validator: &Schema| {
        let calls = calls("tool_0", count);
        runtime.block_on(async { timed_async(bare(calls, validator)).await })
    };
    let ours = |crib: &Crib, plan: &Plan, tool: &str, count: usize| {
        let calls = calls(tool, count);
        runtime.block_on(async { timed_async(crib.run(plan, calls)).await })
    };
    let (bare_time, our_time) = compare(
        criterion,
        "batch of 100 no-op calls",
        || batch(100, &validator),
        || ours(&crib_of_one, &plan_of_one, "tool_0", 100),
    );
    row("batch of 100 no-op calls", bare_time, our_time, "");
    let above = our_time.saturating_sub(bare_time) / 100;
    println!("  above the bare form, a call: {above:.2?} (promised: at most 3 µs)");

    let crib_of_many = crib(1_000);
    let plan_of_many = plan(&crib_of_many);
    let (first, last) = compare(
        criterion,
        "the 1,000th tool against the first",
        || ours(&crib_of_many, &plan_of_many, "tool_0", 100),
        || ours(&crib_of_many, &plan_of_many, "tool_999", 100),
    );
    row("the 1,000th tool against the first", first, last, "(promised: as fast)");

    let capped = crib_of_one
        .plan(&Caller::local(), PlanRequest::default().max_calls(0))
        .expect("nothing was chosen");
    let (set, dedupe) = compare(
        criterion,
        "dedupe of 3,000 distinct calls",
        || {
            let calls = parsed(calls("tool_0", 3_000));
            timed(|| {
                let text = |call: &Call| match &call.arguments {
                    RawArguments::Value(value) => value.to_string(),
                    RawArguments::Absent | RawArguments::Text(_) => String::new(),
                };
                calls.iter().map(text).collect::<HashSet<_>>()
            })
        },
        || {
            let calls = parsed(calls("tool_0", 3_000));
            runtime.block_on(async { timed_async(crib_of_one.run(&capped, calls)).await })
        },
    );
    row(
        "dedupe of 3,000 distinct calls",
        set,
        dedupe,
        "(promised: under 3 ms; bare: a set of texts)",
    );
}

/// The same calls with their arguments read, so that what is left to do is to compare them, and
/// to answer that none of them may run.
fn parsed(calls: Vec<Call>) -> Vec<Call> {
    let parse = |call: Call| match &call.arguments {
        RawArguments::Text(text) => {
            let value = serde_json::from_str::<Value>(text).expect("it is JSON");
            Call { arguments: RawArguments::Value(value), ..call }
        }
        RawArguments::Absent | RawArguments::Value(_) => call,
    };
    calls.into_iter().map(parse).collect()
}

async fn timed_async<T>(work: impl Future<Output = T>) -> Duration {
    let started = Instant::now();
    black_box(work.await);
    started.elapsed()
}

fn plans(criterion: &mut Criterion) {
    for (count, promise) in
        [(1_000, "(promised: under 100 µs)"), (10_000, "(promised: under 1 ms)")]
    {
        let crib = crib(count);
        let names: Vec<String> = (0..count).map(|place| format!("tool_{place}")).collect();
        let disabled: HashSet<&str> = HashSet::from(["tool_3"]);
        let name = format!("plan over {count} tools");
        let (bare, ours) = compare(
            criterion,
            &name,
            || {
                timed(|| {
                    names
                        .iter()
                        .filter(|name| !disabled.contains(name.as_str()))
                        .collect::<Vec<_>>()
                })
            },
            || timed(|| crib.plan(&Caller::local(), PlanRequest::default().disable("tool_3"))),
        );
        row(&name, bare, ours, promise);
    }
}

/// The first rendering of a plan is work; the second is a look-up.
fn renderings(criterion: &mut Criterion) {
    let crib = crib(1_000);
    let rendered = plan(&crib);
    for name in toolcrib::dialect::NAMES {
        let wire = toolcrib::dialect::dialect(name).expect("the names are those of dialects");
        wire.rendering(&rendered);
        let what = format!("{name}: 1,000 tools again");
        let (first, again) = compare(
            criterion,
            &what,
            || {
                let fresh = plan(&crib);
                timed(|| wire.rendering(&fresh))
            },
            || timed(|| wire.rendering(&rendered)),
        );
        row(&what, first, again, "(bare: the first rendering of a plan)");
    }
}

fn sleepers(runtime: &Runtime) {
    let spec = ToolSpec::new("sleep", "Sleeps.", Effect::Read).expect("the name is legal");
    let pause = Duration::from_millis(50);
    let sleep = raw_tool(spec, move |_, _| async move {
        tokio::time::sleep(pause).await;
        ToolOutcome::Done(Content::text("ok"))
    });
    let limits = CribLimits { max_calls: 100, ..CribLimits::default() };
    let tools = Toolset::of([sleep]).expect("one tool");
    let crib = Crib::builder().policy(AllowAll).limits(limits).build_fixed(tools);
    let plan = plan(&crib);
    let calls =
        (0..100).map(|n| Call::new(n.to_string(), "sleep", RawArguments::Value(json!({ "n": n }))));
    let calls: Vec<_> = calls.collect();
    let (bare, ours) = runtime.block_on(async {
        let bare = timed_async(async {
            let sleeping: Vec<_> =
                (0..100).map(|_| tokio::spawn(tokio::time::sleep(pause))).collect();
            for task in sleeping {
                task.await.expect("it does not panic");
            }
        });
        (bare.await, timed_async(crib.run(&plan, calls)).await)
    });
    row("100 tools of 50 ms each in one batch", bare, ours, "(promised: within 60 ms)");
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .without_plots()
        .configure_from_args();
    batches(&mut criterion, &runtime);
    plans(&mut criterion);
    renderings(&mut criterion);
    sleepers(&runtime);
    safety::rows(&mut criterion, &runtime);
    criterion.final_summary();
}
