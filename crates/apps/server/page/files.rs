// Made by `cargo xtask web`.
static FILES: &[PageFile] = &[
    PageFile {
        name: "",
        kind: "text/html; charset=utf-8",
        plain: include_bytes!("index.html"),
        brotli: Some(include_bytes!("index.html.br")),
    },
    PageFile {
        name: "Changes-Bi1MTEdD.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Changes-Bi1MTEdD.js"),
        brotli: Some(include_bytes!("assets/Changes-Bi1MTEdD.js.br")),
    },
    PageFile {
        name: "Conversations-YN6yw5az.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Conversations-YN6yw5az.js"),
        brotli: Some(include_bytes!("assets/Conversations-YN6yw5az.js.br")),
    },
    PageFile {
        name: "Copy-DwL7o4f1.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Copy-DwL7o4f1.js"),
        brotli: Some(include_bytes!("assets/Copy-DwL7o4f1.js.br")),
    },
    PageFile {
        name: "Pairing-CZ690xeu.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Pairing-CZ690xeu.js"),
        brotli: Some(include_bytes!("assets/Pairing-CZ690xeu.js.br")),
    },
    PageFile {
        name: "Plan-BrCL8yO_.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Plan-BrCL8yO_.js"),
        brotli: Some(include_bytes!("assets/Plan-BrCL8yO_.js.br")),
    },
    PageFile {
        name: "Profiles-cPhlQ-3w.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Profiles-cPhlQ-3w.js"),
        brotli: Some(include_bytes!("assets/Profiles-cPhlQ-3w.js.br")),
    },
    PageFile {
        name: "Sources-DDBSUvwT.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Sources-DDBSUvwT.js"),
        brotli: Some(include_bytes!("assets/Sources-DDBSUvwT.js.br")),
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
        name: "index-BuozdU-o.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/index-BuozdU-o.js"),
        brotli: Some(include_bytes!("assets/index-BuozdU-o.js.br")),
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
