//! From the items of a reply to calls, the same way in every dialect.

pub(crate) mod ending;
pub(crate) mod envelope;
pub(crate) mod stream_budget;

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};
use toolcrib_core::{Call, CallWire, Plan, RawArguments};

use crate::rendering::Rendering;
use crate::schema::FieldNamer;
use crate::schema::restore_arguments::restore;
use ending::{ReplyEnding, ReplyPosition};

/// Reads the items of one reply.
pub(crate) struct ReplyReader<'a> {
    plan: &'a Plan,
    rendering: &'a Rendering,
    key: FieldNamer,
    ending: ReplyEnding,
    standing: ReplyPosition,
    given: HashSet<&'a str>,
    invented: usize,
    calls: Vec<Call>,
}

/// What an item says of itself.
pub(crate) struct ReplyItem<'a> {
    pub(crate) id: Option<&'a Value>,
    pub(crate) name: Option<&'a Value>,
    pub(crate) arguments: RawArguments,
    pub(crate) echo: Map<String, Value>,
}

impl<'a> ReplyReader<'a> {
    /// `ids`: those that the reply gives, so that an invented one is another.
    pub(crate) fn new(
        plan: &'a Plan,
        rendering: &'a Rendering,
        key: FieldNamer,
        ids: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self {
            plan,
            rendering,
            key,
            ending: ReplyEnding::Whole,
            standing: ReplyPosition::of(false),
            given: ids.collect(),
            invented: 0,
            calls: Vec::new(),
        }
    }

    pub(crate) fn ended(mut self, ending: ReplyEnding) -> Self {
        self.ending = ending;
        self
    }

    /// Where the calls stand that are taken from now on.
    pub(crate) fn at(&mut self, standing: ReplyPosition) {
        self.standing = standing;
    }

