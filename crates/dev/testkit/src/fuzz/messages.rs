//! Messages of MCP as strangers may write them.

/// What a client sends to the door and what a server answers: the short way in reads nothing else
/// than the long one would, and a page of a list is a message like others.
pub fn mcp_messages(data: &[u8]) {
    toolcrib_mcp::fuzz::request(data);
    toolcrib_mcp::fuzz::answer(data);
}

/// A card or a stream of events of a remote agent, by the word of the first line. Nothing of it
/// breaks its reader, leads to a place that is not public, or is kept beyond its bounds.
pub fn a2a_agent(data: &[u8]) {
    toolcrib_a2a_client::invariants::agent(data);
}

/// What a client of an agent sends, over JSON-RPC and by paths, in both versions.
pub fn a2a_request(data: &[u8]) {
    toolcrib_a2a_server::invariants::request(data);
}
