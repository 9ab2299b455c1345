//! Tools that the provider of a model runs: when a plan has them, and what stands in their place.

use std::sync::Arc;

use serde_json::json;
use toolcrib_core::plan::InclusionReason;
use toolcrib_core::{
    AllowAll, BoxFuture, Caller, Catalog, Effect, HostedPlacement, HostedTool, Intent, Plan,
    PlanRequest, Policy, Report, Response, Run, ToolName, ToolOutcome, ToolSpec, Toolset, Verdict,
};
use toolcrib_engine::policy::strictest;
use toolcrib_engine::rules::Rules;
use toolcrib_testkit::{Behaviour, FixedPolicy, Oracle, spec};

fn hosted(name: &str, dialects: &[&str], hosted: HostedTool) -> ToolSpec {
    let mut spec = spec(name, Effect::Read);
    spec.traits.capability = true;
    for dialect in dialects {
        spec.builtin.insert((*dialect).to_owned(), json!({ "type": name }));
    }
    spec.hosted = Some(Arc::new(hosted));
    spec
}

fn local(name: &str) -> HostedTool {
    HostedTool { local: Some(ToolName::new(name).unwrap()), on_demand: false }
}

/// A tool, a search with a counterpart, and a runner of code that is there on demand.
fn catalog() -> Arc<Catalog> {
    let oracle = Oracle::default();
    let on_demand = HostedTool { local: None, on_demand: true };
    let specs = [
        spec("add", Effect::Read),
        spec("own_search", Effect::Read),
        hosted("search", &["a", "b"], local("own_search")),
        hosted("code", &["a"], on_demand),
    ];
    let tools = specs.map(|spec| oracle.tool(spec, Behaviour::Echo));
    Arc::new(Catalog::of(Toolset::of(tools).unwrap()))
}

fn planned(policy: &dyn Policy, request: PlanRequest) -> Plan {
    Plan::make(&catalog(), &Caller::local(), policy, request).unwrap()
}

fn visible(plan: &Plan) -> Vec<&str> {
    plan.tools().map(|tool| tool.listed.spec.name.as_str()).collect()
}

fn rules(plan: &Plan) -> Vec<&'static str> {
    plan.reasons().iter().map(|why| why.rule).collect()
}

#[test]
fn a_plan_of_which_no_model_is_told_has_nothing_that_only_a_provider_runs() {
    let plan = planned(&AllowAll, PlanRequest::default());
    assert_eq!(visible(&plan), ["add", "own_search"]);
    assert_eq!(rules(&plan), ["permitted", "permitted", "no_model", "no_model"]);
    let why = plan.why("search").unwrap().because;
    assert!(why.ends_with("name a dialect; `own_search` stands in its place"), "{why}");
    assert!(plan.get("search").is_none());
}

#[test]
fn each_api_has_what_it_runs_or_the_counterpart() {
    let plan = planned(&AllowAll, PlanRequest::default().told_in("a"));
    assert_eq!(visible(&plan), ["add", "search", "code"]);
    assert_eq!(rules(&plan), ["permitted", "replaced", "capability", "on_demand"]);
    let why = plan.why("own_search").unwrap().because;
    assert_eq!(why, "`search` stands in its place, which the model's provider runs");

    let plan = planned(&AllowAll, PlanRequest::default().told_in("b"));
    assert_eq!(visible(&plan), ["add", "search"]);
    let why = plan.why("code").unwrap();
    assert_eq!(
        (why.rule, why.because.as_str()),
        (
            "not_of_api",
            "the API of this model has no such tool, or not with its settings; a tool that it names as \
         `local` would stand in its place",
        )
    );

    let plan = planned(&AllowAll, PlanRequest::default().told_in("c"));
    assert_eq!(visible(&plan), ["add", "own_search"]);
    assert_eq!(rules(&plan), ["permitted", "counterpart", "not_of_api", "not_of_api"]);
}

#[test]
fn choices_fall_to_the_counterpart_and_leave_capabilities() {
    let chosen = |name: &str, dialect: &str| {
        planned(&AllowAll, PlanRequest::default().choose(name).told_in(dialect))
    };
    let forced = |plan: &Plan| {
        plan.forced().map(|tool| tool.listed.spec.name.to_string()).collect::<Vec<_>>()
    };
    let plan = chosen("add", "c");
    assert_eq!(
        (visible(&plan), forced(&plan)),
        (vec!["add", "own_search"], vec!["add".to_owned()])
    );
    let plan = chosen("search", "c");
    assert_eq!(
        (visible(&plan), forced(&plan)),
        (vec!["own_search"], vec!["own_search".to_owned()])
    );
    assert!(plan.warnings().is_empty());
    let plan = chosen("search", "a");
    assert_eq!(forced(&plan), ["search"]);
    // What was chosen itself is not replaced.
    let plan = chosen("own_search", "a");
    assert_eq!(visible(&plan), ["own_search", "search", "code"]);
}

