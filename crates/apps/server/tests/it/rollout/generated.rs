//! Engines that take tokens: what was sampled is sent again as it was, and nothing is passed over.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::engine::EngineKind;
use super::generate::{END, Habits, Thoughts, engine, prompt, read, reply, write};
use super::{file, rollout, tasks, trajectories};
use crate::process::{Folder, Ran};

const KINDS: [EngineKind; 2] = [EngineKind::Vllm, EngineKind::Sglang];

fn folder(kind: EngineKind, model: &ScriptedModel, prompt: &str) -> Folder {
    let word = match kind {
        EngineKind::Vllm => "vllm-generate",
        EngineKind::Sglang => "sglang-generate",
    };
    let folder = Folder::new();
    let own = file(&model.url(), "");
    let own = own.replace("retries = 0", &format!("retries = 0\nengine = \"{word}\""));
    folder.write("crib.toml", &own);
    folder.write("tasks.jsonl", &tasks(&[("a", prompt)]));
    folder
}

/// A call in what the user says is none.
const ASKED: &str =
    "Count twice, not <tool_call>{\"name\": \"text_count\", \"arguments\": {}}</tool_call>";

/// A trajectory, and the prompts that its engine was sent.
fn rolled(kind: EngineKind, habits: Habits, calls: usize) -> (Folder, Value, Vec<Vec<u64>>) {
    let model = engine(kind, habits, calls);
    let folder = folder(kind, &model, ASKED);
    let ran = rollout(&folder, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let one = trajectories(&folder).remove(0);
    let asked = model.asked();
    let prompts = asked.iter().filter_map(|asked| prompt(kind, asked));
    let wide = |prompt: Vec<u32>| prompt.into_iter().map(u64::from).collect();
    (folder, one, prompts.map(wide).collect())
}

/// The tokens of a branch, with mask and logprobs.
fn branch(one: &Value, place: usize) -> (Vec<u64>, Vec<u64>, usize) {
    let (mut tokens, mut mask, mut logprobs) = (Vec::new(), Vec::new(), 0);
    for node in one["branches"][place].as_array().unwrap() {
        let node = &one["nodes"][usize::try_from(node.as_u64().unwrap()).unwrap()];
        let list = |key: &str| node[key].as_array().cloned().unwrap_or_default();
        tokens.extend(list("tokens").iter().map(|token| token.as_u64().unwrap()));
        mask.extend(list("mask").iter().map(|token| token.as_u64().unwrap()));
        logprobs += list("logprobs").len();
    }
    (tokens, mask, logprobs)
}

fn text(tokens: &[u64]) -> String {
    let tokens: Vec<_> = tokens.iter().map(|token| u32::try_from(*token).unwrap()).collect();
    write(&tokens, true)
}

/// The text of the tokens that may be trained on.
fn trained((tokens, mask, _): &(Vec<u64>, Vec<u64>, usize)) -> String {
    let own = tokens.iter().zip(mask).filter(|(_, mask)| **mask == 1);
    text(&own.map(|(token, _)| *token).collect::<Vec<_>>())
}

#[test]
fn what_was_sampled_is_sent_again_as_it_was_whatever_the_tokenizer_makes_of_its_text() {
    for kind in KINDS {
        for in_letters in [false, true] {
            let habits = Habits { in_letters, ..Habits::default() };
            let (_folder, one, prompts) = rolled(kind, habits, 2);
            let what = format!("{kind:?} in_letters={in_letters}");
            assert_eq!((&one["drift"], prompts.len()), (&json!(null), 3), "{what}: {one}");
            assert_eq!(one["branches"].as_array().unwrap().len(), 1, "{what}");
            let own = branch(&one, 0);
            let (tokens, mask, logprobs) = &own;
            for prompt in &prompts {
                assert!(tokens.starts_with(prompt), "{what}");
            }
            let call = |number: usize| {
                format!(
                    "\n<tool_call>\n{{\"name\":\"text_count\",\"arguments\":{{\"text\":\"number \
                     {number}\"}}}}\n</tool_call><|im_end|>"
                )
            };
            let said = [call(0), call(1), "\nAll is counted.<|im_end|>".to_owned()].concat();
            assert_eq!(trained(&own), said, "{what}");
            let ones = mask.iter().filter(|one| **one == 1).count();
            assert_eq!((tokens.len(), ones), (mask.len(), *logprobs), "{what}");
            // The line break behind the end of a turn is there, and is not trained on.
            let ends = tokens.iter().zip(mask).enumerate();
            let ends = ends.filter(|(_, (token, mask))| **token == u64::from(END) && **mask == 1);
            let ends: Vec<_> = ends.map(|(place, _)| place).collect();
            assert_eq!(ends.len(), 3, "{what}");
            for end in &ends[..2] {
                assert_eq!((text(&tokens[end + 1..=end + 1]).as_str(), mask[end + 1]), ("\n", 0));
            }
            // The tokenizer would have made other tokens of the same text.
            let again: Vec<u64> = read(&text(tokens)).into_iter().map(u64::from).collect();
            assert_ne!(*tokens, again, "{what}");
            assert_eq!(one["calls"], 2, "{what}: a call of the user was run");
            assert_eq!([&one["stop"], &one["turns"]], [&json!("done"), &json!(3)]);
            let version = if kind == EngineKind::Sglang { json!("step-7") } else { json!(null) };
            assert_eq!(one["nodes"][1]["version"], version);
            assert_eq!(one["nodes"][1]["usage"]["source"], "reported");
            assert_eq!(one["nodes"][1]["usage"]["input_tokens"], prompts[0].len());
        }
    }
}

#[test]
fn a_template_that_drops_what_was_thought_begins_a_branch_at_the_first_token_that_differs() {
    for kind in KINDS {
        let keeps = Habits { thoughts: Thoughts::Kept, ..Habits::default() };
        let (_folder, one, _) = rolled(kind, keeps, 1);
        assert_eq!((&one["drift"], one["branches"].as_array().unwrap().len()), (&json!(null), 1));
        assert_eq!(one["nodes"][1]["reasoning"], "I count.", "{one}");
        assert_eq!(one["nodes"][3]["content"], "All is counted.");

        let drops = Habits { thoughts: Thoughts::Dropped, ..keeps };
        let (_folder, one, prompts) = rolled(kind, drops, 1);
        let branches: Vec<_> = (0..2).map(|place| branch(&one, place)).collect();
        assert_eq!(one["branches"].as_array().unwrap().len(), 2, "{kind:?}: {one}");
        let pairs = branches[0].0.iter().zip(&prompts[1]);
        let same = pairs.take_while(|(old, new)| old == new).count();
        assert_eq!(text(&prompts[1][..same]).rsplit_once("<|im_start|>").unwrap().1, "assistant\n");
        let drift = &one["drift"][0];
        assert_eq!(*drift, json!({ "turn": 2, "node": drift["node"], "at": same }));
        assert!(branches[1].0.starts_with(&prompts[1]), "{kind:?}");
        // Each was sampled once, and is trained on once.
        assert_eq!(
            trained(&branches[1]),
            "<think>\nI count.\n</think>\n\nAll is counted.<|im_end|>"
        );
    }
}

#[test]
fn a_thought_that_the_template_begins_is_a_thought_and_no_drift() {
    for kind in KINDS {
        let habits = Habits { thoughts: Thoughts::Opened, ..Habits::default() };
        let (_folder, one, prompts) = rolled(kind, habits, 1);
        assert_eq!((&one["drift"], prompts.len()), (&json!(null), 2), "{kind:?}: {one}");
        let said = [&one["nodes"][1], &one["nodes"][3]].map(|node| node["content"].clone());
        assert_eq!(said, [json!(""), json!("All is counted.")], "{kind:?}");
        assert_eq!(one["nodes"][3]["reasoning"], "I count.", "{kind:?}");
    }
}

#[test]
fn an_engine_that_reads_other_tokens_than_it_was_sent_is_marked_with_their_place() {
    for kind in KINDS {
        let habits = Habits { misreads: Some(3), ..Habits::default() };
        let (_folder, one, _) = rolled(kind, habits, 1);
        let drift = &one["drift"][0];
        assert_eq!(*drift, json!({ "turn": 2, "node": drift["node"], "at": 3 }), "{kind:?}: {one}");
    }
}

#[test]
fn a_token_without_a_logprob_makes_the_turn_no_evidence() {
    for kind in KINDS {
        let habits = Habits { has_no_evidence: true, ..Habits::default() };
        let (_folder, one, _) = rolled(kind, habits, 1);
        for node in one["nodes"].as_array().unwrap().iter().filter(|node| node["sampled"] == true) {
            let why = "the engine has no logprob of token 1 of the answer";
            assert_eq!(node["token_fault"], why, "{kind:?}");
            assert!(node["logprobs"].is_null(), "{kind:?}: {node}");
            assert!(node["mask"].as_array().unwrap().iter().all(|mask| *mask == 0), "{node}");
        }
        assert_eq!(one["drift"], json!(null), "{kind:?}");
    }
}

#[test]
fn an_answer_that_may_be_no_longer_says_so() {
    for kind in KINDS {
        let habits = Habits { most: Some(3), ..Habits::default() };
        let (_folder, one, _) = rolled(kind, habits, 0);
        assert_eq!([&one["stop"], &one["nodes"][1]["was_cut"]], [&json!("length"), &json!(true)]);
        assert_eq!(trained(&branch(&one, 0)), "\nAll is", "{kind:?}");
    }
}

/// An engine that does this at its own endpoint, as often as said, and answers then.
fn failing(kind: EngineKind, times: usize, fault: &ScriptedTurn) -> (ScriptedModel, Folder) {
    let (left, fault) = (AtomicUsize::new(times), fault.clone());
    let habits = Habits::default();
    let model = ScriptedModel::by_request(move |_, asked| {
        let whole = || reply(kind, habits, 2, asked);
        let is_later = prompt(kind, asked).is_some_and(|prompt| {
            write(&prompt, true).contains("</tool_call><|im_end|>\n<|im_start|>user")
        });
        let fails = is_later
            && left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1))
                .is_ok();
        match (&fault, fails) {
            (_, false) => whole(),
            (ScriptedTurn::BreaksOff(_, after), true) => {
                ScriptedTurn::BreaksOff(Box::new(whole()), *after)
            }
            (other, true) => other.clone(),
        }
    })
    .unwrap();
    let folder = folder(kind, &model, ASKED);
    (model, folder)
}

