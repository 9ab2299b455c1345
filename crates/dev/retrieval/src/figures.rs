//! The figures of one search on one set.

use std::time::{Duration, Instant};

use foldhash::{HashSet, HashSetExt as _};
use serde_json::{Value, json};

use crate::bm25::real;
use crate::labelled_set::{LabelledSet, LabelledTool};

/// What a search answers: tools by their numbers, best first.
pub type SearchFunction<'a> = dyn FnMut(&str) -> Vec<usize> + 'a;

/// Means over the questions of a set, in percent where nothing else is said.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RetrievalFigures {
    /// How many of the tools that serve a question are among the first 1, 5 and 10.
    pub recall: [f32; 3],
    /// How often all of them are among the first 10, of the questions that need more than one.
    pub whole_sets: f32,
    /// Normalised discounted gain of the first 10.
    pub gain: f32,
    /// How often the first is wrong, but half of its name is that of one that is right.
    pub wrong_siblings: f32,
    /// Four letters a token, over the first 5 with their signatures.
    pub tokens: f32,
    /// The median and the 99th of 100.
    pub microseconds: [f32; 2],
}

/// Asks every `step`th question.
pub fn figures(
    set: &LabelledSet,
    step: usize,
    search: &mut SearchFunction<'_>,
) -> RetrievalFigures {
    let mut sum = RetrievalFigures::default();
    let (mut asked, mut several, mut times) = (0, 0, Vec::new());
    for question in set.questions.iter().step_by(step.max(1)) {
        let started = Instant::now();
        let found = search(&question.text);
        times.push(started.elapsed());
        let right: HashSet<usize> = question.relevant.iter().copied().collect();
        let within = |most: usize| found.iter().take(most).filter(|at| right.contains(at)).count();
        let share = |most: usize| real(within(most)) / real(right.len()).max(1.0);
        asked += 1;
        for (sum, most) in sum.recall.iter_mut().zip([1, 5, 10]) {
            *sum += share(most);
        }
        sum.gain += gain(&found, &right);
        if right.len() > 1 {
            several += 1;
            sum.whole_sets += f32::from(u8::from(within(10) == right.len()));
        }
        sum.wrong_siblings += f32::from(u8::from(is_wrong_sibling(set, &found, &right)));
        let lines = found.iter().take(5).filter_map(|at| set.tools.get(*at));
        sum.tokens += real(lines.map(|tool| tool.line().chars().count()).sum::<usize>()) / 4.0;
    }
    let (percent, all) = (100.0 / real(asked).max(1.0), real(asked).max(1.0));
    times.sort_unstable();
    RetrievalFigures {
        recall: sum.recall.map(|sum| sum * percent),
        whole_sets: sum.whole_sets * 100.0 / real(several).max(1.0),
        gain: sum.gain * percent,
        wrong_siblings: sum.wrong_siblings * percent,
        tokens: sum.tokens / all,
        microseconds: [at(&times, 50), at(&times, 99)],
    }
}

/// That many of 100 of the times are no longer, in microseconds.
pub(crate) fn at(sorted: &[Duration], percent: usize) -> f32 {
    let place = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(place).map_or(0.0, |time| time.as_secs_f32() * 1e6)
}

fn gain(found: &[usize], right: &HashSet<usize>) -> f32 {
    let worth = |place: usize| 1.0 / (real(place) + 2.0).log2();
    let has: f32 = (0..10)
        .zip(found)
        .filter(|(_, tool)| right.contains(tool))
        .map(|(place, _)| worth(place))
        .sum();
    let best: f32 = (0..right.len().min(10)).map(worth).sum();
    if best > 0.0 { has / best } else { 0.0 }
}

fn is_wrong_sibling(set: &LabelledSet, found: &[usize], right: &HashSet<usize>) -> bool {
    let Some(first) = found.first().filter(|first| !right.contains(first)) else { return false };
    let words = |tool: Option<&LabelledTool>| {
        let mut words = HashSet::new();
        toolcrib_search::words(tool.map_or("", |tool| &tool.name), |_, stem| {
            words.insert(stem.to_owned());
        });
        words
    };
    let first = words(set.tools.get(*first));
    right.iter().any(|right| {
        let right = words(set.tools.get(*right));
        4 * first.intersection(&right).count() >= first.len() + right.len()
    })
}

impl RetrievalFigures {
    pub fn json(&self) -> Value {
        let round = |number: f32| (f64::from(number) * 10.0).round() / 10.0;
        json!({
            "recall@1": round(self.recall[0]),
            "recall@5": round(self.recall[1]),
            "recall@10": round(self.recall[2]),
            "nDCG@10": round(self.gain),
            "whole sets@10": round(self.whole_sets),
            "wrong siblings": round(self.wrong_siblings),
            "tokens": round(self.tokens),
            "µs p50": round(self.microseconds[0]),
            "µs p99": round(self.microseconds[1]),
        })
    }
}
