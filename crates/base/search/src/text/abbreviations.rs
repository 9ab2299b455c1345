//! Short forms of words: `PR` for pull request, `repo` for repository.

use std::sync::OnceLock;

use foldhash::HashMap;

use super::short_forms::lines;
use super::words::stems;

/// A form of several words, and the one word that stands for it.
struct AbbreviatedPhrase {
    /// The stems before the last, the nearest to it first.
    before: Vec<String>,
    stands_for: String,
}

#[derive(Default)]
pub(crate) struct Abbreviations {
    /// By their last stem.
    phrases: HashMap<String, Vec<AbbreviatedPhrase>>,
    /// Stems that stand for each other.
    pub(crate) pairs: Vec<(String, String)>,
}

pub(crate) fn short() -> &'static Abbreviations {
    static SHORT: OnceLock<Abbreviations> = OnceLock::new();
    SHORT.get_or_init(|| {
        let mut short = Abbreviations::default();
        lines().for_each(|line| short.group(line));
        short
    })
}

impl Abbreviations {
    fn group(&mut self, line: &str) {
        let stemmed = |form: &str| {
            let mut own: Vec<String> = Vec::new();
            stems(form, |_, stem| own.push(stem.to_owned()));
            own
        };
        let forms: Vec<Vec<String>> = line.split(" = ").map(stemmed).collect();
        let single = |form: &&Vec<String>| form.len() == 1;
        let singles: Vec<&String> = forms.iter().filter(single).flatten().collect();
        for from in &singles {
            let others = singles.iter().filter(|to| *to != from);
            self.pairs.extend(others.map(|to| ((*from).clone(), (*to).clone())));
        }
        let Some(first) = singles.first() else { return };
        for form in forms.iter().filter(|form| form.len() > 1) {
            let Some((last, before)) = form.split_last() else { continue };
            let before = before.iter().rev().cloned().collect();
            let phrase = AbbreviatedPhrase { before, stands_for: (*first).clone() };
            self.phrases.entry(last.clone()).or_default().push(phrase);
        }
    }

    /// What the words that end with this one stand for; `before`: the stems before it, the nearest
    /// first.
    pub(crate) fn ended_by<'b>(
        &self,
        last: &str,
        before: &(impl Iterator<Item = &'b str> + Clone),
    ) -> Vec<&str> {
        let phrases = self.phrases.get(last).into_iter().flatten();
        let met = phrases.filter(|phrase| {
            let mut here = before.clone();
            phrase.before.iter().all(|stem| here.next() == Some(stem))
        });
        met.map(|phrase| phrase.stands_for.as_str()).collect()
    }

    /// Whether so few letters are a word.
    pub(crate) fn has(&self, word: &str) -> bool {
        self.pairs.iter().any(|(from, _)| from == word)
            || self.phrases.values().flatten().any(|phrase| phrase.stands_for == word)
    }
}
