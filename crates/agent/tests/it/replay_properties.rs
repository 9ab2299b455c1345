//! Whatever happens to a run that is written down, its record gives the same events once more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::{CallChoice, CallerTool, ModelApi};
use toolcrib_agent::{
    Agent, AgentRun, AnswerCheck, Budget, Cassette, CheckOutcome, CheckPolicy, CheckVerdict,
    JudgedAnswer, ReplayError, ReplayPlace, RunEvent, RunOrder, RunPause, ThreadItem, Usage,
};
use toolcrib_core::{
    BoxFuture, Caller, Content, Decision, Effect, Reference, Run, RunLedger, TicketId, ToolOutcome,
    Toolset, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryRuns;
use toolcrib_store::{Store, StoreOptions};
use toolcrib_testkit::{Behaviour, Oracle, ScriptedTurn, TestFolder, spec};

use crate::fixture::{agent, new_run, scripted, settings};

const KEYS_FOR: Duration = Duration::from_hours(24);

/// What a person or a process does while a run waits.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Approve,
    Deny,
    /// Somebody approves it elsewhere, and the run looks.
    ApproveElsewhere,
    /// Another process takes it up.
    TakeUp,
    /// The same with a crib that knows of no ticket.
    Lapse,
    GoOn,
    HandBack,
    Stop,
}

/// Says the same of every answer.
#[derive(Debug, Clone, Copy)]
struct Judge(CheckOutcome);

impl AnswerCheck for Judge {
    fn name(&self) -> &'static str {
        "sound"
    }

    fn judge<'a>(&'a self, case: &'a JudgedAnswer<'a>) -> BoxFuture<'a, CheckVerdict> {
        let usage = Usage { input_tokens: 7, ..Usage::default() };
        let reason = format!("It has {} letters.", case.answer.len());
        let verdict =
            CheckVerdict { usage, outcome: self.0, ..CheckVerdict::unknown("sound", reason) };
        Box::pin(async move { verdict })
    }
}

#[derive(Debug, Clone)]
struct Conversation {
    api: ModelApi,
    in_sqlite: bool,
    turns: Vec<ScriptedTurn>,
    deeds: Vec<Deed>,
    budget: Budget,
    waits_for_people: bool,
    /// Tokens that the model reads.
    context: Option<u32>,
    /// What the judge says, and whether answers are held until then.
    judge: Option<(Judge, bool)>,
    has_source: bool,
    /// Cancelled when so many events were told.
    cancel_after: Option<usize>,
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zé ]{0,12}", "[a-z,\n\"]{4,9}( [a-zü\\\\]{1,9}){20,60}"]
}

fn turn() -> impl Strategy<Value = ScriptedTurn> {
    let tool = prop::sample::select(vec![
        "look", "look", "write", "wipe", "wipe", "boss", "fails", "large", "large", "mine",
        "nothing", "cites",
    ]);
    let call = (tool, 0..2_i32).prop_map(|(tool, n)| (tool.to_owned(), json!({ "n": n })));
    let calls = (words(), prop::collection::vec(call, 1..4));
    let calls = calls.prop_map(|(text, calls)| ScriptedTurn::Calls(text, calls)).boxed();
    let plain = prop_oneof![1 => words().prop_map(ScriptedTurn::Says), 5 => calls];
    let soon = || vec![("retry-after-ms".to_owned(), "1".to_owned())];
    plain.prop_flat_map(move |turn| {
        prop_oneof![
            8 => Just(turn.clone()),
            1 => Just(ScriptedTurn::TellsNoUsage(Box::new(turn.clone()))),
            1 => (20..600_usize).prop_map(move |after| {
                ScriptedTurn::BreaksOff(Box::new(turn.clone()), after)
            }),
            1 => Just(ScriptedTurn::Refuses(503, soon(), "{}".to_owned())),
        ]
    })
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => Just(Deed::Approve),
        2 => Just(Deed::Deny),
        2 => Just(Deed::ApproveElsewhere),
        3 => Just(Deed::TakeUp),
        1 => Just(Deed::Lapse),
        1 => Just(Deed::GoOn),
        1 => Just(Deed::HandBack),
        1 => Just(Deed::Stop),
    ]
}

