//! Approvals as a machine: whatever is done in whatever order, a call that may destroy ran if and
//! only if exactly one valid approval of it came before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use toolcrib_core::{
    BoxFuture, Call, Caller, CribLimits, Decision, Effect, Intent, PlanRequest, Policy,
    RawArguments, Run, TicketError, TicketId, ToolOutcome, ToolSpec, Toolset, Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_store::{StoreError, StoreOptions};
use toolcrib_testkit::Oracle;

use crate::scratch::Scratch;

#[derive(Debug, Clone, Copy)]
enum Step {
    Call,
    /// Of the ticket at this place, by its caller.
    Approve(usize),
    ApproveTwice(usize),
    Deny(usize),
    ByAnother(usize),
    UnderAnotherProfile(usize),
    Guess(usize),
    /// Time passes beyond the life of every open ticket.
    Expire,
    Policy(bool),
    /// The tool becomes another one.
    Redefine,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let ticket = || 0_usize..6;
    prop_oneof![
        4 => Just(Step::Call),
        4 => ticket().prop_map(Step::Approve),
        2 => ticket().prop_map(Step::ApproveTwice),
        1 => ticket().prop_map(Step::Deny),
        1 => ticket().prop_map(Step::ByAnother),
        1 => ticket().prop_map(Step::UnderAnotherProfile),
        1 => ticket().prop_map(Step::Guess),
        1 => Just(Step::Expire),
        1 => any::<bool>().prop_map(Step::Policy),
        1 => Just(Step::Redefine),
        2 => Just(Step::Restart),
    ]
}

/// Asks before all, or denies all.
#[derive(Clone, Default)]
struct Switch(Arc<AtomicBool>);

impl Policy for Switch {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn decide<'a>(&'a self, _: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let verdict = if self.0.load(Ordering::Relaxed) {
            Verdict::Deny("not today".into())
        } else {
            Verdict::Ask("it is a test".into())
        };
        Box::pin(std::future::ready(verdict))
    }
}

/// What the model says of a ticket.
#[derive(Debug, Clone)]
struct Known {
    id: TicketId,
    nonce: u64,
    generation: u64,
    open: bool,
    approved: bool,
}

struct Machine {
    scratch: Scratch,
    oracle: Oracle,
    policy: Switch,
    generation: u64,
    nonces: AtomicU64,
    tickets: Vec<Known>,
    crib: Option<Crib>,
}

/// Short, so that a test can wait for its end.
const LIFE: Duration = Duration::from_millis(400);

fn alice() -> Caller {
    Caller::new("acme", "alice")
}

impl Machine {
    fn new() -> Self {
        let mut machine = Self {
            scratch: Scratch::new(),
            oracle: Oracle::default(),
            policy: Switch::default(),
            generation: 0,
            nonces: AtomicU64::new(0),
            tickets: Vec::new(),
            crib: None,
        };
        machine.open();
        machine
    }

    fn open(&mut self) {
        // The file belongs to one at a time.
        self.crib = None;
        let store = loop {
            match self.scratch.open(StoreOptions::default()) {
                // A child that another test starts holds all files of ours for a moment.
                Err(StoreError::Owned { .. }) => std::thread::sleep(Duration::from_millis(5)),
                opened => break opened.unwrap(),
            }
        };
        let tools = Toolset::of([self.oracle.echo("wipe", Effect::Destroy)]).unwrap();
        let generation = self.generation;
        let tools = tools.respec(|spec| spec.description = format!("Wipes, form {generation}."));
        let limits = CribLimits { ticket_lifetime: LIFE, ..CribLimits::default() };
        let builder = Crib::builder().ledger(Arc::new(store)).policy(self.policy.clone());
        self.crib = Some(builder.limits(limits).build_fixed(tools).for_profile("careful"));
    }

    fn crib(&self) -> &Crib {
        self.crib.as_ref().unwrap()
    }

