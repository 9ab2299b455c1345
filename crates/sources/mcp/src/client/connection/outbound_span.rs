//! A request for a call as a span, by the conventions of OpenTelemetry for clients of MCP.
//!
//! What they have and is not told here: `mcp.session.id`, which opens a session to whoever knows
//! it, and `mcp.resource.uri`, which may hold arguments. `gen_ai.operation.name` stands on the span
//! of the call, which would be counted twice.

use std::borrow::Cow;

use toolcrib_core::{CallContext, ErrorKind, OutboundSpan, SpanAttribute};

use crate::client::call::params::RequestParams;
use crate::client::call::reply::ServerReply;
use crate::client::fault::McpFault;
use crate::client::settings::McpTransport;
use crate::protocol::methods;

/// Where a server is.
pub(crate) fn way(transport: &McpTransport) -> Vec<SpanAttribute> {
    match transport {
        McpTransport::Stdio(_) => vec![("network.transport", "pipe".into())],
        McpTransport::Http(http) => {
            // An address of IPv6 stands in brackets in a URL alone.
            let host = http.url.host_str().map(|host| host.trim_matches(['[', ']']));
            let host = host.map(|host| ("server.address", host.into()));
            let port = http.url.port_or_known_default().map(|port| ("server.port", port.into()));
            let over =
                [("network.transport", "tcp".into()), ("network.protocol.name", "http".into())];
            over.into_iter().chain(host).chain(port).collect()
        }
    }
}

pub(crate) fn begin(
    (revision, way): (&str, &[SpanAttribute]),
    (method, params): (&str, &RequestParams),
    context: &CallContext,
) -> OutboundSpan {
    // Anybody can make up others.
    let method = if methods::is_defined(method) { method } else { "_OTHER" };
    let mut outbound = context.outbound_span(|| match target(method, params) {
        Some((_, name)) => format!("{method} {name}"),
        None => method.to_owned(),
    });
    outbound.notes(|| {
        let target = target(method, params).map(|(note, name)| (note, name.into()));
        let revision = ("mcp.protocol.version", revision.into());
        let method = ("mcp.method.name", method.into());
        [method, revision].into_iter().chain(target).chain(way.iter().cloned())
    });
    outbound
}

pub(crate) fn end(mut outbound: OutboundSpan, answered: &Result<ServerReply, McpFault>) {
    if let Err(McpFault::Refused { code, .. }) = answered {
        outbound.notes(|| [("rpc.response.status_code", code.to_string().into())]);
    }
    outbound.ends(|| match answered {
        Ok(reply) => reply.is_failure().then(|| "tool_error".into()),
        Err(fault) => Some(error(fault)),
    });
}

/// What a request names at the server, where that has few different values.
fn target<'a>(method: &str, params: &'a RequestParams) -> Option<(&'static str, &'a str)> {
    let note = match method {
        "tools/call" => "gen_ai.tool.name",
        "prompts/get" => "gen_ai.prompt.name",
        _ => return None,
    };
    Some((note, params.name()?))
}

fn error(fault: &McpFault) -> Cow<'static, str> {
    let kind = match fault {
        McpFault::Refused { code, .. } => return code.to_string().into(),
        McpFault::Http { status, .. } => return status.to_string().into(),
        McpFault::Unauthorized { .. } => return "unauthorized".into(),
        McpFault::Unreadable(_) => return "invalid_response".into(),
        McpFault::Unreachable { .. } | McpFault::Busy(_) => ErrorKind::Unavailable,
        McpFault::Broken { .. } => ErrorKind::Network,
        McpFault::TooLong(..) => ErrorKind::Timeout,
        McpFault::Cancelled | McpFault::Withdrawn | McpFault::Moved => ErrorKind::Cancelled,
    };
    kind.as_str().into()
}
