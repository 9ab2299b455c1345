//! What finds tools by their meaning: a folder or an address, and what belongs to it.

use toolcrib_embed::Prefixes;
use toolcrib_engine::discovery::PATIENCE;

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;
use crate::settings::embedder::{self, EmbedderTemplate};

/// Longest prefix, in bytes: models want a word or a sentence.
const LONGEST_PREFIX: usize = 1000;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn embedder(
        &mut self,
        raw: Option<&raw::EmbedderTable>,
        place: &TomlPath,
    ) -> Option<EmbedderTemplate> {
        let raw = raw?;
        let within = self.timeout(raw.within.as_ref(), &place.key("within")).unwrap_or(PATIENCE);
        let vectors = raw.vectors.as_ref();
        let vectors = vectors.and_then(|path| self.path(path, &place.key("vectors")));
        let mut prefix = |text: Option<&String>, key: &str| {
            let text = text.cloned().unwrap_or_default();
            if text.len() > LONGEST_PREFIX {
                let cure = "write what the model's own page says";
                self.problem(&place.key(key), "no model wants so long a prefix", cure);
            }
            text
        };
        let prefixes = Prefixes {
            query: prefix(raw.query_prefix.as_ref(), "query_prefix"),
            tool: prefix(raw.tool_prefix.as_ref(), "tool_prefix"),
        };
        let model = match (&raw.local, &raw.endpoint) {
            (Some(folder), None) => self.local(raw, folder, place),
            (None, Some(address)) => self.endpoint(raw, address, place),
            (Some(_), Some(_)) | (None, None) => {
                let cure =
                    "write `local = \"FOLDER\"`, or `endpoint = \"https://...\"` and `model`";
                self.problem(place, "an embedder is in one place", cure);
                None
            }
        };
        Some(EmbedderTemplate { place: model?, prefixes, within, vectors })
    }

    fn local(
        &mut self,
        raw: &raw::EmbedderTable,
        folder: &str,
        place: &TomlPath,
    ) -> Option<embedder::EmbedderModelTemplate> {
        let of_endpoint = [
            ("model", raw.model.is_some()),
            ("key", raw.key.is_some()),
            ("dimensions", raw.dimensions.is_some()),
        ];
        for (key, _) in of_endpoint.into_iter().filter(|(_, is_there)| *is_there) {
            let message = format!("`{key}` is of an endpoint, and this model is in a folder");
            self.problem(&place.key(key), message, "take it out");
        }
        let at = place.key("local");
        let path = self.path(folder, &at)?;
        self.needs_folder(&path, &at);
        Some(embedder::EmbedderModelTemplate::Local(path))
    }

    fn endpoint(
        &mut self,
        raw: &raw::EmbedderTable,
        address: &str,
        place: &TomlPath,
    ) -> Option<embedder::EmbedderModelTemplate> {
        let at = place.key("endpoint");
        let base = self.url(address, &at);
        self.in_the_open(base.as_ref(), raw.key.is_some(), &at);
        if raw.model.as_deref().is_none_or(str::is_empty) {
            let cure = "add it as the endpoint names it: `model = \"text-embedding-3-small\"`";
            self.problem(place, "an endpoint is asked for a model", cure);
        }
        if raw.dimensions == Some(0) {
            let cure = "leave it out, or write how many";
            self.problem(&place.key("dimensions"), "a vector has numbers", cure);
        }
        let key = raw.key.as_ref();
        let key = key.and_then(|key| self.template(key, &place.key("key")));
        let dimensions = raw.dimensions.and_then(|dimensions| usize::try_from(dimensions).ok());
        let model = raw.model.clone()?;
        Some(embedder::EmbedderModelTemplate::Endpoint { base: base?, model, key, dimensions })
    }
}
