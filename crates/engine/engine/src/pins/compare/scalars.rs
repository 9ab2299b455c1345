//! Bounds of numbers, lengths and counts.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};
use toolcrib_core::canonical;

use super::super::drift_findings::DriftKind;
use super::types::{ARRAY, NUMBER, OBJECT, STRING, TypeSet};
use super::{ComparedPosition, Comparison, Keywords};

/// A bound, and whether the value itself is out of bounds.
#[derive(Debug, Clone, Copy)]
struct NumberBound<'v> {
    number: &'v Number,
    exclusive: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoundSide {
    Lower,
    Upper,
}

const COUNTS: [(&str, TypeSet, BoundSide); 6] = [
    ("minLength", STRING, BoundSide::Lower),
    ("maxLength", STRING, BoundSide::Upper),
    ("minItems", ARRAY, BoundSide::Lower),
    ("maxItems", ARRAY, BoundSide::Upper),
    ("minProperties", OBJECT, BoundSide::Lower),
    ("maxProperties", OBJECT, BoundSide::Upper),
];

impl<'v> Comparison<'v> {
    pub(super) fn scalars(
        &mut self,
        at: &ComparedPosition,
        keywords: Keywords<'v>,
        shared: TypeSet,
    ) {
        if shared.contains(NUMBER) {
            for (key, end) in [("minimum", BoundSide::Lower), ("maximum", BoundSide::Upper)] {
                let before = tightest(keywords.before, end);
                self.bound(at, key, end, (before, tightest(keywords.after, end)));
            }
            self.multiple(at, keywords);
        }
        for (key, types, end) in COUNTS {
            let count = |side: &'v Map<String, Value>| plain(side, key);
            if shared.contains(types) {
                self.bound(at, key, end, (count(keywords.before), count(keywords.after)));
            }
        }
        if shared.contains(ARRAY) {
            let unique = |side: &Map<String, Value>| {
                side.get("uniqueItems").and_then(Value::as_bool).unwrap_or(false)
            };
            match (unique(keywords.before), unique(keywords.after)) {
                (false, true) => self.note(at, DriftKind::Narrowed, "items must differ now"),
                (true, false) => self.note(at, DriftKind::Widened, "items may be equal now"),
                (true, true) | (false, false) => {}
            }
        }
    }

    fn bound(
        &mut self,
        at: &ComparedPosition,
        key: &str,
        end: BoundSide,
        (before, after): (Option<NumberBound<'v>>, Option<NumberBound<'v>>),
    ) {
        let kind = match (before, after) {
            (None, None) => return,
            (None, Some(_)) => DriftKind::Narrowed,
            (Some(_), None) => DriftKind::Widened,
            (Some(before), Some(after)) => match tightness(after, before, end) {
                Some(Ordering::Equal) => return,
                Some(Ordering::Greater) => DriftKind::Narrowed,
                Some(Ordering::Less) => DriftKind::Widened,
                None => DriftKind::Breaking,
            },
        };
        let text = |bound: Option<NumberBound<'_>>| match bound {
            None => "none".to_owned(),
            Some(NumberBound { number, exclusive: false }) => number.to_string(),
            Some(NumberBound { number, exclusive: true }) => format!("{number} (excluded)"),
        };
        self.note(at, kind, format!("`{key}` {} -> {}", text(before), text(after)));
    }

    fn multiple(&mut self, at: &ComparedPosition, keywords: Keywords<'v>) {
        let of = |side: &'v Map<String, Value>| side.get("multipleOf");
        let (before, after) = (of(keywords.before), of(keywords.after));
        let kind = match (before, after) {
            (None, None) => return,
            (None, Some(_)) => DriftKind::Narrowed,
            (Some(_), None) => DriftKind::Widened,
            (Some(before), Some(after)) if canonical::same(before, after) => return,
            (Some(before), Some(after)) => match (before.as_u64(), after.as_u64()) {
                (Some(before), Some(after)) if divides(after, before) => DriftKind::Widened,
                (Some(before), Some(after)) if divides(before, after) => DriftKind::Narrowed,
                _ => DriftKind::Breaking,
            },
        };
        self.note(at, kind, "`multipleOf` changed");
    }
}

fn divides(divisor: u64, number: u64) -> bool {
    number.checked_rem(divisor) == Some(0)
}

fn plain<'v>(keywords: &'v Map<String, Value>, key: &str) -> Option<NumberBound<'v>> {
    let Some(Value::Number(number)) = keywords.get(key) else { return None };
    Some(NumberBound { number, exclusive: false })
}

/// The bound of a number: `minimum` and `exclusiveMinimum` together, where the latter is a flag
/// of the former in draft 4 and a bound of its own later.
fn tightest(keywords: &Map<String, Value>, end: BoundSide) -> Option<NumberBound<'_>> {
    let (inclusive, exclusive) = match end {
        BoundSide::Lower => ("minimum", "exclusiveMinimum"),
        BoundSide::Upper => ("maximum", "exclusiveMaximum"),
    };
    let flag = keywords.get(exclusive).and_then(Value::as_bool).unwrap_or(false);
    let first = plain(keywords, inclusive).map(|bound| NumberBound { exclusive: flag, ..bound });
    let second = plain(keywords, exclusive).map(|bound| NumberBound { exclusive: true, ..bound });
    match (first, second) {
        (Some(first), Some(second)) => match tightness(first, second, end) {
            Some(Ordering::Greater) => Some(first),
            _ => Some(second),
        },
        (first, second) => first.or(second),
    }
}

/// Whether the left bound leaves less than the right one (`Greater`); `None`: too close to tell.
fn tightness(left: NumberBound<'_>, right: NumberBound<'_>, end: BoundSide) -> Option<Ordering> {
    let order = compare(left.number, right.number)?;
    let order = if end == BoundSide::Lower { order } else { order.reverse() };
    Some(order.then(left.exclusive.cmp(&right.exclusive)))
}

fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128()) {
        return Some(left.cmp(&right));
    }
    match left.as_f64()?.partial_cmp(&right.as_f64()?)? {
        // As floats they may have become equal.
        Ordering::Equal if left != right => {
            let (left, right) = (Value::Number(left.clone()), Value::Number(right.clone()));
            canonical::same(&left, &right).then_some(Ordering::Equal)
        }
        order @ (Ordering::Less | Ordering::Equal | Ordering::Greater) => Some(order),
    }
}
