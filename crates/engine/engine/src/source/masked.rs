//! A source whose tools and errors tell none of the secrets that it was given.
//!
//! A server knows the secrets of its environment, and says them more easily than one thinks: in an
//! error, a dump of its variables, the description of a tool, a question in the middle of a call.

use std::error::Error;
use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{
    Arguments, BoxFuture, CallContext, Caller, Guidance, Mask, Resources, Source, SourceError,
    Tool, ToolError, ToolOutcome, ToolSpec, Toolset,
};

use super::masked_resources::MaskedResources;

struct MaskedSource {
    source: Arc<dyn Source>,
    mask: Mask,
}

struct MaskedTool {
    spec: Arc<ToolSpec>,
    tool: Arc<dyn Tool>,
    mask: Mask,
}

/// The source, of which lists and errors are masked here, and calls by the gate.
pub fn masked(source: Arc<dyn Source>, mask: Mask) -> Arc<dyn Source> {
    Arc::new(MaskedSource { source, mask })
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

    fn resumes(&self) -> bool {
        self.tool.resumes()
    }

    fn mask(&self) -> Option<&Mask> {
        Some(&self.mask)
    }

    fn preview<'a>(
        &'a self,
        arguments: &'a Arguments,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        self.tool.preview(arguments, caller)
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        self.tool.call(arguments, context)
    }
}
