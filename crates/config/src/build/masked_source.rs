//! A source whose tools and errors tell none of the secrets that it was given.
//!
//! A server knows the secrets of its environment, and says them more easily than one thinks: in an
//! error, a dump of its variables, the description of a tool, a question in the middle of a call.

use std::error::Error;
use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{
    Arguments, BoxFuture, CallContext, Caller, Guidance, Mask, Redactor, Resources, Secret,
    Secrets, Source, SourceError, Tool, ToolError, ToolOutcome, ToolSpec, Toolset,
};
use toolcrib_mcp::{HttpAuthorization, McpSourceSettings, McpTransport};

use super::resource_view::MaskedResources;
use crate::settings::SourceSettings;

struct MaskedSource {
    source: Arc<dyn Source>,
    mask: Mask,
}

struct MaskedTool {
    spec: Arc<ToolSpec>,
    tool: Arc<dyn Tool>,
    mask: Mask,
}

/// The source, masked if it is one that does not mask itself.
pub(super) fn source(
    source: Arc<dyn Source>,
    settings: &SourceSettings,
    secrets: &[Secret],
    learned: Secrets,
) -> Arc<dyn Source> {
    let (given, learns) = match settings {
        SourceSettings::Mcp(server) => (Redactor::new(secrets.iter().cloned()), learns(server)),
        SourceSettings::Desk(_) => (Redactor::new(secrets.iter().cloned()), false),
        SourceSettings::OpenApi(_) | SourceSettings::Basics(_) => return source,
    };
    if given.is_idle() && !learns {
        return source;
    }
    Arc::new(MaskedSource { source, mask: Mask::new(given, learned) })
}

/// Whether a server is sent tokens that no file names.
fn learns(server: &McpSourceSettings) -> bool {
    match &server.transport {
        McpTransport::Http(http) => matches!(http.authorization, HttpAuthorization::OAuth(_)),
        McpTransport::Stdio(_) => false,
    }
}

impl Source for MaskedSource {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(async {
            let tools = self.source.load().await.map_err(|error| self.error(&error))?;
            let masked = tools.iter().map(|shelved| self.tool(&shelved.spec, &shelved.tool));
            let again = "the tools cannot be gathered again";
            Toolset::of(masked).map_err(|error| SourceError::new(again).because(error))
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        self.source.changed()
    }

    fn change_announced(&self) -> BoxFuture<'static, ()> {
        self.source.change_announced()
    }

    fn unlisted_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let tool = self.source.unlisted_tool(name)?;
        Some(self.tool(tool.spec(), &tool))
    }

    fn library(&self) -> Option<Arc<dyn Resources>> {
        let library = self.source.library()?;
        Some(Arc::new(MaskedResources { library, mask: self.mask.clone() }))
    }
}

impl MaskedSource {
    fn tool(&self, spec: &ToolSpec, tool: &Arc<dyn Tool>) -> Arc<dyn Tool> {
        let mut spec = ToolSpec::clone(spec);
        mask(&mut spec, &self.mask);
        let (spec, tool, mask) = (Arc::new(spec), Arc::clone(tool), self.mask.clone());
        Arc::new(MaskedTool { spec, tool, mask })
    }

    /// The same error if it tells nothing, else its words without the secrets.
    fn error(&self, error: &SourceError) -> SourceError {
        let mask = |error: &dyn Error| self.mask.text(&error.to_string());
        let words = mask(error);
        let mut causes: Vec<String> = Vec::new();
        let mut next = error.source();
        while let Some(cause) = next {
            let text = mask(cause);
            // Some errors tell their cause themselves: in one text nobody could leave it out.
            if !words.contains(&text) && !causes.iter().any(|told| told.contains(&text)) {
                causes.push(text);
            }
            next = cause.source();
        }
        let masked = SourceError::new(words);
        if causes.is_empty() { masked } else { masked.because(causes.join(": ")) }
    }
}

/// What a model or a person reads of a tool; its name is judged elsewhere.
fn mask(spec: &mut ToolSpec, mask: &Mask) {
    let mut guidance = Guidance::clone(&spec.guidance);
    let texts = [&mut spec.summary, &mut spec.description].into_iter().chain(&mut spec.title);
    for text in texts.chain(guidance.texts_mut()) {
        *text = mask.text(text);
    }
    if guidance != *spec.guidance {
        spec.guidance = Arc::new(guidance);
    }
    for schema in [&mut spec.input].into_iter().chain(&mut spec.output) {
        schema.edit(|schema| mask_values([schema], mask));
    }
    spec.extra.edit(|extra| mask_values(extra.values_mut(), mask));
}

/// Always tells of a change: whether there was one is nothing that a redactor says.
fn mask_values<'a>(values: impl IntoIterator<Item = &'a mut Value>, mask: &Mask) -> bool {
    values.into_iter().for_each(|value| mask.each(|redactor| redactor.value(value)));
    true
}

impl Tool for MaskedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn shared_spec(&self) -> Arc<ToolSpec> {
        Arc::clone(&self.spec)
    }

    fn is_nonblocking(&self) -> bool {
        self.tool.is_nonblocking()
    }

    fn honours_idempotency_key(&self) -> bool {
        self.tool.honours_idempotency_key()
    }

    fn preview<'a>(
        &'a self,
        arguments: &'a Arguments,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        Box::pin(async move {
            let mut said = self.tool.preview(arguments, caller).await;
            match &mut said {
                Ok(words) => words.iter_mut().for_each(|words| *words = self.mask.text(words)),
                Err(error) => self.mask.each(|redactor| redactor.error(error)),
            }
            said
        })
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let mut outcome = self.tool.call(arguments, &context.masked(&self.mask)).await;
            match &mut outcome {
                ToolOutcome::Done(said) => self.mask.each(|redactor| redactor.content(said)),
                ToolOutcome::Failed(error) => self.mask.each(|redactor| redactor.error(error)),
                ToolOutcome::Pending(_) | ToolOutcome::Denied { .. } => {}
            }
            outcome
        })
    }
}
