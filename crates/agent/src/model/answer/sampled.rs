//! The tokens of a turn, as an engine tells them. A gap in them is told and never filled.

use serde_json::Value;

use crate::model::request::engine::TokenEngine;

/// From here on down a logprob means that the engine has none.
pub(crate) const NO_EVIDENCE: f64 = -9999.0;

/// What an engine read and wrote for one turn, as tokens.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampledTokens {
    pub prompt: Vec<u32>,
    pub completion: Vec<u32>,
    /// One for each token of the completion; `None`: the engine told none.
    pub logprobs: Option<Vec<f64>>,
    /// Of the weights, as the engine calls it.
    pub version: Option<String>,
    /// Why these tokens are no evidence of what was sampled.
    pub fault: Option<String>,
}

/// Reads tokens out of a whole answer, or out of the events of one.
#[derive(Debug)]
pub(crate) struct TokenReader {
    /// `None`: nobody tells any, and nothing is read.
    engine: Option<TokenEngine>,
    prompt: Option<Vec<u32>>,
    completion: Vec<u32>,
    logprobs: Vec<f64>,
    version: Option<String>,
    fault: Option<String>,
}

impl TokenReader {
    pub(crate) fn of(engine: Option<TokenEngine>) -> Self {
        let (completion, logprobs) = (Vec::new(), Vec::new());
        Self { engine, prompt: None, completion, logprobs, version: None, fault: None }
    }

    pub(crate) fn hear(&mut self, event: &Value) {
        if self.engine.is_none() {
            return;
        }
        let choice = event.pointer("/choices/0");
        let of_choice = |name: &str| choice.and_then(|choice| choice.get(name));
        let told = |value: Option<&'_ Value>| value.filter(|value| value.is_array()).cloned();
        let prompt = told(event.get("prompt_token_ids")).or(told(of_choice("prompt_token_ids")));
        if let (Some(prompt), None) = (prompt, &self.prompt) {
            self.prompt = self.ids(&prompt);
        }
        let meta = of_choice("meta_info");
        let told_version = meta.and_then(|meta| meta.get("weight_version"));
        if let Some(version) = told_version.and_then(Value::as_str) {
            self.version = Some(version.to_owned());
        }
        let pairs = meta.and_then(|meta| meta.get("output_token_logprobs"));
        let ids = told(of_choice("token_ids")).or(told(of_choice("response_token_ids")));
        if let Some(ids) = ids {
            let ids = self.ids(&ids);
            self.completion.extend(ids.into_iter().flatten());
        } else if let Some(pairs) = pairs {
            let ids = entries(pairs).map(|pair| pair.get(1).cloned().unwrap_or_default());
            let ids = self.ids(&Value::Array(ids.collect()));
            self.completion.extend(ids.into_iter().flatten());
        }
        let content = of_choice("logprobs").and_then(|own| own.get("content"));
        match (content.filter(|content| content.is_array()), pairs) {
            (Some(content), _) => {
                entries(content).for_each(|entry| self.logprob(entry.get("logprob")));
            }
            (None, Some(pairs)) => entries(pairs).for_each(|pair| self.logprob(pair.get(0))),
            (None, None) => {}
        }
    }

    /// `None`: nobody tells any.
    pub(crate) fn finish(self) -> Option<Box<SampledTokens>> {
        let Self { engine, prompt, completion, logprobs, version, fault } = self;
        engine?;
        let absent = prompt.is_none().then(|| {
            "the engine named no tokens of the prompt: does it know `return_token_ids`?".to_owned()
        });
        let (tokens, told) = (completion.len(), logprobs.len());
        let uneven = (told > 0 && told != tokens)
            .then(|| format!("the engine gave {told} logprobs for {tokens} tokens"));
        Some(Box::new(SampledTokens {
            prompt: prompt.unwrap_or_default(),
            completion,
            logprobs: (told > 0).then_some(logprobs),
            version,
            fault: fault.or(absent).or(uneven),
        }))
    }

