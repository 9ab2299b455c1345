//! What every command works on: the tools, the policy, the pins, and who asks.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use serde_json::json;
use toolcrib::dialect::{Anthropic, Dialect, Gemini, OpenAiChat, OpenAiResponses, Strict};
use toolcrib::lock::Lock;
use toolcrib::rules::Rules;
use toolcrib::{Caller, ChoiceScope, Crib, CribLimits, Plan, Request, Run};

use super::arguments::{DialectName, Global, RequestWords, ScopeName};
use crate::config;

/// The pin file that is looked for where the command is run.
const LOCK: &str = "crib.lock";

pub(super) struct Room {
    pub(super) crib: Crib,
    pub(super) caller: Caller,
}

impl Room {
    pub(super) fn open(global: &Global) -> Result<Self> {
        let mut builder = Crib::builder().limits(limits(global));
        if let Some(path) = &global.policy {
            builder = builder.policy(rules(path)?);
        }
        if let Some(text) = config::file_if_any(Path::new(LOCK))? {
            let lock = Lock::parse(&text).with_context(|| format!("cannot use `{LOCK}`"))?;
            builder = builder.judge(lock.judge());
        }
        let crib = builder.build_fixed(toolcrib::basics::tools());
        Ok(Self { crib, caller: caller(global) })
    }

    pub(super) fn plan(&self, words: &RequestWords) -> Result<Plan> {
        Ok(self.crib.plan(&self.caller, request(words)?)?)
    }

    /// The plan of a request without wishes.
    pub(super) fn plain_plan(&self) -> Result<Plan> {
        Ok(self.crib.plan(&self.caller, Request::default())?)
    }
}

pub(super) fn caller(global: &Global) -> Caller {
    Caller::local().with_scopes(global.scopes.iter().cloned())
}

fn limits(global: &Global) -> CribLimits {
    let default = CribLimits::default();
    CribLimits {
        max_calls: global.max_calls.unwrap_or(default.max_calls),
        timeout: global.timeout.unwrap_or(default.timeout),
        ..default
    }
}

pub(super) fn rules(path: &Path) -> Result<Rules> {
    let text = config::file(path)?;
    Rules::parse(&text)
        .map_err(|problems| anyhow!("`{}` cannot be used:\n{problems}", path.display()))
}

fn request(words: &RequestWords) -> Result<Request> {
    let run: Run = serde_json::from_value(json!({ "turn": words.turn }))?;
    let request = Request {
        choices: words.choose.clone(),
        choice_scope: match words.choice_scope {
            ScopeName::FirstTurn => ChoiceScope::FirstTurn,
            ScopeName::Run => ChoiceScope::Run,
        },
        disabled: words.disable.clone(),
        deferred: words.defer.clone(),
        ..Request::default()
    };
    Ok(request.after(&run))
}

/// The dialect of a name; `strict` where the API can hold the model to the schemas.
pub(super) fn dialect(name: DialectName, strict: bool) -> Box<dyn Dialect> {
    let strict = if strict { Strict::On } else { Strict::Off };
    match name {
        DialectName::OpenaiChat => Box::new(OpenAiChat { strict }),
        DialectName::OpenaiResponses => {
            Box::new(OpenAiResponses { strict, ..OpenAiResponses::default() })
        }
        DialectName::Anthropic => Box::new(Anthropic { strict }),
        DialectName::Gemini => Box::new(Gemini),
    }
}
