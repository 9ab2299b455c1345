//! JSON that is kept for long and read now and then.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A value of JSON, kept as its text; cloning shares it.
///
/// The tree of a small schema takes ten times the memory of its text, and the schemas of most
/// tools are read when the tools are listed and never else. Whoever reads one makes the tree anew.
#[derive(Clone)]
pub struct CompactJson<T = Value>(CompactForm<T>);

#[derive(Clone)]
enum CompactForm<T> {
    /// `null`, or no field at all.
    Empty,
    Text(Arc<str>),
    /// What would not come back from its text as it is: it is nested deeper than a reader goes.
    Whole(Arc<T>),
}

impl<T: Default + PartialEq + Serialize + DeserializeOwned> CompactJson<T> {
    pub fn new(value: T) -> Self {
        if value == T::default() {
            return Self(CompactForm::Empty);
        }
        let text = serde_json::to_string(&value).unwrap_or_default();
        let comes_back = serde_json::from_str::<T>(&text).is_ok_and(|read| read == value);
        Self(if comes_back {
            CompactForm::Text(text.into())
        } else {
            CompactForm::Whole(Arc::new(value))
        })
    }

    /// The value, made anew of its text.
    pub fn value(&self) -> T
    where
        T: Clone,
    {
        match &self.0 {
            CompactForm::Empty => T::default(),
            // It was read once already.
            CompactForm::Text(text) => serde_json::from_str(text).unwrap_or_default(),
            CompactForm::Whole(value) => T::clone(value),
        }
    }

    /// Changes the value where it stands. `edit` tells whether it changed anything.
    pub fn edit(&mut self, edit: impl FnOnce(&mut T) -> bool) -> bool
    where
        T: Clone,
    {
        let mut value = self.value();
        let changed = edit(&mut value);
        if changed {
            *self = Self::new(value);
        }
        changed
    }
}

impl<T> CompactJson<T> {
    /// Whether it is `null`, or has no field.
    pub fn is_empty(&self) -> bool {
        matches!(self.0, CompactForm::Empty)
    }

    /// The value as it is kept: JSON without a blank too many. `None`: it is kept in another form.
    pub fn text(&self) -> Option<&str> {
        match &self.0 {
            CompactForm::Text(text) => Some(text),
            CompactForm::Empty | CompactForm::Whole(_) => None,
        }
    }

    /// Whether a word of plain letters may stand in it; `false` is certain, and cheap to learn.
    pub fn may_hold(&self, word: &str) -> bool {
        match &self.0 {
            CompactForm::Empty => false,
            CompactForm::Text(text) => text.contains(word),
            CompactForm::Whole(_) => true,
        }
    }
}

impl<T> Default for CompactJson<T> {
    fn default() -> Self {
        Self(CompactForm::Empty)
    }
}

impl<T: Default + PartialEq + Serialize + DeserializeOwned> From<T> for CompactJson<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// As values are equal: the order of fields does not count.
impl<T: Clone + Default + PartialEq + Serialize + DeserializeOwned> PartialEq for CompactJson<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (CompactForm::Empty, CompactForm::Empty) => true,
            (CompactForm::Text(one), CompactForm::Text(two)) if one == two => true,
            (CompactForm::Empty, _) | (_, CompactForm::Empty) => false,
            _ => self.value() == other.value(),
        }
    }
}

impl<T: Clone + Default + PartialEq + Serialize + DeserializeOwned> PartialEq<T>
    for CompactJson<T>
{
    fn eq(&self, other: &T) -> bool {
        self.value() == *other
    }
}

impl<T: Clone + Default + PartialEq + Serialize + DeserializeOwned> Serialize for CompactJson<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for CompactJson<T>
where
    T: Default + PartialEq + Serialize + DeserializeOwned,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

/// As the value is written.
impl<T: fmt::Debug + Default> fmt::Debug for CompactJson<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            CompactForm::Empty => T::default().fmt(f),
            CompactForm::Text(text) => f.write_str(text),
            CompactForm::Whole(value) => value.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn a_value_comes_back_as_it_was_however_deep_it_is() {
        let deep = (0..500).fold(json!(1), |inner, _| json!([inner]));
        let odd = json!({ "b": -0.0, "a": [1e300, u64::MAX, i64::MIN, 0.1, "\u{0}é"], "": {} });
        for value in [json!(null), json!({}), json!([]), json!("x"), odd, deep] {
            let mut packed = CompactJson::new(value.clone());
            assert_eq!(packed, value);
            assert_eq!(packed.value().to_string(), value.to_string());
            assert_eq!(packed.is_empty(), value.is_null());
            let written = value.to_string();
            assert!(packed.text().is_none_or(|text| text == written));
            assert!(!packed.edit(|_| false) && packed == CompactJson::new(value));
        }
        let mut fields = CompactJson::<Map<String, Value>>::default();
        assert!(fields.is_empty() && fields.value().is_empty());
        assert!(fields.edit(|fields| fields.insert("a".to_owned(), json!(1)).is_none()));
        assert_eq!(json!(fields), json!({ "a": 1 }));
        assert!(fields.edit(|fields| fields.remove("a").is_some()) && fields.is_empty());
    }

    #[test]
    fn the_order_of_fields_is_kept_and_does_not_count() {
        let read = |text: &str| serde_json::from_str::<CompactJson>(text).unwrap();
        let (one, two) = (read(r#"{"a":1,"b":2}"#), read(r#"{"b":2,"a":1}"#));
        assert_eq!(one, two);
        assert_ne!(one, read(r#"{"a":1}"#));
        assert_eq!(serde_json::to_string(&two).unwrap(), r#"{"b":2,"a":1}"#);
    }
}