    /// `None`: one of them is no token, and that is told.
    fn ids(&mut self, list: &Value) -> Option<Vec<u32>> {
        let ids = entries(list).map(|id| id.as_u64().and_then(|id| u32::try_from(id).ok()));
        let ids = ids.collect::<Option<Vec<_>>>();
        if ids.is_none() {
            self.fault.get_or_insert_with(|| "the engine named a token that is none".to_owned());
        }
        ids
    }

    fn logprob(&mut self, told: Option<&Value>) {
        let number = told.and_then(Value::as_f64);
        // Neither is a number of ours that stands for "none" taken for a very small one.
        if number.is_none_or(|number| number <= NO_EVIDENCE) {
            let place = self.logprobs.len();
            self.fault.get_or_insert_with(|| {
                format!("the engine has no logprob of token {place} of the answer")
            });
        }
        self.logprobs.push(number.unwrap_or(NO_EVIDENCE));
    }
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{SampledTokens, TokenEngine, TokenReader};

    fn read(events: &[serde_json::Value]) -> SampledTokens {
        let mut reader = TokenReader::of(Some(TokenEngine::Vllm));
        for event in events {
            reader.hear(event);
        }
        *reader.finish().unwrap()
    }

    #[test]
    fn the_tokens_of_each_engine_are_read() {
        let whole = SampledTokens {
            prompt: vec![1, 2],
            completion: vec![3, 4],
            logprobs: Some(vec![-0.5, -0.25]),
            version: None,
            fault: None,
        };
        let logprobs = |list: &[f64]| {
            let list: Vec<_> = list.iter().map(|one| json!({ "logprob": one })).collect();
            json!({ "content": list })
        };
        let vllm = [
            json!({ "prompt_token_ids": [1, 2], "choices": [{ "token_ids": [], "delta": {} }] }),
            json!({ "choices": [{ "token_ids": [3], "logprobs": logprobs(&[-0.5]) }] }),
            json!({ "choices": [{ "token_ids": [4], "logprobs": logprobs(&[-0.25]) }] }),
            json!({ "choices": [], "usage": {} }),
        ];
        assert_eq!(read(&vllm), whole);
        let sglang = json!({ "choices": [{
            "prompt_token_ids": [1, 2], "token_ids": [3, 4], "logprobs": logprobs(&[-0.5, -0.25]),
            "meta_info": { "weight_version": "7" },
        }] });
        assert_eq!(read(&[sglang]), SampledTokens { version: Some("7".into()), ..whole.clone() });
        let older = json!({ "choices": [{
            "prompt_token_ids": [1, 2],
            "meta_info": { "output_token_logprobs": [[-0.5, 3, "a"], [-0.25, 4, "b"]] },
        }] });
        assert_eq!(read(&[older]), whole);
    }

    #[test]
    fn what_is_no_evidence_is_told_and_not_filled() {
        let fault = |choice: serde_json::Value| {
            read(&[json!({ "prompt_token_ids": [1], "choices": [choice] })]).fault
        };
        let content =
            |list: serde_json::Value| json!({ "token_ids": [3], "logprobs": { "content": list } });
        assert_eq!(fault(content(json!([{ "logprob": -2.0 }]))), None);
        let absent = "the engine has no logprob of token 0 of the answer";
        for none in [json!(-9999.0), json!(null), json!("-1")] {
            let told = fault(content(json!([{ "logprob": none }])));
            assert_eq!(told.as_deref(), Some(absent), "{none}");
        }
        let two = json!([{ "logprob": -1.0 }, { "logprob": -1.0 }]);
        let uneven = "the engine gave 2 logprobs for 1 tokens";
        assert_eq!(fault(content(two)).as_deref(), Some(uneven));
        let odd = "the engine named a token that is none";
        assert_eq!(fault(json!({ "token_ids": [-1] })).as_deref(), Some(odd));
        let unnamed = read(&[json!({ "choices": [{ "token_ids": [3] }] })]).fault.unwrap();
        assert!(unnamed.contains("return_token_ids"), "{unnamed}");
    }
}
