//! Messages of MCP as strangers may write them.

/// What a client sends to the door and what a server answers: the short way in reads nothing else
/// than the long one would, and a page of a list is a message like others.
pub fn mcp_messages(data: &[u8]) {
    toolcrib_mcp::fuzz::request(data);
    toolcrib_mcp::fuzz::answer(data);
}
