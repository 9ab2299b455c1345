//! A file for people to look at, without the secrets that stand in it word for word.

use toml_edit::{DocumentMut, Item, Value};
use url::Url;

use crate::secrets::literal_secret::{
    HARMLESS, argument_is_secret, has_known_shape, holds_secret, is_literal_secret,
};

/// What stands in the place of a secret.
const MASK: &str = "[secret]";

/// The text of a `crib.toml` with a mask in the place of what is a secret by its looks: in sources
/// whatever may be one, elsewhere what has the shape of one. `None`: it is no TOML.
pub fn without_secrets(text: &str) -> Option<String> {
    let mut document = text.parse::<DocumentMut>().ok()?;
    for (key, item) in document.iter_mut() {
        let judge = if key.get() == "source" { in_source } else { elsewhere };
        mask(key.get(), item, judge);
    }
    Some(document.to_string())
}

/// Whether a text is a secret, by its name and by the word before it in a list.
type SecretJudge = fn(name: &str, before: Option<&str>, text: &str) -> bool;

fn in_source(name: &str, before: Option<&str>, text: &str) -> bool {
    match before {
        Some(before) => argument_is_secret(before, text),
        None => is_literal_secret(name, text),
    }
}

fn elsewhere(_: &str, _: Option<&str>, text: &str) -> bool {
    has_known_shape(text) || Url::parse(text).is_ok_and(|url| holds_secret(&url))
}

/// What stands under a harmless name is one by its shape alone.
fn judge_of(name: &str, judge: SecretJudge) -> SecretJudge {
    if HARMLESS.contains(&name) { elsewhere } else { judge }
}

fn mask(name: &str, item: &mut Item, judge: SecretJudge) {
    let judge = judge_of(name, judge);
    match item {
        Item::None => {}
        Item::Value(value) => mask_value(name, None, value, judge),
        Item::Table(table) => table.iter_mut().for_each(|(key, item)| mask(key.get(), item, judge)),
        Item::ArrayOfTables(tables) => {
            for table in tables.iter_mut() {
                table.iter_mut().for_each(|(key, item)| mask(key.get(), item, judge));
            }
        }
    }
}

/// `before`: the word before it, in a list.
fn mask_value(name: &str, before: Option<&str>, value: &mut Value, judge: SecretJudge) {
    let judge = judge_of(name, judge);
    match value {
        Value::String(text) if judge(name, before, text.value()) => {
            let decor = value.decor().clone();
            *value = MASK.into();
            *value.decor_mut() = decor;
        }
        Value::Array(items) => {
            let mut before = String::new();
            for item in items.iter_mut() {
                let word = item.as_str().map(str::to_owned);
                mask_value(name, Some(&before), item, judge);
                before = word.unwrap_or_default();
            }
        }
        Value::InlineTable(table) => {
            for (key, value) in table.iter_mut() {
                mask_value(key.get(), None, value, judge);
            }
        }
        Value::String(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_) => {}
    }
}
