//! A request for a call as an errand, by the conventions of OpenTelemetry for clients of MCP.
//!
//! What they have and is not told here: `mcp.session.id`, which opens a session to whoever knows
//! it, and `mcp.resource.uri`, which may hold arguments. `gen_ai.operation.name` stands on the span
//! of the call, which would be counted twice.

use std::borrow::Cow;

use toolcrib_core::{CallContext, Errand, ErrorKind, Note};

use super::Connection;
use crate::client::call::params::Params;
use crate::client::call::reply::Reply;
use crate::client::fault::Fault;
use crate::client::settings::Transport;
use crate::protocol::methods;

/// Where a server is.
pub(crate) fn way(transport: &Transport) -> Vec<Note> {
    match transport {
        Transport::Stdio(_) => vec![("network.transport", "pipe".into())],
        Transport::Http(http) => {
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
    connection: &Connection,
    (method, params): (&str, &Params),
    context: &CallContext,
) -> Errand {
    // Anybody can make up others.
    let method = if methods::is_defined(method) { method } else { "_OTHER" };
    let mut errand = context.errand(|| match target(method, params) {
        Some((_, name)) => format!("{method} {name}"),
        None => method.to_owned(),
    });
    errand.notes(|| {
        let target = target(method, params).map(|(note, name)| (note, name.into()));
        let revision = ("mcp.protocol.version", connection.facts.revision.as_str().into());
        let method = ("mcp.method.name", method.into());
        [method, revision].into_iter().chain(target).chain(connection.way.iter().cloned())
    });
    errand
}

pub(crate) fn end(mut errand: Errand, answered: &Result<Reply, Fault>) {
    if let Err(Fault::Refused { code, .. }) = answered {
        errand.notes(|| [("rpc.response.status_code", code.to_string().into())]);
    }
    errand.ends(|| match answered {
        Ok(reply) => reply.is_failure().then(|| "tool_error".into()),
        Err(fault) => Some(error(fault)),
    });
}

/// What a request names at the server, where that has few different values.
fn target<'a>(method: &str, params: &'a Params) -> Option<(&'static str, &'a str)> {
    let note = match method {
        "tools/call" => "gen_ai.tool.name",
        "prompts/get" => "gen_ai.prompt.name",
        _ => return None,
    };
    Some((note, params.name()?))
}

fn error(fault: &Fault) -> Cow<'static, str> {
    let kind = match fault {
        Fault::Refused { code, .. } => return code.to_string().into(),
        Fault::Http { status, .. } => return status.to_string().into(),
        Fault::Unauthorized { .. } => return "unauthorized".into(),
        Fault::Unreadable(_) => return "invalid_response".into(),
        Fault::Unreachable { .. } | Fault::Busy(_) => ErrorKind::Unavailable,
        Fault::Broken { .. } => ErrorKind::Network,
        Fault::TooLong(..) => ErrorKind::Timeout,
        Fault::Cancelled | Fault::Withdrawn | Fault::Moved => ErrorKind::Cancelled,
    };
    kind.as_str().into()
}
