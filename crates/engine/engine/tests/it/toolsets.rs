//! The tools of a source in groups: every tool in one, of a bounded size, under ids that stay.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use toolcrib_core::{Content, MembershipReason, ToolOutcome};
use toolcrib_core::{Effect, SourceId, Tool, ToolSpec, Toolset, ToolsetMaker, raw_tool};
use toolcrib_engine::toolsets::{
    SplitGroup, SplitOutcome, ToolsetBy, ToolsetGrouping, ToolsetSplit, ToolsetSplits, in_groups,
};

/// What a tool is drawn of: its tag, the words of its path, its verb and its resource.
type Drawn = (Option<usize>, Vec<usize>, usize, usize);

const TAGS: [&str; 4] = ["Issues", "pull requests", "a_b", "!"];
const WORDS: [&str; 6] = ["issues", "comments", "a", "{id}", "labels-x", "v2"];
const VERBS: [&str; 4] = ["list", "create", "delete", "turn"];
const THINGS: [&str; 5] = ["issue", "comments", "label", "boxes", "x"];

fn drawn() -> impl Strategy<Value = Drawn> {
    let path = prop::collection::vec(0..WORDS.len(), 0..4);
    (prop::option::of(0..TAGS.len()), path, 0..VERBS.len(), 0..THINGS.len())
}

fn spec(number: usize, (tag, path, verb, thing): &Drawn) -> ToolSpec {
    let name = format!("s__{}_{}_{number}", VERBS[*verb], THINGS[*thing]);
    let mut spec = ToolSpec::new(&name, "Does something.", Effect::Write).unwrap();
    spec.origin.name = Some(format!("{}_{}", VERBS[*verb], THINGS[*thing]));
    spec.tags = tag.iter().map(|tag| TAGS[*tag].to_owned()).collect();
    let path: Vec<_> = path.iter().map(|word| WORDS[*word]).collect();
    spec.origin.path = (!path.is_empty()).then(|| format!("/{}", path.join("/")));
    spec
}

fn toolset(specs: impl IntoIterator<Item = ToolSpec>) -> Toolset {
    let idle = |spec| -> std::sync::Arc<dyn Tool> {
        raw_tool(spec, |_, _| std::future::ready(ToolOutcome::Done(Content::text("x"))))
    };
    Toolset::of(specs.into_iter().map(idle)).unwrap()
}

fn grouping(by: usize, split: usize, max_tools: usize) -> ToolsetGrouping {
    ToolsetGrouping {
        by: [ToolsetBy::Tag, ToolsetBy::All, ToolsetBy::Path, ToolsetBy::Cluster][by],
        split: [ToolsetSplit::Cluster, ToolsetSplit::None, ToolsetSplit::Model][split],
        max_tools,
    }
}

/// The names of the tools of each group that stands, by its id.
fn sets(tools: &Toolset) -> BTreeMap<String, BTreeSet<String>> {
    let mut sets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for tool in tools.iter() {
        let own = tool.spec.toolsets.iter().filter(|own| !own.toolset.is_split);
        for membership in own {
            let set = sets.entry(membership.toolset.id.clone()).or_default();
            set.insert(tool.spec.name.to_string());
        }
    }
    sets
}

