//! What the file names outside of itself: noted while it is checked, looked for later.

use std::path::Path;

use toolcrib_core::ToolName;

use super::ConfigChecker;
use crate::config::requirement::{Requirement, RequirementKind};
use crate::file::toml_path::TomlPath;
use crate::raw::SecretText;
use crate::secrets::literal_secret;
use crate::secrets::template::{Template, TemplatePiece};

impl ConfigChecker<'_, '_, '_> {
    /// A text with references; one that seems to be the secret itself is warned about.
    pub(super) fn template(&mut self, text: &SecretText, place: &TomlPath) -> Option<Template> {
        let template = match Template::parse(&text.0, &self.folder) {
            Ok(template) => template,
            Err((message, cure)) => {
                self.problem(place, message, cure);
                return None;
            }
        };
        let mut texts = template.pieces().iter().filter_map(|piece| match piece {
            TemplatePiece::Text(text) => Some(text),
            TemplatePiece::Env(_) | TemplatePiece::File { .. } => None,
        });
        let name = place.name();
        let is_whole = template.literal().is_some();
        // Beside a reference only a secret's own form counts: `Bearer ${env:TOKEN}` is right.
        let looks = |text: &String| {
            let name = if is_whole { name } else { "" };
            literal_secret::looks_secret(name, text)
        };
        if texts.any(looks) {
            let message = "this looks like a secret that is written out";
            let cure = "write `${env:NAME}` or `${file:PATH}`, and change the secret if others \
                        could read this file";
            self.findings.warning(place, message, cure);
        }
        self.point(place, RequirementKind::Secret(template.clone()));
        Some(template)
    }

    pub(super) fn needs_file(&mut self, path: &Path, place: &TomlPath) {
        self.point(place, RequirementKind::File(path.to_owned()));
    }

    pub(super) fn needs_folder(&mut self, path: &Path, place: &TomlPath) {
        self.point(place, RequirementKind::Folder(path.to_owned()));
    }

    pub(super) fn needs_program(&mut self, path: &Path, place: &TomlPath) {
        self.point(place, RequirementKind::Program(path.to_owned()));
    }

    /// A tool that only a source can have.
    pub(super) fn names_tool(&mut self, name: &ToolName, place: &TomlPath) {
        self.point(place, RequirementKind::Tool(name.clone()));
    }

    /// The same of one by which calls are looked up.
    pub(super) fn looks_up_by(&mut self, name: &ToolName, place: &TomlPath) {
        self.point(place, RequirementKind::Lookup(name.clone()));
    }

    pub(super) fn point(&mut self, place: &TomlPath, thing: RequirementKind) {
        let at = self.document().problem(self.document().start(place), place, "", "");
        self.points.push(Requirement { at, thing });
    }
}
