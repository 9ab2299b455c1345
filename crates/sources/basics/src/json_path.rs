//! `JSONPath` (RFC 9535) without filters and steps: read, and followed within a budget.

use serde_json::Value;

/// Values looked at: lists and `..` after each other multiply.
const MOST_STEPS: usize = 200_000;

/// A path that was read.
#[derive(Debug)]
pub(crate) struct JsonPath {
    segments: Vec<JsonPathSegment>,
}

#[derive(Debug)]
struct JsonPathSegment {
    /// Applies to the value and to everything within it.
    deep: bool,
    selectors: Vec<JsonPathSelector>,
}

#[derive(Debug)]
enum JsonPathSelector {
    Name(String),
    /// Below zero it counts from the end.
    Index(i64),
    Slice(Option<i64>, Option<i64>),
    All,
}

impl JsonPath {
    /// Reads a path, or says in words for a model where it cannot.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let mut reader = JsonPathParser { text, at: 0 };
        if !reader.take("$") {
            return Err(reader.fault("a path starts with `$`"));
        }
        let mut segments = Vec::new();
        while !reader.rest().is_empty() {
            segments.push(reader.segment()?);
        }
        Ok(Self { segments })
    }

    /// The values that the path leads to, in order, or that there is too much to look at.
    pub(crate) fn find<'v>(&self, document: &'v Value) -> Result<Vec<&'v Value>, String> {
        let mut budget = JsonPathBudget(MOST_STEPS);
        let mut found = vec![document];
        for segment in &self.segments {
            let from = if segment.deep { with_inner(&found, &mut budget)? } else { found };
            found = Vec::new();
            for value in from {
                for selector in &segment.selectors {
                    budget.spend(1)?;
                    selector.select(value, &mut found, &mut budget)?;
                }
            }
        }
        Ok(found)
    }
}

struct JsonPathBudget(usize);

impl JsonPathBudget {
    fn spend(&mut self, steps: usize) -> Result<(), String> {
        self.0 = self.0.checked_sub(steps).ok_or_else(|| {
            format!("the path leads to more than {MOST_STEPS} values: use a narrower one")
        })?;
        Ok(())
    }
}

/// The values and everything within them, each before what it holds.
fn with_inner<'v>(
    values: &[&'v Value],
    budget: &mut JsonPathBudget,
) -> Result<Vec<&'v Value>, String> {
    let mut all = Vec::new();
    let mut waiting: Vec<&Value> = values.iter().rev().copied().collect();
    while let Some(value) = waiting.pop() {
        budget.spend(1)?;
        all.push(value);
        let first = waiting.len();
        JsonPathSelector::All.select(value, &mut waiting, budget)?;
        if let Some(inner) = waiting.get_mut(first..) {
            inner.reverse();
        }
    }
    Ok(all)
}

impl JsonPathSelector {
    fn select<'v>(
        &self,
        value: &'v Value,
        found: &mut Vec<&'v Value>,
        budget: &mut JsonPathBudget,
    ) -> Result<(), String> {
        match (self, value) {
            (Self::Name(name), Value::Object(fields)) => found.extend(fields.get(name)),
            (Self::Index(index), Value::Array(items)) => {
                found.extend(position(*index, items.len()).and_then(|at| items.get(at)));
            }
            (Self::Slice(start, end), Value::Array(items)) => {
                let start = start.map_or(0, |start| bound(start, items.len()));
                let end = end.map_or(items.len(), |end| bound(end, items.len()));
                let slice = items.get(start..end).unwrap_or_default();
                budget.spend(slice.len())?;
                found.extend(slice);
            }
            (Self::All, Value::Array(items)) => {
                budget.spend(items.len())?;
                found.extend(items);
            }
            (Self::All, Value::Object(fields)) => {
                budget.spend(fields.len())?;
                found.extend(fields.values());
            }
            // What a value does not have is not found, as the RFC says.
            _ => {}
        }
        Ok(())
    }
}

