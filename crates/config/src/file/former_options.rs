//! The options that became constants, each with its value and the reason: one that nobody could
//! say a use for is one less to read about.

/// An option that the file had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormerOption {
    /// The keys that led to it.
    pub path: &'static str,
    /// What always holds, as the file would say it.
    pub value: &'static str,
    /// Why nobody needs another value.
    pub reason: &'static str,
}

const fn former(path: &'static str, value: &'static str, reason: &'static str) -> FormerOption {
    FormerOption { path, value, reason }
}

/// All of them.
pub static FORMER_OPTIONS: &[FormerOption] = &[
    former(
        "server.limits.depth",
        "64",
        "nobody writes JSON as deep, and what reads it calls itself for each level",
    ),
    former("server.limits.values", "200000", "a body of the usual size has fewer"),
    former("server.limits.head", "32KiB", "a token and what several proxies add fit in it"),
    former("server.limits.headers", "100", "clients and proxies together send far fewer"),
    former("server.limits.body_pause", "15s", "`body_time` bounds the whole body"),
    former("server.limits.sessions_per_caller", "a quarter of `sessions`", "others need some too"),
    former(
        "server.limits.session_life",
        "5m",
        "a client that is there asks again sooner, and one that comes back begins a new one",
    ),
    former(
        "server.limits.waiting",
        "1000",
        "`patience` says how long each waits, and one tenant has a quarter of them",
    ),
    former(
        "server.limits.tasks",
        "1000",
        "each is a call that runs or was answered, and one tenant has a quarter of them",
    ),
    former("server.limits.task_life", "30m", "a client that wants its task asks about it sooner"),
    former("server.issuer.document", "256KiB", "it holds a hundred keys with their certificates"),
    former(
        "source.mcp.list_timeout",
        "the `timeout` of the source",
        "both said how long a list may take",
    ),
    former(
        "source.mcp.oauth.document",
        "64KiB",
        "what an authorization server says of itself is far smaller",
    ),
    former("source.mcp.limits.depth", "64", "what reads a message calls itself for each level"),
    former("source.mcp.limits.pages", "64", "`entries` says how much a list may hold"),
    former("source.mcp.limits.definition", "512KiB", "it holds a schema of the largest size"),
    former("source.mcp.limits.restarts", "5", "what ended so often will end again"),
    former(
        "source.mcp.limits.restarts_within",
        "1m",
        "a program that ran for as long is healthy again",
    ),
    former("source.mcp.limits.first_pause", "500ms", "the pause doubles with each end"),
    former("source.mcp.limits.longest_pause", "1m", "a program that was mended is found soon then"),
    former("source.mcp.limits.stderr", "1MiB", "people read its last lines"),
    former("source.openapi.limits.token", "256KiB", "the answer of a token server is far smaller"),
    former(
        "source.openapi.limits.unpack",
        "100",
        "texts pack less well, and what packs better is made to fill memory",
    ),
    former("source.a2a.idle", "1m", "a task that is looked up too early loses nothing"),
    former("source.a2a.limits.card", "1MiB", "a card is far smaller"),
    former("source.a2a.limits.stream", "64MiB", "`answer` says how much of a stream may be kept"),
    former(
        "limits.per_batch",
        "128",
        "`max_calls`, `per_source` and `per_tenant` bound what runs at the same time",
    ),
    former("limits.queue_length", "2048", "`queue` says how long a call waits"),
    former("limits.grace", "500ms", "a tool that heeds its end answers at once"),
    former("limits.late", "30s", "an answer that is later hardly comes at all"),
    former(
        "limits.backoff",
        "100ms",
        "it doubles with each attempt, and `retries` says how many there are",
    ),
    former(
        "limits.tickets",
        "10000",
        "`tickets_per_tenant` bounds them, and nobody decides about more",
    ),
    former(
        "limits.ticket_bytes",
        "16MiB",
        "it fits what one tenant has waiting, and all of it is kept in memory",
    ),
    former("limits.questions", "256", "each holds the place of a call that runs"),
    former(
        "limits.questions_per_tenant",
        "32",
        "each holds the place of a call that runs, and others need places too",
    ),
    former("limits.arguments", "4MiB", "no model writes as much in one call"),
    former(
        "limits.depth",
        "64",
        "no model writes deeper, and what reads it calls itself for each level",
    ),
    former("limits.values", "200000", "no model writes as many in one call"),
    former(
        "limits.name",
        "128",
        "no tool may have a longer one anyway, and each model API gets names that it takes",
    ),
    former("limits.schema.size", "256KiB", "a larger one would fill what a model reads"),
    former("limits.schema.depth", "32", "what compiles a schema calls itself for each level"),
    former("limits.schema.subschemas", "2000", "a schema of more would fill what a model reads"),
    former(
        "limits.schema.unfold",
        "20000",
        "a schema beyond it takes too long to hold anything against",
    ),
    former("limits.schema.pattern", "1024", "a longer pattern is left to the tool"),
    former("limits.schema.patterns", "32", "further patterns are left to the tool"),
    former(
        "limits.schema.steps",
        "1000000",
        "it is 10 to 20 ms of a processor, which all callers share",
    ),
];
