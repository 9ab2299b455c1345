//! What each promise of safety costs: the same calls without it and with it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use criterion::Criterion;
use tokio::runtime::Runtime;
use toolcrib::ledger::MemoryLedger;
use toolcrib::store::{Store, StoreOptions};
use toolcrib::{
    AllowAll, BoxFuture, Call, CallDecided, CallFinished, Caller, Content, Crib, CribLimits,
    Decision, Effect, Intent, Ledger, LedgerError, Observer, Plan, Policy, Run, Secret, Secrets,
    ToolOutcome, ToolSpec, Toolset, Verdict, raw_tool,
};

use super::{calls, compare, plan, row, schema, timed_async, tools};

/// Calls of a batch.
const BATCH: usize = 100;

/// Secrets that a process has met: keys of some servers, and tokens that were given since.
const SECRETS: usize = 50;

pub(super) fn rows(criterion: &mut Criterion, runtime: &Runtime) {
    redaction(criterion, runtime);
    approvals(criterion, runtime);
    observer(criterion, runtime);
}

fn batch(runtime: &Runtime, crib: &Crib, plan: &Plan) -> Duration {
    let calls = calls("tool_0", BATCH);
    runtime.block_on(async { timed_async(crib.run(plan, calls)).await })
}

/// Two cribs answer the same batch in turns.
fn batches(
    (criterion, runtime): (&mut Criterion, &Runtime),
    name: &str,
    (without, with): (&Crib, &Crib),
) {
    let (plan_without, plan_with) = (plan(without), plan(with));
    let (bare, ours) = compare(
        criterion,
        name,
        || batch(runtime, without, &plan_without),
        || batch(runtime, with, &plan_with),
    );
    row(name, bare, ours, "(100 calls)");
}

fn redaction(criterion: &mut Criterion, runtime: &Runtime) {
    let (unknowing, knowing) = (Secrets::default(), Secrets::default());
    let secrets = secrets();
    knowing.learn(&secrets);
    for (size, bytes) in [("1 KiB", 1024), ("64 KiB", 64 * 1024)] {
        let (lines, records) = (written(bytes, line), written(bytes, record));
        let told = secrets.last().map(|secret| format!("{lines}{}\n", secret.expose()));
        let texts = [
            ("lines of a log", lines),
            ("JSON with escapes", records),
            ("a log with a secret", told.unwrap_or_default()),
        ];
        for (what, text) in texts {
            let name = format!("50 secrets, {size}: {what}");
            let cribs = [&unknowing, &knowing].map(|secrets| speaking(&text, secrets));
            let [without, with] = &cribs;
            batches((criterion, runtime), &name, (without, with));
        }
    }
}

/// Letters and digits that look drawn, 20 to 69 of them, each time the same.
fn secrets() -> Vec<Secret> {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = 7_u64;
    let mut letter = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        LETTERS.get((state >> 33) as usize % LETTERS.len()).copied().map(char::from)
    };
    let mut secret = |length: usize| (0..length).filter_map(|_| letter()).collect::<String>();
    (0..SECRETS).map(|number| Secret::new(secret(20 + number))).collect()
}

/// Pieces one after the other, about so many bytes of them.
fn written(bytes: usize, piece: fn(usize) -> String) -> String {
    let mut text = String::with_capacity(bytes + 200);
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&piece(number));
    }
    text
}

fn line(number: usize) -> String {
    let (user, pause) = (number * 7 % 100, number * 31 % 900);
    format!(
        "2026-11-21T14:07:12Z info: request {number} of user-{user} took {pause} ms, answered\n"
    )
}

fn record(number: usize) -> String {
    format!(
        "{{\"id\":{number},\"note\":\"asked for \\\"soon\\\"\\nand left\",\
         \"url\":\"https://shop.example/find?q=red%20shoes&page={number}\"}},\n"
    )
}

/// A crib whose tool says a text, masked as sources of a configuration are.
fn speaking(text: &str, secrets: &Secrets) -> Crib {
    let mut spec =
        ToolSpec::new("tool_0", "Says a text.", Effect::Read).expect("the name is legal");
    spec.input = schema().into();
    let (text, secrets) = (Arc::<str>::from(text), secrets.clone());
    let tool = raw_tool(spec, move |_, _| {
        let (text, redactor) = (Arc::clone(&text), secrets.redactor());
        async move {
            let mut content = Content::text(&*text);
            redactor.content(&mut content);
            ToolOutcome::Done(content)
        }
    });
    let limits = CribLimits { max_calls: BATCH, ..CribLimits::default() };
    let tools = Toolset::of([tool]).expect("one tool");
    Crib::builder().policy(AllowAll).limits(limits).build_fixed(tools)
}

