//! A request as a span, by the conventions of OpenTelemetry for clients of HTTP.
//!
//! What they have and is not told here is the address of the request (`url.full`): it holds
//! arguments, and may hold credentials.

use http::Method;
use toolcrib_core::{CallContext, OutboundSpan, ToolError};
use url::Url;

use crate::operation::{ApiOperation, PathPiece};
use crate::response::ApiResponse;

pub(super) fn begin(
    operation: &ApiOperation,
    (method, url): (&Method, &Url),
    context: &CallContext,
) -> OutboundSpan {
    let mut outbound = context.outbound_span(|| match template(operation) {
        Some(template) => format!("{method} {template}"),
        None => method.to_string(),
    });
    outbound.notes(|| {
        let method = ("http.request.method", method.as_str().into());
        let template = template(operation).map(|template| ("url.template", template.into()));
        // An address of IPv6 stands in brackets in a URL alone.
        let host = url.host_str().map(|host| host.trim_matches(['[', ']']));
        let host = host.map(|host| ("server.address", host.into()));
        let port = url.port_or_known_default().map(|port| ("server.port", port.into()));
        [method].into_iter().chain(template).chain(host).chain(port)
    });
    outbound
}

pub(super) fn end(mut outbound: OutboundSpan, answered: &Result<ApiResponse, ToolError>) {
    if let Ok(answer) = answered {
        outbound.notes(|| [("http.response.status_code", answer.status.as_u16().into())]);
    }
    outbound.ends(|| match answered {
        Ok(answer) if answer.status.is_client_error() || answer.status.is_server_error() => {
            Some(answer.status.as_str().to_owned().into())
        }
        Ok(_) => None,
        Err(error) => Some(error.kind.as_str().into()),
    });
}

/// The path as it stands in the document: `/pets/{id}`. `None`: the document has none for it, and
/// whoever calls says it.
fn template(operation: &ApiOperation) -> Option<String> {
    let mut template = String::new();
    for segment in &operation.path {
        template.push('/');
        for piece in &segment.0 {
            match piece {
                PathPiece::Text(text) => template.push_str(text),
                PathPiece::Parameter(name) => template.extend(["{", name.as_str(), "}"]),
            }
        }
    }
    (!template.is_empty()).then_some(template)
}
