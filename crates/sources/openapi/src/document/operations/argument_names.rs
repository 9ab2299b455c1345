//! What the arguments of a tool are called.
//!
//! The rule, on which callers may rely:
//!
//! 1. A parameter is an argument of its own name; characters other than letters, digits, `_`,
//!    `-` and `.` become `_`, and what is longer than 64 is cut, with a hash.
//! 2. Where parameters of two places share a name, the first of path, query, header, cookie keeps
//!    it, and the other has its place behind it: `id`, `id_query`.
//! 3. Each field of an object body is an argument of its own, if the object is plain (see
//!    [`crate::document::body::fields`]) and no name clashes; else the whole body is the argument
//!    `body`.
//!
//! None of it depends on the order of the document.

use std::collections::HashSet;

use super::names;
use crate::document::text;
use crate::operation::{OperationParameter, ParameterLocation};

/// The names that are given away.
#[derive(Default)]
pub(crate) struct ArgumentNames(HashSet<String>);

impl ArgumentNames {
    /// Names the arguments of parameters.
    pub(crate) fn name(&mut self, parameters: &mut [OperationParameter]) {
        let mut order: Vec<&mut OperationParameter> = parameters.iter_mut().collect();
        // What keeps its name comes before what has to change it.
        order.sort_by_cached_key(|parameter| {
            let changes = names::argument(&parameter.name) != parameter.name;
            (rank(parameter.place), changes, parameter.name.clone())
        });
        for parameter in order {
            let base = names::argument(&parameter.name);
            // With a place and a hash behind it, a name is still no longer than 64.
            let start = base.get(..40).unwrap_or(&base);
            let placed = format!("{start}_{}", word(parameter.place));
            let mut candidates = vec![base, placed.clone()];
            for digits in [6, 12] {
                candidates.push(format!("{placed}_{}", text::hash(&parameter.name, digits)));
            }
            let free = candidates.into_iter().find(|name| !self.0.contains(name));
            // Two wire names in one place differ, so their hashes do.
            parameter.argument = free.unwrap_or(placed);
            self.0.insert(parameter.argument.clone());
        }
    }

    /// The names of the fields of a body, if all of them are free.
    pub(crate) fn fields<'f>(
        &mut self,
        fields: impl Iterator<Item = &'f str>,
    ) -> Option<Vec<String>> {
        let mut taken = self.0.clone();
        let mut named = Vec::new();
        for field in fields {
            let name = names::argument(field);
            if !taken.insert(name.clone()) {
                return None;
            }
            named.push(name);
        }
        self.0 = taken;
        Some(named)
    }

    /// The name of the argument that is a whole body.
    pub(crate) fn body(&mut self) -> String {
        let numbered = (2..).map(|number| format!("body_{number}"));
        let mut candidates =
            ["body".to_owned(), "request_body".to_owned()].into_iter().chain(numbered);
        let free = candidates.find(|name| !self.0.contains(name)).unwrap_or_default();
        self.0.insert(free.clone());
        free
    }
}

fn rank(place: ParameterLocation) -> usize {
    match place {
        ParameterLocation::Path => 0,
        ParameterLocation::Query => 1,
        ParameterLocation::QueryString => 2,
        ParameterLocation::Header => 3,
        ParameterLocation::Cookie => 4,
    }
}

fn word(place: ParameterLocation) -> &'static str {
    match place {
        ParameterLocation::Path => "path",
        ParameterLocation::Query => "query",
        ParameterLocation::QueryString => "querystring",
        ParameterLocation::Header => "header",
        ParameterLocation::Cookie => "cookie",
    }
}