fn conversation() -> impl Strategy<Value = Conversation> {
    let budget = (1..7_u32, 1..9_u32, prop::option::of(2_000..9_000_u64));
    let budget = budget.prop_map(|(turns, calls, tokens)| Budget {
        turns: Some(turns),
        calls: Some(calls),
        tokens,
        ..Budget::default()
    });
    let apis = ModelApi::WORDS.map(|(_, api)| api).to_vec();
    let outcomes = [CheckOutcome::Passed, CheckOutcome::Failed, CheckOutcome::Unknown];
    let judge = (prop::sample::select(outcomes.to_vec()), any::<bool>());
    let judge = judge.prop_map(|(outcome, gate)| (Judge(outcome), gate));
    let more = (
        prop::option::weighted(0.4, 1_200..4_000_u32),
        prop::option::weighted(0.4, judge),
        any::<bool>(),
    );
    let whole = (
        prop::sample::select(apis),
        any::<bool>(),
        prop::collection::vec(turn(), 1..7),
        prop::collection::vec(deed(), 0..8),
        budget,
        prop::bool::weighted(0.8),
        prop::option::weighted(0.2, 1..20_usize),
        more,
    );
    whole.prop_map(
        |(api, in_sqlite, turns, deeds, budget, waits_for_people, cancel_after, more)| {
            let (context, judge, has_source) = more;
            Conversation {
                api,
                in_sqlite,
                turns,
                deeds,
                budget,
                waits_for_people,
                context,
                judge,
                has_source,
                cancel_after,
            }
        },
    )
}

fn source(id: &str) -> Reference {
    let title = format!("The book {id}");
    Reference { id: id.to_owned(), title, text: "It is so.".to_owned(), url: None }
}

fn crib() -> Crib {
    let oracle = Oracle::default();
    let mut boss = spec("boss", Effect::Read);
    boss.traits.takes_control = true;
    let tools = [
        oracle.echo("look", Effect::Read),
        oracle.echo("write", Effect::Write),
        oracle.echo("wipe", Effect::Destroy),
        oracle.tool(boss, Behaviour::Echo),
        oracle.tool(spec("fails", Effect::Read), Behaviour::Panic),
        oracle.tool(spec("large", Effect::Read), Behaviour::Large(3_000)),
        raw_tool(spec("cites", Effect::Read), |_, _| async {
            let references = vec![source("s2"), source("s1")];
            ToolOutcome::Done(Content { references, ..Content::text("As they say.") })
        }),
    ];
    Crib::of(Toolset::of(tools).unwrap())
}

/// A run that is driven by turns, by one process or another.
struct Driven {
    ledger: Arc<dyn RunLedger>,
    agent: Arc<Agent>,
    run: AgentRun,
    told: Vec<RunEvent>,
    cancel: CancellationToken,
    cancel_after: usize,
}

impl Driven {
    async fn go(&mut self) -> RunPause {
        let (told, cancel) = (&mut self.told, self.cancel.clone());
        let after = self.cancel_after;
        let mut tell = |event| {
            told.push(event);
            if told.len() >= after {
                cancel.cancel();
            }
        };
        self.run.go(&mut tell, &self.cancel).await
    }

    async fn take_up(&mut self, agent: Arc<Agent>) {
        let stored = self.ledger.load("r1").await.unwrap().unwrap();
        let ledger = Arc::clone(&self.ledger);
        self.run = AgentRun::resumed(agent, ledger, stored, KEYS_FOR).unwrap();
        let told = &mut self.told;
        self.run.look(&mut |event| told.push(event)).await;
    }

