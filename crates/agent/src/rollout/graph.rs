//! The thread of a run as a graph of messages, each with the tokens that it adds.
//!
//! A turn that goes on where the one before ended hangs below it. Where its prompt is another one,
//! because the thread was summed up or its text became other tokens, a new branch begins: nodes that
//! repeat messages, and hold the prompt as it was read.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::trajectory::{NodeCall, TokenDrift, TrajectoryNode};
use crate::item::compaction::note;
use crate::item::{Echo, InputPart, ResultText, ThreadItem};
use crate::run::notes::{CallNote, RunNotes, TurnNote, TurnTokens};

/// The nodes of a trajectory, and how they hang together.
#[derive(Debug, Default, PartialEq)]
pub(super) struct MessageGraph {
    pub(super) nodes: Vec<TrajectoryNode>,
    pub(super) branches: Vec<Vec<usize>>,
    pub(super) drift: Vec<TokenDrift>,
}

/// A graph in the making.
struct GraphWriter<'a> {
    graph: MessageGraph,
    /// From the root to where it goes on.
    path: Vec<usize>,
    /// Of each item, its nodes.
    places: Vec<Vec<usize>>,
    turns: VecDeque<&'a TurnNote>,
    calls: Vec<Option<&'a CallNote>>,
    turn: usize,
}

impl MessageGraph {
    /// `instructions`: what the author of the agent says; `items`: the thread at its end.
    pub(super) fn of(instructions: &str, items: &[ThreadItem], notes: &RunNotes) -> Self {
        let mut writer = GraphWriter {
            graph: Self::default(),
            path: Vec::new(),
            places: Vec::new(),
            turns: notes.turns.iter().collect(),
            calls: notes.calls.iter().map(Some).collect(),
            turn: 0,
        };
        if !instructions.is_empty() {
            writer.push(words("system", instructions));
        }
        for (place, item) in items.iter().enumerate() {
            writer.item(place, item, items);
        }
        let path = std::mem::take(&mut writer.path);
        writer.graph.branches.push(path);
        writer.graph
    }
}

