//! Rules as an operator writes them, and as a plan meets them.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;
use toolcrib_core::{
    Arguments, Call, Caller, Effect, Intent, PlanRequest, Policy, Response, SourceId, ToolSpec,
    Toolset, Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::{RuleProblems, Rules, VerdictKind};
use toolcrib_testkit::{Oracle, spec};

/// The file of the module's documentation.
const OFFICE: &str = r#"
allow = ["category:calendar", "github__issues_*"]
ask = ["effect:write"]
deny = ["source:github effect:destroy"]

[[rule]]
name = "guests look on"
when = { scope = "guest", tenant = "acme-*" }
deny = ["effect:write", "effect:destroy"]
reason = "guests may read only"

[[tests]]
tool = { name = "github__issues_create", source = "github", effect = "write" }
caller = { tenant = "acme-1", subject = "ann", scopes = ["guest"] }
expect = "deny"
"#;

fn issues(action: &str, effect: Effect) -> ToolSpec {
    let mut tool = spec(&format!("github__issues_{action}"), effect);
    tool.origin.source = SourceId::new("github");
    tool
}

fn guest() -> Caller {
    Caller::new("acme-1", "ann").with_scopes(["guest"])
}

#[test]
fn the_strictest_of_all_matching_rules_wins_and_nothing_is_allowed_unasked() {
    let rules = Rules::parse(OFFICE).unwrap();
    let verdict = |caller: &Caller, tool: &ToolSpec| rules.verdict(caller, tool);
    let (list, create) = (issues("list", Effect::Read), issues("create", Effect::Write));
    let local = Caller::local();
    assert_eq!(verdict(&local, &list), Verdict::Allow);
    assert_eq!(verdict(&local, &create), Verdict::Ask("the rules ask for consent".into()));
    let denied = Verdict::Deny("the rules do not permit it".into());
    assert_eq!(verdict(&local, &issues("delete", Effect::Destroy)), denied);
    assert_eq!(verdict(&local, &spec("weather", Effect::Read)), denied);
    assert_eq!(verdict(&guest(), &list), Verdict::Allow);
    assert_eq!(verdict(&guest(), &create), Verdict::Deny("guests may read only".into()));
    let elsewhere = Caller::new("other", "ann").with_scopes(["guest"]);
    assert_eq!(verdict(&elsewhere, &create), Verdict::Ask("the rules ask for consent".into()));
}

#[test]
fn rules_have_the_same_fingerprint_as_long_as_they_say_the_same() {
    let of = |text: &str| Rules::parse(text).unwrap().fingerprint();
    let office = of(OFFICE);
    let (rules, tests) = OFFICE.split_at(OFFICE.find("[[tests]]").unwrap());
    let without_tests = rules.to_owned();
    let commented = format!("# The office.\n{}\n{tests}", rules.replace("= [", "=  [ "));
    for same in [OFFICE[1..].to_owned(), without_tests, commented] {
        assert_eq!(of(&same), office, "{same}");
    }
    for (from, to) in [
        ("category:calendar", "category:calendars"),
        ("ask = [\"effect:write\"]", "ask = []"),
        ("deny = [\"source:github effect:destroy\"]", ""),
        ("acme-*", "acme-1*"),
        ("guests may read only", "guests may read"),
        ("guests look on", "guests look"),
    ] {
        let other = rules.replace(from, to);
        assert_ne!(other, rules, "{from}");
        assert_ne!(of(&other), office, "{from}");
    }
    // The rest of a larger file says nothing of what may be called.
    let in_file = |more: &str| {
        let text = format!("{more}\n[policy]\nallow = [\"x\"]\n");
        let (table, errors) = toml::de::DeTable::parse_recoverable(&text);
        assert!(errors.is_empty());
        let policy = table.get_ref().get("policy").unwrap().get_ref().as_table().unwrap();
        Rules::of_table("[policy]", policy, &text, None).unwrap().fingerprint()
    };
    assert_eq!(in_file("a = 1"), in_file("# b\n\nb = 2"));
    assert_eq!(in_file("a = 1"), of("allow = [\"x\"]"));
}

#[test]
fn operators_are_told_every_rule_that_speaks_for_or_against_a_tool() {
    let rules = Rules::parse(OFFICE).unwrap();
    let explanation = rules.explain(&guest(), &issues("create", Effect::Write));
    assert_eq!(
        serde_json::to_value(&explanation).unwrap(),
        json!({
            "verdict": { "deny": "guests may read only" },
            "matched": [
                { "rule": "rule `guests look on`", "pattern": "effect:write", "verdict": "deny" },
                { "rule": "the top of the file", "pattern": "effect:write", "verdict": "ask" },
                { "rule": "the top of the file", "pattern": "github__issues_*", "verdict": "allow" },
            ],
            "sentence": "`github__issues_create` is denied: rule `guests look on` has \
                `effect:write` under `deny`; stricter than the top of the file has \
                `effect:write` under `ask`, the top of the file has `github__issues_*` under \
                `allow`",
        })
    );
    let nothing = rules.explain(&guest(), &spec("weather", Effect::Read));
    assert_eq!(nothing.to_string(), "`weather` is denied: no rule matches it");
}

fn problems(text: &str) -> String {
    Rules::parse(text).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn every_fault_of_a_file_is_told_at_once_with_its_line_and_cure() {
    let text = r#"
allow = ["catgory:calendar", "desk:mail", "git hub,x", ""]
deny = ["effect:wrte", 7, "tag:"]
dent = ["*"]

[[rule]]
name = "a"
when = { scopes = "admin", tenant = "" }

[[rule]]
name = "a"
allow = "*"
reason = 1

[[tests]]
tool = { name = "no spaces please", effct = "read" }
expect = "alow"

[[tests]]
caller = { tenant = 5 }
"#;
    let fields = "`name`, `tag`, `action`, `toolset`, `category`, `source`, `effect`, `scope`, `tenant`, \
                  `subject`";
    let expected = format!(
        "\
line 2: `catgory` is no field of a pattern: did you mean `category`? (a tool name with a colon is `name:catgory:calendar`)
line 2: `desk` is no field of a pattern: use one of {fields} (a tool name with a colon is `name:desk:mail`)
line 2: no tool name holds `,`, so `hub,x` matches none: use letters, digits, `_ . : / -`, `*` and `?`
line 2: a pattern is empty: write `*` for every tool, or remove it
line 3: `deny` has a value of type integer: write a list of strings
line 3: `wrte` is no effect: did you mean `write`?
line 3: nothing follows `tag:`: write `tag:*` for any, or remove it
line 4: the file has no key `dent`: did you mean `deny`?
line 6: the rule says nothing: give it `allow`, `ask` or `deny`
line 8: `when` has no key `scopes`: did you mean `scope`?
line 8: nothing follows `tenant:`: write `tenant:*` for any, or remove it
line 10: line 6 has a rule `a` already: rename one of them
line 12: `allow` has a value of type string: write a list of strings
line 13: `reason` has a value of type integer: write a string
line 16: `tool` has no key `effct`: did you mean `effect`?
line 16: a test names no tool: `no spaces please` cannot name a tool: use 1 to 128 characters of `A-Z a-z 0-9 _ . : / -`
line 17: `alow` is no verdict: did you mean `allow`?
line 19: a test has no `expect`: add `expect = ...`
line 19: a test has no `tool`: add `tool = ...`
line 20: `tenant` has a value of type integer: write a string"
    );
    assert_eq!(problems(text), expected);
    assert_eq!(
        problems("allow = [1\n\ndeny = 'x\nask = ]"),
        "line 3: not TOML: missing comma between array elements, expected `,`: correct the \
         syntax\n\
         line 4: not TOML: missing comma between array elements, expected `,`: correct the syntax"
    );
    assert_eq!(
        problems("rule = 1\n[tests]\nexpect = 'deny'"),
        "line 1: `rule` has a value of type integer: write `[[rule]]` before each\n\
         line 2: `tests` has a value of type table: write `[[tests]]` before each"
    );
    assert_eq!(
        problems(&"#".repeat((1 << 20) + 1)),
        "line 1: the file is larger than 1048576 bytes: use patterns instead of names"
    );
}

#[test]
fn a_file_that_breaks_its_own_promise_is_not_loaded() {
    let text = r#"
allow = ["*"]
[[rule]]
ask = ["tag:slow"]
[[tests]]
tool = "anything"
expect = "deny"
[[tests]]
tool = { tags = ["slow"] }
expect = "allow"
[[tests]]
tool = { tags = ["slow"] }
expect = "ask"
"#;
    assert_eq!(
        problems(text),
        "line 5: a test expects `deny` and got `allow`: `anything` is allowed: the top of the \
         file has `*` under `allow`: change the rules or the test\n\
         line 8: a test expects `allow` and got `ask`: `unnamed` is asked about: the rule at \
         line 3 has `tag:slow` under `ask`; stricter than the top of the file has `*` under \
         `allow`: change the rules or the test"
    );
}

#[tokio::test]
async fn a_plan_under_rules_hides_the_denied_and_parks_the_asked() {
    let rules = Rules::parse("allow = ['*']\nask = ['effect:write']\ndeny = ['effect:destroy']");
    let oracle = Oracle::default();
    let tools = [
        oracle.echo("look", Effect::Read),
        oracle.echo("change", Effect::Write),
        oracle.echo("drop", Effect::Destroy),
    ];
    let tools = Toolset::of(tools).unwrap();
    let crib = Crib::builder().policy(rules.unwrap()).build_fixed(tools);
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let calls =
        ["look", "change", "drop", "nonsense"].map(|name| Call::new(name, name, json!({}).into()));
    let report = crib.run(&plan, calls.to_vec()).await;
    let texts: Vec<_> = report.responses.iter().map(Response::text).collect();
    assert_eq!(oracle.runs(), [("look".to_owned(), json!({}))], "{texts:?}");
    assert!(texts[1].starts_with("Waiting for approval: the rules ask for consent"), "{texts:?}");
    assert_eq!(texts[2].replace("drop", "nonsense"), texts[3]);
}

/// A rule as data, from which both the text and the reference work.
#[derive(Debug, Clone)]
struct Drawn {
    when: Option<(&'static str, String)>,
    lists: [Vec<String>; 3],
    reason: Option<String>,
}

fn pattern() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[ab]{1,2}",
        "[ab*?]{1,3}",
        "(name|category|source|action|tag|scope|tenant|subject):[ab*?]{1,2}",
        prop::sample::select(vec!["read", "write", "destroy", "*", "w*e", "?e*", "*e"])
            .prop_map(|effect| format!("effect:{effect}")),
    ];
    prop::collection::vec(word, 1..3).prop_map(|words| words.join(" "))
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let list = || prop::collection::vec(pattern(), 0..3);
    let when = prop::option::of((prop::sample::select(vec!["scope", "tenant"]), "[ab*]{1,2}"));
    (when, list(), list(), list(), prop::option::of("[xy]")).prop_map(
        |(when, allow, ask, deny, reason)| Drawn { when, lists: [allow, ask, deny], reason },
    )
}

fn text(rules: &[Drawn]) -> String {
    let rules = rules.iter().map(|rule| {
        let [allow, ask, deny] = rule.lists.each_ref().map(|list| json!(list));
        let when = rule.when.as_ref().map(|(key, glob)| format!("when = {{ {key} = '{glob}' }}"));
        let reason = rule.reason.as_ref().map(|reason| format!("reason = '{reason}'"));
        let (when, reason) = (when.unwrap_or_default(), reason.unwrap_or_default());
        format!("[[rule]]\nallow = {allow}\nask = {ask}\ndeny = {deny}\n{when}\n{reason}")
    });
    rules.collect::<Vec<_>>().join("\n")
}

fn parse(rules: &[Drawn]) -> Rules {
    Rules::parse(&text(rules)).unwrap_or_else(|problems: RuleProblems| panic!("{problems}"))
}

fn asked() -> impl Strategy<Value = (Caller, ToolSpec)> {
    let few = || prop::collection::vec("[ab]{1,2}", 0..3);
    let effect = prop::sample::select(vec![Effect::Read, Effect::Write, Effect::Destroy]);
    let tool = ("[ab]{1,3}", "[ab]", prop::option::of("[ab]{1,2}"), few(), few(), effect);
    ("[ab]", "[ab]", few(), tool).prop_map(
        |(tenant, subject, scopes, (name, source, category, actions, tags, effect))| {
            let mut tool = ToolSpec { category, actions, tags, ..spec(&name, effect) };
            tool.origin.source = SourceId::new(source);
            (Caller::new(tenant, subject).with_scopes(scopes), tool)
        },
    )
}

fn naive_glob(pattern: &str, text: &str) -> bool {
    match pattern.chars().next() {
        None => text.is_empty(),
        Some('*') => (0..=text.len()).any(|cut| naive_glob(&pattern[1..], &text[cut..])),
        Some(letter) => {
            (letter == '?' || text.starts_with(letter))
                && !text.is_empty()
                && naive_glob(&pattern[1..], &text[1..])
        }
    }
}

/// What the rules mean, without index, order or haste.
fn reference(rules: &[Drawn], caller: &Caller, tool: &ToolSpec) -> VerdictKind {
    let word_matches = |word: &str| {
        let (field, glob) = word.split_once(':').unwrap_or(("name", word));
        let values: Vec<String> = match field {
            "name" => vec![tool.name.to_string()],
            "source" => vec![tool.origin.source.to_string()],
            "category" => tool.category.clone().into_iter().collect(),
            "action" => tool.actions.clone(),
            "tag" => tool.tags.clone(),
            "effect" => vec![tool.effect.as_str().to_owned()],
            "scope" => caller.scopes.iter().cloned().collect(),
            "tenant" => vec![caller.tenant.clone()],
            _ => vec![caller.subject.clone()],
        };
        values.iter().any(|value| naive_glob(glob, value))
    };
    let says = |list: usize| {
        rules.iter().any(|rule| {
            let here =
                rule.when.as_ref().is_none_or(|(key, glob)| word_matches(&format!("{key}:{glob}")));
            here && rule.lists[list].iter().any(|pattern| pattern.split(' ').all(word_matches))
        })
    };
    match (says(0), says(1), says(2)) {
        (_, _, true) | (false, false, _) => VerdictKind::Deny,
        (_, true, _) => VerdictKind::Ask,
        (true, ..) => VerdictKind::Allow,
    }
}

fn decided(rules: &Rules, caller: &Caller, tool: &ToolSpec) -> Verdict {
    let arguments = Arguments::default();
    let intent = Intent { caller, tool, arguments: &arguments };
    futures_util::FutureExt::now_or_never(rules.decide(intent)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rules_mean_what_the_plain_reading_of_them_says(
        rules in prop::collection::vec(drawn(), 0..5),
        asked in prop::collection::vec(asked(), 1..8),
    ) {
        let read = parse(&rules);
        for (caller, tool) in &asked {
            let verdict = decided(&read, caller, tool);
            let ruling = VerdictKind::of(&verdict);
            prop_assert_eq!(ruling, reference(&rules, caller, tool));
            prop_assert_eq!(read.sees(caller, tool), ruling != VerdictKind::Deny);
            let explanation = read.explain(caller, tool);
            let strictest = explanation.matched.iter().map(|entry| entry.verdict).max();
            prop_assert_eq!(strictest.unwrap_or(VerdictKind::Deny), ruling);
            prop_assert_eq!(explanation.verdict, verdict);
        }
    }

    #[test]
    fn the_order_of_rules_and_lists_changes_no_verdict_and_no_reason(
        rules in prop::collection::vec(drawn(), 0..5),
        shuffled in any::<prop::sample::Index>(),
        asked in asked(),
    ) {
        let (caller, tool) = asked;
        let mut other = rules.clone();
        other.reverse();
        other.rotate_left(shuffled.index(rules.len().max(1)).min(rules.len()));
        other.iter_mut().flat_map(|rule| &mut rule.lists).for_each(|list| list.reverse());
        prop_assert_eq!(
            parse(&rules).verdict(&caller, &tool),
            parse(&other).verdict(&caller, &tool)
        );
    }

    #[test]
    fn one_more_deny_never_lets_more_through(
        rules in prop::collection::vec(drawn(), 0..4),
        deny in pattern(),
        asked in asked(),
    ) {
        let (caller, tool) = asked;
        let before = VerdictKind::of(&parse(&rules).verdict(&caller, &tool));
        let more = Drawn { when: None, lists: [vec![], vec![], vec![deny]], reason: None };
        let after = [rules, vec![more]].concat();
        prop_assert!(VerdictKind::of(&parse(&after).verdict(&caller, &tool)) >= before);
    }

    #[test]
    fn any_text_is_rules_or_problems(text in "(?s).{0,60}|([a-z\\[\\]=\"'{}.\\n*: ]|allow|rule){0,40}") {
        if let Err(problems) = Rules::parse(&text) {
            prop_assert!(problems.iter().len() > 0);
        }
    }
}

#[test]
fn without_a_rule_everything_is_denied() {
    let rules = Rules::parse("").unwrap();
    assert!(!rules.sees(&Caller::local(), &spec("look", Effect::Read)));
}

/// The bound is for an unoptimised build on a busy machine: optimised it is below 1 ms.
#[test]
fn a_thousand_tools_meet_fifty_rules_in_a_moment() {
    let rules = (0..50).map(|place| {
        format!(
            "[[rule]]\nwhen = {{ scope = 's{place}*' }}\nallow = ['source{place}__*', \
             'category:c{place}', 'tool_{place}']\nask = ['effect:write tag:t{place}']\n\
             deny = ['*_drop_{place}']"
        )
    });
    let rules = rules.collect::<Vec<_>>().join("\n");
    let rules = Rules::parse(&format!("allow = ['effect:read']\n{rules}")).unwrap();
    let caller = Caller::local().with_scopes((0..5).map(|place| format!("s{place}")));
    let tools: Vec<_> = (0..1000)
        .map(|place| {
            let mut tool = spec(&format!("source{}__tool_{place}", place % 60), Effect::Read);
            tool.category = Some(format!("c{}", place % 70));
            tool.tags = vec![format!("t{}", place % 50), "common".into()];
            tool
        })
        .collect();
    let start = Instant::now();
    let seen = tools.iter().filter(|tool| rules.sees(&caller, tool)).count();
    let took = start.elapsed();
    assert_eq!(seen, 1000);
    assert!(took < Duration::from_millis(100), "{took:?}");
}
