//! Tokens of engines: each once, in the order of the prompts, and never another than was sampled.

use serde_json::{Value, json};

use super::engine::{EngineKind, Sampling, engine, prompt};
use super::{file, lines, rollout, tasks, trajectories};
use crate::process::Folder;

fn word(kind: EngineKind) -> &'static str {
    match kind {
        EngineKind::Vllm => "vllm",
        EngineKind::Sglang => "sglang",
    }
}

/// A trajectory of three turns, and the prompts that its engine was sent.
fn rolled(kind: EngineKind, sampling: Sampling) -> (Folder, Value, Vec<Vec<u32>>) {
    let model = engine(kind, sampling, 2);
    let folder = Folder::new();
    let own =
        file(&model.url(), "").replace("retries = 0", &format!("engine = \"{}\"", word(kind)));
    folder.write("crib.toml", &own);
    folder.write("tasks.jsonl", &tasks(&[("a", "Count twice.")]));
    let ran = rollout(&folder, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let one = trajectories(&folder).remove(0);
    let asked = model.asked();
    let seeds: Vec<_> = asked.iter().map(|asked| asked.body["seed"].clone()).collect();
    assert_eq!(seeds, vec![one["seed"].clone(); 3]);
    (folder, one, asked.iter().map(|asked| prompt(&asked.body)).collect())
}

fn tokens(one: &Value, branch: &Value) -> (Vec<u64>, Vec<u64>) {
    let list = |place: &Value, key: &str| -> Vec<u64> {
        let node = &one["nodes"][usize::try_from(place.as_u64().unwrap()).unwrap()];
        let list = node[key].as_array().cloned().unwrap_or_default();
        list.iter().map(|one| one.as_u64().unwrap()).collect()
    };
    let nodes = branch.as_array().unwrap();
    let all = |key: &str| nodes.iter().flat_map(|place| list(place, key)).collect();
    (all("tokens"), all("mask"))
}

#[test]
fn the_spans_put_together_are_the_prompts_that_were_sent() {
    for kind in [EngineKind::Vllm, EngineKind::Sglang] {
        let (_folder, one, prompts) = rolled(kind, Sampling::Whole);
        assert_eq!((&one["drift"], &one["branches"].as_array().unwrap().len()), (&json!(null), &1));
        let (all, mask) = tokens(&one, &one["branches"][0]);
        assert_eq!(all.len(), mask.len(), "{kind:?}");
        for prompt in prompts {
            let begin: Vec<u64> = prompt.into_iter().map(u64::from).collect();
            assert!(all.starts_with(&begin), "{kind:?}: {all:?} does not begin with {begin:?}");
        }
        for node in one["nodes"].as_array().unwrap() {
            let ones = node["mask"]
                .as_array()
                .map_or(0, |mask| mask.iter().filter(|one| **one == 1).count());
            let logprobs = node["logprobs"].as_array().map_or(0, Vec::len);
            assert_eq!(ones, logprobs, "{kind:?}: {node}");
            assert_eq!(ones > 0, node["sampled"] == true, "{kind:?}: {node}");
        }
        let version = if kind == EngineKind::Sglang { json!("step-7") } else { json!(null) };
        assert_eq!(one["nodes"][1]["version"], version);
    }
}

#[test]
fn text_that_became_other_tokens_than_were_sampled_is_marked_with_its_place() {
    for kind in [EngineKind::Vllm, EngineKind::Sglang] {
        let (folder, one, prompts) = rolled(kind, Sampling::InLetters);
        let branches = one["branches"].as_array().unwrap();
        assert_eq!((branches.len(), one["drift"].as_array().unwrap().len()), (3, 2), "{one}");
        for (turn, prompt) in prompts.iter().enumerate() {
            let (all, _) = tokens(&one, &branches[turn]);
            let begin: Vec<u64> = prompt.iter().copied().map(u64::from).collect();
            assert!(all.starts_with(&begin), "{kind:?}: turn {turn}");
            if turn > 0 {
                let drift = &one["drift"][turn - 1];
                let (before, _) = tokens(&one, &branches[turn - 1]);
                let same = before.iter().zip(&begin).take_while(|(old, new)| old == new).count();
                assert_eq!(*drift, json!({ "turn": turn + 1, "node": drift["node"], "at": same }));
            }
        }
        // No token is trained on twice, and none that was not sampled.
        let sampled: usize = branches
            .iter()
            .map(|branch| tokens(&one, branch).1.iter().filter(|mask| **mask == 1).count())
            .sum();
        let own = one["nodes"].as_array().unwrap().iter().filter(|node| node["sampled"] == true);
        let own: usize = own
            .map(|node| node["mask"].as_array().unwrap().iter().filter(|one| **one == 1).count())
            .sum();
        assert_eq!(sampled, own, "{kind:?}");
        let ran = folder.run(&[
            "rollout",
            "convert",
            "trajectories.jsonl",
            "--to",
            "verl",
            "--save",
            "v.jsonl",
        ]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(lines(&folder.path().join("v.jsonl")).len(), 3);
    }
}

#[test]
fn a_token_of_which_the_engine_has_no_logprob_is_not_trained_on() {
    for kind in [EngineKind::Vllm, EngineKind::Sglang] {
        let (folder, one, _) = rolled(kind, Sampling::WithoutEvidence);
        for node in one["nodes"].as_array().unwrap().iter().filter(|node| node["sampled"] == true) {
            assert_eq!(node["token_fault"], "the engine has no logprob of token 1 of the answer");
            assert!(node["logprobs"].is_null(), "{node}");
            assert!(node["mask"].as_array().unwrap().iter().all(|mask| *mask == 0), "{node}");
        }
        let ran =
            folder.run(&["rollout", "convert", "trajectories.jsonl", "--to", "verl", "--json"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        assert!(ran.err.contains("1 left out"), "{ran:?}");
    }
}

#[test]
fn a_plain_endpoint_that_tells_no_tokens_is_told_of_as_one() {
    let model = super::stepper();
    let folder = Folder::new();
    let own = file(&model.url(), "").replace("retries = 0", "engine = \"vllm\"");
    folder.write("crib.toml", &own);
    folder.write("tasks.jsonl", &tasks(&[("a", "steps:1")]));
    assert_eq!(rollout(&folder, &[]).code, 0);
    let one = trajectories(&folder).remove(0);
    let fault = one["nodes"][1]["token_fault"].as_str().unwrap();
    assert!(fault.contains("does it know `return_token_ids`?"), "{fault}");
    let ran = folder.run(&["rollout", "convert", "trajectories.jsonl", "--to", "twinkle"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let line: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        line["messages"][1]["tool_calls"][0]["function"]["arguments"],
        json!({ "text": "text 0" })
    );
    assert!(line.get("input_ids").is_none(), "{line}");
}
