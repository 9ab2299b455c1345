//! Paths into what came, and variables in what is sent.

use serde_json::{Map, Value};

/// All that a path names: `task.id`, `history[0].parts[*]`.
pub(super) fn dig<'v>(root: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut found = vec![root];
    for part in path.split(['.', '[']).filter(|part| !part.is_empty()) {
        found = found.into_iter().flat_map(|value| within(value, part)).collect();
    }
    found
}

fn within<'v>(value: &'v Value, part: &str) -> Vec<&'v Value> {
    let Some(index) = part.strip_suffix(']') else {
        return value.get(part).into_iter().collect();
    };
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    if index == "*" {
        return items.iter().collect();
    }
    index.parse::<usize>().ok().and_then(|index| items.get(index)).into_iter().collect()
}

/// What the variables of a test are; those of a step are `STEP.NAME`.
pub(super) type Variables = Map<String, Value>;

/// The same with each `{{NAME}}` replaced; what is unknown is an error that names it.
pub(super) fn fill(value: &Value, variables: &Variables) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => fill_text(text, variables)?,
        Value::Array(items) => {
            let items: Result<Vec<_>, _> = items.iter().map(|it| fill(it, variables)).collect();
            Value::Array(items?)
        }
        Value::Object(members) => {
            let mut filled = Map::new();
            for (key, value) in members {
                filled.insert(key.clone(), fill(value, variables)?);
            }
            Value::Object(filled)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

fn fill_text(text: &str, variables: &Variables) -> Result<Value, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((name, behind)) = behind.split_once("}}") else { break };
        filled.push_str(before);
        let known = variables.get(name.trim());
        let known = known.ok_or_else(|| format!("nobody said what `{{{{{name}}}}}` is"))?;
        let text = known.as_str().map_or_else(|| known.to_string(), str::to_owned);
        filled.push_str(&text);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(Value::String(filled))
}

/// Whether a condition holds: `PATH == WORD`, `PATH != WORD`, `PATH in [WORD, WORD]`.
pub(super) fn holds(condition: &str, root: &Value) -> Result<bool, String> {
    let found = |path: &str| {
        let found = dig(root, path.trim());
        found.first().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    if let Some((path, words)) = condition.split_once(" in ") {
        let found = found(path);
        let words = words.trim().trim_start_matches('[').trim_end_matches(']');
        return Ok(words.split(',').any(|word| Some(word.trim()) == found.as_deref()));
    }
    if let Some((path, word)) = condition.split_once(" != ") {
        return Ok(found(path).as_deref() != Some(word.trim()));
    }
    if let Some((path, word)) = condition.split_once(" == ") {
        return Ok(found(path).as_deref() == Some(word.trim()));
    }
    Err(format!("`{condition}` is no condition that is known here"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{dig, fill, holds};

    #[test]
    fn a_path_names_fields_items_and_all_items() {
        let root = json!({ "tasks": [{ "id": "1" }, { "id": "2" }], "a": { "b": 7 } });
        assert_eq!(dig(&root, "a.b"), [&json!(7)]);
        assert_eq!(dig(&root, "tasks[*].id"), [&json!("1"), &json!("2")]);
        assert_eq!(dig(&root, "tasks[1].id"), [&json!("2")]);
        assert_eq!(dig(&root, "tasks[2].id"), Vec::<&serde_json::Value>::new());
    }

    #[test]
    fn a_variable_is_replaced_wherever_it_stands_and_an_unknown_one_is_told() {
        let variables = json!({ "send.taskId": "t7" });
        let variables = variables.as_object().unwrap();
        let value = json!({ "id": "{{send.taskId}}", "all": ["a{{send.taskId}}b", 1, null] });
        assert_eq!(fill(&value, variables), Ok(json!({ "id": "t7", "all": ["at7b", 1, null] })));
        assert!(fill(&json!("{{else}}"), variables).unwrap_err().contains("{{else}}"));
    }

    #[test]
    fn a_condition_compares_what_a_path_names() {
        let root = json!({ "status": { "state": "DONE" } });
        assert_eq!(holds("status.state in [FAILED, DONE]", &root), Ok(true));
        assert_eq!(holds("status.state == FAILED", &root), Ok(false));
        assert_eq!(holds("status.state != FAILED", &root), Ok(true));
        assert!(holds("status.state", &root).is_err());
    }
}
