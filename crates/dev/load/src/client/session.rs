//! One MCP client on a connection of its own.

use std::fmt::Write as _;
use std::time::Duration;

use super::connection::{ClientConnection, ClientReply};
use crate::LoadError;

/// Which protocol a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientEra {
    /// 2026-07-28: each request for itself.
    Modern,
    /// 2025-11-25: within a session.
    Legacy,
}

impl ClientEra {
    pub fn revision(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }
}

/// A server.
#[derive(Debug, Clone)]
pub struct LoadTarget {
    /// `host:port`.
    pub address: String,
    pub token: Option<String>,
}

/// A call, and what its answer must hold.
#[derive(Debug, Clone)]
pub struct LoadCall {
    pub tool: String,
    /// As JSON.
    pub arguments: String,
    pub expected: String,
}

impl LoadCall {
    /// Tells a tool a text, which its answer repeats.
    pub fn echo(tool: &str) -> Self {
        let arguments = r#"{"text":"hello, echo"}"#.to_owned();
        Self { tool: tool.to_owned(), arguments, expected: "hello, echo".to_owned() }
    }
}

/// What a request of the stateless revision says of its client.
const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#,
);

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A client that has greeted its server.
pub struct LoadSession {
    line: ClientConnection,
    target: LoadTarget,
    era: ClientEra,
    /// What a request says in its head besides.
    fixed: String,
    count: u64,
}

impl LoadSession {
    pub async fn open(target: &LoadTarget, era: ClientEra) -> Result<Self, LoadError> {
        let line = ClientConnection::open(&target.address).await?;
        let mut session =
            Self { line, target: target.clone(), era, fixed: String::new(), count: 0 };
        if let Some(token) = &target.token {
            write!(session.fixed, "Authorization: Bearer {token}\r\n")?;
        }
        if era == ClientEra::Legacy {
            session.greet().await?;
        }
        write!(session.fixed, "MCP-Protocol-Version: {}\r\n", era.revision())?;
        Ok(session)
    }

    async fn greet(&mut self) -> Result<(), LoadError> {
        let params = format!(
            r#""protocolVersion":"{}","capabilities":{{}},"clientInfo":{{"name":"load","version":"1"}}"#,
            self.era.revision()
        );
        let reply = self.request("initialize", "", &params).await?;
        let session = reply.session.ok_or("the server began no session")?;
        write!(self.fixed, "Mcp-Session-Id: {session}\r\n")?;
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let named = format!("MCP-Protocol-Version: {}\r\n", self.era.revision());
        let reply = self.post(&named, ready).await?;
        if reply.status != 202 {
            return Err(format!("the server says {} to our greeting", reply.status).into());
        }
        Ok(())
    }

    /// Calls a tool, and looks whether the answer is the right one.
    pub async fn call(&mut self, ask: &LoadCall) -> Result<(), LoadError> {
        let params = format!(r#""name":"{}","arguments":{}"#, ask.tool, ask.arguments);
        let reply = self.request("tools/call", &ask.tool, &params).await?;
        let body = String::from_utf8_lossy(&reply.body);
        let is_right = reply.status == 200
            && body.contains(&ask.expected)
            && body.contains(r#""result":"#)
            && !body.contains(r#""isError":true"#);
        if is_right {
            return Ok(());
        }
        let told: String = body.chars().take(400).collect();
        Err(format!("`{}` is answered with {}: {told}", ask.tool, reply.status).into())
    }

    /// Lists the tools to the last page, and counts them.
    pub async fn list(&mut self) -> Result<usize, LoadError> {
        let mut count = 0;
        let mut cursor = None;
        loop {
            let params = cursor.map(|cursor| format!(r#""cursor":{cursor}"#)).unwrap_or_default();
            let reply = self.request("tools/list", "", &params).await?;
            let body = String::from_utf8_lossy(&reply.body);
            count += body.matches(r#""inputSchema":"#).count();
            let next = body.split_once(r#""nextCursor":"#).map(|(_, rest)| rest);
            let Some(next) = next.and_then(|rest| rest.split([',', '}']).next()) else {
                return Ok(count);
            };
            cursor = Some(next.to_owned());
        }
    }

    /// Ends the session, where there is one.
    pub async fn end(mut self) -> Result<(), LoadError> {
        if self.era == ClientEra::Legacy {
            let Self { line, target, fixed, .. } = &mut self;
            let request =
                format!("DELETE /mcp HTTP/1.1\r\nHost: {}\r\n{fixed}\r\n", target.address);
            tokio::time::timeout(PATIENCE, line.ask(request.as_bytes())).await??;
        }
        Ok(())
    }

    /// `params`: without the braces around them.
    async fn request(
        &mut self,
        method: &str,
        name: &str,
        params: &str,
    ) -> Result<ClientReply, LoadError> {
        self.count += 1;
        let meta = if self.era == ClientEra::Modern { META } else { "" };
        let comma = if meta.is_empty() || params.is_empty() { "" } else { "," };
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{{{params}{comma}{meta}}}}}"#,
            self.count
        );
        let mut named = String::new();
        if self.era == ClientEra::Modern {
            write!(named, "Mcp-Method: {method}\r\n")?;
            if !name.is_empty() {
                write!(named, "Mcp-Name: {name}\r\n")?;
            }
        }
        self.post(&named, &body).await
    }

    async fn post(&mut self, named: &str, body: &str) -> Result<ClientReply, LoadError> {
        let Self { line, target, fixed, .. } = self;
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{fixed}{named}\
             Content-Length: {}\r\n\r\n{body}",
            target.address,
            body.len(),
        );
        tokio::time::timeout(PATIENCE, line.ask(request.as_bytes())).await?
    }
}
