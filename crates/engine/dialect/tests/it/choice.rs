//! Forced tools, and what is beside them.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_core::{AllowAll, Caller, Plan, PlanRequest, ToolSpec};
use toolcrib_dialect::dialect;

use crate::fixture::{catalog, plan_of, spec, variants};

fn tools() -> Vec<ToolSpec> {
    let named = |name: &str| spec(name, "T.", json!({"type": "object", "properties": {}}));
    let mut always = named("always");
    always.traits.capability = true;
    let mut handover = named("hand.over");
    handover.traits.takes_control = true;
    vec![named("a"), named("b"), always, handover]
}

fn choices(request: &PlanRequest) -> Value {
    let plan = plan_of(tools(), request.clone());
    let said = toolcrib_dialect::NAMES.iter().map(|name| {
        let mut fields = dialect(name).unwrap().request(&plan);
        let tools = fields.remove("tools").unwrap();
        let shown =
            tools.pointer("/0/functionDeclarations").unwrap_or(&tools).as_array().unwrap().len();
        fields.insert("shown".to_owned(), shown.into());
        ((*name).to_owned(), Value::Object(fields))
    });
    said.collect()
}

#[test]
fn without_a_choice_nothing_is_said() {
    let nothing = json!({"shown": 4});
    let expected = json!({"openai-chat": nothing, "openai-responses": nothing, "anthropic": nothing, "gemini": nothing});
    assert_eq!(choices(&PlanRequest::default()), expected);
}

#[test]
fn one_chosen_tool_is_forced_by_name_and_capabilities_stay() {
    assert_eq!(
        choices(&PlanRequest::default().choose("a")),
        json!({
            "openai-chat": {"tool_choice": {"type": "function", "function": {"name": "a"}}, "shown": 2},
            "openai-responses": {"tool_choice": {"type": "function", "name": "a"}, "shown": 2},
            "anthropic": {"tool_choice": {"type": "tool", "name": "a"}, "shown": 2},
            "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["a"]}}, "shown": 2},
        })
    );
}

#[test]
fn several_chosen_tools_are_forced_as_near_as_the_api_can() {
    assert_eq!(
        choices(&PlanRequest::default().choose("b").choose("a")),
        json!({
            "openai-chat": {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
                {"type": "function", "function": {"name": "b"}}, {"type": "function", "function": {"name": "a"}}]}}, "shown": 3},
            "openai-responses": {"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [
                {"type": "function", "name": "b"}, {"type": "function", "name": "a"}]}, "shown": 3},
            "anthropic": {"tool_choice": {"type": "any"}, "shown": 3},
            "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["b", "a"]}}, "shown": 3},
        })
    );
    let plan = plan_of(tools(), PlanRequest::default().choose("b").choose("a"));
    let anthropic = dialect("anthropic").unwrap();
    let expected = [json!({"type": "tool", "name": "b"}), json!({"type": "tool", "name": "a"})];
    assert_eq!(anthropic.forced_requests(&plan), expected);
    let lost: Vec<_> = anthropic
        .rendering(&plan)
        .losses
        .iter()
        .map(|loss| (loss.tool.to_string(), loss.what.clone()))
        .collect();
    assert_eq!(
        lost,
        [("b".to_owned(), "forced".to_owned()), ("a".to_owned(), "forced".to_owned())]
    );
}

#[test]
fn a_forced_tool_that_takes_control_is_to_come_alone() {
    let said = choices(&PlanRequest::default().choose("hand.over"));
    assert_eq!(said["openai-chat"]["parallel_tool_calls"], false);
    assert_eq!(said["openai-responses"]["parallel_tool_calls"], false);
    assert_eq!(said["anthropic"]["tool_choice"]["disable_parallel_tool_use"], true);
    assert_eq!(
        said["gemini"]["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"],
        json!(["hand.over"])
    );
}

#[test]
fn a_hidden_tool_is_not_shown_and_a_deferred_one_that_is_forced_is_shown_in_full() {
    let plan = plan_of(tools(), PlanRequest::default().hide("b").defer("a").choose("a"));
    for (folder, dialect) in variants() {
        let tools = dialect.tools(&plan).to_string();
        assert!(
            !tools.contains("defer_loading") && !tools.contains("tool_search"),
            "{folder}: {tools}"
        );
        assert!(!tools.contains("\"b\""), "{folder}: {tools}");
    }
    let plan = plan_of(tools(), PlanRequest::default().hide("b"));
    for (folder, dialect) in variants() {
        assert_eq!(dialect.rendering(&plan).wire_name("b"), None, "{folder}");
    }
}

#[test]
fn a_tool_that_joins_at_the_end_leaves_the_others_as_they_were() {
    let mut specs = crate::fixture::specs();
    let request = || PlanRequest::default().defer("archive_files").defer("zz_last");
    let before = plan_of(specs.clone(), request());
    specs.push(spec("zz_last", "L.", json!({"type": "object", "properties": {}})));
    let after = plan_of(specs, request());
    for (folder, dialect) in variants() {
        let list = |tools: &Value| {
            tools.pointer("/0/functionDeclarations").unwrap_or(tools).as_array().unwrap().clone()
        };
        let (old, new) = (list(&dialect.tools(&before)), list(&dialect.tools(&after)));
        assert!(new.starts_with(&old) && new.len() > old.len(), "{folder}");
    }
}

#[test]
fn an_empty_plan_asks_for_nothing() {
    let plan = plan_of([], PlanRequest::default());
    for (folder, dialect) in variants() {
        assert_eq!(Value::from(dialect.request(&plan)), json!({}), "{folder}");
    }
}

#[test]
fn two_tools_of_one_wire_name_cost_one_tool() {
    let mut builtin = spec("search", "S.", json!({"type": "object"}));
    builtin
        .builtin
        .insert("anthropic".to_owned(), json!({"type": "web_search_20250305", "name": "a"}));
    let mut specs = tools();
    specs.push(builtin);
    let rendering =
        dialect("anthropic").unwrap().rendering(&plan_of(specs, PlanRequest::default()));
    let refused: Vec<_> = rendering.refused.iter().map(|refused| refused.tool.as_str()).collect();
    assert_eq!((refused, rendering.tools.as_array().unwrap().len()), (vec!["search"], 4));
}

#[test]
fn plans_that_show_the_same_of_a_snapshot_are_rendered_once() {
    let catalog = catalog(tools());
    let plan =
        |request: PlanRequest| Plan::make(&catalog, &Caller::local(), &AllowAll, request).unwrap();
    for (name, dialect) in variants() {
        let first = dialect.rendering(&plan(PlanRequest::default().choose("a")));
        let again = dialect.rendering(&plan(PlanRequest::default().choose("a").max_calls(3)));
        assert!(Arc::ptr_eq(&first, &again), "{name}");
        let other = dialect.rendering(&plan(PlanRequest::default().choose("b")));
        assert_ne!(first.tools, other.tools, "{name}");
        let all = dialect.rendering(&plan(PlanRequest::default()));
        let fewer = dialect.rendering(&plan(PlanRequest::default().disable("a")));
        assert_ne!(all.tools, fewer.tools, "{name}");
    }
}
