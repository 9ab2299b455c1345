//! The rules of a plan, one example each.

use std::sync::Arc;

use toolcrib_core::plan::{Exposure, InclusionReason};
use toolcrib_core::{
    AllowAll, Caller, Catalog, ChoiceScope, Effect, MembershipReason, Plan, PlanError, PlanRequest,
    PlanWarning, Report, Run, ToolName, ToolTraits, Toolset, ToolsetInfo, ToolsetMembership,
    Verdict,
};
use toolcrib_testkit::{Behaviour, FixedPolicy, Oracle, spec};

/// Two ordinary tools, two exclusive ones, a capability and a companion of the first exclusive.
fn catalog() -> Arc<Catalog> {
    let oracle = Oracle::default();
    let tool = |name: &str, traits: ToolTraits| {
        let mut spec = spec(name, Effect::Read);
        spec.traits = traits;
        oracle.tool(spec, Behaviour::Echo)
    };
    let exclusive = |companions: &[&str]| ToolTraits {
        exclusive: true,
        companions: companions.iter().map(|name| ToolName::new(name).unwrap()).collect(),
        ..ToolTraits::default()
    };
    let capability = ToolTraits { capability: true, ..ToolTraits::default() };
    let tools = Toolset::of([
        tool("a", ToolTraits::default()),
        tool("b", ToolTraits::default()),
        tool("research", exclusive(&["upload"])),
        tool("write_book", exclusive(&[])),
        tool("ask_user", capability),
        tool("upload", ToolTraits::default()),
    ]);
    Arc::new(Catalog::of(tools.unwrap()))
}

fn plan(request: PlanRequest) -> Result<Plan, PlanError> {
    Plan::make(&catalog(), &Caller::local(), &AllowAll, request)
}

fn visible(plan: &Plan) -> Vec<&str> {
    plan.tools().map(|tool| tool.listed.spec.name.as_str()).collect()
}

fn forced(plan: &Plan) -> Vec<&str> {
    plan.forced().map(|tool| tool.listed.spec.name.as_str()).collect()
}

fn request(choices: &[&str]) -> PlanRequest {
    choices.iter().fold(PlanRequest::default(), |request, choice| request.choose(*choice))
}

#[test]
fn without_choices_everything_but_the_exclusive_tools_is_visible() {
    let plan = plan(PlanRequest::default()).unwrap();
    assert_eq!(visible(&plan), ["a", "b", "ask_user", "upload"]);
    assert_eq!(forced(&plan), Vec::<&str>::new());
    assert_eq!(plan.why("research").unwrap().rule, "exclusive_not_chosen");
}

#[test]
fn a_choice_leaves_the_chosen_tools_and_the_capabilities() {
    let plan = plan(request(&["b"])).unwrap();
    assert_eq!(visible(&plan), ["b", "ask_user"]);
    assert_eq!(forced(&plan), ["b"]);
    assert_eq!(plan.get("b").unwrap().because, InclusionReason::Chosen);
    assert_eq!(plan.why("a").unwrap().rule, "not_chosen");
}

#[test]
fn a_chosen_exclusive_tool_stands_alone_with_capabilities_and_companions() {
    let plan = plan(request(&["a", "research"])).unwrap();
    assert_eq!(visible(&plan), ["research", "ask_user", "upload"]);
    assert_eq!(forced(&plan), ["research"]);
    let lost = "`research` was chosen and is exclusive".to_owned();
    let a = ToolName::new("a").unwrap();
    assert_eq!(plan.warnings(), [PlanWarning::LostChoice { choice: a, why: lost }]);
}

#[test]
fn of_several_chosen_exclusive_tools_the_first_choice_wins() {
    assert_eq!(forced(&plan(request(&["write_book", "research"])).unwrap()), ["write_book"]);
    assert_eq!(forced(&plan(request(&["research", "write_book"])).unwrap()), ["research"]);
}

#[test]
fn a_disabled_companion_does_not_come_back() {
    let plan = plan(request(&["research"]).disable("upload")).unwrap();
    assert_eq!(visible(&plan), ["research", "ask_user"]);
    assert_eq!(plan.why("upload").unwrap().rule, "disabled_for_request");
}

