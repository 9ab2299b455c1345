//! A server as its callers meet it, through real sockets.

mod accounts;
mod agent_clients;
mod agents;
mod agui;
mod agui_interrupts;
mod alike;
mod all_tickets;
mod apart;
mod approvals;
mod audit;
mod audited;
mod away;
mod bombs;
mod bounds;
mod calls;
mod canaries;
mod canaries_elsewhere;
mod checked;
mod citations;
mod clients;
mod consent;
mod conversations;
mod credentials;
mod crib;
#[cfg(target_os = "linux")]
mod crowd;
mod debugged;
mod desk;
mod doors;
mod echo;
mod ends;
mod figures;
mod finding;
mod followed;
mod forbidden;
#[cfg(target_os = "linux")]
mod full;
#[cfg(unix)]
mod handed;
mod hidden;
mod hosted;
mod json;
mod judged;
pub(crate) mod keys;
mod leaks;
mod lifetime;
mod limits;
mod listener;
mod long_threads;
mod mcp;
mod meaning;
mod named;
mod narrow;
mod near;
mod numbers;
mod open_responses;
mod operations;
mod oracle;
mod outbound_requests;
mod passing;
mod places;
mod plans;
mod progress;
mod questions;
mod record;
mod refusals;
mod relisted;
mod remote;
mod replayed;
mod revoked;
mod routes;
mod runs;
mod schemathesis;
pub(crate) mod script;
#[cfg(unix)]
mod sdks;
mod sessions;
mod shown;
mod socket_faults;
mod sockets;
#[cfg(target_os = "linux")]
mod spawns;
mod starting;
#[cfg(target_os = "linux")]
mod starved;
mod stopping;
mod suite;
pub(crate) mod support;
mod tasks;
#[cfg(unix)]
mod tls;
mod tokens;
mod tool_choice;
mod traces;
mod two_minds;
mod upstreams;
mod wire;
