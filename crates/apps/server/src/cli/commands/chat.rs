//! `toolcrib chat`: an agent in the terminal.

mod listener;
pub(crate) mod model_check;
mod record;
mod session;

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use toolcrib_agent::model::ModelClient;
use toolcrib_config::{AgentSettings, Config};

use crate::cli::CommandExit;
use crate::cli::args::{ChatArgs, GlobalArgs};
use crate::cli::context::{CommandConfig, CommandContext, CommandPurpose, RequiredSources, found};
use crate::cli::output::Output;
use crate::config;
use crate::http::agents::chosen::team;
use record::ChatRecord;
use session::{ChatOrder, ChatSession};

/// What whoever has no model yet can do.
const NO_MODEL: &str = "\
no model is configured: add one to `crib.toml`, and try it with `toolcrib model check`. One on this \
machine:

[model]
kind = \"ollama\"      # or llama-cpp, vllm, lm-studio, litellm
name = \"qwen3\"

One of a provider:

[model]
kind = \"anthropic\"   # or openai-responses, gemini
name = \"claude-sonnet-4-5\"
key = \"${env:ANTHROPIC_API_KEY}\"";

pub(crate) fn chat(global: &GlobalArgs, output: &Output, words: &ChatArgs) -> Result<CommandExit> {
    let message = words.message.join(" ");
    let is_conversation = message.is_empty() && config::person_is_there();
    // What is piped in belongs to the message; without a message it is the message.
    let piped = if config::is_piped() { config::standard_input()? } else { String::new() };
    let message = [message.trim(), piped.trim()];
    let message: Vec<_> = message.into_iter().filter(|part| !part.is_empty()).collect();
    let message = message.join("\n\n");
    if message.is_empty() && !is_conversation && !words.resume {
        bail!("nothing was said: `toolcrib chat 'Move the review to Friday'`");
    }
    let read = found(global, output)?;
    let settings = chosen(&read, words.agent.as_deref())?;
    let global = GlobalArgs {
        profile: global.profile.clone().or_else(|| settings.profile.clone()),
        ..global.clone()
    };
    let file = read.checked.clone();
    let record = ChatRecord::open(&read, &settings.name, output);
    let need = (RequiredSources::All, CommandPurpose::Call);
    let ledger = record.as_ref().map(ChatRecord::ledger);
    let Some(context) = CommandContext::of_config(read, &global, output, need, ledger)? else {
        return Ok(CommandExit::Interrupted);
    };
    context.note_failed(output);
    let profile = global.profile;
    let agent = team::of_file(settings, &file, context.crib.clone(), &ModelClient::new);
    let agent = agent.map(Arc::new).map_err(anyhow::Error::from);
    let end = agent.and_then(|agent| {
        let order = ChatOrder { agent, profile, record, approves_all: words.yes };
        let mut session = ChatSession::new(&context, output, order);
        if words.resume
            && let Some(end) = session.resume()?
        {
            return Ok(end);
        }
        match message.as_str() {
            "" if is_conversation => session.talk(),
            "" => Ok(CommandExit::Done),
            message => session.once(message),
        }
    });
    context.close();
    end
}

/// The agents of a file; an error that teaches where there is none.
fn agents(file: &Config) -> Result<Vec<AgentSettings>> {
    let agents = file.agents(&config::ProcessLookup).map_err(|missing| {
        let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
        anyhow!("the key of a model is missing: {}", lines.join("; "))
    })?;
    if agents.is_empty() {
        bail!("{NO_MODEL}");
    }
    Ok(agents)
}

pub(crate) fn chosen(read: &CommandConfig, name: Option<&str>) -> Result<AgentSettings> {
    let agents = agents(&read.checked)?;
    let names: Vec<_> = agents.iter().map(|agent| format!("`{}`", agent.name)).collect();
    let found = match name {
        None => agents.into_iter().next(),
        Some(name) => agents.into_iter().find(|agent| agent.name == name),
    };
    found.ok_or_else(|| {
        let name = name.unwrap_or_default();
        anyhow!("there is no agent `{name}`: the file has {}", names.join(", "))
    })
}
