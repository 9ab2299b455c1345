//! The person at the terminal, as running calls may reach them: progress, lines of a log,
//! questions.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use toolcrib_core::{
    BoxFuture, CallKey, Host, HostQuestion, LogEntry, LogLevel, Progress, QuestionError,
    QuestionKind,
};
use toolcrib_json::invisible::exact;
use url::Url;

use super::Output;
use crate::config;

/// At most this often a line tells of progress.
const PAUSE: Duration = Duration::from_millis(200);
/// Questions of one command that a person is bothered with.
const MOST_QUESTIONS: usize = 20;
/// Fields of one form.
const MOST_FIELDS: usize = 32;
/// Longest question for one field, in characters.
const LONGEST_QUESTION: usize = 500;

/// Answers for whoever started the command.
pub(crate) struct TerminalHost {
    output: Output,
    asker: String,
    questions: &'static [QuestionKind],
    /// When progress was told last.
    told: Mutex<Option<Instant>>,
    asked: AtomicUsize,
}

struct Questioner {
    output: Output,
    /// Who asks, as a person may be told.
    asker: String,
}

impl TerminalHost {
    pub(crate) fn new(output: Output, who: Option<&str>) -> Self {
        let all: &[QuestionKind] = &[QuestionKind::Form, QuestionKind::Address];
        let questions = if config::person_is_there() { all } else { &[] };
        let asker = who.map_or_else(|| "a tool".to_owned(), |name| format!("`{name}`"));
        let told = Mutex::new(None);
        Self { output, asker, questions, told, asked: AtomicUsize::new(0) }
    }

    fn may_tell(&self) -> bool {
        let Ok(mut told) = self.told.lock() else { return false };
        let due = told.is_none_or(|told| told.elapsed() >= PAUSE);
        if due {
            *told = Some(Instant::now());
        }
        due
    }
}

/// What became of a field of a form.
enum FieldAnswer {
    With(Value),
    Not,
    GivenUp,
}

/// Puts questions to the person; runs where it may wait for lines.
impl Questioner {
    /// Puts the questions of a form one by one; `None` is a person who wants to go on without.
    fn form(&self, params: &Value) -> Option<Map<String, Value>> {
        config::forget_typed();
        self.output.note(&format!(
            "{} asks, and is told what you write; give it no password and no key (Ctrl-D: no answer):",
            self.asker
        ));
        self.output.quote(params.get("message").and_then(Value::as_str).unwrap_or_default());
        let schema = params.get("requestedSchema")?;
        let fields = schema.get("properties")?.as_object()?;
        if fields.len() > MOST_FIELDS {
            self.output
                .note(&format!("it asks for more than {MOST_FIELDS} things, and is refused"));
            return None;
        }
        let mut answers = Map::new();
        for (name, field) in fields {
            let required = schema.get("required").and_then(Value::as_array);
            let required = required.is_some_and(|names| names.iter().any(|other| other == name));
            match self.field(name, field, required) {
                FieldAnswer::With(answer) => drop(answers.insert(name.clone(), answer)),
                FieldAnswer::Not => {}
                FieldAnswer::GivenUp => return None,
            }
        }
        Some(answers)
    }

    fn field(&self, name: &str, field: &Value, required: bool) -> FieldAnswer {
        let text = |key| field.get(key).and_then(Value::as_str);
        let title = text("description").or_else(|| text("title")).unwrap_or(name);
        let choices = choices(field);
        let hint = if choices.is_empty() {
            text("type").unwrap_or("text").to_owned()
        } else {
            choices.join(", ")
        };
        let default = field.get("default").map(ToString::to_string);
        let default = default.map(|default| format!(", {default} if empty")).unwrap_or_default();
        for _ in 0..3 {
            let question = format!("> {title} ({hint}{default})");
            let question: String = question.chars().take(LONGEST_QUESTION).collect();
            self.output.prompt(&format!("{question}:"));
            let Some(line) = config::line().ok().filter(|line| !line.is_empty()) else {
                return FieldAnswer::GivenUp;
            };
            let line = line.trim();
            if line.is_empty() {
                match field.get("default") {
                    Some(default) => return FieldAnswer::With(default.clone()),
                    None if !required => return FieldAnswer::Not,
                    None => {}
                }
            } else if let Some(value) = read(field, &choices, line) {
                return FieldAnswer::With(value);
            }
            self.output.note("that does not fit");
        }
        FieldAnswer::GivenUp
    }

