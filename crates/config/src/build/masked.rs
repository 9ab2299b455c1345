//! A source whose tools and errors tell none of the secrets that it was given.
//!
//! A server knows the secrets of its environment, and says them more easily than one thinks: in an
//! error, a dump of its variables, the description of a tool.

use std::error::Error;
use std::sync::Arc;

use serde_json::Value;
use toolcrib_core::{
    Arguments, BoxFuture, CallContext, Library, Redactor, Secret, Source, SourceError, Tool,
    ToolOutcome, ToolSpec, Toolset,
};

use super::shelves::MaskedLibrary;
use crate::settings::Settings;

struct Masked {
    source: Arc<dyn Source>,
    redactor: Arc<Redactor>,
}

struct MaskedTool {
    spec: Arc<ToolSpec>,
    tool: Arc<dyn Tool>,
    redactor: Arc<Redactor>,
}

/// The source, masked if it is one that does not mask itself.
pub(super) fn source(
    source: Arc<dyn Source>,
    settings: &Settings,
    secrets: &[Secret],
) -> Arc<dyn Source> {
    let redactor = match settings {
        Settings::Mcp(_) => Redactor::new(secrets.iter().cloned()),
        Settings::OpenApi(_) | Settings::Basics(_) => return source,
    };
    if redactor.is_idle() {
        return source;
    }
    Arc::new(Masked { source, redactor: Arc::new(redactor) })
}

impl Source for Masked {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(async {
            let tools = self.source.load().await.map_err(|error| self.error(&error))?;
            let masked = tools.iter().map(|shelved| -> Arc<dyn Tool> {
                let mut spec = ToolSpec::clone(&shelved.spec);
                mask(&mut spec, &self.redactor);
                let spec = Arc::new(spec);
                let (tool, redactor) = (Arc::clone(&shelved.tool), Arc::clone(&self.redactor));
                Arc::new(MaskedTool { spec, tool, redactor })
            });
            let again = "the tools cannot be gathered again";
            Toolset::of(masked).map_err(|error| SourceError::new(again).because(error))
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        self.source.changed()
    }

    fn library(&self) -> Option<Arc<dyn Library>> {
        let library = self.source.library()?;
        Some(Arc::new(MaskedLibrary { library, redactor: Arc::clone(&self.redactor) }))
    }
}

impl Masked {
    /// The same error if it tells nothing, else its words without the secrets.
    fn error(&self, error: &SourceError) -> SourceError {
        let mask = |error: &dyn Error| self.redactor.text(&error.to_string()).into_owned();
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
fn mask(spec: &mut ToolSpec, redactor: &Redactor) {
    let guidance = &mut spec.guidance;
    let texts = [&mut spec.summary, &mut spec.description].into_iter().chain(&mut spec.title);
    let guiding =
        [&mut guidance.source, &mut guidance.system, &mut guidance.user, &mut guidance.reminder];
    for text in texts.chain(guiding) {
        *text = redactor.text(text).into_owned();
    }
    for schema in [&mut spec.input].into_iter().chain(&mut spec.output) {
        schema.edit(|schema| mask_values([schema], redactor));
    }
    spec.extra.edit(|extra| mask_values(extra.values_mut(), redactor));
}

/// Always tells of a change: whether there was one is nothing that a redactor says.
fn mask_values<'a>(values: impl IntoIterator<Item = &'a mut Value>, redactor: &Redactor) -> bool {
    values.into_iter().for_each(|value| redactor.value(value));
    true
}

impl Tool for MaskedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn shared_spec(&self) -> Arc<ToolSpec> {
        Arc::clone(&self.spec)
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            let mut outcome = self.tool.call(arguments, context).await;
            match &mut outcome {
                ToolOutcome::Done(said) => self.redactor.content(said),
                ToolOutcome::Failed(error) => self.redactor.error(error),
                ToolOutcome::Pending(_) | ToolOutcome::Denied { .. } => {}
            }
            outcome
        })
    }
}
