//! The bounds of a process.

use toolcrib_core::{CatalogBounds, CribLimits, TicketBounds};

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;

/// Levels of a schema that may be set: what compiles one calls itself for each.
const DEEPEST_SCHEMA: u32 = 64;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn limits(&mut self, raw: &raw::LimitsTable, place: &TomlPath) -> CribLimits {
        let default = CribLimits::default();
        let mut count = |number: Option<u32>, key: &str, default: usize| {
            if number == Some(0) {
                self.problem(&place.key(key), "nothing could run with 0", "write 1 or more");
            }
            number.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let max_calls = count(raw.max_calls, "max_calls", default.max_calls);
        let per_batch = count(raw.per_batch, "per_batch", default.per_batch);
        let per_source = count(raw.per_source, "per_source", default.per_source);
        let per_tenant = count(raw.per_tenant, "per_tenant", default.per_tenant);
        let most_queued = count(raw.queue_length, "queue_length", default.most_queued);
        let questions = count(raw.questions, "questions", default.questions);
        let questions_per_tenant =
            count(raw.questions_per_tenant, "questions_per_tenant", default.questions_per_tenant);
        let mut arguments = default.arguments;
        arguments.values = count(raw.values, "values", arguments.values);
        arguments.depth = self.depth(raw.depth, &place.key("depth"), arguments.depth);
        let longest = self.size(raw.arguments.as_ref(), &place.key("arguments"));
        arguments.bytes = longest.unwrap_or(arguments.bytes);
        let (tickets, catalog) = (self.ticket_bounds(raw, place), self.catalog_bounds(raw, place));
        let size = self.size(raw.max_result.as_ref(), &place.key("max_result"));
        let data = self.size(raw.max_data.as_ref(), &place.key("max_data"));
        let mut pause = |text, key, default| self.pause(text, &place.key(key)).unwrap_or(default);
        CribLimits {
            arguments,
            most_queued,
            questions,
            questions_per_tenant,
            tickets,
            catalog,
            longest_timeout: None,
            max_calls,
            per_batch,
            per_source,
            per_tenant,
            queue: pause(raw.queue.as_ref(), "queue", default.queue),
            grace: pause(raw.grace.as_ref(), "grace", default.grace),
            late: pause(raw.late.as_ref(), "late", default.late),
            guard: pause(raw.guard.as_ref(), "guard", default.guard),
            backoff: pause(raw.backoff.as_ref(), "backoff", default.backoff),
            timeout: self
                .timeout(raw.timeout.as_ref(), &place.key("timeout"))
                .unwrap_or(default.timeout),
            retries: raw.retries.unwrap_or(default.retries),
            max_result_bytes: size.unwrap_or(default.max_result_bytes),
            max_data_bytes: data.unwrap_or(default.max_data_bytes),
            validation: None,
            ticket_lifetime: self
                .timeout(raw.ticket_lifetime.as_ref(), &place.key("ticket_lifetime"))
                .unwrap_or(default.ticket_lifetime),
        }
    }

    fn ticket_bounds(&mut self, raw: &raw::LimitsTable, place: &TomlPath) -> TicketBounds {
        let default = TicketBounds::default();
        let mut count = |number, key, default| self.count(number, &place.key(key), default);
        let open = count(raw.tickets, "tickets", default.open);
        let of_tenant = count(raw.tickets_per_tenant, "tickets_per_tenant", default.of_tenant);
        let bytes = self.size(raw.ticket_bytes.as_ref(), &place.key("ticket_bytes"));
        let bytes_of_tenant = bytes.unwrap_or(default.bytes_of_tenant);
        TicketBounds { open, of_tenant, bytes_of_tenant }
    }

    fn catalog_bounds(&mut self, raw: &raw::LimitsTable, place: &TomlPath) -> CatalogBounds {
        let default = CatalogBounds::default();
        let tools = self.count(raw.tools, &place.key("tools"), default.tools);
        let name = self.count(raw.name, &place.key("name"), default.name);
        if name > default.name {
            let message = "no tool has a name as long as this";
            self.problem(&place.key("name"), message, format!("write {} or less", default.name));
        }
        let (raw, place) = (&raw.schema, place.key("schema"));
        if raw.depth.is_some_and(|levels| levels > DEEPEST_SCHEMA) {
            let message = "what compiles a schema calls itself for each of its levels";
            self.problem(&place.key("depth"), message, format!("write {DEEPEST_SCHEMA} or less"));
        }
        let mut schema = (*default.schema).clone();
        let size = self.size(raw.size.as_ref(), &place.key("size"));
        schema.bytes = size.unwrap_or(schema.bytes);
        for (number, key, bound) in [
            (raw.depth, "depth", &mut schema.depth),
            (raw.subschemas, "subschemas", &mut schema.subschemas),
            (raw.pattern, "pattern", &mut schema.pattern_bytes),
            (raw.patterns, "patterns", &mut schema.patterns),
        ] {
            *bound = self.count(number, &place.key(key), *bound);
        }
        for (number, key, bound) in
            [(raw.unfold, "unfold", &mut schema.unfold), (raw.steps, "steps", &mut schema.steps)]
        {
            self.count(number, &place.key(key), 1);
            *bound = number.map_or(*bound, u64::from);
        }
        CatalogBounds { tools, name, schema: schema.into() }
    }
}
