//! Properties of objects and items of arrays.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::super::drift_findings::DriftKind;
use super::keywords::PropertyReading;
use super::{ANYTHING, BeforeAfter, ComparedPosition, Comparison, EMPTY, Keywords, NOTHING};
use crate::pins::terminal_text;

/// What a schema says of the names that it does not list.
#[derive(Debug, Clone, Copy)]
enum UnlistedProperties<'v> {
    Stated(&'v Value),
    /// It lists properties and says nothing of others.
    Undocumented,
}

/// The properties of one side.
struct Properties<'v> {
    listed: &'v Map<String, Value>,
    required: BTreeSet<&'v str>,
    extra: UnlistedProperties<'v>,
}

impl<'v> Properties<'v> {
    fn of(keywords: &'v Map<String, Value>, reading: PropertyReading) -> Self {
        let required = keywords.get("required").and_then(Value::as_array);
        let extra = match (keywords.get("additionalProperties"), reading) {
            // `{}` is `true` in other words.
            (Some(Value::Object(empty)), _) if empty.is_empty() => {
                UnlistedProperties::Stated(&ANYTHING)
            }
            (Some(stated), _) => UnlistedProperties::Stated(stated),
            (None, PropertyReading::Documented) if keywords.contains_key("properties") => {
                UnlistedProperties::Undocumented
            }
            (None, _) => UnlistedProperties::Stated(&ANYTHING),
        };
        Self {
            listed: keywords.get("properties").and_then(Value::as_object).unwrap_or(&EMPTY),
            required: required.into_iter().flatten().filter_map(Value::as_str).collect(),
            extra,
        }
    }

    /// The schema under which a name stands, listed or not.
    fn schema(&self, name: &str) -> &'v Value {
        match (self.listed.get(name), self.extra) {
            (Some(schema), _) | (None, UnlistedProperties::Stated(schema)) => schema,
            // What is required is documented by that.
            (None, UnlistedProperties::Undocumented) if self.required.contains(name) => &ANYTHING,
            (None, UnlistedProperties::Undocumented) => &NOTHING,
        }
    }
}

impl<'v> Comparison<'v> {
    pub(super) fn objects(&mut self, at: &ComparedPosition, keywords: Keywords<'v>) {
        let before = Properties::of(keywords.before, at.reading);
        let after = Properties::of(keywords.after, at.reading);
        let patterned = [keywords.before, keywords.after]
            .iter()
            .any(|side| side.contains_key("patternProperties"));
        let names: BTreeSet<&str> = [&before, &after]
            .iter()
            .flat_map(|side| side.listed.keys().map(String::as_str).chain(side.required.clone()))
            .collect();
        if patterned {
            // A listed name may match a pattern besides.
            for key in ["properties", "patternProperties", "additionalProperties"] {
                self.as_text_or_breaking(at, keywords, key);
            }
        } else {
            for name in &names {
                self.property(at, name, (&before, &after));
            }
            self.extra(at, before.extra, after.extra);
        }
        for name in names {
            self.required(at, name, (&before, &after));
        }
        let names = keywords.get("propertyNames");
        if names.before.is_some() || names.after.is_some() {
            let at = at.within(" (names)", at.reading);
            self.schema(&at, or_anything(names));
        }
    }

    fn property(
        &mut self,
        at: &ComparedPosition,
        name: &str,
        (before, after): (&Properties<'v>, &Properties<'v>),
    ) {
        let at = at.within(&format!(".{name}"), at.reading);
        let schemas = BeforeAfter { before: before.schema(name), after: after.schema(name) };
        let refused = |schema: &Value| *schema == NOTHING;
        let newly_required = after.required.contains(name) && !before.required.contains(name);
        match (refused(schemas.before), refused(schemas.after)) {
            // What is required besides is told with the requirement.
            (true, false) if newly_required => {}
            (true, false) => self.note(&at, DriftKind::Widened, "is new and optional"),
            (false, true) if before.required.contains(name) => {
                self.note(&at, DriftKind::Breaking, "is gone");
            }
            (false, true) => self.note(&at, DriftKind::Narrowed, "is gone"),
            (..) => self.schema(&at, schemas),
        }
    }