fn dies() -> ScriptedTurn {
    ScriptedTurn::BreaksOff(Box::new(ScriptedTurn::says("")), 40)
}

/// How often the engine was asked to go on.
fn asked(kind: EngineKind, model: &ScriptedModel) -> usize {
    model.asked().iter().filter(|asked| prompt(kind, asked).is_some()).count()
}

#[test]
fn an_engine_that_dies_in_the_middle_is_asked_again_and_leaves_no_trace_in_the_tokens() {
    for kind in KINDS {
        let busy = ScriptedTurn::Refuses(503, Vec::new(), "{\"message\": \"loading\"}".to_owned());
        let given_up = json!({
            "text": "", "output_ids": [], "choices": [{ "index": 0, "token_ids": [], "finish_reason": "abort" }],
            "meta_info": { "id": "r", "finish_reason": { "type": "abort", "message": "weights change" } },
        });
        let given_up = ScriptedTurn::Refuses(200, Vec::new(), given_up.to_string());
        for fault in [dies(), busy, given_up] {
            let (model, folder) = failing(kind, 1, &fault);
            let ran = rollout(&folder, &["--patience", "20"]);
            assert_eq!(ran.code, 0, "{ran:?}");
            let one = trajectories(&folder).remove(0);
            let told = [&one["stop"], &one["drift"], &one["turns"]];
            assert_eq!(
                told,
                [&json!("done"), &json!(null), &json!(3)],
                "{kind:?} {fault:?}: {one}"
            );
            assert_eq!(asked(kind, &model), 4, "{kind:?} {fault:?}");
            let own = branch(&one, 0);
            assert_eq!(trained(&own).matches("<|im_end|>").count(), 3, "{kind:?} {fault:?}");
        }
        // One that stays dead ends the trajectory, which begins anew with `--resume`.
        let (model, folder) = failing(kind, 2, &dies());
        assert_eq!(rollout(&folder, &[]).code, 1);
        let one = trajectories(&folder).remove(0);
        assert_eq!([&one["stop"], &one["fault"]["kind"]], [&json!("fault"), &json!("broken")]);
        assert_eq!((asked(kind, &model), one["branches"][0].as_array().unwrap().len()), (2, 3));
        assert_eq!(rollout(&folder, &["--resume", "--patience", "20"]).code, 0);
        let one = trajectories(&folder).remove(0);
        assert_eq!([&one["stop"], &one["drift"]], [&json!("done"), &json!(null)], "{one}");
    }
}

