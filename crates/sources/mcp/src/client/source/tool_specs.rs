//! A list of foreign definitions, made into specs. A bad one costs itself alone.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use toolcrib_core::{
    CompactJson, Effect, Guidance, QuarantineReason, SourceId, ToolName, ToolOrigin, ToolSpec,
    UnusableTool,
};
use toolcrib_json::schema::tidied;

use super::effect_hints::EffectHints;
use super::status::LeftOutTool;
use crate::client::call::task_words;
use crate::client::settings::McpSourceSettings;
use crate::protocol::frame;
use crate::protocol::json::strict_object;
use crate::protocol::mirrored_headers::{self, MirroredArgument, MirroredArguments};
use crate::protocol::text::{clean, cut};

/// What became of a list.
#[derive(Default)]
pub(crate) struct ConvertedTools {
    pub(crate) taken: Vec<ConvertedTool>,
    /// Which arguments those of them want repeated in headers that want any, by the same names.
    pub(crate) mirrored: MirroredArguments,
    pub(crate) left_out: Vec<LeftOutTool>,
    /// What was read in another way than the server wrote it, in sentences.
    pub(crate) remarks: Vec<String>,
}

pub(crate) struct ConvertedTool {
    /// Its name at the server.
    pub(crate) name: String,
    pub(crate) spec: ToolSpec,
    /// It runs as a task alone.
    pub(crate) is_task: bool,
    /// What of its schemas was read in another way than it stands there.
    mended: Vec<String>,
}

/// `instructions`: what the server says about all of its tools.
pub(crate) fn of(
    tools: Vec<Box<RawValue>>,
    source: &SourceId,
    settings: &McpSourceSettings,
    instructions: &str,
) -> ConvertedTools {
    let mut specs = ConvertedTools::default();
    let mut names = HashSet::new();
    let guides = settings.instructions && !instructions.is_empty();
    let guidance = guides
        .then(|| Arc::new(Guidance { source: instructions.to_owned(), ..Guidance::default() }));
    for (place, tool) in tools.into_iter().enumerate() {
        // Its tree goes before that of the next is made.
        let read = frame::read_entry(&tool, settings.bounds.depth);
        let shown = read.as_ref().ok().and_then(|tool| tool.get("name")).and_then(Value::as_str);
        let shown = shown.map(self::shown).filter(|name| !name.is_empty());
        let shown = shown.unwrap_or_else(|| format!("number {}", place + 1));
        let taken = read.map_err(|why| why.words().to_owned());
        let taken = taken.and_then(|tool| spec(tool, source, settings.bounds.definition));
        let taken = taken.and_then(|taken| {
            let is_new = names.insert(taken.0.spec.name.clone());
            if is_new { Ok(taken) } else { Err("another tool has the same name".to_owned()) }
        });
        match taken {
            Ok((mut taken, mirrored)) => {
                if !mirrored.is_empty() {
                    specs.mirrored.push((taken.name.clone(), mirrored));
                }
                let mended = taken.mended.drain(..);
                specs.remarks.extend(mended.map(|told| format!("`{shown}`: {told}")));
                taken.spec.limits.timeout = Some(longest(settings));
                if let Some(guidance) = &guidance {
                    taken.spec.guidance = Arc::clone(guidance);
                }
                specs.taken.push(taken);
            }
            Err(reason) => specs.left_out.push(LeftOutTool { tool: shown, reason }),
        }
    }
    specs
}

impl LeftOutTool {
    /// For the snapshot, which tells of it wherever tools are told of.
    pub(crate) fn aside(&self, source: &SourceId) -> Option<UnusableTool> {
        let name = ToolName::sanitize(&self.tool);
        let description = "A tool that could not be taken as its server lists it.";
        let mut spec = ToolSpec::new(name.as_str(), description, Effect::Destroy).ok()?;
        let renamed = name.as_str() != self.tool;
        let name = renamed.then(|| self.tool.clone());
        spec.origin = ToolOrigin { source: source.clone(), name, path: None, undeclared: false };
        let reason = QuarantineReason::Unusable { problem: self.reason.clone() };
        Some(UnusableTool { spec: Arc::new(spec), reason })
    }
}

/// A name of a server as it is told to people.
pub(crate) fn shown(name: &str) -> String {
    cut(&clean(name), 80)
}

