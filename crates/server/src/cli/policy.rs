//! `toolcrib policy`: reads rules and tells what they say.

use anyhow::{Result, bail};
use serde_json::json;
use toolcrib::Catalog;

use super::End;
use super::arguments::{Global, PolicyCommand};
use super::output::Output;
use super::room::{caller, rules};
use crate::config;

pub(super) fn policy(global: &Global, output: &Output, command: PolicyCommand) -> Result<End> {
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
            let catalog = Catalog::of(toolcrib::basics::tools());
            let Some(listed) = catalog.get(&tool) else {
                bail!("there is no tool `{tool}`: `toolcrib tools` lists what is there");
            };
            let explanation = rules.explain(&caller(global), &listed.spec);
            if output.json {
                output.value(&json!(explanation))?;
            } else {
                output.text(&explanation.to_string())?;
            }
            Ok(End::Done)
        }
    }
}