    fn required(
        &mut self,
        at: &ComparedPosition,
        name: &str,
        (before, after): (&Properties<'v>, &Properties<'v>),
    ) {
        let at = at.within(&format!(".{name}"), at.reading);
        match (before.required.contains(name), after.required.contains(name)) {
            (false, true) if before.listed.contains_key(name) => {
                self.note(&at, DriftKind::Breaking, "is required now");
            }
            (false, true) => self.note(&at, DriftKind::Breaking, "is new and required"),
            (true, false) => self.note(&at, DriftKind::Widened, "is no longer required"),
            (..) => {}
        }
    }

    fn extra(
        &mut self,
        at: &ComparedPosition,
        before: UnlistedProperties<'v>,
        after: UnlistedProperties<'v>,
    ) {
        let at = at.within(".*", at.reading);
        match (before, after) {
            (UnlistedProperties::Stated(before), UnlistedProperties::Stated(after)) => {
                self.schema(&at, BeforeAfter { before, after });
            }
            (UnlistedProperties::Undocumented, UnlistedProperties::Undocumented) => {}
            (UnlistedProperties::Stated(Value::Bool(false)), UnlistedProperties::Undocumented) => {
                self.note(&at, DriftKind::Widened, "undocumented names are no longer refused");
            }
            (UnlistedProperties::Stated(Value::Bool(true)), UnlistedProperties::Undocumented) => {
                self.note(&at, DriftKind::Narrowed, "other names are no longer documented");
            }
            (UnlistedProperties::Undocumented, UnlistedProperties::Stated(Value::Bool(false))) => {
                self.note(&at, DriftKind::Narrowed, "undocumented names are refused now");
            }
            (UnlistedProperties::Undocumented, UnlistedProperties::Stated(Value::Bool(true))) => {
                self.note(&at, DriftKind::Widened, "other names are documented now");
            }
            (UnlistedProperties::Stated(_), UnlistedProperties::Undocumented)
            | (UnlistedProperties::Undocumented, UnlistedProperties::Stated(_)) => {
                self.note(&at, DriftKind::Breaking, "changed in a way that cannot be compared");
            }
        }
    }

    pub(super) fn arrays(&mut self, at: &ComparedPosition, keywords: Keywords<'v>) {
        let is_tuple = |side: &Map<String, Value>| {
            ["prefixItems", "additionalItems"].iter().any(|key| side.contains_key(*key))
                || side.get("items").is_some_and(Value::is_array)
        };
        if is_tuple(keywords.before) || is_tuple(keywords.after) {
            for key in ["prefixItems", "items", "additionalItems"] {
                self.as_text_or_breaking(at, keywords, key);
            }
        } else {
            let items = keywords.get("items");
            if items.before.is_some() || items.after.is_some() {
                self.schema(&at.within("[]", at.reading), or_anything(items));
            }
        }
    }

    /// Of keywords that lean on one another even the presence of one cannot be told alone.
    fn as_text_or_breaking(&mut self, at: &ComparedPosition, keywords: Keywords<'v>, key: &str) {
        let sides = keywords.get(key);
        let alike = match (sides.before, sides.after) {
            (Some(before), Some(after)) => self.alike(before, after),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !alike {
            let text = format!("`{}` changed, which cannot be compared", terminal_text::word(key));
            self.note(at, DriftKind::Breaking, text);
        }
    }
}

fn or_anything(schemas: BeforeAfter<Option<&Value>>) -> BeforeAfter<&Value> {
    BeforeAfter {
        before: schemas.before.unwrap_or(&ANYTHING),
        after: schemas.after.unwrap_or(&ANYTHING),
    }
}