fn grouped(specs: Vec<ToolSpec>, grouping: &ToolsetGrouping) -> Toolset {
    in_groups(&toolset(specs), &SourceId::new("s"), grouping, None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn every_tool_is_in_one_group_of_a_size_in_whatever_order_tools_come(
        drawn in prop::collection::vec(drawn(), 0..40),
        (by, split, max) in (0_usize..4, 0_usize..3, 1_usize..8),
    ) {
        let specs: Vec<_> = drawn.iter().enumerate().map(|(at, tool)| spec(at, tool)).collect();
        let grouping = grouping(by, split, max);
        let tools = grouped(specs.clone(), &grouping);
        prop_assert_eq!(tools.len(), specs.len());
        for tool in tools.iter() {
            let own: Vec<_> =
                tool.spec.toolsets.iter().filter(|own| !own.toolset.is_split).collect();
            prop_assert_eq!(own.len(), 1, "{:?}", own);
            // What stands in the place of a set is a part of it.
            let whole: Vec<_> =
                tool.spec.toolsets.iter().filter(|own| own.toolset.is_split).collect();
            let part_of = own[0].toolset.part_of.clone();
            prop_assert_eq!(whole.first().map(|own| own.toolset.id.clone()), part_of);
        }
        let found = sets(&tools);
        for (id, tools) in &found {
            let bounded = grouping.split != ToolsetSplit::None || grouping.by == ToolsetBy::Cluster;
            prop_assert!(!bounded || tools.len() <= max, "{id}: {tools:?}");
            let rest = id.strip_prefix("s_").unwrap();
            prop_assert!(rest.split('_').count() <= 2 && !rest.contains(' '), "{id}");
        }
        let mut turned = specs;
        turned.reverse();
        prop_assert_eq!(sets(&grouped(turned, &grouping)), found);
    }

    #[test]
    fn a_group_keeps_its_id_and_tools_while_others_come_and_go(
        drawn in prop::collection::vec(drawn(), 1..40),
        more in drawn(),
        max in 1_usize..8,
    ) {
        let grouping = grouping(0, 0, max);
        let specs: Vec<_> = drawn.iter().enumerate().map(|(at, tool)| spec(at, tool)).collect();
        let before = grouped(specs.clone(), &grouping);
        let newcomer = spec(1_000, &more);
        let after = grouped(specs.into_iter().chain([newcomer.clone()]).collect(), &grouping);
        let first = |spec: &ToolSpec| {
            let path = spec.origin.path.clone().unwrap_or_default();
            path.split('/').find(|word| !word.is_empty() && *word != "{id}" && *word != "v2")
                .map(str::to_owned)
        };
        let memberships = |tools: &Toolset, name: &str| {
            tools.get(name).unwrap().spec.toolsets.clone()
        };
        for tool in before.iter() {
            let (old, new) =
                (memberships(&before, tool.spec.name.as_str()), memberships(&after, tool.spec.name.as_str()));
            let ids = |all: &[toolcrib_core::ToolsetMembership]| -> Vec<String> {
                all.iter().map(|own| own.toolset.id.clone()).collect()
            };
            if tool.spec.tags != newcomer.tags {
                // Of another group nothing changes at all.
                prop_assert_eq!(old, new);
                continue;
            }
            let was_split = old.iter().any(|own| own.toolset.is_split);
            let by_path = old.iter().any(|own| {
                !own.toolset.is_split && matches!(own.because, MembershipReason::Path(_))
            });
            if was_split && by_path && first(&tool.spec) != first(&newcomer) {
                prop_assert_eq!(ids(&old), ids(&new));
            }
        }
    }

    #[test]
    fn whatever_a_model_answers_every_tool_is_in_one_group_of_a_size(
        answer in prop_oneof![any::<String>(), r#"[\[\]{}":, a-e\n]{0,80}"#],
        drawn in prop::collection::vec(drawn(), 4..20),
        groups in prop::collection::vec(
            (".{0,8}", prop::collection::vec(0_usize..24, 0..12)), 0..6),
        is_prose in any::<bool>(),
        max in 1_usize..6,
    ) {
        let specs: Vec<_> = drawn.iter().enumerate().map(|(at, tool)| spec(at, tool)).collect();
        let names: Vec<String> = specs.iter().map(|spec| spec.name.to_string()).collect();
        // Names that are doubled, missing or invented.
        let named = |at: &usize| names.get(*at).cloned().unwrap_or_else(|| format!("invented_{at}"));
        let written = serde_json::json!({ "groups": groups.iter().map(|(name, tools)| {
            serde_json::json!({ "name": name, "tools": tools.iter().map(named).collect::<Vec<_>>() })
        }).collect::<Vec<_>>() }).to_string();
        let answer = if is_prose { answer } else { written };
        let splits = ToolsetSplits::default();
        let grouping = ToolsetGrouping {
            by: ToolsetBy::All, split: ToolsetSplit::Model, max_tools: max,
        };
        let source = SourceId::new("s");
        let first = in_groups(&toolset(specs.clone()), &source, &grouping, Some(&splits));
        let waiting = splits.waiting();
        prop_assert_eq!(waiting.len(), usize::from(specs.len() > max));
        let mut outcome = None;
        if let Some(question) = waiting.first() {
            let read = SplitOutcome::read(&answer, &question.names());
            splits.tell(question.fingerprint, read.clone());
            outcome = Some(read);
        }
        let tools = in_groups(&toolset(specs.clone()), &source, &grouping, Some(&splits));
        prop_assert_eq!(first.len(), tools.len());
        let found = sets(&tools);
        let placed: usize = found.values().map(BTreeSet::len).sum();
        prop_assert_eq!(placed, specs.len(), "{:?} of {}", found, answer);
        match outcome {
            Some(SplitOutcome::Useless(_)) => {
                prop_assert_eq!(found.keys().collect::<Vec<_>>(), ["s_all"]);
            }
            Some(SplitOutcome::Groups(_)) => {
                prop_assert!(found.values().all(|tools| tools.len() <= max), "{found:?}");
                prop_assert!(splits.waiting().is_empty());
            }
            None => {}
        }
    }
}

/// Twelve tools of one tag, of which a model is asked.
fn twelve() -> Vec<ToolSpec> {
    let tool = |(at, name): (usize, &str)| {
        let mut spec = ToolSpec::new(format!("s__{name}_{at}"), "Does it.", Effect::Read).unwrap();
        spec.tags = vec!["shop".to_owned()];
        spec
    };
    let names = ["cart", "order", "refund"].into_iter().cycle().take(12);
    names.enumerate().map(tool).collect()
}

fn split(answer: &str) -> (Toolset, ToolsetSplits) {
    let splits = ToolsetSplits::default();
    let grouping = ToolsetGrouping { by: ToolsetBy::Tag, split: ToolsetSplit::Model, max_tools: 5 };
    let source = SourceId::new("s");
    in_groups(&toolset(twelve()), &source, &grouping, Some(&splits));
    let question = splits.waiting().remove(0);
    splits.tell(question.fingerprint, SplitOutcome::read(answer, &question.names()));
    (in_groups(&toolset(twelve()), &source, &grouping, Some(&splits)), splits)
}

#[test]
fn what_is_usable_of_an_answer_is_kept() {
    // A tool twice, one that is invented, several left over, one name without its prefix, words and
    // a fence around it all.
    let answer = r#"Here you are:
```json
{"groups": [
  {"name": "Carts & Co", "summary": "Carts.", "tools": ["s__cart_0", "cart_3", "s__cart_99"]},
  {"name": "orders", "tools": ["s__order_1", "s__cart_0", "s__order_4"]},
]}
```"#;
    let (tools, splits) = split(answer);
    let of = |id: &str| sets(&tools).remove(id).unwrap_or_default().into_iter().collect::<Vec<_>>();
    assert_eq!(of("s_shop_carts-co"), ["s__cart_0", "s__cart_3"]);
    assert_eq!(of("s_shop_orders"), ["s__order_1", "s__order_4"]);
    // What was left over is too much for one group again.
    let all = sets(&tools);
    let left: Vec<_> = all.iter().filter(|(id, _)| id.starts_with("s_shop_other")).collect();
    assert_eq!(left.iter().map(|(_, tools)| tools.len()).sum::<usize>(), 8, "{all:?}");
    assert!(left.iter().all(|(_, tools)| tools.len() <= 5), "{all:?}");
    let cart = &tools.get("s__cart_0").unwrap().spec.toolsets;
    assert_eq!(cart.len(), 2);
    assert!(cart[0].toolset.is_split && cart[0].toolset.for_rules);
    let part = &cart[1].toolset;
    assert_eq!((part.title.as_str(), part.summary.as_str()), ("shop: Carts & Co", "Carts."));
    assert_eq!((part.made, part.for_rules), (ToolsetMaker::Model, false));
    assert_eq!(cart[1].because, MembershipReason::Model);
    assert_eq!(splits.waiting(), vec![]);
}

#[test]
fn shapes_that_models_like_are_read_and_what_says_nothing_is_of_no_use() {
    let names: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
    let one = |title: &str, tools: &[&str]| SplitGroup {
        title: title.to_owned(),
        summary: String::new(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
    };
    for shape in [
        r#"{"x": ["a"], "y": ["b", "c"]}"#,
        r#"[{"name": "x", "tools": ["a"]}, {"title": "y", "operations": [{"name": "b"}, "c"]}]"#,
        r#"{"groups": {"x": {"tools": ["a"]}, "y": ["b", "c", "b", "a"]}}"#,
        r#"{"groups": [{"name": "x", "tools": ["a"]}, {"name": "y", "tools": ["b", "c"]"#,
    ] {
        let read = SplitOutcome::read(shape, &names);
        assert_eq!(
            read,
            SplitOutcome::Groups(vec![one("x", &["a"]), one("y", &["b", "c"])]),
            "{shape}"
        );
    }
    for (answer, why) in [
        ("", "it said nothing"),
        (" \n", "it said nothing"),
        ("I would rather not.", "its answer has no JSON in it"),
        ("[]", "its answer names no groups"),
        ("{\"groups\": []}", "its answer names no groups"),
        ("{\"groups\": \"two\"}", "its answer names no groups"),
        ("{\"x\": [\"d\"]}", "it named none of the tools"),
        ("{\"x\": [\"a\", \"b\", \"c\"]}", "it put all tools into one group"),
    ] {
        let read = SplitOutcome::read(answer, &names);
        assert_eq!(read, SplitOutcome::Useless(why.to_owned()), "{answer}");
    }
}

#[test]
fn an_answer_of_no_use_leaves_the_set_whole_and_says_so() {
    let (tools, _) = split("No.");
    let set = &tools.get("s__cart_0").unwrap().spec.toolsets;
    assert_eq!(sets(&tools).len(), 1);
    assert_eq!(
        set[0].toolset.note.as_deref(),
        Some(
            "a model was asked to split it, and its answer was of no use: its answer has no JSON \
             in it"
        )
    );
}
