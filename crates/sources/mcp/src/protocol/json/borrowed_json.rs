//! JSON that is put together of what lies elsewhere, and is written without a tree of it.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

pub(crate) enum BorrowedJson<'a> {
    Text(Cow<'a, str>),
    Truth(bool),
    List(Vec<BorrowedJson<'a>>),
    Object(BorrowedFields<'a>),
    Whole(Cow<'a, Value>),
}

/// The fields of an object in their order; whoever puts one in knows that it is not there yet.
#[derive(Default)]
pub(crate) struct BorrowedFields<'a>(Vec<(&'a str, BorrowedJson<'a>)>);

impl<'a> BorrowedJson<'a> {
    pub(crate) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn whole(value: &'a Value) -> Self {
        Self::Whole(Cow::Borrowed(value))
    }

    /// Whether a field of an object is a yes.
    pub(crate) fn truth(&self, key: &str) -> bool {
        let Self::Object(BorrowedFields(fields)) = self else { return false };
        fields.iter().any(|(known, said)| *known == key && matches!(said, Self::Truth(true)))
    }
}

impl<'a> BorrowedFields<'a> {
    #[must_use]
    pub(crate) fn and(mut self, key: &'a str, said: BorrowedJson<'a>) -> Self {
        self.put(key, said);
        self
    }

    /// The same with a text.
    #[must_use]
    pub(crate) fn text(self, key: &'a str, text: impl Into<Cow<'a, str>>) -> Self {
        self.and(key, BorrowedJson::text(text))
    }

    pub(crate) fn put(&mut self, key: &'a str, said: BorrowedJson<'a>) {
        self.0.push((key, said));
    }

    /// Adds what was said besides; it never takes the place of what is there.
    #[must_use]
    pub(crate) fn besides(mut self, extra: &'a Map<String, Value>) -> Self {
        let own = self.0.len();
        for (key, value) in extra {
            // Two fields of one map have two names.
            if !self.0.iter().take(own).any(|(known, _)| known == key) {
                self.put(key, BorrowedJson::whole(value));
            }
        }
        self
    }

    pub(crate) fn end(self) -> BorrowedJson<'a> {
        BorrowedJson::Object(self)
    }
}

impl Serialize for BorrowedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Truth(truth) => serializer.serialize_bool(*truth),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(BorrowedFields(fields)) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (key, said) in fields {
                    map.serialize_entry(key, said)?;
                }
                map.end()
            }
            Self::Whole(value) => value.serialize(serializer),
        }
    }
}
