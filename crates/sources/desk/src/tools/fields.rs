//! Arguments that several tools share: changes that tell null from absent, lines, addresses.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use toolcrib_core::ToolError;

use super::quoting::plain;
use crate::backend::{FieldChange, Person};

/// Reads a field of an update: null clears it. Stands beside `#[serde(default)]`, which is what
/// an absent field is.
pub(crate) fn change<'de, D, T>(deserializer: D) -> Result<FieldChange<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.map_or(FieldChange::Clear, FieldChange::Set))
}

/// Reads a field of an update that cannot be cleared: null is no value of it.
pub(crate) fn given<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// A text that is set to nothing is cleared.
pub(crate) fn emptied(text: FieldChange<String>) -> FieldChange<String> {
    match text {
        FieldChange::Set(text) if text.trim().is_empty() => FieldChange::Clear,
        kept @ (FieldChange::Keep | FieldChange::Clear | FieldChange::Set(_)) => kept,
    }
}

pub(crate) fn yes() -> bool {
    true
}

/// A text that must be one line with something on it.
pub(crate) fn line(field: &str, text: &str) -> Result<String, ToolError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ToolError::told(format!("`{field}` is empty: say something there")));
    }
    one_line(field, text)
}

/// The same of one that may be empty.
pub(crate) fn one_line(field: &str, text: &str) -> Result<String, ToolError> {
    if text.chars().any(char::is_control) {
        return Err(ToolError::told(format!("`{field}` must be one line, without line breaks")));
    }
    Ok(text.trim().to_owned())
}

/// An address as people write it: `ann@example.org` or `Ann Lee <ann@example.org>`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct AddressArgument(#[schemars(length(min = 3, max = 400))] String);

/// Longest address, RFC 5321 section 4.5.3.1.3 less the two brackets.
const LONGEST_ADDRESS: usize = 254;

impl AddressArgument {
    fn read(&self) -> Option<Person> {
        let text = self.0.trim();
        if text.chars().any(char::is_control) {
            return None;
        }
        let (name, address) = match text.strip_suffix('>').and_then(|text| text.split_once('<')) {
            Some((name, address)) => (name.trim().trim_matches('"').trim(), address.trim()),
            None => ("", text),
        };
        let (local, domain) = address.rsplit_once('@')?;
        let is_atom = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
        let is_label = |label: &str| {
            let legal = label.chars().all(|c| c.is_alphanumeric() || c == '-');
            !label.is_empty() && label.len() <= 63 && legal
        };
        let fits = !local.is_empty()
            && local.chars().all(is_atom)
            && domain.split('.').all(is_label)
            && address.len() <= LONGEST_ADDRESS
            && !name.contains(['<', '>', '"', '\\']);
        let name = (!name.is_empty()).then(|| name.to_owned());
        fits.then(|| Person { address: address.to_owned(), name })
    }
}

/// Reads addresses, each once whatever its case; the first name of one is kept.
pub(crate) fn people(field: &str, addresses: &[AddressArgument]) -> Result<Vec<Person>, ToolError> {
    let mut people: Vec<Person> = Vec::new();
    for address in addresses {
        let person = address.read().ok_or_else(|| {
            let shown = plain(&address.0, 60);
            ToolError::told(format!(
                "`{field}`: `{shown}` is no address: write `ann@example.org` or \
                 `Ann Lee <ann@example.org>`"
            ))
        })?;
        if !people.iter().any(|known| is_same(known, &person)) {
            people.push(person);
        }
    }
    Ok(people)
}

/// Whether two stand for one mailbox.
pub(crate) fn is_same(one: &Person, other: &Person) -> bool {
    one.address.to_lowercase() == other.address.to_lowercase()
}

/// Finds what is meant by an id or by a name, case aside.
pub(crate) fn named<'a, T>(
    what: &str,
    said: &str,
    known: &'a [T],
    of: impl Fn(&T) -> (&str, &str),
) -> Result<&'a T, ToolError> {
    if let Some(found) = known.iter().find(|one| of(one).0 == said) {
        return Ok(found);
    }
    let wanted = said.trim().to_lowercase();
    let mut found = known.iter().filter(|one| of(one).1.trim().to_lowercase() == wanted);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            let message = format!("there are several {what}s named `{said}`: give the id of one");
            Err(ToolError::told(message))
        }
        (None, _) => {
            let names: Vec<_> =
                known.iter().take(20).map(|one| format!("`{}`", of(one).1)).collect();
            let names = names.join(", ");
            let shown = plain(said, 60);
            Err(ToolError::told(format!("there is no {what} `{shown}`; there are: {names}")))
        }
    }
}