/// Asks a person about whatever does more than read.
struct AskBeforeWriting;

impl Policy for AskBeforeWriting {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let verdict = match intent.tool.effect {
            Effect::Read => Verdict::Allow,
            Effect::Write | Effect::Destroy => Verdict::Ask("it writes".into()),
        };
        Box::pin(std::future::ready(verdict))
    }
}

fn approvals(criterion: &mut Criterion, runtime: &Runtime) {
    let (without, with) = (reading(AllowAll), reading(AskBeforeWriting));
    batches((criterion, runtime), "reads where writes are asked about", (&without, &with));

    let memory = || Arc::new(MemoryLedger::default());
    let cribs = (writing(AllowAll, memory()), writing(AskBeforeWriting, memory()));
    approved((criterion, runtime), "a write and its approval, in memory", cribs);

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("approvals");
    // What a benchmark before left; none is fine.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let store = |name: &str| {
        Arc::new(Store::open(&folder.join(name), StoreOptions::default()).expect("a store"))
    };
    let cribs =
        (writing(AllowAll, store("without.db")), writing(AskBeforeWriting, store("with.db")));
    approved((criterion, runtime), "a write and its approval, on disk", cribs);
    let _ = std::fs::remove_dir_all(&folder);
}

fn reading(policy: impl Policy + 'static) -> Crib {
    let limits = CribLimits { max_calls: BATCH, ..CribLimits::default() };
    Crib::builder().policy(policy).limits(limits).build_fixed(tools(1))
}

fn writing(policy: impl Policy + 'static, ledger: Arc<dyn Ledger>) -> Crib {
    let mut spec =
        ToolSpec::new("tool_0", "Writes nothing.", Effect::Write).expect("the name is legal");
    spec.input = schema().into();
    let tool = raw_tool(spec, |_, _| async { ToolOutcome::Done(Content::text("ok")) });
    let tools = Toolset::of([tool]).expect("one tool");
    Crib::builder().policy(policy).ledger(ledger).build_fixed(tools)
}

/// One call that runs at once, against one that waits under a ticket, is approved, and runs.
fn approved(
    (criterion, runtime): (&mut Criterion, &Runtime),
    name: &str,
    (without, with): (Crib, Crib),
) {
    let (plan_without, plan_with) = (plan(&without), plan(&with));
    let one = || -> Vec<Call> { calls("tool_0", 1) };
    let (bare, ours) = compare(
        criterion,
        name,
        || {
            let calls = one();
            runtime.block_on(async { timed_async(without.run(&plan_without, calls)).await })
        },
        || {
            let calls = one();
            runtime.block_on(async { timed_async(decided(&with, &plan_with, calls)).await })
        },
    );
    row(name, bare, ours, "(1 call)");
}

async fn decided(crib: &Crib, plan: &Plan, calls: Vec<Call>) {
    let report = crib.run(plan, calls).await;
    for response in report.responses {
        let ToolOutcome::Pending(pending) = response.outcome else {
            unreachable!("the policy asks about each");
        };
        let run = Run::default();
        let decided = crib.decide(plan.caller(), &run, &pending.ticket, Decision::Approve).await;
        assert!(decided.is_ok_and(|response| response.outcome.is_done()), "it ran");
    }
}

/// Keeps nothing: what is left is what it costs to be seen.
#[derive(Default)]
struct Counting {
    decided: AtomicU64,
    ended: AtomicU64,
}

impl Observer for Counting {
    fn decided<'a>(&'a self, _: CallDecided<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        self.decided.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(())))
    }

    fn ended(&self, _: CallFinished<'_>) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

fn observer(criterion: &mut Criterion, runtime: &Runtime) {
    let limits = CribLimits { max_calls: BATCH, ..CribLimits::default() };
    let builder = || Crib::builder().policy(AllowAll).limits(limits.clone());
    let without = builder().build_fixed(tools(1));
    let counting = Arc::new(Counting::default());
    let with = builder().observer(Arc::clone(&counting) as Arc<dyn Observer>).build_fixed(tools(1));
    batches((criterion, runtime), "reads with a witness", (&without, &with));
    let (decided, ended) = (&counting.decided, &counting.ended);
    assert_eq!(decided.load(Ordering::Relaxed), ended.load(Ordering::Relaxed));
}
