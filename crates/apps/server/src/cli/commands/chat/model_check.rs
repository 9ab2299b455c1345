//! `toolcrib model check`: what a model can do, found out by asking it.

use std::iter;
use std::sync::Arc;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::runtime::Builder;
use toolcrib_agent::model::{
    CallChoice, ModelAnswer, ModelClient, ModelFault, ModelRequest, ModelSettings, TextCallFormat,
    text_call_format,
};
use toolcrib_agent::{ResultText, ThreadItem, Usage, UsageSource};
use toolcrib_core::{Caller, Catalog, Effect, Plan, PlanRequest, Toolset, tool};

use super::agents;
use crate::cli::CommandExit;
use crate::cli::args::GlobalArgs;
use crate::cli::context::found;
use crate::cli::output::Output;

/// Enough for a word, and for a model that thinks before it.
const MAX_TOKENS: u64 = 512;

pub(crate) fn check(
    global: &GlobalArgs,
    output: &Output,
    name: Option<&str>,
) -> Result<CommandExit> {
    let agents = agents(&found(global, output)?.checked)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (mut rows, mut all_work) = (Vec::new(), true);
    let agents = agents.into_iter().filter(|agent| name.is_none_or(|name| agent.name == name));
    // Each model by itself: none answers in the place of another.
    let models = agents.flat_map(|mut agent| {
        let further = std::mem::take(&mut agent.model.fallback);
        let name = agent.name;
        iter::once(agent.model).chain(further).map(move |model| (name.clone(), model))
    });
    for (agent, settings) in models {
        let (model, base) = (settings.name.clone(), settings.base.to_string());
        let checked = runtime.block_on(try_out(settings));
        let (works, told) = match checked {
            Ok(found) => (found.works(), found.told()),
            Err(fault) => (false, fault_told(&fault)),
        };
        all_work &= works;
        rows.push(json!({
            "agent": agent, "model": model, "url": base, "works": works, "told": told,
        }));
    }
    if rows.is_empty() {
        anyhow::bail!("there is no agent `{}`", name.unwrap_or_default());
    }
    if output.json {
        output.value(&Value::Array(rows))?;
    } else {
        for row in &rows {
            let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
            output.heading(&format!("{}: {} at {}", text("agent"), text("model"), text("url")))?;
            output.indented(text("told"))?;
        }
    }
    Ok(if all_work { CommandExit::Done } else { CommandExit::Failed })
}

struct ModelFindings {
    calls: bool,
    /// Whether it answered in words once it had the result of its call.
    answers: bool,
    /// The form of a call in its text.
    written: Option<TextCallFormat>,
    text: String,
    usage: Usage,
}

impl ModelFindings {
    fn works(&self) -> bool {
        self.calls && self.answers
    }

    fn told(&self) -> String {
        let calls = match self.written {
            _ if self.works() => "it calls tools".to_owned(),
            _ if self.calls => "it calls tools, and gives no answer once it has their results: \
                                its runs will end at a limit. Take a larger model"
                .to_owned(),
            Some(format) => format!(
                "it writes its calls into its text: add `calls = \"{}\"` to its `[model]`",
                format.as_str()
            ),
            None => format!(
                "it answers, and called no tool when it was asked to: it said `{}`. Take a model \
                 that is made for tools, or look whether its server has to be told so",
                super::listener::cut(&self.text)
            ),
        };
        let usage = match self.usage.source {
            UsageSource::Reported => "it reports its tokens",
            UsageSource::Estimated | UsageSource::Unknown => {
                "it reports no tokens, so they are estimated"
            }
        };
        format!("{calls}; {usage}")
    }
}

fn fault_told(fault: &ModelFault) -> String {
    match &fault.detail {
        Some(detail) => format!("{} ({detail})", fault.message),
        None => fault.message.clone(),
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct TimeArguments {
    /// The city.
    city: String,
}

async fn try_out(settings: ModelSettings) -> Result<ModelFindings, ModelFault> {
    let client = ModelClient::new(settings)?;
    let ask = tool(
        "time_in",
        "Tells what time it is in a city.",
        Effect::Read,
        |asked: TimeArguments| async move { Ok(format!("noon in {}", asked.city)) },
    );
    let plan = ask.ok().and_then(|tool| Toolset::of([tool]).ok()).and_then(|tools| {
        let catalog = Arc::new(Catalog::of(tools));
        let policy = &toolcrib_core::AllowAll;
        Plan::make(&catalog, &Caller::local(), policy, PlanRequest::default()).ok()
    });
    let mut items = vec![ThreadItem::user("What time is it in Paris? Use the tool.")];
    let mut usage = Usage::default();
    let first = answered(&client, plan.as_ref(), &items, &mut usage).await?;
    // What is no call is none, though it was meant as one.
    let calls = first.calls.iter().any(|call| call.fault.is_none());
    let written = plan.as_ref().and_then(|plan| text_call_format(&first.text, plan));
    let text = first.text.clone();
    let mut answers = false;
    if calls {
        items.extend(with_results(first));
        let second = answered(&client, plan.as_ref(), &items, &mut usage).await?;
        answers = second.calls.is_empty() && !second.text.trim().is_empty();
    }
    Ok(ModelFindings { calls, answers, written, text, usage })
}

/// What a model says to what was said so far.
async fn answered(
    client: &ModelClient,
    plan: Option<&Plan>,
    items: &[ThreadItem],
    usage: &mut Usage,
) -> Result<ModelAnswer, ModelFault> {
    let request = ModelRequest {
        instructions: "You have a tool. Use it when you are asked for the time.",
        items,
        plan,
        is_last: false,
        choice: &CallChoice::Free,
        caller_tools: &[],
        max_tokens: MAX_TOKENS,
        before: None,
    };
    client.answer(&request, usage, &mut |_| {}).await
}

/// The turn of a model, and what its calls came to.
fn with_results(answer: ModelAnswer) -> [ThreadItem; 2] {
    let results = answer.call_texts.iter().map(|call| ResultText {
        call_id: call.id.clone(),
        name: call.name.clone(),
        text: "It is noon in Paris.".to_owned(),
        is_error: false,
    });
    let results = ThreadItem::Results { results: results.collect(), echo: None };
    let ModelAnswer { text, call_texts: calls, echo, .. } = answer;
    [ThreadItem::Assistant { text, calls, echo: Some(echo) }, results]
}