impl GraphWriter<'_> {
    fn push(&mut self, mut node: TrajectoryNode) -> usize {
        node.parent = self.path.last().copied();
        let place = self.graph.nodes.len();
        self.graph.nodes.push(node);
        self.path.push(place);
        place
    }

    fn item(&mut self, place: usize, item: &ThreadItem, items: &[ThreadItem]) {
        let nodes = match item {
            ThreadItem::System { text } => vec![self.push(words("system", text))],
            ThreadItem::User { parts } => {
                let content = user(parts);
                vec![self.push(TrajectoryNode { content, ..words("user", "") })]
            }
            ThreadItem::Assistant { text, calls, echo } => {
                let turn = self.turns.front().copied().filter(|turn| turn.item == place);
                let mut node = words("assistant", text);
                node.tool_calls.clone_from(calls);
                node.reasoning = echo.as_ref().map(reasoning).unwrap_or_default();
                match turn {
                    Some(turn) => {
                        self.turns.pop_front();
                        vec![self.sampled(node, turn)]
                    }
                    None => vec![self.push(node)],
                }
            }
            ThreadItem::Results { results, .. } => {
                results.iter().map(|result| self.result(result)).collect()
            }
            ThreadItem::Summary { text, hides } => {
                self.summed_up(text, (*hides).min(place), items);
                Vec::new()
            }
        };
        self.places.push(nodes);
    }

    fn sampled(&mut self, mut node: TrajectoryNode, turn: &TurnNote) -> usize {
        self.turn += 1;
        node.sampled = true;
        node.was_cut = turn.was_cut;
        node.usage = Some(turn.usage);
        node.began_ms = Some(millis(turn.began));
        node.took_ms = Some(millis(turn.ended.saturating_sub(turn.began)));
        let Some(tokens) = &turn.tokens else { return self.push(node) };
        node.version.clone_from(&tokens.version);
        node.token_fault.clone_from(&tokens.fault);
        let was_summed_up = self.path.iter().all(|place| self.is_bare(*place));
        if tokens.drift.is_some() || (tokens.is_branch && !was_summed_up) {
            self.repeat_path();
        }
        self.add(&mut node, tokens);
        let place = self.push(node);
        if let Some(at) = tokens.drift {
            self.graph.drift.push(TokenDrift { turn: self.turn, node: place, at });
        }
        place
    }

    /// What the prompt has behind the turn before stands at the last message of it; without one, at
    /// the beginning of the turn.
    fn add(&mut self, node: &mut TrajectoryNode, tokens: &TurnTokens) {
        let last = self.path.last().and_then(|place| self.graph.nodes.get_mut(*place));
        let before = last.filter(|last| !last.sampled).unwrap_or(&mut *node);
        before.mask.extend(tokens.added.iter().map(|_| 0));
        before.tokens.extend_from_slice(&tokens.added);
        let is_evidence = tokens.fault.is_none();
        node.mask.extend(tokens.sampled.iter().map(|_| u8::from(is_evidence)));
        node.tokens.extend_from_slice(&tokens.sampled);
        if is_evidence {
            node.logprobs = tokens.logprobs.clone().unwrap_or_default();
        }
    }

    fn is_bare(&self, place: usize) -> bool {
        self.graph.nodes.get(place).is_some_and(|node| node.tokens.is_empty())
    }

    /// Begins a branch with the same messages.
    fn repeat_path(&mut self) {
        let before = std::mem::take(&mut self.path);
        for place in &before {
            self.repeat(*place);
        }
        self.graph.branches.push(before);
    }

    fn repeat(&mut self, place: usize) {
        let Some(node) = self.graph.nodes.get(place) else { return };
        let (role, same_as) = (node.role.clone(), Some(node.same_as.unwrap_or(place)));
        self.push(TrajectoryNode { role, same_as, ..TrajectoryNode::default() });
    }

    /// Begins a branch without the oldest messages.
    fn summed_up(&mut self, text: &str, hides: usize, items: &[ThreadItem]) {
        let before = std::mem::take(&mut self.path);
        let is_system =
            |place: &usize| self.graph.nodes.get(*place).is_some_and(|node| node.role == "system");
        let kept: Vec<_> = before.iter().copied().filter(is_system).collect();
        for place in kept {
            self.repeat(place);
        }
        self.push(words("user", &note(text)));
        let is_user = |item: &ThreadItem| matches!(item, ThreadItem::User { .. });
        let asked = items.iter().take(self.places.len()).rposition(is_user);
        let asked = asked.filter(|place| *place < hides);
        let rest = hides..self.places.len();
        for item in asked.into_iter().chain(rest) {
            for place in self.places.get(item).cloned().unwrap_or_default() {
                let is_kept = self.graph.nodes.get(place).is_some_and(|node| node.role != "system");
                if is_kept {
                    self.repeat(place);
                }
            }
        }
        if !before.is_empty() {
            self.graph.branches.push(before);
        }
    }

    fn result(&mut self, result: &ResultText) -> usize {
        let mut node = words("tool", &result.text);
        node.tool_call_id = Some(result.call_id.clone());
        node.tool = Some(result.name.clone()).filter(|name| !name.is_empty());
        node.is_error = result.is_error;
        // An id may come twice, in two turns: each answer has a call of its own.
        let is_of_it =
            |call: &&mut Option<&CallNote>| call.is_some_and(|call| call.id == result.call_id);
        let call = self.calls.iter_mut().find(is_of_it).and_then(Option::take);
        if let Some(call) = call {
            node.began_ms = Some(millis(call.began));
            node.took_ms = Some(millis(call.waited.saturating_add(call.ran)));
            node.reward = call.reward;
            node.metrics.clone_from(&call.metrics);
            node.call = Some(NodeCall {
                waited_ms: millis(call.waited),
                ran_ms: millis(call.ran),
                attempts: call.attempts,
                replayed: call.is_replayed,
                cut: call.cut,
            });
        }
        self.push(node)
    }
}

fn words(role: &str, text: &str) -> TrajectoryNode {
    let (role, content) = (role.to_owned(), Value::String(text.to_owned()));
    TrajectoryNode { role, content, ..TrajectoryNode::default() }
}

/// What a user says, as the chat API has it.
fn user(parts: &[InputPart]) -> Value {
    if let [InputPart::Text { text }] = parts {
        return Value::String(text.clone());
    }
    let image = |url: String| json!({ "type": "image_url", "image_url": { "url": url } });
    let part = |part: &InputPart| match part {
        InputPart::Text { text } => json!({ "type": "text", "text": text }),
        InputPart::Image { mime, data } => image(format!("data:{mime};base64,{data}")),
        InputPart::ImageUrl { url } => image(url.clone()),
        InputPart::File { name, .. } => {
            json!({ "type": "text", "text": format!("[the file `{name}`]") })
        }
    };
    Value::Array(parts.iter().map(part).collect())
}

