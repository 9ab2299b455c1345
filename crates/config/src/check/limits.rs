//! The bounds of a process.

use toolcrib_core::{CatalogBounds, CribLimits, TicketBounds};

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;

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
        let per_source = count(raw.per_source, "per_source", default.per_source);
        let per_tenant = count(raw.per_tenant, "per_tenant", default.per_tenant);
        let usual = default.tickets.of_tenant;
        let of_tenant = count(raw.tickets_per_tenant, "tickets_per_tenant", usual);
        let tools = count(raw.tools, "tools", default.catalog.tools);
        let size = self.size(raw.max_result.as_ref(), &place.key("max_result"));
        let data = self.size(raw.max_data.as_ref(), &place.key("max_data"));
        let mut pause = |text, key, default| self.pause(text, &place.key(key)).unwrap_or(default);
        CribLimits {
            tickets: TicketBounds { of_tenant, ..default.tickets },
            catalog: CatalogBounds { tools, ..default.catalog },
            max_calls,
            per_source,
            per_tenant,
            queue: pause(raw.queue.as_ref(), "queue", default.queue),
            guard: pause(raw.guard.as_ref(), "guard", default.guard),
            timeout: self
                .timeout(raw.timeout.as_ref(), &place.key("timeout"))
                .unwrap_or(default.timeout),
            retries: raw.retries.unwrap_or(default.retries),
            max_result_bytes: size.unwrap_or(default.max_result_bytes),
            max_data_bytes: data.unwrap_or(default.max_data_bytes),
            ticket_lifetime: self
                .timeout(raw.ticket_lifetime.as_ref(), &place.key("ticket_lifetime"))
                .unwrap_or(default.ticket_lifetime),
            ..default
        }
    }
}
