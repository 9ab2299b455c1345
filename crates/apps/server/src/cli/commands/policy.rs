//! `toolcrib policy`: reads rules and tells what they say.

use anyhow::{Result, bail};
use serde_json::json;

use crate::cli::CommandExit;
use crate::cli::args::{GlobalArgs, PolicyCommand};
use crate::cli::context::{CommandContext, CommandPurpose, RequiredSources, caller, rules};
use crate::cli::output::Output;
use crate::config;

pub(crate) fn policy(
    global: &GlobalArgs,
    output: &Output,
    command: PolicyCommand,
) -> Result<CommandExit> {
    match command {
        PolicyCommand::Check { file } => {
            let text = config::file(&file)?;
            match toolcrib_engine::rules::Rules::parse(&text) {
                Ok(_) if output.json => output.value(&json!({ "problems": [] }))?,
                Ok(_) => output.note(&format!("`{}` is good", file.display())),
                Err(problems) => {
                    if output.json {
                        output.value(&json!({ "problems": problems }))?;
                    } else {
                        output.text(&problems.to_string())?;
                    }
                    return Ok(CommandExit::Failed);
                }
            }
            Ok(CommandExit::Done)
        }
        PolicyCommand::Explain { file, tool } => {
            let rules = rules(&file)?;
            // What the rules say is asked of the rules alone: nobody else's hide a tool here.
            let open = GlobalArgs { policy: None, ..global.clone() };
            let Some(context) = CommandContext::open(
                &open,
                output,
                (RequiredSources::Tool(&tool), CommandPurpose::Look),
            )?
            else {
                return Ok(CommandExit::Interrupted);
            };
            let catalog = context.crib.catalog();
            let Some(listed) = catalog.get(&tool) else {
                context.note_failed(output);
                context.close();
                bail!("there is no tool `{tool}`: `toolcrib tools` lists what is there");
            };
            let explanation = rules.explain(&caller(global), &listed.spec);
            if output.json {
                output.value(&json!(explanation))?;
            } else {
                output.text(&explanation.to_string())?;
            }
            context.close();
            Ok(CommandExit::Done)
        }
    }
}
