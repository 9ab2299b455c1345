//! A line of a file of tasks.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolcrib_core::Fingerprint;
use toolcrib_engine::rules::{PatternProblem, ToolPatterns};

use crate::item::{CallText, InputPart, ResultText, ThreadItem};

/// Longest line that is read, in bytes.
const LONGEST: usize = 8 << 20;
/// Names and patterns of one task.
const MOST_NAMES: usize = 1_000;
/// Longest id, in bytes.
const LONGEST_ID: usize = 200;

/// What one or more samples are about.
#[derive(Debug, Clone, PartialEq)]
pub struct RolloutTask {
    /// Its own, or `line-N`.
    pub id: String,
    /// Where it stands, from 1.
    pub line: usize,
    /// What the agent is told, the last of it by a user.
    pub thread: Vec<ThreadItem>,
    /// In the place of the instructions of the agent.
    pub instructions: Option<String>,
    /// The tools that there are for it; `None`: all of the agent.
    pub tools: Option<ToolPatterns>,
    /// Tools that the first turn must call.
    pub force: Vec<String>,
    /// The whole line, for whoever judges.
    pub data: Map<String, Value>,
}

/// What we read of a line; whatever else stands there is for whoever judges.
#[derive(Deserialize)]
struct TaskFields {
    id: Option<Value>,
    prompt: Option<String>,
    messages: Option<Vec<TaskMessage>>,
    instructions: Option<String>,
    tools: Option<Vec<String>>,
    #[serde(default)]
    force: Vec<String>,
}

/// A message as the chat API has it.
#[derive(Deserialize)]
struct TaskMessage {
    role: String,
    #[serde(default)]
    content: Option<Value>,
    #[serde(default)]
    tool_calls: Vec<TaskCall>,
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
struct TaskCall {
    id: String,
    function: TaskFunction,
}

#[derive(Deserialize)]
struct TaskFunction {
    name: String,
    arguments: Value,
}

impl RolloutTask {
    /// Reads a line; `number`: its own, from 1.
    ///
    /// # Errors
    /// What is wrong with it, and what to write instead.
    pub fn read(line: &str, number: usize) -> Result<Self, String> {
        if line.len() > LONGEST {
            return Err(format!("it is longer than {} MiB: shorten it", LONGEST >> 20));
        }
        let data: Value = serde_json::from_str(line)
            .map_err(|error| format!("it is no JSON ({error}): write one object on each line"))?;
        let Value::Object(data) = data else {
            return Err("it is no object: write {\"prompt\": \"...\"}".to_owned());
        };
        let read = serde_json::from_value(Value::Object(data.clone()));
        let fields: TaskFields = read.map_err(|error| format!("it cannot be used: {error}"))?;
        let id = match fields.id {
            None | Some(Value::Null) => format!("line-{number}"),
            Some(Value::String(id)) => id,
            Some(Value::Number(id)) => id.to_string(),
            Some(_) => return Err("its `id` is no text: write {\"id\": \"a-7\"}".to_owned()),
        };
        if id.is_empty() || id.len() > LONGEST_ID {
            return Err(format!("its `id` is empty or longer than {LONGEST_ID} bytes"));
        }
        let names = fields.force.len() + fields.tools.as_ref().map_or(0, Vec::len);
        if names > MOST_NAMES {
            return Err(format!("it names more than {MOST_NAMES} tools"));
        }
        let tools = fields.tools.map(|patterns| tools(&patterns)).transpose()?;
        let thread = thread(fields.prompt, fields.messages)?;
        Ok(Self {
            id,
            line: number,
            thread,
            instructions: fields.instructions,
            tools,
            force: fields.force,
            data,
        })
    }

    /// The id of one of its samples: the same for the same seed, agent and words of the task.
    pub fn sample_id(&self, agent: &str, seed: u64, sample: u32) -> String {
        let told = (agent, seed, &self.id, &self.data, sample);
        let print = Fingerprint::of(&serde_json::to_value(told).unwrap_or_default());
        let print: String = print.to_string().chars().take(24).collect();
        format!("ro_{print}")
    }
}

/// The patterns of the rules; what is wrong with the first that is none.
fn tools(patterns: &[String]) -> Result<ToolPatterns, String> {
    ToolPatterns::read(patterns).map_err(|wrong| {
        let first = wrong.into_iter().next();
        let told = first.map(|PatternProblem { index, what, cure }| {
            format!("its `tools[{index}]`: {what}: {cure}")
        });
        told.unwrap_or_else(|| "its `tools` cannot be read".to_owned())
    })
}

/// The number from which an engine draws for the sample of this id.
pub fn seed_of(id: &str) -> u32 {
    let print = Fingerprint::of(&Value::String(format!("seed:{id}"))).to_string();
    let digits: String = print.chars().filter(char::is_ascii_hexdigit).take(7).collect();
    u32::from_str_radix(&digits, 16).unwrap_or_default()
}

fn thread(
    prompt: Option<String>,
    messages: Option<Vec<TaskMessage>>,
) -> Result<Vec<ThreadItem>, String> {
    let items = match (prompt, messages) {
        (Some(prompt), None) => vec![ThreadItem::user(prompt)],
        (None, Some(messages)) => {
            messages.into_iter().map(item).collect::<Result<Vec<_>, String>>()?
        }
        (Some(_), Some(_)) => return Err("it has a `prompt` and `messages`: leave one".to_owned()),
        (None, None) => {
            return Err("it says nothing to do: write `prompt`, or `messages`".to_owned());
        }
    };
    match items.last() {
        Some(ThreadItem::User { .. } | ThreadItem::Results { .. }) => Ok(items),
        _ => Err("its last message is not the user's".to_owned()),
    }
}

fn item(message: TaskMessage) -> Result<ThreadItem, String> {
    let TaskMessage { role, content, tool_calls, tool_call_id } = message;
    let words = || text(content.as_ref());
    Ok(match (role.as_str(), tool_call_id) {
        ("system" | "developer", _) => ThreadItem::System { text: words()? },
        ("user", _) => ThreadItem::User { parts: parts(content)? },
        ("assistant", _) => {
            let calls = tool_calls.into_iter().map(|call| {
                let told = call.function.arguments;
                let arguments = told.as_str().map_or_else(|| told.to_string(), str::to_owned);
                CallText { id: call.id, name: call.function.name, arguments }
            });
            ThreadItem::Assistant { text: words()?, calls: calls.collect(), echo: None }
        }
        ("tool", Some(call_id)) => {
            let (name, text) = (String::new(), words()?);
            let result = ResultText { call_id, name, text, is_error: false };
            ThreadItem::Results { results: vec![result], echo: None }
        }
        ("tool", None) => return Err("a message of a tool has no `tool_call_id`".to_owned()),
        (role, _) => return Err(format!("a message has the role `{role}`, which there is not")),
    })
}

fn text(content: Option<&Value>) -> Result<String, String> {
    match content {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().map(|part| part.get("text").and_then(Value::as_str));
            let texts = texts.collect::<Option<Vec<_>>>();
            texts.map(|texts| texts.join("\n")).ok_or_else(no_text)
        }
        Some(_) => Err(no_text()),
    }
}