    pub(crate) fn into_calls(self) -> Vec<Call> {
        self.calls
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes a call.
    pub(crate) fn call(&mut self, item: ReplyItem<'_>) {
        match self.checked(&item) {
            Ok((id, name)) => self.take(id, name.to_owned(), item),
            Err(fault) => {
                let name = item.name.and_then(Value::as_str).map(ToOwned::to_owned);
                self.malformed(item.id, name.as_deref(), &fault);
                // The answer has the same shape as that of a good call.
                if let Some(call) = self.calls.last_mut() {
                    call.wire.echo = item.echo;
                }
            }
        }
    }

    /// The id and the name of a call, or what is wrong with it.
    fn checked<'b>(
        &mut self,
        item: &ReplyItem<'b>,
    ) -> Result<(String, &'b str), Cow<'static, str>> {
        if let Some(fault) = ending::cut(&self.ending, self.standing, &item.arguments) {
            return Err(fault.into());
        }
        let name = match item.name {
            Some(Value::String(name)) if !name.is_empty() => name.as_str(),
            Some(Value::String(_) | Value::Null) | None => {
                return Err("it names no tool: give the name of a tool".into());
            }
            Some(_) => {
                return Err("its name is no string: give the name of a tool as a string".into());
            }
        };
        match item.id {
            Some(Value::String(id)) if !id.is_empty() => Ok((id.clone(), name)),
            Some(Value::String(_) | Value::Null) | None => Ok((self.invent(), name)),
            Some(_) => Err("its id is no string: give every call an id that is a string".into()),
        }
    }

    fn take(&mut self, id: String, name: String, item: ReplyItem<'_>) {
        let tool = self.rendering.names.decode(self.plan, &name);
        let mut arguments = item.arguments;
        if self.rendering.altered.contains(tool)
            && let Some(planned) = self.plan.get(tool)
        {
            arguments = restored(arguments, &planned.listed.spec.input.value(), self.key);
        }
        let mut call = Call::new(id, tool, arguments);
        call.named = item.id.and_then(Value::as_str) == Some(&call.id);
        call.wire = CallWire { name, echo: item.echo };
        self.calls.push(call);
    }

    /// Takes a call of a tool that is given free text.
    pub(crate) fn text_call(&mut self, item: ReplyItem<'_>, input: Option<&Value>) {
        let name = item.name.and_then(Value::as_str).unwrap_or_default();
        let tool = self.rendering.names.decode(self.plan, name);
        let arguments = text_arguments(self.plan, tool, input);
        self.call(ReplyItem { arguments, ..item });
    }

    /// Takes something that is no call, and says why.
    pub(crate) fn malformed(&mut self, id: Option<&Value>, name: Option<&str>, fault: &str) {
        let id = match id.and_then(Value::as_str) {
            Some(id) if !id.is_empty() => id.to_owned(),
            _ => self.invent(),
        };
        let mut call = Call::malformed(id, fault);
        if let Some(name) = name {
            name.clone_into(&mut call.wire.name);
            self.rendering.names.decode(self.plan, name).clone_into(&mut call.name);
        }
        self.calls.push(call);
    }

    /// `call_1`, `call_2`, ...: the same reply always gets the same ids.
    fn invent(&mut self) -> String {
        loop {
            self.invented += 1;
            let id = format!("call_{}", self.invented);
            if !self.given.contains(id.as_str()) {
                return id;
            }
        }
    }
}

/// Gives the items without an id the ones that a `Reader` invents for them, in the same order.
/// `is_call` reads an item's `type`; an item that says none stands where a call should.
pub(crate) fn fill_ids(
    items: Option<&mut Vec<Value>>,
    field: &str,
    is_call: impl Fn(&Value) -> bool,
) {
    let items = items.map_or(&mut [] as &mut [Value], Vec::as_mut_slice);
    let id = |item: &Value| item.get(field)?.as_str().map(ToOwned::to_owned);
    let given: HashSet<String> = items.iter().filter_map(id).collect();
    let mut invented = (1..).map(|n| format!("call_{n}")).filter(|id| !given.contains(id));
    for item in items.iter_mut() {
        let counts = match item.get("type").filter(|kind| kind.is_string()) {
            Some(kind) => is_call(kind),
            None => true,
        };
        if !counts || id(item).is_some_and(|id| !id.is_empty()) {
            continue;
        }
        if let (Some(fresh), Value::Object(fields)) = (invented.next(), item) {
            fields.insert(field.to_owned(), fresh.into());
        }
    }
}

/// The arguments in the form of the tool's own schema. A text that is no JSON stays as it is:
/// the executor repairs it or says what is wrong with it.
fn restored(arguments: RawArguments, source: &Value, key: FieldNamer) -> RawArguments {
    let mut value = match arguments {
        RawArguments::Absent => return RawArguments::Absent,
        RawArguments::Value(value) => value,
        RawArguments::Text(text) => match serde_json::from_str(&text) {
            Ok(value) => value,
            Err(_) => return RawArguments::Text(text),
        },
    };
    restore(&mut value, source, key);
    RawArguments::Value(value)
}

/// What a value is, for a fault: `a list`.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The named fields of an object, where they are there.
pub(crate) fn pick(value: &Value, names: &[&str]) -> Map<String, Value> {
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), value.get(*name)?.clone())))
        .filter(|(_, value)| !value.is_null())
        .collect()
}

/// The free text of a custom tool as the arguments of a tool: under the name of its only field
/// that is a string, else under `input`.
fn text_arguments(plan: &Plan, tool: &str, input: Option<&Value>) -> RawArguments {
    let schema = plan.get(tool).map(|tool| tool.listed.spec.input.value()).unwrap_or_default();
    let fields = schema.get("properties").and_then(Value::as_object);
    let mut texts = fields
        .into_iter()
        .flatten()
        .filter(|(_, field)| field.get("type").and_then(Value::as_str) == Some("string"));
    let name = match (texts.next(), texts.next()) {
        (Some((name, _)), None) => name.as_str(),
        _ => "input",
    };
    let mut arguments = Map::new();
    arguments.insert(name.to_owned(), input.cloned().unwrap_or_default());
    RawArguments::Value(Value::Object(arguments))
}
