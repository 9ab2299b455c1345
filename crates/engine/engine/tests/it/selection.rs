//! Tools for a task, and tools for each of several agents.

use serde_json::json;
use toolcrib_core::{Caller, Effect, Plan, PlanRequest, ToolSpec, Toolset, Verdict};
use toolcrib_engine::selection::{
    AgentWish, Overlap, PartitionRequest, SelectionReason, SelectionRequest, ToolPartition,
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
        tools: Vec::new(),
    };
    PartitionRequest {
        task: None,
        agents: names.iter().map(wish).collect(),
        capacity: None,
        overlap: Overlap::None,
        shares_writers: false,
    }
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
    assert!(error.message.starts_with("there is no tool `secret_wipe`"), "{error:?}");
    let many = SelectionRequest { limit: 0, ..always };
    let error = select(&plan, &many).unwrap_err();
    assert!(error.message.contains("the limit is 0"), "{error:?}");
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
    assert!(partition(&plan, &wished).unwrap_err().message.contains("no tool `secret_wipe`"));
    let twice = partition(&plan, &agents(&[("a", ""), ("a", "")])).unwrap_err();
    assert_eq!(twice.message, "two agents are called `a`");
    assert!(partition(&plan, &agents(&[])).unwrap_err().message.contains("no agent"));
}
