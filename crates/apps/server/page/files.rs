// Made by `cargo xtask web`.
static FILES: &[PageFile] = &[
    PageFile {
        name: "",
        kind: "text/html; charset=utf-8",
        plain: include_bytes!("index.html"),
        brotli: Some(include_bytes!("index.html.br")),
    },
    PageFile {
        name: "Changes-8bYsJnEC.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Changes-8bYsJnEC.js"),
        brotli: Some(include_bytes!("assets/Changes-8bYsJnEC.js.br")),
    },
    PageFile {
        name: "Conversations-CEIVMRWo.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Conversations-CEIVMRWo.js"),
        brotli: Some(include_bytes!("assets/Conversations-CEIVMRWo.js.br")),
    },
    PageFile {
        name: "Copy-DwL7o4f1.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Copy-DwL7o4f1.js"),
        brotli: Some(include_bytes!("assets/Copy-DwL7o4f1.js.br")),
    },
    PageFile {
        name: "Pairing-CDTrAWPd.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Pairing-CDTrAWPd.js"),
        brotli: Some(include_bytes!("assets/Pairing-CDTrAWPd.js.br")),
    },
    PageFile {
        name: "Plan-CzAWpaEG.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Plan-CzAWpaEG.js"),
        brotli: Some(include_bytes!("assets/Plan-CzAWpaEG.js.br")),
    },
    PageFile {
        name: "Profiles-t_BVVNSQ.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Profiles-t_BVVNSQ.js"),
        brotli: Some(include_bytes!("assets/Profiles-t_BVVNSQ.js.br")),
    },
    PageFile {
        name: "Sources-CQILYW6d.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Sources-CQILYW6d.js"),
        brotli: Some(include_bytes!("assets/Sources-CQILYW6d.js.br")),
    },
    PageFile {
        name: "Trouble-CYZndapR.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Trouble-CYZndapR.js"),
        brotli: Some(include_bytes!("assets/Trouble-CYZndapR.js.br")),
    },
    PageFile {
        name: "icon-BEhuqOmr.svg",
        kind: "image/svg+xml",
        plain: include_bytes!("assets/icon-BEhuqOmr.svg"),
        brotli: Some(include_bytes!("assets/icon-BEhuqOmr.svg.br")),
    },
    PageFile {
        name: "index-DMKWlggT.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/index-DMKWlggT.js"),
        brotli: Some(include_bytes!("assets/index-DMKWlggT.js.br")),
    },
    PageFile {
        name: "inter-latin-wght-normal-Dx4kXJAl.woff2",
        kind: "font/woff2",
        plain: include_bytes!("assets/inter-latin-wght-normal-Dx4kXJAl.woff2"),
        brotli: None,
    },
    PageFile {
        name: "session.svelte-CH55MibS.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/session.svelte-CH55MibS.js"),
        brotli: Some(include_bytes!("assets/session.svelte-CH55MibS.js.br")),
    },
    PageFile {
        name: "style-CCkwrITq.css",
        kind: "text/css; charset=utf-8",
        plain: include_bytes!("assets/style-CCkwrITq.css"),
        brotli: Some(include_bytes!("assets/style-CCkwrITq.css.br")),
    },
];
