//! An engine that takes tokens and gives tokens.
//!
//! It is asked for three things: to write the thread as tokens, by the template of its model; to go
//! on with tokens; and, where it tells no words, to write what it sampled as words. What was read
//! and sampled before is never written as tokens again: only what follows it is taken from the
//! thread that the engine wrote, if all before says the same. Else the prompt is that thread, and
//! whoever holds it against the tokens before sees where it differs.

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use toolcrib_core::Plan;
use toolcrib_dialect::HostedWork;
use toolcrib_egress::EgressRoute;

use super::engine::EngineRoutes;
use super::tool_words::call_text;
use super::{LARGEST_ANSWER, ModelClient, Progress};
use crate::item::{Echo, InputPart, ThreadItem};
use crate::model::answer::generated::{self, GeneratedTurn, NotGenerated};
use crate::model::answer::{ModelAnswer, ModelDelta};
use crate::model::delta_filter::DeltaFilter;
use crate::model::fault::{ModelFault, ModelFaultKind};
use crate::model::request::ModelRequest;
use crate::model::request::generate::{GENERATED, GenerateWire, SamplingWish};
use crate::model::text_calls::{self, TextCallFormat};

/// A thread in tokens.
#[derive(Deserialize)]
struct TokenizedThread {
    tokens: Vec<u32>,
}

/// Tokens in words, as vLLM (`prompt`) or `SGLang` (`text`) calls them.
#[derive(Deserialize)]
struct DetokenizedText {
    #[serde(alias = "prompt")]
    text: String,
}

/// What a template may put before the answer itself: the model goes on with its thought.
const THINK: &str = "<think>";
const END_OF_THINKING: &str = "</think>";

impl ModelClient {
    /// A turn of an engine that takes tokens. `body`: the thread, as it takes it to write it as
    /// tokens.
    pub(super) async fn generated(
        &self,
        engine: &EngineRoutes,
        asked: &ModelRequest<'_>,
        body: Bytes,
        progress: &mut Progress,
        tell: &mut (dyn FnMut(ModelDelta) + Send),
    ) -> Result<ModelAnswer, ModelFault> {
        if asked.items.iter().any(is_seen) {
            let model = &self.settings.name;
            let message = format!(
                "the engine of the model `{model}` takes tokens, and images and files are none: \
                 use an `engine` behind the chat API"
            );
            return Err(ModelFault::new(ModelFaultKind::Refused, message));
        }
        let written = self.fetched(&self.route, GenerateWire::TOKENIZE, body).await?;
        let TokenizedThread { tokens } = self.parsed(&written, GenerateWire::TOKENIZE)?;
        let prompt = match asked.before {
            None => tokens,
            Some(before) => self.continued(engine, before, tokens).await?,
        };
        let body = engine.wire.body(
            &self.settings.name,
            &prompt,
            SamplingWish {
                max_tokens: asked.max_tokens,
                temperature: self.settings.temperature,
                seed: self.settings.seed,
            },
        );
        let answer = self.fetched(&engine.generate, engine.wire.path(), body).await?;
        progress.said = answer.len();
        let turn = generated::read(engine.wire, &answer, &prompt);
        let mut turn = turn.map_err(|fault| self.not_generated(fault))?;
        progress.usage = Some(turn.usage);
        let words = match turn.text.take() {
            Some(words) => words,
            None => self.words(engine, spoken(&turn)).await?,
        };
        Ok(self.spoken_turn(asked, &words, turn, progress, tell))
    }

    /// The tokens before, and behind them what the thread has further. Where the thread says
    /// something else than they do, the thread as it is.
    async fn continued(
        &self,
        engine: &EngineRoutes,
        before: &[u32],
        thread: Vec<u32>,
    ) -> Result<Vec<u32>, ModelFault> {
        let Some(end) = end_of(before, &thread) else { return Ok(thread) };
        let (said, further) = thread.split_at_checked(end).unwrap_or((&thread, &[]));
        let is_same = self.say_the_same(engine, before, said).await?;
        Ok(if is_same { [before, further].concat() } else { thread })
    }

    async fn say_the_same(
        &self,
        engine: &EngineRoutes,
        one: &[u32],
        other: &[u32],
    ) -> Result<bool, ModelFault> {
        let (own, others) = difference(one, other);
        if own.is_empty() && others.is_empty() {
            return Ok(true);
        }
        let (own, others) = (self.words(engine, own).await?, self.words(engine, others).await?);
        if own != others || !own.contains(char::REPLACEMENT_CHARACTER) {
            return Ok(own == others);
        }
        // They begin or end within a letter, so that others would be told as the same.
        Ok(self.words(engine, one).await? == self.words(engine, other).await?)
    }

