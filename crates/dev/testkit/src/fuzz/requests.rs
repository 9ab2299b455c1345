//! Requests that arguments ask for.

/// Styles by the bytes of the first line, and arguments as JSON on the others: whatever they are,
/// the request has the host, the method, the path and the names that the document has.
pub fn openapi_request(data: &[u8]) {
    toolcrib_openapi::invariants::request(data);
}