#[test]
fn what_is_denied_is_no_tool_and_nothing_stands_in_for_it() {
    let denies = Rules::parse("allow = [\"*\"]\ndeny = [\"search\"]\n").unwrap();
    for dialect in ["a", "c"] {
        let plan = planned(&denies, PlanRequest::default().told_in(dialect));
        assert_eq!(plan.why("search").unwrap().rule, "denied");
        assert_eq!(plan.why("own_search").unwrap().rule, "permitted");
    }
    let denies_own = Rules::parse("allow = [\"*\"]\ndeny = [\"own_search\"]\n").unwrap();
    let plan = planned(&denies_own, PlanRequest::default().told_in("c"));
    assert_eq!(visible(&plan), ["add"]);
    let why = plan.why("search").unwrap().because;
    assert!(why.ends_with("`own_search`, its local counterpart, is not visible either"), "{why}");
    let disabled = PlanRequest::default().told_in("a").disable("search");
    assert_eq!(visible(&planned(&AllowAll, disabled)), ["add", "own_search", "code"]);
}

/// A run in which this was called with success.
fn after(tool: &str) -> Run {
    let mut run = Run::default();
    let call = toolcrib_core::Call { name: tool.to_owned(), ..toolcrib_core::Call::default() };
    let done = ToolOutcome::Done(toolcrib_core::Content::text("at hand"));
    let mut response = Response::of_call(call, done);
    response.debug.tool = Some(ToolName::new(tool).unwrap());
    run.absorb(&Report { responses: vec![response] });
    run
}

#[test]
fn what_a_model_asked_for_it_has_for_the_rest_of_the_run() {
    let request = || PlanRequest::default().told_in("a");
    let is_function = |plan: &Plan, name: &str| {
        plan.get(name).is_some_and(|tool| tool.because == InclusionReason::OnDemand)
    };
    let plan = planned(&AllowAll, request());
    assert!(is_function(&plan, "code") && !is_function(&plan, "search"));
    let plan = planned(&AllowAll, request().after(&after("code")));
    assert!(!is_function(&plan, "code"));

    // A call of what the provider runs cannot be held: where one is to be asked about, the model
    // asks for the tool first. So it is with a policy that cannot tell.
    let asks = Rules::parse("allow = [\"*\"]\nask = [\"search\"]\n").unwrap();
    let fixed = FixedPolicy::default();
    for policy in [&asks as &dyn Policy, &fixed] {
        assert!(is_function(&planned(policy, request()), "search"));
        assert!(!is_function(&planned(policy, request().after(&after("search"))), "search"));
    }
}

/// Everything may run, and this tool is stopped.
struct Stopped(&'static str);

impl Policy for Stopped {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn decide<'a>(&'a self, _: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Allow))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        tool.name.as_str() != self.0
    }

    fn stops(&self, _: &Caller, tool: &ToolSpec) -> bool {
        tool.name.as_str() == self.0
    }
}

#[test]
fn what_is_stopped_is_taken_from_a_run_that_has_used_it() {
    let request = || PlanRequest::default().told_in("a").after(&after("search"));
    let why =
        |policy: &dyn Policy| planned(policy, request()).get("search").map(|tool| tool.because);
    assert_eq!(why(&AllowAll), Some(InclusionReason::Capability));
    let both = strictest(Arc::new(AllowAll), vec![Arc::new(Stopped("search"))]);
    for policy in [&Stopped("search") as &dyn Policy, &both] {
        assert_eq!(why(policy), Some(InclusionReason::OnDemand));
    }
    let alone = request().takes_hosted(HostedPlacement::Alone).disable("add").disable("own_search");
    assert!(planned(&AllowAll, alone.clone()).get("search").is_some());
    assert!(planned(&Stopped("search"), alone).get("search").is_none());
}

#[test]
fn functions_go_first_where_an_api_takes_one_kind_alone() {
    let request = |placement| PlanRequest::default().told_in("a").takes_hosted(placement);
    let plan = planned(&AllowAll, request(HostedPlacement::Alone));
    assert_eq!(visible(&plan), ["add", "own_search"]);
    assert_eq!(
        rules(&plan),
        ["permitted", "counterpart", "not_beside_functions", "not_beside_functions"]
    );
    let alone = request(HostedPlacement::Alone).disable("add").disable("own_search");
    let plan = planned(&AllowAll, alone.clone());
    // A function in the place of one would be beside the other.
    assert_eq!(rules(&plan)[2..], ["capability", "capability"]);
    let asks = Rules::parse("allow = [\"*\"]\nask = [\"search\"]\n").unwrap();
    assert_eq!(visible(&planned(&asks, alone)), Vec::<&str>::new());
    let nowhere = request(HostedPlacement::Nowhere).disable("add").disable("own_search");
    assert_eq!(visible(&planned(&AllowAll, nowhere)), Vec::<&str>::new());
}