    async fn words(&self, engine: &EngineRoutes, tokens: &[u32]) -> Result<String, ModelFault> {
        if tokens.is_empty() {
            return Ok(String::new());
        }
        let body = GenerateWire::detokenize(&self.settings.name, tokens);
        let told = self.fetched(&engine.detokenize, GenerateWire::DETOKENIZE, body).await?;
        let DetokenizedText { text } = self.parsed(&told, GenerateWire::DETOKENIZE)?;
        Ok(text)
    }

    /// A whole answer of an endpoint.
    async fn fetched(
        &self,
        to: &EgressRoute,
        path: &str,
        body: Bytes,
    ) -> Result<Vec<u8>, ModelFault> {
        let response = self.sent(to, body).await?;
        let status = response.status;
        if status == StatusCode::OK {
            return self.read(response, LARGEST_ANSWER).await;
        }
        let mut fault = self.refusal(response).await;
        let model = &self.settings.name;
        match fault.kind {
            ModelFaultKind::NotFound => {
                fault.message = format!(
                    "there is no `{path}` at this address, or no model `{model}` ({status}): look \
                     at `url`, `name` and `engine` of `[model]`"
                );
            }
            ModelFaultKind::Refused if path == GenerateWire::TOKENIZE => {
                fault.message = format!(
                    "the server of the model `{model}` does not write a thread as tokens \
                     ({status}): its `{path}` has to take `messages`"
                );
            }
            ModelFaultKind::Unreachable
            | ModelFaultKind::Unauthorized
            | ModelFaultKind::Refused
            | ModelFaultKind::TooLong
            | ModelFaultKind::RateLimited
            | ModelFaultKind::Unavailable
            | ModelFaultKind::Timeout
            | ModelFaultKind::Broken
            | ModelFaultKind::Blocked => {}
        }
        Err(fault)
    }

    fn parsed<'a, T: Deserialize<'a>>(&self, told: &'a [u8], path: &str) -> Result<T, ModelFault> {
        let read = serde_json::from_slice(told);
        read.map_err(|error| {
            self.broken(&format!("`{path}` answered something else")).because(error.to_string())
        })
    }

    fn not_generated(&self, fault: NotGenerated) -> ModelFault {
        match fault {
            NotGenerated::GivenUp(why) => {
                let model = &self.settings.name;
                let message = format!("the engine of the model `{model}` gave its answer up");
                ModelFault::new(ModelFaultKind::Unavailable, message).because(why)
            }
            NotGenerated::Unreadable(why) => {
                self.broken("its engine answered with no tokens").because(why)
            }
        }
    }

    fn spoken_turn(
        &self,
        asked: &ModelRequest<'_>,
        words: &str,
        turn: GeneratedTurn,
        progress: &mut Progress,
        tell: &mut (dyn FnMut(ModelDelta) + Send),
    ) -> ModelAnswer {
        let format = self.settings.call_format().unwrap_or(TextCallFormat::Hermes);
        let tools = asked.text_tools(&self.settings);
        let opened = with_thought_opened(words);
        let mut filter = DeltaFilter::new(Some(format), asked.plan, &tools);
        let mut pieces = filter.pass(ModelDelta::Text(opened.clone()));
        pieces.extend(filter.finish());
        let thought: String = pieces.iter().filter_map(thought).collect();
        let of_plan = |plan: &Plan| {
            let read = text_calls::read(format, &tools, &opened);
            (read.text, text_calls::calls(plan, read.calls, asked.items.len()))
        };
        let plain = || (without_thought(&opened).to_owned(), Vec::new());
        let (text, calls) = asked.plan.map_or_else(plain, of_plan);
        if asked.plan.is_none() && !text.is_empty() {
            pieces = vec![ModelDelta::Text(text.clone())];
        }
        progress.has_told |= !pieces.is_empty();
        pieces.into_iter().for_each(tell);
        ModelAnswer {
            text,
            call_texts: calls.iter().map(call_text).collect(),
            calls,
            echo: self.generated_echo(words, thought.trim()),
            usage: turn.usage,
            was_cut: turn.was_cut,
            hosted: HostedWork::default(),
            is_paused: false,
            sampled: Some(Box::new(turn.sampled)),
        }
    }