/// Where an index stands in a list, if it does.
fn position(index: i64, length: usize) -> Option<usize> {
    let distance = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 { length.checked_sub(distance) } else { Some(distance) }
}

/// Where a bound of a slice stands, kept within the list.
fn bound(index: i64, length: usize) -> usize {
    let nearest = if index < 0 { 0 } else { length };
    position(index, length).unwrap_or(nearest).min(length)
}

struct JsonPathParser<'t> {
    text: &'t str,
    /// In bytes, always between two characters.
    at: usize,
}

impl<'t> JsonPathParser<'t> {
    fn segment(&mut self) -> Result<JsonPathSegment, String> {
        let deep = self.take("..");
        let selectors = if self.take("[") {
            self.selectors()?
        } else if deep || self.take(".") {
            vec![if self.take("*") {
                JsonPathSelector::All
            } else {
                JsonPathSelector::Name(self.name()?)
            }]
        } else {
            return Err(self.fault("expected `.`, `..` or `[`"));
        };
        Ok(JsonPathSegment { deep, selectors })
    }

    /// What stands between brackets, to the closing one.
    fn selectors(&mut self) -> Result<Vec<JsonPathSelector>, String> {
        let mut selectors = Vec::new();
        loop {
            selectors.push(self.selector()?);
            if self.take_spaced("]") {
                return Ok(selectors);
            }
            if !self.take_spaced(",") {
                return Err(self.fault("expected `,` or `]`"));
            }
        }
    }

    fn selector(&mut self) -> Result<JsonPathSelector, String> {
        if self.take_spaced("*") {
            return Ok(JsonPathSelector::All);
        }
        for quote in ['\'', '"'] {
            if self.rest().starts_with(quote) {
                return self.quoted(quote).map(JsonPathSelector::Name);
            }
        }
        let start = self.integer()?;
        if self.take_spaced(":") {
            self.spaces();
            return Ok(JsonPathSelector::Slice(start, self.integer()?));
        }
        let expected = "expected an index, a slice, a quoted name or `*`; filters are not read";
        start.map(JsonPathSelector::Index).ok_or_else(|| self.fault(expected))
    }

    fn integer(&mut self) -> Result<Option<i64>, String> {
        let fault = self.fault("this is no index");
        let digits = self.take_while(|c| c.is_ascii_digit() || c == '-');
        if digits.is_empty() { Ok(None) } else { digits.parse().map(Some).map_err(|_| fault) }
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let fault = self.fault("this name is not closed");
        let mut name = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, c)) = characters.next() {
            if c == quote {
                self.at += at + 1;
                return Ok(name);
            }
            // A backslash stands before a quote or a backslash; other escapes are not read.
            if c != '\\' {
                name.push(c);
            } else if let Some((_, escaped @ ('\\' | '\'' | '"'))) = characters.next() {
                name.push(escaped);
            } else {
                return Err(self.fault("only quotes and backslashes take a backslash"));
            }
        }
        Err(fault)
    }

    fn name(&mut self) -> Result<String, String> {
        let fault = self.fault("expected a name or `*`");
        let name =
            self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-') || !c.is_ascii());
        if name.is_empty() { Err(fault) } else { Ok(name.to_owned()) }
    }

    fn take_while(&mut self, taken: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|c| !taken(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn take_spaced(&mut self, what: &str) -> bool {
        self.spaces();
        self.take(what)
    }

    fn spaces(&mut self) {
        self.take_while(char::is_whitespace);
    }

    fn take(&mut self, what: &str) -> bool {
        let taken = self.rest().starts_with(what);
        if taken {
            self.at += what.len();
        }
        taken
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fault(&self, what: &str) -> String {
        let before = self.text.get(..self.at).unwrap_or_default().chars().count();
        let near: String = self.rest().chars().take(12).collect();
        format!("cannot read the path at character {} (`{near}`): {what}", before + 1)
    }
}
