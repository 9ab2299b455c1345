//! What is read of the words of a model, and what is told of them.

use serde_json::{Value, json};
use toolcrib_agent::model::{ModelApi, ModelClient, ModelDelta, TextCallFormat, text_call_format};
use toolcrib_core::{Caller, PlanRequest};
use toolcrib_testkit::{Oracle, ScriptedTurn};

use crate::fixture::{crib, scripted, settings};
use crate::text_calls::{FORMATS, ask_client, in_text, read, two_calls, words_before};

fn calls<const N: usize>(calls: [(&str, Value); N]) -> Vec<(String, Value)> {
    calls.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

#[tokio::test]
async fn wherever_the_stream_is_cut_the_words_are_told_and_the_calls_are_not() {
    for format in FORMATS {
        let said = two_calls(format);
        let whole = read(format, said).await;
        assert_eq!((whole.0.as_str(), whole.2.len()), (words_before(format), 2), "{format:?}");
        let chunk = |said: &str| {
            let delta = json!({ "choices": [{ "index": 0, "delta": { "content": said } }] });
            format!("data: {delta}\n\n")
        };
        let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
        let in_two = (0..said.len()).map(|cut| vec![&said[..cut], &said[cut..]]);
        let letter_by_letter = (0..said.len()).map(|at| &said[at..=at]).collect();
        let streams: Vec<String> = in_two
            .chain([letter_by_letter])
            .map(|pieces| pieces.into_iter().map(chunk).chain([end.to_owned()]).collect())
            .collect();
        let model = scripted(streams.iter().cloned().map(ScriptedTurn::Writes));
        let settings = in_text(settings(&model, ModelApi::OpenAiChat), format);
        let client = ModelClient::new(settings).unwrap();
        for stream in streams {
            let (answer, told) = ask_client(&client, &[]).await;
            let words: String = told
                .iter()
                .filter_map(|delta| match delta {
                    ModelDelta::Text(said) => Some(said.as_str()),
                    ModelDelta::Reasoning(_)
                    | ModelDelta::Retracted(_)
                    | ModelDelta::OtherModel(_)
                    | ModelDelta::Hosted(_) => None,
                })
                .collect();
            assert_eq!((words, answer.calls.len()), (whole.0.clone(), 2), "{stream}");
        }
    }
}

#[tokio::test]
async fn each_format_is_read_as_real_models_write_it() {
    let one = || calls([("look", json!({ "n": 1 }))]);
    let said = "{\"name\": \"look\", \"arguments\": {\"n\": 1}}";
    let cases = [
        // A bracket too many, one too few, a comma too many, quotes of Python.
        (TextCallFormat::Hermes, format!("<tool_call>{said}}}</tool_call>"), one()),
        (
            TextCallFormat::Hermes,
            format!("<tool_call>{}</tool_call>", &said[..said.len() - 1]),
            one(),
        ),
        (
            TextCallFormat::Hermes,
            format!("<tool_call>{}</tool_call>", said.replace('"', "'")),
            one(),
        ),
        // The closing tag is what the server stops at; or a fence is around it all.
        (TextCallFormat::Hermes, format!("<tool_call>\n{said}\n"), one()),
        (TextCallFormat::Hermes, format!("```xml\n<tool_call>\n{said}\n</tool_call>\n```"), one()),
        (TextCallFormat::Json, format!("```json\n{said}\n```"), one()),
        (TextCallFormat::Json, format!("{said}.json\n```json\n{said}\n```"), one()),
        (TextCallFormat::Json, format!("{said}<|im_end|>"), one()),
        (TextCallFormat::Llama, format!("<|python_tag|>{said}<|eom_id|>"), one()),
        (TextCallFormat::Llama, "<|python_tag|>look.call(n=1)".to_owned(), one()),
        (TextCallFormat::Llama, "<function=look>{\"n\": 1}</function>".to_owned(), one()),
        (
            TextCallFormat::Llama,
            "<function=look>{\"n\": 1}</function><function=look>{\"n\": 1}</function>".to_owned(),
            [one(), one()].concat(),
        ),
        (
            TextCallFormat::Llama,
            "[look(n=1), write(text='it\\'s', list=[1, {\"a\": None}], is=True)]".to_owned(),
            calls([
                ("look", json!({ "n": 1 })),
                ("write", json!({ "text": "it's", "list": [1, { "a": null }], "is": true })),
            ]),
        ),
        (
            TextCallFormat::Cline,
            "```xml\n<look>\n</look>\n```".to_owned(),
            calls([("look", json!({}))]),
        ),
        (
            TextCallFormat::Cline,
            "<look>\n<text>\nif a < b && c > d {\n}\n</text>\n</look>".to_owned(),
            calls([("look", json!({ "text": "if a < b && c > d {\n}" }))]),
        ),
        (
            TextCallFormat::React,
            "**Action:** look\n**Action Input:** ```json\n{\"n\": 1}\n```\nObservation: 7\nFinal \
             Answer: It is 7."
                .to_owned(),
            one(),
        ),
    ];
    for (format, said, expected) in cases {
        let (words, _, called) = read(format, &said).await;
        assert_eq!((words.as_str(), called), ("", expected), "{format:?}: {said}");
    }
}

#[tokio::test]
async fn what_only_looks_like_a_call_is_told_whole() {
    let cases = [
        (TextCallFormat::Hermes, "Use `<tool_ca` or a <b>tag</b>. "),
        (TextCallFormat::Hermes, "```rust\nlet a = b < c;\n```\n"),
        (TextCallFormat::Json, "{\"name\": \"Ann\", \"age\": 4}"),
        (TextCallFormat::Json, "{\"name\": \"look\", \"arguments\": {}} is how it is written."),
        (TextCallFormat::Json, "```python\nlook()\n```"),
        (TextCallFormat::Json, "[1, 2]"),
        (TextCallFormat::Llama, "[see(the notes)] and more"),
        (TextCallFormat::Llama, "{\"answer\": 1}"),
        (TextCallFormat::Cline, "Use <look> for that, or\n<b>this</b>."),
        (TextCallFormat::React, "Look at the Action: it is there."),
    ];
    for (format, said) in cases {
        let (words, _, called) = read(format, said).await;
        assert_eq!((words.as_str(), called.as_slice()), (said, [].as_slice()), "{format:?}");
    }
    // A thought that leads to nothing is all that the user can be told.
    let (words, _, called) = read(TextCallFormat::React, "Thought: It is 7.").await;
    assert_eq!((words.as_str(), called.len()), ("It is 7.", 0));
}

#[tokio::test]
async fn a_call_among_the_lines_of_a_code_fence_is_answered_and_not_run() {
    let said =
        "So:\n```\n$ cat it\n<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>\n```";
    let (words, _, called) = read(TextCallFormat::Hermes, said).await;
    assert_eq!(words, "So:\n```\n$ cat it\n```");
    assert_eq!(called[0].0, "look");
    assert!(
        called[0].1.as_str().unwrap().contains("byte 17 of your answer stands in a code fence")
    );
}

#[test]
fn the_format_of_a_text_is_found_by_what_can_read_it() {
    let crib = crib(&Oracle::default());
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let cases = [
        (
            "<tool_call>{\"name\": \"look\", \"arguments\": {}}</tool_call>",
            Some(TextCallFormat::Hermes),
        ),
        ("{\"name\": \"look\", \"arguments\": {}}", Some(TextCallFormat::Json)),
        ("<|python_tag|>look.call(n=1)", Some(TextCallFormat::Llama)),
        ("[look(n=1)]", Some(TextCallFormat::Llama)),
        ("<look>\n<n>1</n>\n</look>", Some(TextCallFormat::Cline)),
        ("Thought: hm\nAction: look\nAction Input: {}", Some(TextCallFormat::React)),
        ("I cannot look.", None),
        ("{\"name\": \"no_tool\", \"arguments\": {}}", None),
    ];
    for (said, expected) in cases {
        assert_eq!(text_call_format(said, &plan), expected, "{said}");
    }
}