    /// The words as they are, for the template; the thought is for readers alone.
    fn generated_echo(&self, words: &str, thought: &str) -> Echo {
        let format = self.settings.text_calls;
        let dialect = format.map(|format| text_calls::echo_name(GENERATED, format));
        let mut messages = vec![serde_json::json!({ "role": "assistant", "content": words })];
        if !thought.is_empty() {
            messages.push(serde_json::json!({ "reasoning": thought }));
        }
        Echo { dialect: dialect.unwrap_or_else(|| GENERATED.to_owned()), messages }
    }
}

/// Whether a user says it with more than words.
fn is_seen(item: &ThreadItem) -> bool {
    match item {
        ThreadItem::User { parts } => {
            parts.iter().any(|part| !matches!(part, InputPart::Text { .. }))
        }
        ThreadItem::System { .. }
        | ThreadItem::Assistant { .. }
        | ThreadItem::Results { .. }
        | ThreadItem::Summary { .. } => false,
    }
}

/// The tokens of a turn that are words: not the one that ended it.
fn spoken(turn: &GeneratedTurn) -> &[u32] {
    let all = turn.sampled.completion.as_slice();
    match all.split_last() {
        Some((_, words)) if turn.is_ended => words,
        Some(_) | None => all,
    }
}

/// Where in the thread stands what these tokens end with: the same token, for as many times as they
/// have it. `None`: the thread does not have it so often.
fn end_of(before: &[u32], thread: &[u32]) -> Option<usize> {
    let last = before.last()?;
    let times = before.iter().filter(|token| *token == last).count();
    let mut places = thread.iter().enumerate().filter(|(_, token)| *token == last);
    let (place, _) = places.nth(times.checked_sub(1)?)?;
    Some(place + 1)
}

/// What is left of both where they begin and end with the same tokens.
fn difference<'a>(one: &'a [u32], other: &'a [u32]) -> (&'a [u32], &'a [u32]) {
    let same = one.iter().zip(other).take_while(|(own, other)| own == other).count();
    let (one, other) = (one.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default());
    let pairs = one.iter().rev().zip(other.iter().rev());
    let same = pairs.take_while(|(own, other)| own == other).count();
    let rest = |all: &'a [u32]| all.get(..all.len().saturating_sub(same)).unwrap_or_default();
    (rest(one), rest(other))
}

/// A thought that the template began is begun in the words too.
fn with_thought_opened(words: &str) -> String {
    let is_begun = words
        .find(END_OF_THINKING)
        .is_some_and(|end| words.get(..end).is_some_and(|thought| !thought.contains(THINK)));
    if is_begun { format!("{THINK}{words}") } else { words.to_owned() }
}

fn without_thought(words: &str) -> &str {
    let rest =
        words.trim_start().strip_prefix(THINK).and_then(|own| own.split_once(END_OF_THINKING));
    rest.map_or(words, |(_, rest)| rest.trim_start())
}

fn thought(delta: &ModelDelta) -> Option<&str> {
    match delta {
        ModelDelta::Reasoning(words) => Some(words),
        ModelDelta::Text(_)
        | ModelDelta::Retracted(_)
        | ModelDelta::OtherModel(_)
        | ModelDelta::Hosted(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{difference, end_of, with_thought_opened, without_thought};

    fn tokens(least: usize) -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(0_u32..4, least..12)
    }

    proptest! {
        #[test]
        fn a_thread_that_goes_on_is_found_to_go_on_where_it_does(
            before in tokens(1),
            further in tokens(0),
        ) {
            let thread = [before.as_slice(), &further].concat();
            prop_assert_eq!(end_of(&before, &thread), Some(before.len()));
        }

        #[test]
        fn what_differs_is_what_stands_between_the_same_beginning_and_the_same_end(
            one in tokens(0),
            other in tokens(0),
        ) {
            let (left, right) = difference(&one, &other);
            let begin = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
            let (end, kept) = (begin + left.len(), begin + right.len());
            prop_assert_eq!(&one[begin..end], left);
            prop_assert_eq!(&other[begin..kept], right);
            prop_assert_eq!(&one[end..], &other[kept..]);
            prop_assert!(left.first() != right.first() || left.is_empty() && right.is_empty());
        }
    }

    #[test]
    fn a_thought_is_one_whoever_began_it() {
        for (words, rest) in [
            ("<think>a</think>\n\nb", "b"),
            ("a</think>b", "b"),
            ("a b", "a b"),
            ("<think>a", "<think>a"),
            ("a <think>b</think>", "a <think>b</think>"),
        ] {
            assert_eq!(without_thought(&with_thought_opened(words)), rest, "{words}");
        }
        assert_eq!((end_of(&[], &[1]), end_of(&[1, 2, 2], &[2])), (None, None));
    }
}