#[test]
fn a_denied_exclusive_choice_gives_way_to_the_next() {
    let policy = FixedPolicy::default().with("research", Verdict::Deny("no".into()));
    let request = request(&["research", "write_book"]);
    let plan = Plan::make(&catalog(), &Caller::local(), &policy, request).unwrap();
    assert_eq!(visible(&plan), ["write_book", "ask_user"]);
    let denied_as_unknown = PlanWarning::UnknownChoice { choice: "research".into(), nearest: None };
    assert_eq!(plan.warnings(), [denied_as_unknown]);
    assert_eq!(plan.why("research").unwrap().rule, "denied");
}

#[test]
fn an_unknown_choice_is_a_warning_and_no_choice_left_is_an_error() {
    let some = plan(request(&["b", "reserch"])).unwrap();
    assert_eq!(visible(&some), ["b", "ask_user"]);
    let unknown = PlanWarning::UnknownChoice {
        choice: "reserch".into(),
        nearest: Some(ToolName::new("research").unwrap()),
    };
    assert_eq!(some.warnings(), std::slice::from_ref(&unknown));
    let error = plan(request(&["reserch"])).err().unwrap();
    assert_eq!(error, PlanError(vec![unknown]));
    assert_eq!(
        error.to_string(),
        "none of the chosen tools is left: the choice `reserch` names no available tool; did you \
         mean `research`?"
    );
}

#[test]
fn choices_bind_the_first_turn_or_the_whole_run() {
    let mut run = Run::default();
    run.absorb(&Report::default());
    let later = plan(request(&["b"]).after(&run)).unwrap();
    assert_eq!(visible(&later), ["a", "b", "ask_user", "upload"]);
    assert_eq!(forced(&later), Vec::<&str>::new());
    let whole = request(&["b"]).choices_bind(ChoiceScope::Run).after(&run);
    assert_eq!(visible(&plan(whole).unwrap()), ["b", "ask_user"]);
}

#[test]
fn what_is_forced_or_a_capability_is_never_deferred_or_hidden() {
    let request = request(&["a"]).defer("a").hide("ask_user");
    let chosen = plan(request).unwrap();
    assert_eq!(chosen.get("a").unwrap().exposure, Exposure::Listed);
    assert_eq!(chosen.get("ask_user").unwrap().exposure, Exposure::Listed);
    let free = plan(PlanRequest::default().defer("a").hide("b")).unwrap();
    assert_eq!(free.get("a").unwrap().exposure, Exposure::Deferred);
    assert_eq!(free.get("b").unwrap().exposure, Exposure::Hidden);
}

#[test]
fn an_admin_disabled_tool_is_out_even_when_it_is_chosen() {
    let tools = Toolset::of([Oracle::default().echo("a", Effect::Read)]).unwrap();
    let catalog = Arc::new(Catalog::of(tools.respec(|spec| spec.enabled = false)));
    let plan = Plan::make(&catalog, &Caller::local(), &AllowAll, PlanRequest::default()).unwrap();
    assert_eq!(visible(&plan), Vec::<&str>::new());
    assert_eq!(plan.warnings(), [PlanWarning::NothingVisible]);
    assert_eq!(plan.why("a").unwrap().rule, "disabled");
    assert!(Plan::make(&catalog, &Caller::local(), &AllowAll, request(&["a"])).is_err());
}

#[test]
fn an_empty_crib_is_no_silent_emptiness() {
    let catalog = Arc::new(Catalog::of(Toolset::default()));
    let plan = Plan::make(&catalog, &Caller::local(), &AllowAll, PlanRequest::default()).unwrap();
    assert_eq!(plan.warnings(), [PlanWarning::NothingVisible]);
}