fn no_text() -> String {
    "the `content` of a message is no text".to_owned()
}

/// What a user says: text, and images by their addresses.
fn parts(content: Option<Value>) -> Result<Vec<InputPart>, String> {
    let Some(Value::Array(parts)) = content else {
        return Ok(vec![InputPart::Text { text: text(content.as_ref())? }]);
    };
    let part = |part: &Value| {
        let text = part.get("text").and_then(Value::as_str);
        let url = part.pointer("/image_url/url").and_then(Value::as_str);
        match (text, url) {
            (Some(text), _) => Ok(InputPart::Text { text: text.to_owned() }),
            (None, Some(url)) => Ok(image(url)),
            (None, None) => Err("a part of a message is neither text nor image".to_owned()),
        }
    };
    parts.iter().map(part).collect()
}

fn image(url: &str) -> InputPart {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((mime, data)) => InputPart::Image { mime: mime.to_owned(), data: data.to_owned() },
        None => InputPart::ImageUrl { url: url.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use toolcrib_engine::rules::ToolPatterns;

    use super::{RolloutTask, seed_of};
    use crate::item::ThreadItem;

    #[test]
    fn a_line_is_a_prompt_or_messages_and_whatever_a_judge_wants() {
        let task = RolloutTask::read(r#"{"prompt": "2+2?", "answer": 4}"#, 3).unwrap();
        assert_eq!((task.id.as_str(), task.line), ("line-3", 3));
        assert_eq!(task.thread, [ThreadItem::user("2+2?")]);
        assert_eq!(task.data["answer"], 4);
        let line = r#"{"id": 7, "messages": [{"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "2+2?"}]}], "tools": ["calc*"],
            "force": ["calculate"]}"#;
        let task = RolloutTask::read(line, 1).unwrap();
        assert_eq!((task.id.as_str(), task.thread.len()), ("7", 2));
        assert_eq!(task.tools, Some(ToolPatterns::read(&["calc*"]).unwrap()));
        assert_eq!(task.force, ["calculate"]);
    }

    #[test]
    fn a_broken_line_says_what_is_wrong_with_it() {
        let lines = [
            ("{\"prompt\": ", "no JSON"),
            ("[]", "no object"),
            ("{}", "nothing to do"),
            (r#"{"prompt": "a", "messages": []}"#, "leave one"),
            (r#"{"messages": [{"role": "assistant", "content": "a"}]}"#, "not the user's"),
            (r#"{"messages": [{"role": "judge", "content": "a"}]}"#, "`judge`"),
            (r#"{"prompt": 7}"#, "cannot be used"),
            (r#"{"prompt": "a", "id": []}"#, "`id`"),
            (r#"{"prompt": "a", "tools": ["a*", "colour:red"]}"#, "`tools[1]`"),
        ];
        for (line, told) in lines {
            let error = RolloutTask::read(line, 1).unwrap_err();
            assert!(error.contains(told), "{line}: {error}");
        }
    }

    #[test]
    fn the_same_sample_has_the_same_id_and_seed_and_no_other_has() {
        let task = RolloutTask::read(r#"{"id": "a", "prompt": "x"}"#, 1).unwrap();
        let moved = RolloutTask::read(r#"{"id": "a", "prompt": "x"}"#, 9).unwrap();
        let other = RolloutTask::read(r#"{"id": "a", "prompt": "y"}"#, 1).unwrap();
        let id = task.sample_id("solver", 0, 0);
        assert_eq!(moved.sample_id("solver", 0, 0), id);
        for differs in [
            other.sample_id("solver", 0, 0),
            task.sample_id("other", 0, 0),
            task.sample_id("solver", 1, 0),
            task.sample_id("solver", 0, 1),
        ] {
            assert_ne!(differs, id);
            assert_ne!(seed_of(&differs), seed_of(&id));
        }
        assert_eq!((id.len(), seed_of(&id)), (27, seed_of(&id)));
    }
}