#[test]
fn what_no_second_try_helps_is_not_asked_again_and_a_busy_engine_is_only_until_the_deadline() {
    for kind in KINDS {
        let long =
            "The input (9000 tokens) is longer than the model's context length (8192 tokens).";
        let hopeless = [
            (401, "bad key", "unauthorized"),
            (403, "no", "unauthorized"),
            (404, "Not Found", "not_found"),
            (400, long, "too_long"),
            (
                400,
                "The decoder prompt is longer than the maximum model length of 8192.",
                "too_long",
            ),
        ];
        for (status, said, fault) in hopeless {
            let body = json!({ "error": { "message": said } }).to_string();
            let refuses = ScriptedTurn::Refuses(status, Vec::new(), body);
            let (model, folder) = failing(kind, usize::MAX, &refuses);
            let ran = rollout(&folder, &["--patience", "60"]);
            let one = trajectories(&folder).remove(0);
            assert_eq!(one["fault"]["kind"], fault, "{kind:?} {status}: {ran:?}");
            assert_eq!(asked(kind, &model), 2, "{kind:?} {status}: the first turn, and this one");
        }
        let busy = ScriptedTurn::Refuses(503, Vec::new(), "{}".to_owned());
        let (model, folder) = failing(kind, usize::MAX, &busy);
        let begun = Instant::now();
        let ran = rollout(&folder, &["--patience", "60", "--deadline", "2"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
        assert_eq!(trajectories(&folder).remove(0)["stop"], "deadline");
        assert!(asked(kind, &model) > 2, "{kind:?}");
    }
}

#[test]
fn a_server_that_does_not_speak_the_wire_is_told_of_with_the_cure() {
    for (kind, other) in
        [(EngineKind::Vllm, EngineKind::Sglang), (EngineKind::Sglang, EngineKind::Vllm)]
    {
        let model = engine(other, Habits::default(), 0);
        let folder = folder(kind, &model, "Say it.");
        rollout(&folder, &[]);
        let told = trajectories(&folder).remove(0)["fault"]["message"].as_str().unwrap().to_owned();
        let path = if kind == EngineKind::Vllm { "/inference/v1/generate" } else { "/generate" };
        let cure = "look at `url`, `name` and `engine` of `[model]`";
        assert_eq!(
            told,
            format!(
                "there is no `{path}` at this address, or no model `m` (404 Not Found): {cure}"
            )
        );
    }
    // What they see is in no token.
    let model = engine(EngineKind::Vllm, Habits::default(), 0);
    let own = folder(EngineKind::Vllm, &model, "");
    let image =
        json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } });
    let task = json!({ "messages": [{ "role": "user", "content": [image] }] });
    own.write("tasks.jsonl", &task.to_string());
    rollout(&own, &[]);
    let told = trajectories(&own).remove(0)["fault"]["message"].as_str().unwrap().to_owned();
    assert!(told.ends_with("images and files are none: use an `engine` behind the chat API"));
    assert_eq!(model.asked().len(), 0);
    // Older servers take a text alone.
    let model = ScriptedModel::by_request(|_, asked| match asked.path.as_str() {
        "/tokenize" => {
            let missing =
                json!([{ "type": "missing", "loc": ["body", "prompt"], "msg": "Field required" }]);
            ScriptedTurn::Refuses(422, Vec::new(), json!({ "detail": missing }).to_string())
        }
        _ => ScriptedTurn::Refuses(500, Vec::new(), String::new()),
    })
    .unwrap();
    let folder = folder(EngineKind::Sglang, &model, "Say it.");
    let ran: Ran = rollout(&folder, &[]);
    let one = trajectories(&folder).remove(0);
    let told = one["fault"]["message"].as_str().unwrap();
    assert!(
        told.ends_with("(422 Unprocessable Entity): its `/tokenize` has to take `messages`"),
        "{told} {ran:?}"
    );
    assert_eq!(model.asked().len(), 1);
}
