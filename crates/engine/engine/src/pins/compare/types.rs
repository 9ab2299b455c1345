//! `type`, `enum` and `const`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolcrib_core::canonical;

use super::super::drift_findings::DriftKind;
use super::{ComparedPosition, Comparison, Keywords};
use crate::pins::terminal_text;

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

const INTEGER: TypeSet = TypeSet(4);
/// Also the integers.
pub(super) const NUMBER: TypeSet = TypeSet(4 | 8);
pub(super) const STRING: TypeSet = TypeSet(16);
pub(super) const ARRAY: TypeSet = TypeSet(32);
pub(super) const OBJECT: TypeSet = TypeSet(64);
const ALL: TypeSet = TypeSet(127);

/// Names of sets, the wider before the narrower.
const NAMED: [(&str, TypeSet); 7] = [
    ("null", TypeSet(1)),
    ("boolean", TypeSet(2)),
    ("number", NUMBER),
    ("integer", INTEGER),
    ("string", STRING),
    ("array", ARRAY),
    ("object", OBJECT),
];

impl TypeSet {
    /// What a schema may accept at the most, by its `type` and by its values.
    pub(super) fn of(keywords: &Map<String, Value>) -> Self {
        let by_name = |name: &str| {
            let known = NAMED.iter().find(|(known, _)| *known == name);
            known.map_or(Self(0), |(_, types)| *types)
        };
        let union = |left: Self, right: Self| Self(left.0 | right.0);
        let declared = match keywords.get("type") {
            Some(Value::String(name)) => by_name(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(by_name).fold(Self(0), union)
            }
            _ => ALL,
        };
        let of_value = |value: &&Value| match value {
            Value::Null => Self(1),
            Value::Bool(_) => Self(2),
            Value::Number(_) => NUMBER,
            Value::String(_) => STRING,
            Value::Array(_) => ARRAY,
            Value::Object(_) => OBJECT,
        };
        let values = listed(keywords);
        let of_values = values.map_or(ALL, |list| list.iter().map(of_value).fold(Self(0), union));
        declared.shared(of_values)
    }

    pub(super) fn shared(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether any of the others is among them.
    pub(super) fn contains(self, other: Self) -> bool {
        !self.shared(other).is_empty()
    }

    fn within(self, other: Self) -> bool {
        self.shared(other) == self
    }

    fn text(self) -> String {
        if self == ALL {
            return "any".to_owned();
        }
        let mut rest = self;
        let mut names = Vec::new();
        for (name, types) in NAMED {
            if types.within(rest) {
                names.push(name);
                rest = Self(rest.0 & !types.0);
            }
        }
        names.join(" or ")
    }
}

/// The values that a schema lists, if it lists them.
fn listed(keywords: &Map<String, Value>) -> Option<Vec<&Value>> {
    let constant = keywords.get("const");
    let choices = keywords.get("enum").and_then(Value::as_array);
    match (constant, choices) {
        (None, None) => None,
        (Some(only), None) => Some(vec![only]),
        (None, Some(choices)) => Some(choices.iter().collect()),
        (Some(only), Some(choices)) => {
            let both = choices.iter().filter(|choice| canonical::same(choice, only));
            Some(both.take(1).collect())
        }
    }
}

/// The listed values as canonical texts.
pub(super) fn values(keywords: &Map<String, Value>) -> Option<BTreeSet<String>> {
    listed(keywords).map(|values| values.into_iter().map(canonical::text).collect())
}

impl<'v> Comparison<'v> {
    /// Returns the types that both accept: keywords of other types cannot matter.
    pub(super) fn types(&mut self, at: &ComparedPosition, keywords: Keywords<'v>) -> TypeSet {
        let (before, after) = (TypeSet::of(keywords.before), TypeSet::of(keywords.after));
        let kind = match (before.within(after), after.within(before)) {
            (true, true) => return before,
            (true, false) => DriftKind::Widened,
            (false, true) => DriftKind::Narrowed,
            (false, false) => DriftKind::Breaking,
        };
        self.note(at, kind, format!("type {} -> {}", before.text(), after.text()));
        before.shared(after)
    }

    pub(super) fn values(&mut self, at: &ComparedPosition, keywords: Keywords<'v>) {
        let (before, after) = match (values(keywords.before), values(keywords.after)) {
            (None, None) => return,
            (None, Some(_)) => {
                return self.note(at, DriftKind::Narrowed, "only listed values now");
            }
            (Some(_), None) => {
                return self.note(at, DriftKind::Widened, "any value now, not only listed ones");
            }
            (Some(before), Some(after)) => (before, after),
        };
        let list = |values: Vec<&String>| {
            let shown: Vec<_> =
                values.iter().take(10).map(|value| terminal_text::word(value)).collect();
            let more = if values.len() > 10 { ", …" } else { "" };
            format!("`{}`{more}", shown.join("`, `"))
        };
        let gone: Vec<_> = before.difference(&after).collect();
        let new: Vec<_> = after.difference(&before).collect();
        let kind = match (gone.is_empty(), new.is_empty()) {
            (true, true) => return,
            (true, false) => DriftKind::Widened,
            (false, true) => DriftKind::Narrowed,
            (false, false) => DriftKind::Breaking,
        };
        let mut texts = Vec::new();
        for (values, what) in [(new, "new"), (gone, "gone")] {
            if !values.is_empty() {
                texts.push(format!("{what} values {}", list(values)));
            }
        }
        self.note(at, kind, texts.join(", "));
    }
}
