//! Collects what is wrong with a file while it is read.

use super::document::{MOST, TomlDocument};
use super::problem::ConfigProblem;
use super::toml_path::TomlPath;

pub(crate) struct Findings<'d, 't> {
    pub(crate) document: &'d TomlDocument<'t>,
    pub(crate) problems: Vec<ConfigProblem>,
    pub(crate) warnings: Vec<ConfigProblem>,
    /// Where the problems are.
    places: Vec<TomlPath>,
}

impl<'d, 't> Findings<'d, 't> {
    pub(crate) fn new(document: &'d TomlDocument<'t>) -> Self {
        Self { document, problems: Vec::new(), warnings: Vec::new(), places: Vec::new() }
    }

    /// A problem with the value at a place, or with what should hold it.
    pub(crate) fn problem(
        &mut self,
        place: &TomlPath,
        message: impl Into<String>,
        cure: impl Into<String>,
    ) {
        self.problem_from(self.document.start(place), place, message, cure);
    }

    /// The same with what begins at a byte of the text.
    pub(crate) fn problem_from(
        &mut self,
        at: usize,
        place: &TomlPath,
        message: impl Into<String>,
        cure: impl Into<String>,
    ) {
        if !self.is_full() {
            self.problems.push(self.document.problem(at, place, message, cure));
            self.places.push(place.clone());
        }
    }

    pub(crate) fn warning(
        &mut self,
        place: &TomlPath,
        message: impl Into<String>,
        cure: impl Into<String>,
    ) {
        self.warning_from(self.document.start(place), place, message, cure);
    }

    pub(crate) fn warning_from(
        &mut self,
        at: usize,
        place: &TomlPath,
        message: impl Into<String>,
        cure: impl Into<String>,
    ) {
        if self.warnings.len() < MOST {
            self.warnings.push(self.document.problem(at, place, message, cure));
        }
    }

    /// Whether no more problems are taken: what they would say need not be found out.
    pub(crate) fn is_full(&self) -> bool {
        self.problems.len() >= MOST
    }

    /// Whether something at or below a place is wrong.
    pub(crate) fn is_wrong(&self, place: &TomlPath) -> bool {
        self.places.iter().any(|wrong| wrong.starts_with(place))
    }

    /// Whether something that begins at a byte of the text is wrong.
    pub(crate) fn has_problem_at(&self, at: usize) -> bool {
        let here = self.document.problem(at, &TomlPath::default(), "", "");
        let mut places = self.problems.iter().map(|problem| (problem.line, problem.column));
        places.any(|place| place == (here.line, here.column))
    }

    /// In the order of the file.
    pub(crate) fn finish(mut self) -> (Vec<ConfigProblem>, Vec<ConfigProblem>) {
        for list in [&mut self.problems, &mut self.warnings] {
            list.sort_by_key(|problem| (problem.line, problem.column));
        }
        (self.problems, self.warnings)
    }
}