    async fn does(&mut self, deed: Deed, ticket: &TicketId) {
        let told = &mut self.told;
        let mut tell = |event| told.push(event);
        let no = || Decision::Deny { reason: "Not today.".to_owned() };
        match deed {
            Deed::Approve => self.run.decide(ticket, Decision::Approve, &mut tell).await.unwrap(),
            Deed::Deny => self.run.decide(ticket, no(), &mut tell).await.unwrap(),
            Deed::ApproveElsewhere => {
                let (caller, run) = (Caller::local(), Run::default());
                let crib = &self.agent.crib;
                crib.decide(&caller, &run, ticket, Decision::Approve).await.unwrap();
                self.run.look(&mut tell).await;
            }
            Deed::TakeUp => self.take_up(Arc::clone(&self.agent)).await,
            Deed::Lapse => {
                let Agent { name, description, instructions, model, wishes, budget, .. } =
                    &*self.agent;
                let checks = self.agent.checks.clone();
                let agent = Agent {
                    name: name.clone(),
                    description: description.clone(),
                    instructions: instructions.clone(),
                    model: Arc::clone(model),
                    crib: crib(),
                    wishes: wishes.clone(),
                    budget: *budget,
                    checks,
                    team: None,
                };
                self.agent = Arc::new(agent);
                self.take_up(Arc::clone(&self.agent)).await;
            }
            Deed::GoOn => self.run.go_on(),
            Deed::HandBack => self.run.hand_back(),
            Deed::Stop => assert!(self.run.stop(&mut tell).await),
        }
    }
}

async fn recorded(conversation: &Conversation, ledger: Arc<dyn RunLedger>) -> Vec<RunEvent> {
    let model = scripted(conversation.turns.clone());
    let mut settings = settings(&model, conversation.api);
    settings.retries = 1;
    settings.context = conversation.context;
    settings.max_tokens = 300;
    let mut agent = agent(settings, crib(), conversation.budget);
    if let (Some((judge, gate)), Some(agent)) = (conversation.judge, Arc::get_mut(&mut agent)) {
        let (always, judges) = (vec!["sound".to_owned()], vec![Arc::new(judge) as Arc<_>]);
        agent.checks = CheckPolicy { always, judges, gate };
    }
    let order = RunOrder {
        agent: Arc::clone(&agent),
        caller: Arc::new(Caller::local()),
        thread: vec![
            ThreadItem::System { text: "Be kind.".to_owned() },
            ThreadItem::user("Do something."),
        ],
        sources: conversation.has_source.then(|| source("s1")).into_iter().collect(),
        caller_tools: vec![CallerTool {
            name: "mine".to_owned(),
            description: String::new(),
            parameters: json!({ "type": "object" }),
        }],
        choice: CallChoice::Free,
        waits_for_people: conversation.waits_for_people,
    };
    let begun = AgentRun::recorded(order, Arc::clone(&ledger), new_run()).await;
    let cancel_after = conversation.cancel_after.unwrap_or(usize::MAX);
    let (told, cancel) = (Vec::new(), CancellationToken::new());
    let mut driven = Driven { ledger, agent, run: begun.unwrap(), told, cancel, cancel_after };
    let mut deeds = conversation.deeds.iter();
    loop {
        match driven.go().await {
            RunPause::Ended(_) => break,
            RunPause::Waiting(tickets) => {
                let Some(deed) = deeds.next() else { break };
                driven.does(*deed, &tickets[0]).await;
            }
            pause @ (RunPause::Held | RunPause::Deferred { .. }) => panic!("{pause:?}"),
        }
    }
    driven.told
}

fn lines(events: &[RunEvent]) -> Vec<String> {
    events.iter().map(|event| serde_json::to_string(event).unwrap()).collect()
}

/// How often a change was told at its very place, for all cases together.
static EXACT: AtomicUsize = AtomicUsize::new(0);

/// Every event that was changed is told.
async fn tampered(cassette: &Cassette) {
    let file: Value = serde_json::from_str(&cassette.to_json()).unwrap();
    let mut number = 0;
    for (row, entry) in file["log"].as_array().unwrap().iter().enumerate() {
        if entry.get("input").is_some() {
            continue;
        }
        let mut changed = file.clone();
        let entry = changed["log"][row].as_object_mut().unwrap();
        let pieces = entry.get_mut("text_pieces").map(|pieces| pieces.as_array_mut().unwrap());
        let count = pieces.as_ref().map_or(1, |pieces| pieces.len());
        if let Some(pieces) = pieces {
            pieces[count - 1] = format!("{}.", pieces[count - 1].as_str().unwrap()).into();
        } else {
            entry.insert("changed".to_owned(), true.into());
        }
        let at = number + count - 1;
        let changed = Cassette::read(&changed.to_string()).unwrap();
        match changed.replay().await {
            Err(ReplayError::Differs(difference)) => {
                assert_eq!(difference.place, ReplayPlace::Event(at), "{difference}");
                EXACT.fetch_add(1, Ordering::Relaxed);
            }
            // Words that are nowhere else are missed at their beginning.
            Err(ReplayError::Damaged { after, .. }) => assert!((number..=at).contains(&after)),
            other => panic!("the change of event {at} was not told: {other:?}"),
        }
        number += count;
    }
}

