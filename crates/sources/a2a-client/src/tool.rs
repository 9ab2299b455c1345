//! An agent, or a skill of it, as a tool.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolcrib_core::{
    Arguments, BoxFuture, CallContext, Effect, SourceError, SourceId, Tool, ToolName, ToolOrigin,
    ToolOutcome, ToolSpec, Toolset,
};

use crate::protocol::card::{AgentCard, AgentSkill};
use crate::run::agent::RemoteAgent;
use crate::run::talk;
use crate::settings::A2aTools;
use crate::transport::reply::cut;

/// What a call may take beyond its own time: its task is cancelled then, and that is waited for.
const SLACK: Duration = Duration::from_secs(10);

/// The name of the tool that is a whole agent.
const WHOLE: &str = "ask";

/// Longest text of a card that a model is shown, in characters.
const LONGEST_TEXT: usize = 4_000;
/// The same of a skill among others, and how many of these are told.
const LONGEST_SKILL: usize = 300;
const MOST_SKILLS: usize = 50;
/// Most tags and examples that are taken of a skill.
const MOST_WORDS: usize = 20;

/// An agent or one of its skills.
struct AgentTool {
    agent: Arc<RemoteAgent>,
    skill: Option<String>,
    spec: Arc<ToolSpec>,
}

pub(crate) fn tools(
    id: &SourceId,
    card: &AgentCard,
    agent: &Arc<RemoteAgent>,
) -> Result<Toolset, SourceError> {
    let made = match agent.settings.tools {
        A2aTools::Agent => vec![whole(id, card, agent)?],
        A2aTools::Skill if card.skills.is_empty() => {
            return Err(SourceError::new(
                "the card has no skills, and each of them is to be a tool: remove `by` of this \
                 source, so that the agent is one",
            ));
        }
        A2aTools::Skill => {
            let mut taken = HashSet::new();
            let skills = card.skills.iter();
            let made = skills.map(|skill| of_skill(id, card, skill, agent, &mut taken));
            made.collect::<Result<Vec<_>, _>>()?
        }
    };
    Toolset::of(made).map_err(|conflict| {
        SourceError::new("two skills of the card have one name").because(conflict)
    })
}

fn whole(
    id: &SourceId,
    card: &AgentCard,
    agent: &Arc<RemoteAgent>,
) -> Result<Arc<dyn Tool>, SourceError> {
    let mut description = long(&card.description);
    if description.is_empty() {
        description = format!("Asks the agent {}.", cut(&card.name, 100));
    }
    let skills = card.skills.iter().take(MOST_SKILLS).map(|skill| {
        let about = format!("{}: {}", skill.name, skill.description);
        format!("\n- {}", cut(&about, LONGEST_SKILL))
    });
    let skills: String = skills.collect();
    if !skills.is_empty() {
        description.push_str("\n\nIt can:");
        description.push_str(&skills);
    }
    let mut spec = spec(WHOLE, description)?;
    spec.title = Some(cut(&card.name, 200)).filter(|name| !name.is_empty());
    let examples = card.skills.iter().flat_map(|skill| &skill.examples);
    spec.examples = examples.take(MOST_WORDS).map(|example| cut(example, 300)).collect();
    Ok(finish(spec, id, (&card.input_modes, None), agent))
}

fn of_skill(
    id: &SourceId,
    card: &AgentCard,
    skill: &AgentSkill,
    agent: &Arc<RemoteAgent>,
    taken: &mut HashSet<String>,
) -> Result<Arc<dyn Tool>, SourceError> {
    let mut name = ToolName::sanitize(&cut(&skill.id, 60)).to_string();
    let mut count = 2;
    while !taken.insert(name.clone()) {
        name = format!("{}_{count}", ToolName::sanitize(&cut(&skill.id, 60)));
        count += 1;
    }
    let mut description = long(&skill.description);
    if description.is_empty() {
        description = format!("{} of the agent {}.", cut(&skill.name, 200), cut(&card.name, 100));
    }
    let mut spec = spec(&name, description)?;
    spec.title = Some(cut(&skill.name, 200));
    spec.tags = skill.tags.iter().take(MOST_WORDS).map(|tag| cut(tag, 100)).collect();
    spec.examples = skill.examples.iter().take(MOST_WORDS).map(|it| cut(it, 300)).collect();
    spec.origin.name = (name != skill.id).then(|| skill.id.clone());
    let modes = skill.input_modes.as_ref().unwrap_or(&card.input_modes);
    Ok(finish(spec, id, (modes, Some(&skill.id)), agent))
}

/// What a call does is not said by any card, so it may do anything.
fn spec(name: &str, description: String) -> Result<ToolSpec, SourceError> {
    ToolSpec::new(name, description, Effect::Destroy)
        .map_err(|error| SourceError::new("a skill of the card has no name").because(error))
}

fn finish(
    mut spec: ToolSpec,
    id: &SourceId,
    (modes, skill): (&[String], Option<&String>),
    agent: &Arc<RemoteAgent>,
) -> Arc<dyn Tool> {
    let settings = &agent.settings;
    spec.origin = ToolOrigin { source: id.clone(), undeclared: true, ..spec.origin };
    spec.limits.timeout = Some(settings.timeout.saturating_add(SLACK));
    spec.input = match &settings.input {
        Some(schema) => Value::Object(schema.clone()).into(),
        None => usual(modes, settings.message.as_deref()).into(),
    };
    let spec = Arc::new(spec);
    Arc::new(AgentTool { agent: Arc::clone(agent), skill: skill.cloned(), spec })
}

/// The arguments of an agent that takes these media types.
fn usual(modes: &[String], message: Option<&str>) -> Value {
    let message = message.unwrap_or(
        "What the agent is asked, in full sentences: it knows nothing of this conversation.",
    );
    let mut fields = Map::new();
    fields.insert("message".to_owned(), json!({ "type": "string", "description": message }));
    let is_any = |mode: &String| matches!(mode.as_str(), "*/*" | "*");
    let is_json = |mode: &String| mode.contains("json");
    let is_word = |mode: &String| mode.starts_with("text") || is_json(mode);
    if modes.iter().any(|mode| is_any(mode) || is_json(mode)) {
        let data = json!({ "description": "Data for the agent beside the message: any JSON." });
        fields.insert("data".to_owned(), data);
    }
    if modes.iter().any(|mode| !is_word(mode)) {
        fields.insert("files".to_owned(), files());
    }
    json!({ "type": "object", "properties": fields, "required": ["message"] })
}

fn files() -> Value {
    json!({
        "type": "array",
        "description": "Files for the agent, each with its bytes or with an address.",
        "items": {
            "type": "object",
            "properties": {
                "name": { "type": "string" },
                "media_type": { "type": "string", "description": "As in `image/png`." },
                "base64": { "type": "string", "description": "The bytes." },
                "url": { "type": "string", "description": "Where the agent finds the file." },
            },
        },
    })
}

fn long(text: &str) -> String {
    text.trim().chars().take(LONGEST_TEXT).collect()
}

impl Tool for AgentTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn shared_spec(&self) -> Arc<ToolSpec> {
        Arc::clone(&self.spec)
    }

    fn is_nonblocking(&self) -> bool {
        true
    }

    fn resumes(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(talk::call(&self.agent, self.skill.as_deref(), arguments, context))
    }
}
