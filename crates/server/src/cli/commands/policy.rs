//! `toolcrib policy`: reads rules and tells what they say.

use anyhow::{Result, bail};
use serde_json::json;

use crate::cli::End;
use crate::cli::args::{Global, PolicyCommand};
use crate::cli::context::{Deed, Need, Room, caller, rules};
use crate::cli::output::Output;
use crate::config;

pub(crate) fn policy(global: &Global, output: &Output, command: PolicyCommand) -> Result<End> {
    match command {
        PolicyCommand::Check { file } => {
            let text = config::file(&file)?;
            match toolcrib::rules::Rules::parse(&text) {
                Ok(_) if output.json => output.value(&json!({ "problems": [] }))?,
                Ok(_) => output.note(&format!("`{}` is good", file.display())),
                Err(problems) => {
                    if output.json {
                        output.value(&json!({ "problems": problems }))?;
                    } else {
                        output.text(&problems.to_string())?;
                    }
                    return Ok(End::Failed);
                }
            }
            Ok(End::Done)
        }
        PolicyCommand::Explain { file, tool } => {
            let rules = rules(&file)?;
            // What the rules say is asked of the rules alone: nobody else's hide a tool here.
            let open = Global { policy: None, ..global.clone() };
            let Some(room) = Room::open(&open, output, (Need::Tool(&tool), Deed::Look))? else {
                return Ok(End::Interrupted);
            };
            let catalog = room.crib.catalog();
            let Some(listed) = catalog.get(&tool) else {
                room.note_failed(output);
                room.close();
                bail!("there is no tool `{tool}`: `toolcrib tools` lists what is there");
            };
            let explanation = rules.explain(&caller(global), &listed.spec);
            if output.json {
                output.value(&json!(explanation))?;
            } else {
                output.text(&explanation.to_string())?;
            }
            room.close();
            Ok(End::Done)
        }
    }
}
