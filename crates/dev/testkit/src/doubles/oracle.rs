//! Tools that do as they are told, and the record of what really ran.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    Arguments, CallContext, Content, Effect, ErrorKind, Tool, ToolError, ToolOutcome, ToolSpec,
    raw_tool,
};

/// What a tool does when it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers with its arguments.
    Echo,
    /// Answers after a pause.
    Sleep(Duration),
    /// Fails so often, then echoes.
    FailFirst(ErrorKind, usize),
    Panic,
    /// Never answers, whatever the token says.
    Hang,
    /// Answers with so many letters.
    Large(usize),
}

/// Remembers every execution, over all tools made by it.
#[derive(Debug, Clone, Default)]
pub struct Oracle {
    runs: Arc<Mutex<Vec<(String, Value)>>>,
}

/// A spec that takes any arguments.
pub fn spec(name: &str, effect: Effect) -> ToolSpec {
    let mut spec = ToolSpec::new(name, format!("Does {name}."), effect)
        .unwrap_or_else(|error| unreachable!("a test names its tools well: {error}"));
    spec.input = open_schema().into();
    spec
}

/// A schema with an integer `n`, and anything besides.
pub fn open_schema() -> Value {
    json!({ "type": "object", "properties": { "n": { "type": "integer" } } })
}

impl Oracle {
    /// What ran, in the order of starting.
    pub fn runs(&self) -> Vec<(String, Value)> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often a tool ran.
    pub fn count(&self, name: &str) -> usize {
        self.runs().iter().filter(|(ran, _)| ran == name).count()
    }

    /// A tool that behaves so.
    pub fn tool(&self, spec: ToolSpec, behaviour: Behaviour) -> Arc<dyn Tool> {
        let (runs, name) = (Arc::clone(&self.runs), spec.name.to_string());
        raw_tool(spec, move |arguments: Arguments, _: CallContext| {
            let arguments = arguments.into_value();
            let before = {
                let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
                let before = runs.iter().filter(|(ran, _)| *ran == name).count();
                runs.push((name.clone(), arguments.clone()));
                before
            };
            behave(behaviour.clone(), before, arguments)
        })
    }

    /// A tool that answers with its arguments.
    pub fn echo(&self, name: &str, effect: Effect) -> Arc<dyn Tool> {
        self.tool(spec(name, effect), Behaviour::Echo)
    }
}

async fn behave(behaviour: Behaviour, before: usize, arguments: Value) -> ToolOutcome {
    match behaviour {
        Behaviour::Sleep(pause) => {
            tokio::time::sleep(pause).await;
            ToolOutcome::Done(Content::json(arguments))
        }
        Behaviour::FailFirst(kind, times) if before < times => {
            ToolOutcome::Failed(ToolError::new(kind, "try later").because("the scripted fault"))
        }
        Behaviour::Echo | Behaviour::FailFirst(..) => ToolOutcome::Done(Content::json(arguments)),
        #[expect(clippy::panic, reason = "it is what the test is about")]
        Behaviour::Panic => panic!("the scripted panic"),
        Behaviour::Hang => std::future::pending().await,
        Behaviour::Large(letters) => ToolOutcome::Done(Content::text("x".repeat(letters))),
    }
}