#[test]
fn format_information_is_shown_once_the_tool_was_used() {
    let tools = Toolset::of([Oracle::default().echo("a", Effect::Read)]).unwrap().respec(|spec| {
        let guidance = Arc::make_mut(&mut spec.guidance);
        guidance.system = "Use a for a.".into();
        guidance.system_format = "Write a as *a*.".into();
        guidance.reminder = "Mind a.".into();
    });
    let catalog = Arc::new(Catalog::of(tools));
    let before = Plan::make(&catalog, &Caller::local(), &AllowAll, PlanRequest::default()).unwrap();
    assert_eq!(before.guidance().system, "## a\nUse a for a.");
    assert_eq!(before.guidance().reminders, ["Mind a."]);
    let run: Run = serde_json::from_str(r#"{"turn": 1, "used": ["a"]}"#).unwrap();
    let request = PlanRequest::default().after(&run);
    let after = Plan::make(&catalog, &Caller::local(), &AllowAll, request).unwrap();
    assert_eq!(after.guidance().system, "## a\nUse a for a.\nWrite a as *a*.");
}

#[test]
fn a_denied_tool_is_told_apart_from_no_tool_by_no_warning() {
    let oracle = Oracle::default();
    let policy = FixedPolicy::default()
        .with("delete_events", Verdict::Deny("no".into()))
        .with("delete_all", Verdict::Deny("no".into()));
    let all = ["delete_event", "delete_events", "delete_all"];
    let tools = Toolset::of(all.map(|name| oracle.echo(name, Effect::Read))).unwrap();
    let tools = tools.respec(|spec| spec.enabled = spec.name.as_str() != "delete_all");
    let wishes = || {
        request(&["delete_events", "zzz", "delete_events", "delete_al", "delete_event"])
            .choose("delete_all")
            .disable("delete_events")
            .disable("nothing")
    };
    let warnings = |tools: Toolset| {
        let catalog = Arc::new(Catalog::of(tools));
        Plan::make(&catalog, &Caller::local(), &policy, wishes()).unwrap().warnings().to_vec()
    };
    let without = tools.filter(|spec| spec.name.as_str() == "delete_event");
    assert_eq!(warnings(tools), warnings(without));
}

#[test]
fn a_chosen_companion_is_forced_and_so_shown_in_full() {
    let plan = plan(request(&["research", "upload"]).hide("upload")).unwrap();
    let forced: Vec<_> = plan.forced().map(|tool| (tool.because, tool.exposure)).collect();
    let listed = Exposure::Listed;
    assert_eq!(forced, [(InclusionReason::Chosen, listed), (InclusionReason::Companion, listed)]);
}

#[test]
fn only_for_the_first_wrong_choices_is_the_nearest_looked_for() {
    let wrong: Vec<_> = (0..40).map(|n| format!("researc{n}")).collect();
    let choices: Vec<_> = wrong.iter().map(String::as_str).chain(["b"]).collect();
    let plan = plan(request(&choices)).unwrap();
    let helped = |warning: &&PlanWarning| matches!(warning, PlanWarning::UnknownChoice { nearest: Some(near), .. } if near.as_str() == "research");
    let warnings = plan.warnings();
    assert_eq!((warnings.len(), warnings.iter().filter(helped).count()), (40, 16));
    assert!(warnings.iter().take(16).all(|warning| helped(&warning)));
}

#[test]
fn a_toolset_is_chosen_without_its_exclusive_tools_and_a_tool_of_its_name_comes_first() {
    let oracle = Oracle::default();
    let set = Arc::new(ToolsetInfo { id: "x".to_owned(), ..ToolsetInfo::default() });
    let tool = |name: &str, is_exclusive: bool, is_in: bool| {
        let mut spec = spec(name, Effect::Read);
        spec.traits.exclusive = is_exclusive;
        let (toolset, because) = (Arc::clone(&set), MembershipReason::All);
        spec.toolsets.extend(is_in.then_some(ToolsetMembership { toolset, because }));
        oracle.tool(spec, Behaviour::Echo)
    };
    let tools = [tool("a", false, true), tool("b", true, true), tool("c", false, false)];
    let catalog = Arc::new(Catalog::of(Toolset::of(tools.clone()).unwrap()));
    let make = |catalog| {
        Plan::make(catalog, &Caller::local(), &AllowAll, request(&["toolset:x"])).unwrap()
    };
    let chosen = make(&catalog);
    assert_eq!((visible(&chosen), forced(&chosen)), (vec!["a"], vec![]));

    let named = [tool("toolset:x", false, false)];
    let all = Toolset::of(tools.into_iter().chain(named)).unwrap();
    let catalog = Arc::new(Catalog::of(all));
    let chosen = make(&catalog);
    assert_eq!((visible(&chosen), forced(&chosen)), (vec!["toolset:x"], vec!["toolset:x"]));
}
