//! Toolsets through the doors: of a large document, of a program, and split by a model.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::support::{Serving, eventually};
use crate::keep::killed;
use crate::process::Folder;

/// A program with so many tools as its first word says, of three things.
const SERVER: &str = r#"
import json, sys
names = [f"{verb}_{thing}_{n}" for n in range(4) for verb in ("list", "delete")
         for thing in ("cart", "order", "refund")][:int(sys.argv[1])]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, reply = asked["method"], {"jsonrpc": "2.0", "id": asked["id"], "result": {}}
    if method == "initialize":
        reply["result"] = {"protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": name, "description": "Does it.",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": name.startswith("list")}} for name in names]}
    print(json.dumps(reply), flush=True)
"#;

fn toolsets(serving: &Serving, query: &str) -> Value {
    serving.ask("GET", &format!("/v1/toolsets{query}"), "").json()
}

fn ids(listing: &Value) -> Vec<String> {
    let sets = listing["toolsets"].as_array().unwrap().iter();
    sets.map(|set| set["id"].as_str().unwrap().to_owned()).collect()
}

fn names(set: &Value) -> BTreeSet<String> {
    let tools = set["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn set<'a>(listing: &'a Value, id: &str) -> &'a Value {
    listing["toolsets"]
        .as_array()
        .unwrap()
        .iter()
        .find(|set| set["id"] == id)
        .unwrap_or(&Value::Null)
}

/// A document of the corpus, if that is there.
fn document() -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../shared/data/openapi/github-api.github.com.json.gz");
    let mut text = String::new();
    let file = std::fs::File::open(path).ok()?;
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    Some(text)
}

#[test]
fn a_thousand_operations_are_in_sets_that_a_model_can_look_over() {
    let Some(document) = document() else {
        use std::io::Write as _;
        writeln!(std::io::stdout(), "[skipped] the document of GitHub is not there").unwrap();
        return;
    };
    let folder = Folder::new();
    folder.write("github.json", &document);
    folder.write(
        "crib.toml",
        "allow = [\"*\"]\n[[source]]\nid = \"github\"\ntoolsets = { by = \"tag\" }\n\
         openapi = { document = \"github.json\", base_url = \"https://api.github.com\" }\n\
         [toolset.reading]\ntools = [\"toolset:github_issues effect:read\"]\n\
         [profile.issues]\nallow = [\"toolset:github_issues\"]\n",
    );
    let serving = Serving::start_in(folder, &[]);
    let all = toolsets(&serving, "");
    assert_eq!(all["in_none"], json!([]));
    let sets = all["toolsets"].as_array().unwrap();
    let of_source = || sets.iter().filter(|set| set["made"] == "source");
    let placed: usize = of_source().map(|set| set["tools"].as_array().unwrap().len()).sum();
    let distinct: BTreeSet<_> = of_source().flat_map(names).collect();
    assert_eq!((placed, distinct.len()), (1_223, 1_223));
    assert!(of_source().all(|set| set["tools"].as_array().unwrap().len() <= 10));
    assert_eq!(ids(&all).iter().collect::<BTreeSet<_>>().len(), sets.len());
    let comments = set(&all, "github_issues_repos--issues--comments");
    assert_eq!(comments["part_of"], "github_issues", "{all}");
    assert_eq!(comments["title"], "issues: repos issues comments");
    let why = &comments["tools"][0]["because"];
    assert_eq!(*why, json!({ "by": "path", "value": "repos/issues/comments" }));
    let reading = set(&all, "reading");
    let shared = reading["overlaps"].as_array().unwrap().iter();
    let with_comments = shared.clone().find(|one| one["with"] == comments["id"]);
    assert!(with_comments.is_some_and(|one| one["tools"].as_u64() > Some(0)), "{reading}");
    assert!(reading["tokens"].as_u64() > Some(0));

    // A profile is shown what its plan shows.
    let few = toolsets(&serving, "?profile=issues");
    assert!(
        ids(&few).iter().all(|id| id.starts_with("github_issues_") || id == "reading"),
        "{few}"
    );
    let seen = serving.ask("GET", "/v1/tools?profile=issues&limit=1000", "").json();
    let own: usize = few["toolsets"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|set| set["made"] == "source")
        .map(|set| set["tools"].as_array().unwrap().len())
        .sum();
    assert_eq!(Some(own as u64), seen["total"].as_u64());
    // A set in whose place parts stand is a selector all the same.
    let body = json!({ "choices": ["toolset:github_issues_repos--issues--comments"] });
    let plan = serving.ask("POST", "/v1/plan", &body.to_string()).json();
    let visible: BTreeSet<_> = plan["visible"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    assert_eq!((visible, &plan["forced"]), (names(comments), &json!([])));
}

fn program(folder: &Folder, count: usize, toolsets: &str) -> String {
    folder.write("s.py", SERVER);
    format!(
        "[[source]]\nid = \"s\"\ntoolsets = {{ {toolsets} }}\n\
         mcp = {{ command = [\"python3\", \"./s.py\", \"{count}\"], cwd = \".\" }}\n"
    )
}

#[test]
fn a_program_whose_tools_have_no_tags_is_grouped_by_what_they_are_about() {
    let folder = Folder::new();
    let source = program(&folder, 24, "by = \"path\", max_tools = 8");
    folder.write("crib.toml", &format!("deny = [\"toolset:s_refund\"]\nallow = [\"*\"]\n{source}"));
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 24 tools");
    let listing = toolsets(&serving, "?source=s");
    // What the rules deny is in no set of this caller, and a set without tools is none.
    assert_eq!(ids(&listing), ["s_cart", "s_order"], "{listing}");
    let cart = set(&listing, "s_cart");
    assert_eq!(cart["summary"], "delete and list: cart");
    assert_eq!(cart["tools"][0]["because"], json!({ "by": "resource", "value": "cart" }));
    assert_eq!(names(cart).len(), 8);

    let folder = &serving.folder;
    let table = folder.run(&["toolsets"]);
    assert_eq!(table.code, 0, "{table:?}");
    assert!(
        table.out.contains("s_cart") && table.out.contains("delete and list: cart"),
        "{table:?}"
    );
    let one = folder.run(&["toolsets", "s_order"]);
    assert!(one.out.contains("s__list_order_0") && one.out.contains("`order`"), "{one:?}");
    let wrong = folder.run(&["toolsets", "s_ordr"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    assert!(wrong.err.contains("did you mean `s_order`?"), "{wrong:?}");
    let told = folder.run(&["toolsets", "--json"]).json();
    assert_eq!(told, toolsets(&serving, ""));
}

/// A model that splits as the test says, and counts how often it is asked.
fn splitting(
    answer: impl Fn(&[String]) -> ScriptedTurn + Send + Sync + 'static,
) -> (ScriptedModel, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let model = ScriptedModel::by(move |_, body| {
        count.fetch_add(1, Ordering::SeqCst);
        let text = body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
        let text: Value = serde_json::from_str(&text).unwrap();
        let text = text
            .as_str()
            .map_or_else(|| text[0]["text"].as_str().unwrap().to_owned(), str::to_owned);
        let names = text.lines().skip(1).filter_map(|line| line.split_once(": "));
        answer(&names.map(|(name, _)| name.to_owned()).collect::<Vec<_>>())
    });
    (model.unwrap(), asked)
}

fn split_by(model: &ScriptedModel) -> Serving {
    let folder = Folder::new();
    let source = program(&folder, 12, "by = \"all\", max_tools = 6, split = \"model\"");
    let text =
        format!("allow = [\"*\"]\n[model]\nurl = \"{}\"\nname = \"m\"\n{source}", model.url());
    folder.write("crib.toml", &text);
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 12 tools");
    serving
}

#[test]
fn a_model_splits_beside_what_serves_and_is_not_asked_again_after_a_restart() {
    let (model, asked) = splitting(|names| {
        let of = |word: &str| {
            names.iter().filter(|name| name.contains(word)).cloned().collect::<Vec<_>>()
        };
        let (mut carts, orders) = (of("cart"), of("order"));
        // Doubled, invented, and the refunds are missing.
        carts.extend([orders[0].clone(), "s__fly".to_owned()]);
        let groups = json!({ "groups": [
            { "name": "Orders", "summary": "What was ordered.", "tools": orders },
            { "name": "Carts", "tools": carts },
        ] });
        let said = ScriptedTurn::says(&format!("Sure!\n```json\n{groups}\n```"));
        ScriptedTurn::Waits(std::time::Duration::from_millis(500), Box::new(said))
    });
    let serving = split_by(&model);
    // It serves before the model has answered.
    let early = toolsets(&serving, "");
    let total = |listing: &Value| -> usize {
        let sets = listing["toolsets"].as_array().unwrap().iter();
        sets.map(|set| names(set).len()).sum()
    };
    assert_eq!(total(&early), 12, "{early}");
    let has_answered = || ids(&toolsets(&serving, "")).contains(&"s_all_orders".to_owned());
    assert!(eventually(has_answered), "{}", toolsets(&serving, ""));
    let listing = toolsets(&serving, "");
    assert_eq!(ids(&listing), ["s_all_carts", "s_all_orders", "s_all_other"]);
    let sizes =
        ["s_all_carts", "s_all_orders", "s_all_other"].map(|id| names(set(&listing, id)).len());
    assert_eq!(sizes, [4, 4, 4], "{listing}");
    let orders = set(&listing, "s_all_orders");
    assert_eq!(
        (&orders["summary"], &orders["made"]),
        (&json!("What was ordered."), &json!("model"))
    );
    assert_eq!(orders["for_rules"], false);
    assert_eq!(orders["tools"][0]["because"], json!({ "by": "model" }));
    let left = set(&listing, "s_all_other");
    assert_eq!(left["tools"][0]["because"], json!({ "by": "leftover" }));
    assert_eq!(asked.load(Ordering::SeqCst), 1);

    let serving = killed(serving);
    serving.hears("`s`: 12 tools");
    assert_eq!(toolsets(&serving, ""), listing);
    assert_eq!(asked.load(Ordering::SeqCst), 1, "the same tools were asked about again");
    // The command reads what the server was told.
    assert_eq!(serving.folder.run(&["toolsets", "--json"]).json(), listing);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[test]
fn an_answer_of_no_use_leaves_the_set_whole_and_can_be_asked_for_again() {
    let prose = Arc::new(AtomicUsize::new(0));
    let number = Arc::clone(&prose);
    let (model, asked) = splitting(move |names| {
        if number.fetch_add(1, Ordering::SeqCst) == 0 {
            return ScriptedTurn::says("I am a teapot, and split nothing.");
        }
        let (one, other) = names.split_at(6);
        ScriptedTurn::says(&json!({ "one": one, "two": other }).to_string())
    });
    let serving = split_by(&model);
    let is_told = || ids(&toolsets(&serving, "")) == ["s_all"];
    assert!(eventually(is_told), "{}", toolsets(&serving, ""));
    serving.hears("the toolset `all` stays whole");
    let listing = toolsets(&serving, "");
    assert_eq!(names(set(&listing, "s_all")).len(), 12);
    let note = set(&listing, "s_all")["note"].as_str().unwrap();
    assert!(note.contains("its answer has no JSON in it"), "{note}");
    let again = serving.folder.run(&["toolsets", "--ask", "--json"]);
    assert_eq!(ids(&again.json()), ["s_all_one", "s_all_two"], "{again:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[test]
fn a_model_that_is_away_leaves_the_sets_that_need_none() {
    let (model, asked) = splitting(|_| ScriptedTurn::Refuses(503, vec![], "{}".to_owned()));
    let serving = split_by(&model);
    assert!(eventually(|| asked.load(Ordering::SeqCst) > 0));
    serving.hears("toolsets are split without a model for now");
    let listing = toolsets(&serving, "");
    let sets = listing["toolsets"].as_array().unwrap();
    assert!(sets.len() > 1 && sets.iter().all(|set| names(set).len() <= 6), "{listing}");
    let pending = sets[0]["note"].as_str().unwrap();
    assert!(pending.contains("has not answered yet"), "{pending}");
}

#[test]
fn every_toolset_is_a_specialist_where_one_star_says_so() {
    let model = ScriptedModel::by(|_, _| ScriptedTurn::says("Nothing to do.")).unwrap();
    let folder = Folder::new();
    let source = program(&folder, 24, "by = \"path\", max_tools = 8");
    let model_table = format!("[model]\nurl = \"{}\"\nname = \"m\"\n", model.url());
    let agents = "[agent.all]\nspecialists = [\"*\"]\n\
                  [agent.some]\nspecialists = [\"s_c*\", \"s_order\"]\n";
    folder.write("crib.toml", &format!("allow = [\"*\"]\n{source}{model_table}{agents}"));
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 24 tools");
    for (agent, wanted) in [
        ("all", &["ask_s_cart", "ask_s_order", "ask_s_refund"][..]),
        ("some", &["ask_s_cart", "ask_s_order"]),
    ] {
        let asked = json!({ "model": agent, "input": "Which orders are there?" });
        let told = serving.ask("POST", "/v1/responses", &asked.to_string());
        assert_eq!(told.status, 200, "{told:?}");
        let body = model.asked().pop().unwrap().body;
        let shown: BTreeSet<_> = body["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
            .filter(|name| name.starts_with("ask_"))
            .collect();
        assert_eq!(shown, wanted.iter().map(|name| (*name).to_owned()).collect(), "{agent}");
    }
}
