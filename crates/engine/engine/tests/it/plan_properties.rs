//! What holds for every catalog, policy and request.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use toolcrib_core::plan::InclusionReason;
use toolcrib_core::{
    AllowAll, Caller, Catalog, Effect, Plan, PlanRequest, Policy, ToolName, ToolTraits, Toolset,
    Verdict,
};
use toolcrib_testkit::{Behaviour, FixedPolicy, Oracle, spec};

/// One tool of a random catalog.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a coin to toss")]
struct Random {
    enabled: bool,
    denied: bool,
    exclusive: bool,
    capability: bool,
    companions: Vec<usize>,
}

#[derive(Debug, Clone)]
struct World {
    tools: Vec<Random>,
    choices: Vec<usize>,
    disabled: Vec<usize>,
}

fn world() -> impl Strategy<Value = World> {
    let flag = |weight| prop::bool::weighted(weight);
    let tool =
        (flag(0.8), flag(0.2), flag(0.3), flag(0.2), prop::collection::vec(0..12usize, 0..3))
            .prop_map(|(enabled, denied, exclusive, capability, companions)| Random {
                enabled,
                denied,
                exclusive,
                capability,
                companions,
            });
    let names = || prop::collection::vec(0..14usize, 0..4);
    (prop::collection::vec(tool, 0..12), names(), names())
        .prop_map(|(tools, choices, disabled)| World { tools, choices, disabled })
}

fn name(place: usize) -> String {
    format!("tool_{place}")
}

impl World {
    fn catalog(&self) -> Arc<Catalog> {
        let oracle = Oracle::default();
        let tools = self.tools.iter().enumerate().map(|(place, random)| {
            let mut spec = spec(&name(place), Effect::Read);
            spec.enabled = random.enabled;
            spec.traits = ToolTraits {
                exclusive: random.exclusive,
                capability: random.capability,
                takes_control: false,
                companions: random
                    .companions
                    .iter()
                    .map(|place| ToolName::new(name(*place)).unwrap())
                    .collect(),
            };
            oracle.tool(spec, Behaviour::Echo)
        });
        Arc::new(Catalog::of(Toolset::of(tools).unwrap()))
    }

    fn policy(&self) -> FixedPolicy {
        let denied = self.tools.iter().enumerate().filter(|(_, random)| random.denied);
        denied.fold(FixedPolicy::default(), |policy, (place, _)| {
            policy.with(name(place), Verdict::Deny("not for you".into()))
        })
    }

    fn request(&self) -> PlanRequest {
        PlanRequest {
            choices: self.choices.iter().copied().map(name).collect(),
            disabled: self.disabled.iter().copied().map(name).collect(),
            ..PlanRequest::default()
        }
    }

    fn permitted(&self, place: usize) -> bool {
        self.tools.get(place).is_some_and(|tool| tool.enabled && !tool.denied)
            && !self.disabled.contains(&place)
    }
}

/// Everything a plan says, as text.
fn said(plan: &Plan) -> String {
    let reasons = serde_json::to_string(&plan.reasons()).unwrap();
    let warnings = serde_json::to_string(plan.warnings()).unwrap();
    format!("{reasons}{warnings}")
}

proptest! {
    #[test]
    fn exposed_is_a_subset_of_permitted_and_capabilities_stay(world in world()) {
        let policy = world.policy();
        let catalog = world.catalog();
        let Ok(plan) = Plan::make(&catalog, &Caller::local(), &policy, world.request()) else {
            // No plan: then choices were made, and none of them is permitted or all were displaced.
            prop_assert!(!world.choices.is_empty());
            let left = world.choices.iter().any(|place| world.permitted(*place));
            prop_assert!(!left, "a permitted choice was lost: {world:?}");
            return Ok(());
        };
        let visible: BTreeSet<_> =
            plan.tools().map(|tool| tool.listed.spec.name.to_string()).collect();
        for (place, tool) in world.tools.iter().enumerate() {
            let shown = visible.contains(&name(place));
            prop_assert!(!shown || world.permitted(place), "{place} is shown: {world:?}");
            prop_assert!(shown || !(tool.capability && world.permitted(place)));
            prop_assert!(plan.why(&name(place)).is_some_and(|why| why.visible == shown));
        }
        for tool in plan.forced() {
            prop_assert!(visible.contains(tool.listed.spec.name.as_str()));
            prop_assert!(world.choices.contains(
                &tool.listed.spec.name.as_str()["tool_".len()..].parse().unwrap()
            ));
        }
    }

    #[test]
    fn the_same_input_gives_the_same_bytes(world in world()) {
        let (catalog, policy) = (world.catalog(), world.policy());
        let make = || Plan::make(&catalog, &Caller::local(), &policy, world.request());
        match (make(), make()) {
            (Ok(one), Ok(other)) => prop_assert_eq!(said(&one), said(&other)),
            (Err(one), Err(other)) => prop_assert_eq!(one, other),
            _ => prop_assert!(false, "one plan held and the other did not"),
        }
    }

    #[test]
    fn an_exclusive_tool_is_shown_only_as_the_choice_that_won(world in world()) {
        let policy: &dyn Policy = &AllowAll;
        let Ok(plan) = Plan::make(&world.catalog(), &Caller::local(), policy, world.request())
        else { return Ok(()) };
        let exclusive: Vec<_> = plan
            .tools()
            .filter(|tool| {
                let traits = &tool.listed.spec.traits;
                traits.exclusive && !traits.capability && tool.because == InclusionReason::Chosen
            })
            .collect();
        prop_assert!(exclusive.len() <= 1);
        if let Some(winner) = exclusive.first() {
            let companions = &winner.listed.spec.traits.companions;
            for tool in plan.tools() {
                let spec = &tool.listed.spec;
                prop_assert!(
                    spec.name == winner.listed.spec.name
                        || spec.traits.capability
                        || companions.contains(&spec.name)
                );
            }
        }
    }
}
