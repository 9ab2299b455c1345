//! A file that was read: what it says, and all that is wrong with it.

use std::path::Path;

use super::foreign::ForeignFile;
use super::overlay::Overlay;
use super::overlay::rows::OverlayRows;
use super::{Config, in_order};
use crate::check;
use crate::file::document::TomlDocument;
use crate::file::findings::Findings;
use crate::file::problem::ConfigProblem;
use crate::file::schema_check;
use crate::file::toml_path::TomlPath;
use crate::raw::ConfigFile;
use crate::secrets::template::SecretLookup;

/// What came of reading a file.
#[derive(Debug)]
pub struct ParsedConfig {
    /// `None` if anything is wrong.
    pub config: Option<Config>,
    /// Everything that is wrong, in the order of the file.
    pub problems: Vec<ConfigProblem>,
    /// What may stay as it is, and should not.
    pub warnings: Vec<ConfigProblem>,
    /// What could be read of a file in which something is wrong.
    partial: Option<Config>,
}

impl ParsedConfig {
    /// What is wrong and what should not be, within the file and with what it only names: see
    /// [`Config::examine`]. Of a file with problems all that could be read is looked at too.
    ///
    /// Gives the problems and the warnings, in the order of the file.
    pub fn examine(&self, lookup: &dyn SecretLookup) -> (Vec<ConfigProblem>, Vec<ConfigProblem>) {
        let (mut problems, mut warnings) = (self.problems.clone(), self.warnings.clone());
        if let Some(config) = self.config.as_ref().or(self.partial.as_ref()) {
            let (missing, doubtful) = config.examine(lookup);
            problems.extend(missing);
            warnings.extend(doubtful);
        }
        in_order(&mut problems);
        in_order(&mut warnings);
        (problems, warnings)
    }
}

impl Config {
    /// Reads a file of 1 MiB at the most: starts nothing, and looks at nothing but the text.
    ///
    /// `file` is the path of the file: problems are told of it, and relative paths within the
    /// file start from its folder. One that ends in `.json` is taken for the file of another
    /// program, as [`import()`](crate::import()) reads it.
    pub fn read(text: &str, file: &str) -> ParsedConfig {
        let foreign = match ForeignFile::read(text, file) {
            None => return Self::read_own(text, file),
            Some(Ok(foreign)) => foreign,
            Some(Err(problem)) => {
                let (problems, warnings) = (vec![problem], Vec::new());
                return ParsedConfig { config: None, problems, warnings, partial: None };
            }
        };
        let mut read = Self::read_own(&foreign.toml, file);
        for problem in read.problems.iter_mut().chain(&mut read.warnings) {
            foreign.place(problem);
        }
        for config in [&mut read.config, &mut read.partial].into_iter().flatten() {
            config.points.iter_mut().for_each(|point| foreign.place_requirement(point));
        }
        read.warnings.extend(foreign.warnings);
        in_order(&mut read.warnings);
        read
    }

    /// The same with what holds over the file, at a time in seconds since 1970. The file must be
    /// right by itself. What is wrong with a row is told of `overlay`, with the number of the row
    /// as its line, and nothing comes into force: a row that is passed over may be one that keeps
    /// a tool away.
    pub fn read_over(text: &str, file: &str, overlay: &Overlay, now: u64) -> ParsedConfig {
        let alone = Self::read(text, file);
        let Some(config) = alone.config.as_ref().filter(|_| !overlay.rows.is_empty()) else {
            return alone;
        };
        let folded = overlay.folded(text, file, now);
        let mut read = Self::read_own(&folded, file);
        let rows = OverlayRows::of(overlay, &folded);
        read.problems.iter_mut().for_each(|problem| rows.place(problem));
        let known = alone.warnings.iter().map(|warning| (&warning.path, &warning.message));
        let known: Vec<_> = known.collect();
        read.warnings.retain(|warning| !known.contains(&(&warning.path, &warning.message)));
        read.warnings.iter_mut().for_each(|warning| rows.place(warning));
        read.warnings.extend(alone.warnings.iter().cloned());
        for new in [&mut read.config, &mut read.partial].into_iter().flatten() {
            for point in &mut new.points {
                let same = config.points.iter().find(|old| old.at.path == point.at.path);
                match same {
                    Some(old) => point.at = old.at.clone(),
                    None => rows.place(&mut point.at),
                }
            }
        }
        read
    }

    /// A `crib.toml`.
    fn read_own(text: &str, file: &str) -> ParsedConfig {
        let document = match TomlDocument::parse(text, file) {
            Ok(document) => document,
            Err(problems) => {
                return ParsedConfig {
                    config: None,
                    problems,
                    warnings: Vec::new(),
                    partial: None,
                };
            }
        };
        let mut findings = Findings::new(&document);
        let value = schema_check::read(&document, &mut findings);
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let config = match serde_json::from_value::<ConfigFile>(value) {
            Ok(raw) => Some(check::file(&raw, folder, &mut findings)),
            Err(error) => {
                // The shape lets nothing through that the types refuse; if it ever does, the
                // file is refused.
                let message = format!("the file cannot be read: {error}");
                findings.problem(&TomlPath::default(), message, "simplify it");
                None
            }
        };
        let (problems, warnings) = findings.finish();
        let (config, partial) = if problems.is_empty() { (config, None) } else { (None, config) };
        ParsedConfig { config, problems, warnings, partial }
    }
}
