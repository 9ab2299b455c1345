// Made by `cargo xtask web`.
static FILES: &[PageFile] = &[
    PageFile {
        name: "",
        kind: "text/html; charset=utf-8",
        plain: include_bytes!("index.html"),
        brotli: Some(include_bytes!("index.html.br")),
    },
    PageFile {
        name: "Changes-Ca2Mj7L1.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Changes-Ca2Mj7L1.js"),
        brotli: Some(include_bytes!("assets/Changes-Ca2Mj7L1.js.br")),
    },
    PageFile {
        name: "Conversations-CNsVxjKa.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Conversations-CNsVxjKa.js"),
        brotli: Some(include_bytes!("assets/Conversations-CNsVxjKa.js.br")),
    },
    PageFile {
        name: "Copy-DwL7o4f1.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Copy-DwL7o4f1.js"),
        brotli: Some(include_bytes!("assets/Copy-DwL7o4f1.js.br")),
    },
    PageFile {
        name: "Pairing-C2xP9e96.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Pairing-C2xP9e96.js"),
        brotli: Some(include_bytes!("assets/Pairing-C2xP9e96.js.br")),
    },
    PageFile {
        name: "Plan-s1sMpDZG.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Plan-s1sMpDZG.js"),
        brotli: Some(include_bytes!("assets/Plan-s1sMpDZG.js.br")),
    },
    PageFile {
        name: "Profiles-_-KS7nWo.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Profiles-_-KS7nWo.js"),
        brotli: Some(include_bytes!("assets/Profiles-_-KS7nWo.js.br")),
    },
    PageFile {
        name: "Sources-C-lp4XN-.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Sources-C-lp4XN-.js"),
        brotli: Some(include_bytes!("assets/Sources-C-lp4XN-.js.br")),
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
        name: "index-BJfR_yj7.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/index-BJfR_yj7.js"),
        brotli: Some(include_bytes!("assets/index-BJfR_yj7.js.br")),
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