/// So is every item that came of the run, and everything that came to it.
async fn tampered_with_its_thread(cassette: &Cassette) {
    let file: Value = serde_json::from_str(&cassette.to_json()).unwrap();
    let begun = file["log"][0]["input"]["begun"]["items"].as_u64().unwrap();
    let begun = usize::try_from(begun).unwrap();
    // Behind a gate, what a tool gave in the place of the model is told at the end, if it passes.
    // Else the thread has a line of the loop in its place, which is told where it stands.
    let is_held = file["log"].to_string().contains(r#""outcome":"held""#);
    let last_item = file["items"].as_array().unwrap().len() - 1;
    let end = ReplayPlace::Event(cassette.replay().await.unwrap().events.len() - 1);
    for item in begun..file["items"].as_array().unwrap().len() {
        let mut changed = file.clone();
        let entry = changed["items"][item].as_object_mut().unwrap();
        if let Some(text) = entry.get("text").and_then(Value::as_str) {
            entry["text"] = format!("{text} too").into();
        } else {
            let text = entry["results"][0]["text"].as_str().unwrap();
            entry["results"][0]["text"] = format!("{text} too").into();
        }
        let changed = Cassette::read(&changed.to_string()).unwrap();
        let told = changed.replay().await;
        let is_said = file["items"][item]["kind"] != "results";
        match told {
            Err(ReplayError::Differs(told)) => {
                let is_at_its_end = is_held && item == last_item && told.place == end;
                let is_at_its_item = told.place == ReplayPlace::Item(item);
                assert!(is_said || is_at_its_item || is_at_its_end, "{told}");
            }
            // Words where there were none have a judge asked who was not asked; and what was said
            // beside calls comes from the events.
            Err(ReplayError::Damaged { .. }) | Ok(_) if is_said => {}
            other => panic!("the change of item {item} was not told: {other:?}"),
        }
    }
    for (row, entry) in file["log"].as_array().unwrap().iter().enumerate().skip(1) {
        let Some(input) = entry.get("input") else { continue };
        if input.get("resumed").is_some() {
            continue;
        }
        let mut changed = file.clone();
        changed["log"].as_array_mut().unwrap().remove(row);
        let changed = Cassette::read(&changed.to_string()).unwrap();
        let told = changed.replay().await;
        // A bound that is met before a model that gives no answer changes nothing of what is told.
        let is_bound = !input["turn"]["end"]["exhausted"].is_null();
        assert!(told.is_err() || is_bound, "nobody misses {input}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_to_a_run_its_record_gives_the_same_events(conversation in conversation()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = TestFolder::new();
            let ledger: Arc<dyn RunLedger> = if conversation.in_sqlite {
                Arc::new(Store::open(&folder.path().join("runs.db"), StoreOptions::default()).unwrap())
            } else {
                Arc::new(MemoryRuns::default())
            };
            let told = recorded(&conversation, Arc::clone(&ledger)).await;
            let cassette = Cassette::load(&*ledger, "r1").await.unwrap().unwrap();
            let replayed = cassette.replay().await.unwrap_or_else(|error| {
                panic!("{error}\n{}", cassette.to_json())
            });
            assert_eq!(lines(&replayed.events), lines(&told));
            assert_eq!(Cassette::read(&cassette.to_json()), Ok(cassette.clone()));
            tampered(&cassette).await;
            tampered_with_its_thread(&cassette).await;
        });
    }
}