/// Our own times end a call first, and say which of them it was.
fn longest(settings: &McpSourceSettings) -> Duration {
    settings.timeouts.connect + settings.timeouts.longest_call
}

/// What is known of a tool that no list names: it may do anything. `None`: no tool has this name.
pub(crate) fn unlisted(
    name: &str,
    source: &SourceId,
    settings: &McpSourceSettings,
) -> Option<ToolSpec> {
    let description = "A tool that its server does not list.";
    let mut spec = ToolSpec::new(name, description, Effect::Destroy).ok()?;
    spec.input = json!({ "type": "object" }).into();
    spec.origin.source = source.clone();
    spec.limits.timeout = Some(longest(settings));
    Some(spec)
}

fn spec(
    tool: Value,
    source: &SourceId,
    largest: usize,
) -> Result<(ConvertedTool, Vec<MirroredArgument>), String> {
    let Value::Object(mut fields) = tool else {
        return Err("it is no object".to_owned());
    };
    if size(&fields) > largest {
        return Err(format!("its definition is larger than {largest} bytes: `limits.definition`"));
    }
    let Some(Value::String(name)) = fields.shift_remove("name") else {
        return Err("it has no name".to_owned());
    };
    if name.trim().is_empty() {
        return Err("its name is empty".to_owned());
    }
    let objects = ["inputSchema", "outputSchema", "annotations", "_meta", "execution"];
    strict_object::empty_as_objects(&mut fields, &objects);
    let mut input = match fields.shift_remove("inputSchema") {
        Some(Value::Object(schema)) => Value::Object(schema),
        None | Some(Value::Null) => return Err("it has no `inputSchema`".to_owned()),
        Some(_) => return Err("its `inputSchema` is no object".to_owned()),
    };
    let mut mended = tidied(&mut input);
    let mirrored = mirrored_headers::of(&input)?;
    let mut output = match fields.shift_remove("outputSchema") {
        None | Some(Value::Null) => None,
        Some(schema @ Value::Object(_)) => Some(schema),
        Some(_) => return Err("its `outputSchema` is no object".to_owned()),
    };
    mended.extend(output.as_mut().into_iter().flat_map(tidied));
    let description = match fields.shift_remove("description") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(description)) => description,
        Some(_) => return Err("its `description` is no text".to_owned()),
    };
    let hints = EffectHints::of(fields.get("annotations"));
    let legal = legal_name(&name);
    let mut spec = ToolSpec::new(legal.as_str(), description, hints.effect())
        .map_err(|error| error.to_string())?;
    spec.title = title(&mut fields);
    spec.input = input.into();
    spec.output = output.map(CompactJson::new);
    spec.idempotent = hints.idempotent() || spec.effect == Effect::Read;
    let renamed = legal.as_str() != name;
    spec.origin = ToolOrigin {
        source: source.clone(),
        name: renamed.then(|| name.clone()),
        path: None,
        undeclared: hints.are_silent(),
    };
    let is_task = task_words::take_required(&mut fields);
    // Annotations, icons, `_meta`, `execution` and whatever comes yet.
    spec.extra = fields.into();
    Ok((ConvertedTool { name, spec, is_task, mended }, mirrored))
}

fn size(fields: &Map<String, Value>) -> usize {
    serde_json::to_vec(fields).map_or(usize::MAX, |bytes| bytes.len())
}

fn title(fields: &mut Map<String, Value>) -> Option<String> {
    if fields.get("title").is_some_and(Value::is_string) {
        let title = fields.shift_remove("title")?;
        return title.as_str().map(str::to_owned);
    }
    Some(fields.get("annotations")?.get("title")?.as_str()?.to_owned())
}

/// The name itself if it is legal; else a legal one that no other foreign name becomes: the end of
/// it is a fingerprint of the whole.
fn legal_name(foreign: &str) -> ToolName {
    if let Ok(name) = ToolName::new(foreign) {
        return name;
    }
    let digest = Sha256::digest(foreign.as_bytes());
    let mark = digest.iter().take(6).fold(0_u64, |mark, byte| mark << 8 | u64::from(*byte));
    let readable: String = ToolName::sanitize(foreign).as_str().chars().take(100).collect();
    ToolName::sanitize(&format!("{readable}_{mark:012x}"))
}
