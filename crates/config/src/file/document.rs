//! A TOML text with the places of all that stands in it.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::format_hint;
use super::problem::ConfigProblem;
use super::toml_path::{TomlPath, TomlPathStep};

/// Problems of a file: more than anybody reads. The rest shows once these are gone.
pub(crate) const MOST: usize = 200;

/// Largest file, in bytes.
pub(crate) const LARGEST_FILE: usize = 1 << 20;

pub(crate) type TomlTable<'t> = DeTable<'t>;
pub(crate) type TomlItem<'t> = Spanned<DeValue<'t>>;

pub(crate) struct TomlDocument<'t> {
    file: &'t str,
    text: &'t str,
    /// Where each line starts, in bytes.
    lines: Vec<usize>,
    table: TomlTable<'t>,
}

impl<'t> TomlDocument<'t> {
    /// Parses a text; what is no TOML is looked at no further, since what could be made of it
    /// may not be what was meant.
    pub(crate) fn parse(text: &'t str, file: &'t str) -> Result<Self, Vec<ConfigProblem>> {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(breaks).collect();
        let mut document = Self { file, text, lines, table: TomlTable::new() };
        if text.len() > LARGEST_FILE {
            let message = format!("the file is larger than {LARGEST_FILE} bytes");
            return Err(vec![document.problem(
                0,
                &TomlPath::default(),
                message,
                "make it shorter",
            )]);
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut problems: Vec<_> = errors
            .iter()
            .take(MOST)
            .map(|error| {
                let at = error.span().map_or(0, |span| span.start);
                let message = format!("this is not TOML: {}", one_line(error.message()));
                document.problem(at, &TomlPath::default(), message, "correct the syntax")
            })
            .collect();
        // Of a line only the first error counts: the others mostly follow from it.
        problems.sort_by_key(|problem| problem.line);
        problems.dedup_by_key(|problem| problem.line);
        if let Some(foreign) = errors.first().and_then(|_| format_hint::find(text)) {
            let top = TomlPath::default();
            return Err(vec![document.problem(foreign.at, &top, foreign.message, foreign.cure)]);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        document.table = table.into_inner();
        Ok(document)
    }

    pub(crate) fn table(&self) -> &TomlTable<'t> {
        &self.table
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// A problem with what begins at a byte of the text.
    pub(crate) fn problem(
        &self,
        at: usize,
        place: &TomlPath,
        message: impl Into<String>,
        cure: impl Into<String>,
    ) -> ConfigProblem {
        let line = self.line(at);
        let start = self.lines.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(start..at).unwrap_or_default();
        ConfigProblem {
            file: self.file.to_owned(),
            line,
            column: before.chars().count() + 1,
            path: place.to_string(),
            message: message.into(),
            cure: cure.into(),
        }
    }

    /// The line that a byte of the text stands in, from one.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at).max(1)
    }

    pub(crate) fn has(&self, place: &TomlPath) -> bool {
        self.walk(place).1 == place.steps().len()
    }

    /// Where a value begins, or what holds it if it is not there.
    pub(crate) fn start(&self, place: &TomlPath) -> usize {
        self.walk(place).0
    }

    /// The start of the last value on the way, and how many steps lead there.
    fn walk(&self, place: &TomlPath) -> (usize, usize) {
        let (mut start, mut found) = (0, 0);
        let mut value: Option<&DeValue<'t>> = None;
        for step in place.steps() {
            let next = match (step, value) {
                (TomlPathStep::Key(key), None) => self.table.get(key.as_str()),
                (TomlPathStep::Key(key), Some(value)) => value.get(key.as_str()),
                (TomlPathStep::Index(index), Some(value)) => value.get(*index),
                (TomlPathStep::Index(_), None) => None,
            };
            let Some(next) = next else { break };
            start = next.span().start;
            found += 1;
            value = Some(next.get_ref());
        }
        (start, found)
    }

    /// The table at a place.
    pub(crate) fn table_at(&self, place: &TomlPath) -> Option<&TomlTable<'t>> {
        let mut table = &self.table;
        for step in place.steps() {
            let TomlPathStep::Key(key) = step else { return None };
            table = table.get(key.as_str())?.get_ref().as_table()?;
        }
        Some(table)
    }

    /// What stands at a byte of the text, or last before it.
    pub(crate) fn place_at(&self, at: usize) -> TomlPath {
        let mut best = (0, TomlPath::default());
        let mut waiting: Vec<(TomlPath, &TomlTable<'t>)> = vec![(TomlPath::default(), &self.table)];
        let mut lists: Vec<(TomlPath, &TomlItem<'t>)> = Vec::new();
        let closer = |best: &mut (usize, TomlPath), start: usize, place: &TomlPath| {
            if start <= at && start >= best.0 {
                *best = (start, place.clone());
            }
        };
        loop {
            if let Some((place, table)) = waiting.pop() {
                for (key, item) in table {
                    let place = place.key(key.get_ref());
                    closer(&mut best, key.span().start, &place);
                    lists.push((place, item));
                }
            } else if let Some((place, item)) = lists.pop() {
                closer(&mut best, item.span().start, &place);
                if let Some(table) = item.get_ref().as_table() {
                    waiting.push((place, table));
                } else if let Some(items) = item.get_ref().as_array() {
                    let items = items.iter().enumerate();
                    lists.extend(items.map(|(index, item)| (place.index(index), item)));
                }
            } else {
                return best.1;
            }
        }
    }
}

/// The parser quotes the file: what it says stays on one line.
fn one_line(text: &str) -> String {
    text.chars().take(300).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
