//! What an agent says of its answer beside the words: what it rests on, and how it was judged.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolcrib_core::{Content, Part, Reference, cited_spans};

use super::view::TaskView;
use crate::protocol::metadata::evidence::{CHECKS, REFERENCES};
use crate::transport::reply::cut;

/// Judgements of one answer.
const MOST_CHECKS: usize = 50;
/// Letters of a name or a reason.
const LONGEST: usize = 500;

/// A judgement. The worst comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct AnswerCheck {
    outcome: AnswerOutcome,
    #[serde(default)]
    name: String,
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerOutcome {
    Failed,
    Unknown,
    Passed,
}

/// Puts it into the content of the answer: sources get the numbers of whoever reads them.
pub(super) fn put(view: &TaskView, content: &mut Content) {
    let of = |key: &'static str| {
        let metadata = view.artifacts.iter().filter_map(|it| it.metadata.as_ref());
        metadata.filter_map(move |fields| fields.get(key))
    };
    let mut labels = HashMap::new();
    for list in of(REFERENCES) {
        labels.extend(numbered(list));
        content.references.extend(Reference::named(list));
    }
    for part in &mut content.parts {
        if let Part::Text { text, .. } = part {
            *text = cited_by_name(text, &labels);
        }
    }
    let checks = of(CHECKS).filter_map(Value::as_array).flatten().take(MOST_CHECKS);
    let mut checks: Vec<_> = checks.filter_map(judged).collect();
    checks.sort();
    let Some(worst) = checks.first() else { return };
    let AnswerCheck { name, reason, .. } = worst;
    content.reminder = match worst.outcome {
        AnswerOutcome::Passed => None,
        AnswerOutcome::Failed => Some(format!(
            "The agent's own check `{name}` of this answer failed ({reason}): do not rely on it \
             as it is."
        )),
        AnswerOutcome::Unknown => {
            Some(format!("The agent's own check `{name}` of this answer could not be made."))
        }
    };
    let told = json!({ "worst": worst.outcome, "checks": checks });
    content.extra.insert("assessment".to_owned(), told);
}

fn judged(value: &Value) -> Option<AnswerCheck> {
    let check = AnswerCheck::deserialize(value).ok()?;
    let (name, reason) = (cut(&check.name, LONGEST), cut(&check.reason, LONGEST));
    Some(AnswerCheck { name, reason, ..check })
}

/// What the sources of a list are called, by the numbers that the agent gave them.
fn numbered(list: &Value) -> impl Iterator<Item = (u32, String)> {
    list.as_array().into_iter().flatten().filter_map(|source| {
        let number = u32::try_from(source.get("number")?.as_u64()?).ok()?;
        let one = Reference::named(&json!([source])).pop()?;
        let label = if one.title.is_empty() { one.id } else { one.title };
        let plain: String = label.chars().filter(|letter| !"[]`".contains(*letter)).collect();
        Some((number, cut(&plain, 100)))
    })
}

/// A text with the names of its sources where their numbers were: the same sources have other
/// numbers here.
fn cited_by_name(text: &str, labels: &HashMap<u32, String>) -> String {
    if labels.is_empty() {
        return text.to_owned();
    }
    let letters: Vec<char> = text.chars().collect();
    let (mut told, mut from) = (String::with_capacity(text.len()), 0);
    let mut spans = cited_spans(text).into_iter().peekable();
    while let Some(span) = spans.next() {
        let mut numbers = vec![span.number];
        while let Some(next) = spans.next_if(|next| next.start == span.start) {
            numbers.push(next.number);
        }
        let names: Vec<_> = numbers.iter().filter_map(|number| labels.get(number)).collect();
        // Brackets with something unknown in them are no citation.
        if names.len() < numbers.len() {
            continue;
        }
        told.extend(letters.get(from..span.start).unwrap_or_default());
        let names: Vec<_> = names.into_iter().map(String::as_str).collect();
        told.extend(["[", &names.join("; "), "]"]);
        from = span.end;
    }
    told.extend(letters.get(from..).unwrap_or_default());
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_sources_become_their_names_where_all_of_them_are_known() {
        let list = json!([
            { "number": 1, "id": "a", "title": "The [first]" },
            { "number": 2, "id": "doc-2" },
            { "number": 0.5, "id": "c" },
            { "id": "d" },
        ]);
        let labels: HashMap<_, _> = numbered(&list).collect();
        let told = cited_by_name("Ö [1], [1, 2] and [3], `[1]`, [2].", &labels);
        assert_eq!(told, "Ö [The first], [The first; doc-2] and [3], `[1]`, [doc-2].");
        assert_eq!(cited_by_name("[1]", &HashMap::new()), "[1]");
    }

    #[test]
    fn of_several_judgements_the_worst_comes_first() {
        let of = |outcome: &str| judged(&json!({ "name": outcome, "outcome": outcome }));
        let mut all: Vec<_> =
            ["passed", "odd", "failed", "unknown"].into_iter().filter_map(of).collect();
        all.sort();
        let names: Vec<_> = all.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names, ["failed", "unknown", "passed"]);
    }
}
