//! The tools by which a model gives work to its team.

use serde_json::{Map, Value, json};

use super::mode::AgentMode;
use super::names::{ASK, DELEGATE, FIND, HAND_OVER, REPORT_MISSING, ROUTE};
use super::{Specialist, Team};
use crate::model::CallerTool;

/// So few specialists have a tool each: a model chooses better among names with descriptions.
const EACH: usize = 5;
/// More than so many are found by a search.
const LISTED: usize = 30;
/// Bytes of a description in a list.
const LINE: usize = 200;
/// Tools of one specialist that the router names.
const ROUTED: usize = 60;

/// A tool that the router can name.
pub(crate) struct RoutedTool {
    pub(crate) name: String,
    /// What it takes, in one line.
    pub(crate) signature: String,
    pub(crate) summary: String,
}

impl Team {
    /// What the model is shown of the team. `routed`: the tools of a specialist, for the router.
    pub(crate) fn tools(
        &self,
        mode: AgentMode,
        routed: &dyn Fn(&Specialist) -> Vec<RoutedTool>,
    ) -> Vec<CallerTool> {
        match mode {
            AgentMode::Direct | AgentMode::Auto => Vec::new(),
            AgentMode::Router => vec![self.route(routed)],
            AgentMode::Planner => {
                let mut tools = self.delegates();
                tools.push(self.hand_over());
                tools
            }
        }
    }

    fn names(&self) -> Vec<&str> {
        self.specialists.iter().map(|specialist| specialist.agent.name.as_str()).collect()
    }

    fn lines(&self) -> String {
        let lines = self.specialists.iter().map(|Specialist { agent }| {
            format!("- `{}`: {}", agent.name, short(&agent.description))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn delegates(&self) -> Vec<CallerTool> {
        if self.specialists.len() <= EACH {
            return self.specialists.iter().map(ask).collect();
        }
        let is_listed = self.specialists.len() <= LISTED;
        let who = if is_listed {
            format!("Specialists:\n{}", self.lines())
        } else {
            format!(
                "There are {} specialists: `{FIND}` tells which one fits.",
                self.specialists.len()
            )
        };
        let mut tools = vec![CallerTool {
            name: DELEGATE.to_owned(),
            description: format!("{GIVE}\n{who}"),
            parameters: task_schema(Some(self.who())),
        }];
        if !is_listed {
            tools.push(find());
        }
        tools
    }

    /// The parameter that names one.
    fn who(&self) -> Value {
        if self.specialists.len() <= LISTED {
            json!({ "type": "string", "enum": self.names() })
        } else {
            json!({ "type": "string", "description": "Who does it." })
        }
    }

    fn hand_over(&self) -> CallerTool {
        let description = "Hands the conversation over to a specialist, whose answer is the answer \
             to the user. Use it only where you have nothing to add. It must be the only call of \
             your turn.";
        CallerTool {
            name: HAND_OVER.to_owned(),
            description: description.to_owned(),
            parameters: task_schema(Some(self.who())),
        }
    }

    fn route(&self, routed: &dyn Fn(&Specialist) -> Vec<RoutedTool>) -> CallerTool {
        let sets = self.specialists.iter().map(|specialist| {
            let tools = routed(specialist);
            let more = tools.len().saturating_sub(ROUTED);
            let mut lines: Vec<_> = tools
                .iter()
                .take(ROUTED)
                .map(|tool| format!("  - `{}`: {}", short(&tool.signature), short(&tool.summary)))
                .collect();
            if more > 0 {
                lines.push(format!("  - and {more} more"));
            }
            let agent = &specialist.agent;
            format!("- `{}`: {}\n{}", agent.name, short(&agent.description), lines.join("\n"))
        });
        let sets = sets.collect::<Vec<_>>().join("\n");
        CallerTool {
            name: ROUTE.to_owned(),
            description: format!(
                "Runs exactly the tool that you name, of the set that you name, and gives you its \
                 result. If its arguments do not fit, you are told how they are to be.\n{sets}"
            ),
            parameters: json!({
                "type": "object", "additionalProperties": false,
                "required": ["toolset", "tool", "arguments"],
                "properties": {
                    "toolset": { "type": "string", "enum": self.names() },
                    "tool": { "type": "string", "description": "A tool of this set." },
                    "arguments": { "type": "object", "description": "What the tool takes." },
                },
            }),
        }
    }
}

const GIVE: &str = "Gives a part of the task to a specialist, who works alone with tools of its own \
     and knows nothing of this conversation. Parts that do not need each other may be given at the \
     same time. The answer names the calls that were made (`evidence`); check it against them.";

fn ask(Specialist { agent }: &Specialist) -> CallerTool {
    CallerTool {
        name: format!("{ASK}{}", agent.name),
        description: format!("{}\nThe specialist: {}", GIVE, agent.description),
        parameters: task_schema(None),
    }
}

fn find() -> CallerTool {
    CallerTool {
        name: FIND.to_owned(),
        description: "Finds the specialists who can do something.".to_owned(),
        parameters: json!({
            "type": "object", "additionalProperties": false, "required": ["query"],
            "properties": { "query": { "type": "string", "description": "What is to be done." } },
        }),
    }
}

/// What a specialist has beside its tools.
pub(crate) fn report_missing() -> CallerTool {
    CallerTool {
        name: REPORT_MISSING.to_owned(),
        description:
            "Tells whoever gave you the task that you have no tool for a part of it. Then \
             answer with what you could do."
                .to_owned(),
        parameters: json!({
            "type": "object", "additionalProperties": false, "required": ["capability"],
            "properties": {
                "capability": { "type": "string", "description": "What a tool would have to do." },
            },
        }),
    }
}

/// `who`: the parameter that names the specialist, where the tool is for more than one.
fn task_schema(who: Option<Value>) -> Value {
    let required = if who.is_some() { vec!["specialist", "task"] } else { vec!["task"] };
    let mut properties = Map::new();
    properties.extend(who.map(|who| ("specialist".to_owned(), who)));
    properties.extend(task_properties());
    json!({
        "type": "object", "additionalProperties": false, "required": required,
        "properties": properties,
    })
}

fn task_properties() -> Map<String, Value> {
    let properties = json!({
        "task": {
            "type": "string",
            "description": "What is to be done, in full: names, ids, dates, what counts.",
        },
        "expected": { "type": "string", "description": "What the answer is to have." },
        "inputs": {
            "type": "array", "items": { "type": "string" },
            "description": "Handles of results that it is to read, in the place of their text.",
        },
        "thread": {
            "type": "string",
            "description": "The `thread` of an answer before, to go on with it.",
        },
    });
    if let Value::Object(properties) = properties { properties } else { Map::new() }
}

/// The beginning of a text, in one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