/// What the model thought, where its API says so.
fn reasoning(echo: &Echo) -> String {
    let said = |message: &Value| {
        let told = message.get("reasoning_content").or_else(|| message.get("reasoning"));
        told.and_then(Value::as_str).map(str::to_owned)
    };
    echo.messages.iter().find_map(said).unwrap_or_default()
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use serde_json::json;

    use super::MessageGraph;
    use crate::item::{CallText, ResultText, ThreadItem};
    use crate::model::SampledTokens;
    use crate::run::notes::{RunNotes, TurnNote};
    use crate::usage::Usage;

    fn said(text: &str) -> ThreadItem {
        ThreadItem::Assistant { text: text.to_owned(), calls: Vec::new(), echo: None }
    }

    fn noted(turns: &[(usize, &[u32], &[u32], bool)]) -> RunNotes {
        let mut notes = RunNotes::new(None);
        for (item, prompt, completion, is_branch) in turns {
            let (prompt, completion) = (prompt.to_vec(), completion.to_vec());
            let told = SampledTokens { prompt, completion, ..SampledTokens::default() };
            let tokens = Some(notes.tokens(told, *is_branch));
            let [began, ended] = [Duration::ZERO; 2];
            let (item, usage, was_cut) = (*item, Usage::default(), false);
            notes.turns.push(TurnNote { item, began, ended, usage, was_cut, tokens });
        }
        notes
    }

    #[test]
    fn a_thread_that_was_summed_up_goes_on_in_a_branch_without_what_was_hidden() {
        let call = CallText { id: "c".into(), name: "t".into(), arguments: "{}".into() };
        let result = ResultText {
            call_id: "c".into(),
            name: "t".into(),
            text: "long".into(),
            is_error: false,
        };
        let items = [
            ThreadItem::user("go"),
            ThreadItem::Assistant { text: String::new(), calls: vec![call], echo: None },
            ThreadItem::Results { results: vec![result], echo: None },
            ThreadItem::Summary { text: "in short".into(), hides: 3 },
            said("done"),
        ];
        let notes = noted(&[(1, &[1, 2], &[3], false), (4, &[1, 9], &[4], true)]);
        let graph = MessageGraph::of("be brief", &items, &notes);
        assert_eq!(graph.branches, [vec![0, 1, 2, 3], vec![4, 5, 6, 7]]);
        let told: Vec<_> = graph
            .nodes
            .iter()
            .map(|node| json!([node.role, node.same_as, node.tokens, node.parent]))
            .collect();
        assert_eq!(
            json!(told),
            json!([
                ["system", null, [], null],
                ["user", null, [1, 2], 0],
                ["assistant", null, [3], 1],
                ["tool", null, [], 2],
                ["system", 0, [], null],
                ["user", null, [], 4],
                // What the user asked for last stays.
                ["user", 1, [1, 9], 5],
                ["assistant", null, [4], 6],
            ])
        );
        assert!(graph.drift.is_empty());
    }

    #[test]
    fn a_turn_behind_a_turn_begins_with_what_its_prompt_adds() {
        let items = [ThreadItem::user("go"), said("a"), said("b")];
        let notes = noted(&[(1, &[1], &[2], false), (2, &[1, 2, 3], &[4], false)]);
        let graph = MessageGraph::of("", &items, &notes);
        let told: Vec<_> =
            graph.nodes.iter().map(|node| (node.tokens.clone(), node.mask.clone())).collect();
        assert_eq!(told, [(vec![1], vec![0]), (vec![2], vec![1]), (vec![3, 4], vec![0, 1])]);
        assert_eq!(graph.branches, [vec![0, 1, 2]]);
    }

    /// Turns of which each goes on behind the one before, after dropping so many tokens of it.
    fn turns() -> impl Strategy<Value = Vec<(Vec<u32>, Vec<u32>)>> {
        let tokens = || prop::collection::vec(0_u32..4, 1..5);
        let turn = (prop_oneof![3 => Just(0_usize), 1 => 1_usize..6], tokens(), tokens());
        prop::collection::vec(turn, 1..6).prop_map(|turns| {
            let mut sequence: Vec<u32> = Vec::new();
            turns
                .into_iter()
                .map(|(dropped, added, sampled)| {
                    sequence.truncate(sequence.len().saturating_sub(dropped));
                    sequence.extend(added);
                    let prompt = sequence.clone();
                    sequence.extend(&sampled);
                    (prompt, sampled)
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn whatever_prompts_do_a_branch_holds_them_and_each_sample_is_trained_on_once(turns in turns()) {
            let mut items = vec![ThreadItem::user("go")];
            let mut told = Vec::new();
            for (prompt, sampled) in &turns {
                told.push((items.len(), prompt.as_slice(), sampled.as_slice(), false));
                items.extend([said("a"), ThreadItem::user("go on")]);
            }
            let graph = MessageGraph::of("", &items, &noted(&told));
            let of_branch = |branch: &Vec<usize>, of: fn(&super::TrajectoryNode) -> Vec<u32>| {
                branch.iter().flat_map(|node| of(&graph.nodes[*node])).collect::<Vec<u32>>()
            };
            let sequences: Vec<_> =
                graph.branches.iter().map(|branch| of_branch(branch, |node| node.tokens.clone())).collect();
            for (prompt, sampled) in &turns {
                let whole = [prompt.as_slice(), sampled].concat();
                prop_assert!(sequences.iter().any(|own| own.starts_with(&whole)), "{whole:?}");
            }
            let trained: u32 = graph
                .branches
                .iter()
                .flat_map(|branch| of_branch(branch, |node| node.mask.iter().map(|one| u32::from(*one)).collect()))
                .sum();
            let sampled: usize = turns.iter().map(|(_, sampled)| sampled.len()).sum();
            prop_assert_eq!(usize::try_from(trained).unwrap(), sampled);
            prop_assert_eq!(graph.drift.len() + 1, graph.branches.len());
        }
    }
}