    async fn call(&mut self) {
        let nonce = self.nonces.fetch_add(1, Ordering::Relaxed);
        let plan = self.crib().plan(&alice(), PlanRequest::default()).unwrap();
        let call = Call::new("c", "wipe", RawArguments::Value(json!({ "nonce": nonce })));
        let report = self.crib().run(&plan, vec![call]).await;
        let ToolOutcome::Pending(pending) = &report.responses[0].outcome else { return };
        let (id, generation) = (pending.ticket.clone(), self.generation);
        self.tickets.push(Known { id, nonce, generation, open: true, approved: false });
    }

    async fn decide(&mut self, place: usize, decision: Decision) {
        let Some(known) = self.tickets.get(place).cloned() else { return };
        let approves = decision == Decision::Approve;
        let run = Run::default();
        let decided = self.crib().decide(&alice(), &run, &known.id, decision).await;
        let denies = self.policy.0.load(Ordering::Relaxed);
        let same = known.generation == self.generation;
        // Nothing decides about the very moment at which a ticket ends but the ledger.
        let expired = matches!(decided, Err(TicketError::Expired));
        let (known, ran) = (&mut self.tickets[place], decided.is_ok());
        assert!(!ran || (known.open && same), "{known:?} {decided:?}");
        assert!(ran || expired || !known.open || !same, "{known:?} {decided:?}");
        known.approved |= ran && approves && !denies;
        known.open = false;
    }

    async fn stranger(&self, place: usize, caller: &Caller, profile: &str, id: Option<TicketId>) {
        let Some(known) = self.tickets.get(place) else { return };
        let (crib, id) = (self.crib().for_profile(profile), id.unwrap_or_else(|| known.id.clone()));
        let refused = crib.decide(caller, &Run::default(), &id, Decision::Approve).await;
        // Of a ticket that is over, its own caller may be told that it is.
        let used = !known.open && matches!(refused, Err(TicketError::Used | TicketError::Expired));
        let expired = matches!(refused, Err(TicketError::Expired));
        assert!(used || expired || refused.err() == Some(TicketError::Unknown));
    }

    async fn step(&mut self, step: Step) {
        match step {
            Step::Call => self.call().await,
            Step::Approve(place) => self.decide(place, Decision::Approve).await,
            Step::ApproveTwice(place) => {
                self.decide(place, Decision::Approve).await;
                self.decide(place, Decision::Approve).await;
            }
            Step::Deny(place) => {
                self.decide(place, Decision::Deny { reason: "no".into() }).await;
            }
            Step::ByAnother(place) => {
                let bob = Caller::new("acme", "bob");
                self.stranger(place, &bob, "careful", None).await;
            }
            Step::UnderAnotherProfile(place) => {
                self.stranger(place, &alice(), "other", None).await;
            }
            Step::Guess(place) => {
                let id = TicketId::claimed(format!("t_{place:032x}"));
                self.stranger(place, &alice(), "careful", Some(id)).await;
            }
            Step::Expire => {
                tokio::time::sleep(LIFE + Duration::from_millis(20)).await;
                self.tickets.iter_mut().for_each(|known| known.open = false);
            }
            Step::Policy(denies) => self.policy.0.store(denies, Ordering::Relaxed),
            Step::Redefine => {
                self.generation += 1;
                self.open();
            }
            Step::Restart => self.open(),
        }
        self.agrees();
    }

    /// The oracle ran what was approved, once, and nothing else.
    fn agrees(&self) {
        let mut ran: Vec<u64> = self
            .oracle
            .runs()
            .iter()
            .map(|(_, arguments)| arguments["nonce"].as_u64().unwrap())
            .collect();
        ran.sort_unstable();
        let approved = self.tickets.iter().filter(|known| known.approved);
        let approved: Vec<u64> = approved.map(|known| known.nonce).collect();
        assert_eq!(ran, approved);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn what_may_destroy_runs_once_for_each_valid_approval_and_never_otherwise(
        steps in prop::collection::vec(step(), 1..25)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut machine = Machine::new();
            for step in steps {
                machine.step(step).await;
            }
        });
    }
}