    fn answer(&self, ask: &HostQuestion) -> Value {
        match ask.question {
            QuestionKind::Form => self.form(&ask.params).map_or_else(
                || json!({ "action": "cancel" }),
                |content| json!({ "action": "accept", "content": content }),
            ),
            QuestionKind::Address => {
                let text = |key| ask.params.get(key).and_then(Value::as_str).unwrap_or_default();
                // As the browser will read it: letters of other scripts do not pass for ours.
                let address = Url::parse(text("url")).ok();
                let is_web = |url: &Url| ["http", "https"].contains(&url.scheme());
                let Some(address) = address.filter(is_web) else {
                    self.output
                        .note("a tool asks to open what is no address of the web, and is refused");
                    return json!({ "action": "decline" });
                };
                self.output.note(&format!("{} asks you to open an address:", self.asker));
                self.output.quote(text("message"));
                self.output.note(&format!("Open {address}"));
                self.output.prompt("Did you? [y/N]");
                let line = config::line().unwrap_or_default();
                let accepted = matches!(line.trim(), "y" | "Y" | "yes");
                json!({ "action": if accepted { "accept" } else { "decline" } })
            }
            QuestionKind::Sample | QuestionKind::Roots => json!({ "action": "decline" }),
        }
    }
}

/// The values that a field may have, if they are counted.
fn choices(field: &Value) -> Vec<&str> {
    let listed = |key| field.get(key).and_then(Value::as_array).into_iter().flatten();
    let plain = listed("enum").filter_map(Value::as_str);
    let titled = listed("oneOf").filter_map(|one| one.get("const")?.as_str());
    plain.chain(titled).collect()
}

fn read(field: &Value, choices: &[&str], line: &str) -> Option<Value> {
    if !choices.is_empty() {
        // One that cannot be typed is chosen as it is shown.
        let chosen = choices.iter().find(|choice| **choice == line || exact(choice) == line);
        return chosen.map(|choice| Value::from(*choice));
    }
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => match line {
            "y" | "yes" | "true" => Some(Value::Bool(true)),
            "n" | "no" | "false" => Some(Value::Bool(false)),
            _ => None,
        },
        Some("integer") => line.parse::<i64>().ok().map(Value::from),
        Some("number") => line.parse::<f64>().ok().map(Value::from),
        Some("array") => Some(line.split(',').map(|item| Value::from(item.trim())).collect()),
        _ => Some(Value::from(line)),
    }
}

impl Host for TerminalHost {
    fn progress(&self, _call: CallKey, progress: Progress) {
        if !self.output.is_watched() || !self.may_tell() {
            return;
        }
        let of = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
        let message = progress.message.unwrap_or_default();
        self.output.note(format!("{}{of} {message}", progress.done).trim_end());
    }

    fn hears(&self) -> Option<LogLevel> {
        Some(LogLevel::Warning)
    }

    fn log(&self, _call: CallKey, entry: LogEntry) {
        // A server of an older revision is not asked for a level.
        if Some(entry.level) >= self.hears() {
            let text = entry.data.as_str().map_or_else(|| entry.data.to_string(), str::to_owned);
            self.output.note(&format!("the tool says: {text}"));
        }
    }

    fn answers(&self) -> &[QuestionKind] {
        self.questions
    }

    fn ask(
        &self,
        _call: CallKey,
        ask: HostQuestion,
    ) -> BoxFuture<'_, Result<Value, QuestionError>> {
        let questioner = Questioner { output: self.output.clone(), asker: self.asker.clone() };
        if self.asked.fetch_add(1, Ordering::Relaxed) >= MOST_QUESTIONS {
            return Box::pin(std::future::ready(Err(QuestionError::Unable)));
        }
        Box::pin(async move {
            let output = questioner.output.clone();
            let asking = tokio::task::spawn_blocking(move || questioner.answer(&ask));
            let answer = asking.await.map_err(|_| QuestionError::Cancelled);
            output.answered();
            answer
        })
    }
}
