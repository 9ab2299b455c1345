//! Tools for a task, and tools for each of several agents.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::json;
use toolcrib_core::{
    Call, Caller, Effect, Plan, PlanRequest, RawArguments, ToolName, ToolSpec, Toolset, Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_engine::discovery::DiscoveryQuery;
use toolcrib_engine::selection::{
    AgentRules, AgentSystem, AgentWish, BindSettings, Overlap, PartitionRequest, SelectionFallback,
    SelectionReason, SelectionRequest, ToolPartition, UnlistedAgents, WorkerRole, WorkerView, bind,
    partition, select,
};
use toolcrib_testkit::{Behaviour, FixedPolicy, Oracle};

use crate::builder;
use crate::discovery::described;

fn takes(mut spec: ToolSpec, argument: &str) -> ToolSpec {
    spec.input = json!({
        "type": "object", "properties": { argument: { "type": "string" } }, "required": [argument],
    })
    .into();
    spec
}

fn specs() -> Vec<ToolSpec> {
    vec![
        takes(
            described(
                "customer_find",
                "Finds a customer by name.",
                "customers",
                "read",
                Effect::Read,
            ),
            "name",
        ),
        takes(
            described(
                "customer_rename",
                "Renames a customer.",
                "customers",
                "update",
                Effect::Write,
            ),
            "customer_id",
        ),
        takes(
            described(
                "invoice_refund",
                "Refunds an invoice of a customer.",
                "invoices",
                "update",
                Effect::Write,
            ),
            "customer_id",
        ),
        takes(
            described("invoice_list", "Lists invoices.", "invoices", "read", Effect::Read),
            "customer_id",
        ),
        takes(
            described("mail_send", "Sends a letter by mail.", "mail", "create", Effect::Write),
            "text",
        ),
        takes(described("mail_search", "Searches letters.", "mail", "read", Effect::Read), "words"),
        takes(
            described(
                "secret_wipe",
                "Wipes a secret invoice.",
                "secrets",
                "delete",
                Effect::Destroy,
            ),
            "name",
        ),
    ]
}

/// A plan of a caller who must not see `secret_wipe`.
fn plan() -> Plan {
    let oracle = Oracle::default();
    let tools = specs().into_iter().map(|spec| oracle.tool(spec, Behaviour::Echo));
    let policy = FixedPolicy::default().with("secret_wipe", Verdict::Deny("not for you".into()));
    let crib = builder().policy(policy).build_fixed(Toolset::of(tools).unwrap());
    crib.plan(&Caller::local(), PlanRequest::default()).unwrap()
}

fn task(text: &str, limit: usize) -> SelectionRequest {
    SelectionRequest { task: text.to_owned(), limit, ..SelectionRequest::default() }
}

fn agents(names: &[(&str, &str)]) -> PartitionRequest {
    let wish = |(name, role): &(&str, &str)| AgentWish {
        name: (*name).to_owned(),
        role: (*role).to_owned(),
        ..AgentWish::default()
    };
    PartitionRequest { agents: names.iter().map(wish).collect(), ..PartitionRequest::default() }
}

fn names(found: &ToolPartition) -> Vec<Vec<&str>> {
    found
        .agents
        .iter()
        .map(|agent| agent.tools.iter().map(|tool| tool.name.as_str()).collect())
        .collect()
}

#[test]
fn what_a_tool_takes_is_selected_with_it_and_what_is_not_to_be_seen_is_not() {
    let plan = plan();
    let found = select(&plan, &task("Refund the invoice and send a letter", 3)).unwrap();
    let named: Vec<_> = found.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(named, ["invoice_refund", "customer_find", "mail_send"], "{found:?}");
    let needed = SelectionReason::Needed {
        argument: "customer_id".to_owned(),
        by: toolcrib_core::ToolName::new("invoice_refund").unwrap(),
    };
    assert_eq!(found.tools[1].because, needed);
    assert_eq!(found.tokens, found.tools.iter().map(|tool| tool.tokens).sum::<usize>());
    let secret = select(&plan, &task("Wipe a secret", 3)).unwrap();
    assert!(secret.tools.iter().all(|tool| tool.name.as_str() != "secret_wipe"), "{secret:?}");
    assert!(select(&plan, &task("xylophone", 3)).unwrap().tools.is_empty());
}

#[test]
fn what_is_asked_for_is_there_and_what_has_no_room_is_named() {
    let plan = plan();
    let always =
        SelectionRequest { always: vec!["mail_search".to_owned()], ..task("Refund an invoice", 2) };
    let found = select(&plan, &always).unwrap();
    assert_eq!(found.tools[0].because, SelectionReason::Always);
    assert_eq!(found.tools[1].name.as_str(), "invoice_refund");
    let narrow = SelectionRequest { tokens: Some(1), ..always.clone() };
    let found = select(&plan, &narrow).unwrap();
    let named: Vec<_> = found.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(named, ["mail_search"]);
    assert_eq!(found.too_large.len(), 1, "{found:?}");
    let hidden = SelectionRequest { always: vec!["secret_wipe".to_owned()], ..always.clone() };
    let error = select(&plan, &hidden).unwrap_err();
    assert!(error.to_string().starts_with("there is no tool `secret_wipe`"), "{error:?}");
    let many = vec!["mail_search".to_owned(), "invoice_list".to_owned()];
    let many = SelectionRequest { limit: 1, always: many, ..always };
    let found = select(&plan, &many).unwrap();
    let named: Vec<_> = found.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(named, ["mail_search", "invoice_list"]);
}

#[test]
fn agents_share_what_their_caller_sees_and_no_more() {
    let plan = plan();
    let found =
        partition(&plan, &agents(&[("books", "Invoices"), ("post", "Mail and letters")])).unwrap();
    let named = names(&found);
    assert!(
        named[0].contains(&"invoice_refund") && named[0].contains(&"invoice_list"),
        "{named:?}"
    );
    assert_eq!(named[1], ["mail_search", "mail_send"]);
    assert_eq!(named.iter().map(Vec::len).sum::<usize>(), 6, "{named:?}");
    let mut wished = agents(&[("books", ""), ("post", "")]);
    wished.task = Some(task("Refund the invoice and send a letter", 3));
    let found = partition(&plan, &wished).unwrap();
    assert_eq!(names(&found).iter().map(Vec::len).sum::<usize>(), 3, "{found:?}");
    wished.agents[1].tools = vec!["mail_search".to_owned()];
    let found = partition(&plan, &wished).unwrap();
    assert!(names(&found)[1].contains(&"mail_search"), "{found:?}");
    wished.agents[1].tools = vec!["secret_wipe".to_owned()];
    assert!(partition(&plan, &wished).unwrap_err().to_string().contains("no tool `secret_wipe`"));
    let twice = partition(&plan, &agents(&[("a", ""), ("a", "")])).unwrap_err();
    assert_eq!(twice.to_string(), "two agents are called `a`");
    assert!(partition(&plan, &agents(&[])).unwrap_err().to_string().contains("no agent"));
}

/// Rules by which `books` has two tools and an unknown one.
fn rules(unlisted: UnlistedAgents) -> AgentRules {
    let named = ["invoice_list", "secret_wipe", "invoice_pay"];
    let tools = named.into_iter().map(|name| ToolName::new(name).unwrap()).collect();
    AgentRules { listed: [("books".to_owned(), tools)].into(), unlisted }
}

#[test]
fn an_agent_of_the_rules_has_what_they_say_and_its_caller_sees_and_others_have_the_rest() {
    let plan = plan();
    let shared = |unlisted, names: &[(&str, &str)]| {
        let agents = names.iter().map(|(name, role)| rules(unlisted).wish(&plan, name, role));
        let request = PartitionRequest { agents: agents.collect(), ..PartitionRequest::default() };
        partition(&plan, &request).unwrap()
    };
    let found = shared(UnlistedAgents::Selection, &[("post", ""), ("books", "Letters")]);
    let named = names(&found);
    assert_eq!(named[1], ["invoice_list"]);
    assert_eq!(named[0].len(), 5, "{named:?}");
    assert!(found.warnings.is_empty() && found.unplaced.is_empty(), "{found:?}");
    let found = shared(UnlistedAgents::Nothing, &[("post", ""), ("books", "")]);
    assert_eq!(names(&found), [vec![], vec!["invoice_list"]]);
    assert_eq!(found.warnings, ["`post` has no tool: none is assigned to it"]);
    let unplaced: Vec<_> = found.unplaced.iter().map(ToolName::as_str).collect();
    assert_eq!(
        unplaced,
        ["customer_find", "customer_rename", "invoice_refund", "mail_search", "mail_send"]
    );
    // Letter by letter.
    assert_eq!(rules(UnlistedAgents::Nothing).tools("Books"), Some(BTreeSet::new()));
    assert_eq!(rules(UnlistedAgents::Selection).tools("Books"), None);
    let none = AgentRules { unlisted: UnlistedAgents::Nothing, ..AgentRules::default() };
    assert_eq!(none.tools("books"), None, "there are no rules");
}

#[test]
fn a_task_that_no_tool_serves_is_told_with_what_was_done() {
    let plan = plan();
    let foreign = |limit, fallback| SelectionRequest {
        fallback,
        ..task("Erstatte die Rechnung des Kunden", limit)
    };
    let found = select(&plan, &foreign(5, SelectionFallback::Nothing)).unwrap();
    assert_eq!((found.tools.len(), found.fallback), (0, Some(SelectionFallback::Nothing)));
    let found = select(&plan, &foreign(5, SelectionFallback::Search)).unwrap();
    assert_eq!((found.tools.len(), found.fallback), (0, Some(SelectionFallback::Search)));
    // Six are seen.
    let found = select(&plan, &foreign(5, SelectionFallback::All)).unwrap();
    assert_eq!((found.tools.len(), found.fallback), (0, Some(SelectionFallback::Nothing)));
    let found = select(&plan, &foreign(6, SelectionFallback::All)).unwrap();
    assert_eq!((found.tools.len(), found.fallback), (6, Some(SelectionFallback::All)));
    assert!(found.tools.iter().all(|tool| tool.because == SelectionReason::Fallback), "{found:?}");
    let narrow = SelectionRequest { tokens: Some(20), ..foreign(6, SelectionFallback::All) };
    assert_eq!(select(&plan, &narrow).unwrap().fallback, Some(SelectionFallback::Nothing));
    let sure = SelectionRequest { min_confidence: 1.0, ..task("Refund the invoice", 5) };
    let found = select(&plan, &sure).unwrap();
    assert_eq!((found.tools.len(), found.fallback), (0, Some(SelectionFallback::Nothing)));
    assert!(found.confidence > 0.5 && found.confidence < 1.0, "{found:?}");
    assert_eq!(select(&plan, &task("Refund the invoice", 5)).unwrap().fallback, None);
    let mut wished = agents(&[("books", ""), ("post", "")]);
    wished.task = Some(foreign(5, SelectionFallback::Nothing));
    let found = partition(&plan, &wished).unwrap();
    assert_eq!(names(&found), [[""; 0]; 2]);
    assert_eq!(found.fallback, Some(SelectionFallback::Nothing));
    wished.task = Some(foreign(10, SelectionFallback::All));
    let found = partition(&plan, &wished).unwrap();
    assert_eq!(names(&found).concat().len(), 6);
}

#[test]
fn agents_without_tools_and_writers_that_two_have_are_told() {
    let plan = plan();
    let many =
        agents(&[("a", ""), ("b", ""), ("c", ""), ("d", ""), ("e", ""), ("f", ""), ("g", "")]);
    let found = partition(&plan, &many).unwrap();
    assert_eq!(found.warnings, ["`g` has no tool: there are fewer tools than agents"]);
    let unfit = partition(&plan, &agents(&[("zoo", "Zebras"), ("books", "Invoices")])).unwrap();
    assert_eq!(unfit.warnings, ["`zoo` has no tool: none fits what it is for"]);
    let mut both = agents(&[("a", ""), ("b", "")]);
    for agent in &mut both.agents {
        agent.tools = vec!["mail_send".to_owned(), "mail_search".to_owned()];
    }
    let found = partition(&plan, &both).unwrap();
    assert_eq!(
        found.warnings,
        ["`mail_send` may change something, and `a` and `b` have it in any case"]
    );
    both.shares_writers = true;
    assert_eq!(partition(&plan, &both).unwrap().warnings, [""; 0]);
}

/// Agents that keep what they are given.
#[derive(Default)]
struct Workers {
    roles: Vec<WorkerRole>,
    views: Vec<WorkerView>,
}

impl Workers {
    fn of(roles: &[(&str, &str)]) -> Self {
        let role = |(name, role): &(&str, &str)| WorkerRole {
            name: (*name).to_owned(),
            role: (*role).to_owned(),
        };
        Self { roles: roles.iter().map(role).collect(), views: Vec::new() }
    }

    fn seen(&self) -> Vec<(&str, Vec<String>)> {
        let seen = |view: &WorkerView| {
            let plan = view.plan(PlanRequest::default()).unwrap();
            plan.tools().map(|tool| tool.listed.spec.name.to_string()).collect()
        };
        self.views.iter().map(|view| (view.name.as_str(), seen(view))).collect()
    }
}

impl AgentSystem for Workers {
    fn workers(&self) -> Vec<WorkerRole> {
        self.roles.clone()
    }

    fn equip(&mut self, view: WorkerView) {
        self.views.push(view);
    }
}

fn crib() -> (Crib, Oracle) {
    let oracle = Oracle::default();
    let tools = specs().into_iter().map(|spec| oracle.tool(spec, Behaviour::Echo));
    let policy = FixedPolicy::default().with("secret_wipe", Verdict::Deny("not for you".into()));
    let tools = Toolset::of(tools).unwrap();
    (builder().policy(policy).build_fixed(tools), oracle)
}

#[tokio::test]
async fn each_agent_of_a_system_has_a_plan_and_a_gate_for_its_tools_alone() {
    let (crib, oracle) = crib();
    let mut system = Workers::of(&[("books", "Invoices and customers"), ("post", "Letters")]);
    let found = bind(&mut system, &crib, None).unwrap();
    let books = ["customer_find", "customer_rename", "invoice_list", "invoice_refund"];
    let mut seen = system.seen();
    for (_, tools) in &mut seen {
        tools.sort();
    }
    assert_eq!(
        seen,
        [
            ("books", books.map(str::to_owned).to_vec()),
            ("post", vec!["mail_search".to_owned(), "mail_send".to_owned()]),
        ]
    );
    assert_eq!(
        names(&found),
        seen.iter()
            .map(|(_, tools)| tools.iter().map(String::as_str).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    );
    // A call of the other's tool is refused, under its own plan and under one of somebody else.
    let call = |tool: &str| vec![Call::new("1", tool, RawArguments::Value(json!({ "text": "x" })))];
    let [books, post] = &*system.views else { panic!("two views") };
    let own = post.plan(PlanRequest::default()).unwrap();
    let whole = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    for plan in [&own, &whole] {
        let report = post.run(plan, call("invoice_list")).await;
        let told = report.responses[0].text();
        assert!(report.responses[0].content().is_none(), "{told}");
    }
    assert_eq!(oracle.count("invoice_list"), 0);
    let report = post.run(&own, call("mail_send")).await;
    assert!(report.responses[0].content().is_some(), "{report:?}");
    let settings =
        BindSettings { rules: rules(UnlistedAgents::Nothing), ..BindSettings::default() };
    let again = books.crib.clone();
    let mut within = Workers::of(&[("books", "")]);
    settings.bind(&mut within, &again, None).unwrap();
    assert_eq!(within.seen(), [("books", vec!["invoice_list".to_owned()])]);
    let mut wider = Workers::of(&[("all", "")]);
    bind(&mut wider, &post.crib, None).unwrap();
    assert_eq!(wider.seen()[0].1.len(), 2, "a view of a view is no wider");
}

#[test]
fn one_agent_is_ordinary_selection_and_agents_beyond_the_tools_are_told() {
    let (crib, _) = crib();
    let mut one = Workers::of(&[("", "")]);
    bind(&mut one, &crib, Some("Refund the invoice and send a letter")).unwrap();
    let (name, mut seen) = one.seen().remove(0);
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let selected = select(&plan, &task("Refund the invoice and send a letter", 5)).unwrap();
    let mut expected: Vec<_> = selected.tools.iter().map(|tool| tool.name.to_string()).collect();
    seen.sort();
    expected.sort();
    assert_eq!((name, seen), ("worker_0", expected));
    let mut many = Workers::of(&[("", ""); 7]);
    let found = bind(&mut many, &crib, None).unwrap();
    assert_eq!(found.warnings, ["`worker_6` has no tool: there are fewer tools than agents"]);
    let seen = many.seen();
    assert_eq!(seen.len(), 7);
    assert_eq!(
        seen.iter().map(|(_, tools)| tools.len()).collect::<Vec<_>>(),
        [1, 1, 1, 1, 1, 1, 0]
    );
    let mut none = Workers::default();
    let error = bind(&mut none, &crib, None).unwrap_err();
    assert_eq!(error.to_string(), "there is no agent to give tools to");
    let mut twins = Workers::of(&[("a", ""), ("a", "")]);
    let error = bind(&mut twins, &crib, None).unwrap_err();
    assert_eq!((&*error.to_string(), twins.views.len()), ("two agents are called `a`", 0));
}

#[tokio::test]
async fn a_task_in_another_language_gives_agents_nothing_or_a_search_over_their_share() {
    let (crib, _) = crib();
    let mut system = Workers::of(&[("books", "Invoices and customers"), ("post", "Letters")]);
    let found = bind(&mut system, &crib, Some("Erstatte die Rechnung")).unwrap();
    assert_eq!(found.fallback, Some(SelectionFallback::Nothing));
    assert_eq!(system.seen(), [("books", vec![]), ("post", vec![])]);
    system.views.clear();
    let search = BindSettings { fallback: SelectionFallback::Search, ..BindSettings::default() };
    let found = search.bind(&mut system, &crib, Some("Erstatte die Rechnung")).unwrap();
    assert_eq!(found.fallback, Some(SelectionFallback::Search));
    let [_, post] = &*system.views else { panic!("two views") };
    let plan = post.plan(PlanRequest::default()).unwrap();
    let shown: Vec<_> = plan.tools().map(|tool| tool.listed.spec.name.to_string()).collect();
    assert!(shown.contains(&"discover_tools".to_owned()), "{shown:?}");
    let query = DiscoveryQuery {
        text: "letters and invoices".to_owned(),
        limit: 5,
        ..DiscoveryQuery::default()
    };
    let met = post.crib.find(&plan, query).await.unwrap();
    let names: BTreeSet<_> = met.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.iter().all(|name| name.starts_with("mail_")) && !names.is_empty(), "{names:?}");
}

/// A plan of a caller who must not see some of the tools.
fn plan_without(hidden: &[usize]) -> Plan {
    let oracle = Oracle::default();
    let tools = specs().into_iter().map(|spec| oracle.tool(spec, Behaviour::Echo));
    let specs = specs();
    let policy = hidden.iter().fold(FixedPolicy::default(), |policy, at| {
        policy.with(specs[*at].name.as_str(), Verdict::Deny("not for you".into()))
    });
    let crib = builder().policy(policy).build_fixed(Toolset::of(tools).unwrap());
    crib.plan(&Caller::local(), PlanRequest::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rules_and_permissions_come_before_anything_else(
        hidden in prop::collection::btree_set(0_usize..7, 0..4),
        roles in prop::collection::vec("(Invoices|Letters|Zebras|)", 1..6),
        listed in prop::collection::btree_map(0_usize..6, prop::collection::btree_set(0_usize..7, 0..4), 0..3),
        nothing in any::<bool>(),
        asked in prop_oneof![
            Just(None), Just(Some("Refund the invoice and send a letter")), Just(Some("Briefe senden"))
        ],
        overlap in prop_oneof![Just(Overlap::None), Just(Overlap::Bridges), Just(Overlap::UpTo(2))],
    ) {
        let plan = plan_without(&hidden.iter().copied().collect::<Vec<_>>());
        let all = specs();
        let is_hidden = |name: &ToolName| all.iter().position(|spec| spec.name == *name).is_some_and(|at| hidden.contains(&at));
        let agent = |at: usize| format!("agent {at}");
        let named = |tools: &BTreeSet<usize>| tools.iter().map(|at| all[*at].name.clone()).collect();
        let rules = AgentRules {
            listed: listed.iter().map(|(at, tools)| (agent(*at), named(tools))).collect(),
            unlisted: if nothing { UnlistedAgents::Nothing } else { UnlistedAgents::Selection },
        };
        let wishes = roles.iter().enumerate().map(|(at, role)| rules.wish(&plan, &agent(at), role));
        let request = PartitionRequest {
            task: asked.map(|words| task(words, 4)),
            agents: wishes.collect(),
            overlap,
            ..PartitionRequest::default()
        };
        let found = partition(&plan, &request).unwrap();
        let same = partition(&plan, &request).unwrap();
        prop_assert_eq!(json!(found), json!(same));
        let mut placed: BTreeSet<ToolName> = BTreeSet::new();
        for given in &found.agents {
            let tools: BTreeSet<_> = given.tools.iter().map(|tool| tool.name.clone()).collect();
            prop_assert!(!tools.iter().any(is_hidden), "{found:?}");
            if let Some(mut own) = rules.tools(&given.name) {
                own.retain(|name| !is_hidden(name));
                prop_assert_eq!(&tools, &own);
            }
            let told = found.warnings.iter().filter(|told| told.starts_with(&format!("`{}` has no tool", given.name)));
            prop_assert_eq!(told.count(), usize::from(tools.is_empty()));
            placed.extend(tools);
        }
        let wanted: BTreeSet<ToolName> = match &request.task {
            Some(task) => select(&plan, task).unwrap().tools.into_iter().map(|tool| tool.name).collect(),
            None => all.iter().map(|spec| spec.name.clone()).filter(|name| !is_hidden(name)).collect(),
        };
        let unplaced: BTreeSet<_> = found.unplaced.iter().cloned().collect();
        prop_assert!(wanted.iter().all(|name| placed.contains(name) != unplaced.contains(name)));
        let is_open = request.agents.iter().any(|agent| !agent.only);
        prop_assert!(!is_open || unplaced.is_empty());
        // One agent is ordinary selection.
        if let [only] = &*found.agents && is_open {
            let own: BTreeSet<_> = only.tools.iter().map(|tool| tool.name.clone()).collect();
            prop_assert_eq!(own, wanted);
        }
    }
}
