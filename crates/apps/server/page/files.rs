// Made by `cargo xtask web`.
static FILES: &[PageFile] = &[
    PageFile {
        name: "",
        kind: "text/html; charset=utf-8",
        plain: include_bytes!("index.html"),
        brotli: Some(include_bytes!("index.html.br")),
    },
    PageFile {
        name: "Copy-DK8KQ0e_.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Copy-DK8KQ0e_.js"),
        brotli: Some(include_bytes!("assets/Copy-DK8KQ0e_.js.br")),
    },
    PageFile {
        name: "Plan-6iGSyN8B.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Plan-6iGSyN8B.js"),
        brotli: Some(include_bytes!("assets/Plan-6iGSyN8B.js.br")),
    },
    PageFile {
        name: "Profiles-BB4F1K4e.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Profiles-BB4F1K4e.js"),
        brotli: Some(include_bytes!("assets/Profiles-BB4F1K4e.js.br")),
    },
    PageFile {
        name: "Sources-CnKanRuD.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/Sources-CnKanRuD.js"),
        brotli: Some(include_bytes!("assets/Sources-CnKanRuD.js.br")),
    },
    PageFile {
        name: "icon-BEhuqOmr.svg",
        kind: "image/svg+xml",
        plain: include_bytes!("assets/icon-BEhuqOmr.svg"),
        brotli: Some(include_bytes!("assets/icon-BEhuqOmr.svg.br")),
    },
    PageFile {
        name: "index-CpHdb8xu.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/index-CpHdb8xu.js"),
        brotli: Some(include_bytes!("assets/index-CpHdb8xu.js.br")),
    },
    PageFile {
        name: "inter-latin-wght-normal-Dx4kXJAl.woff2",
        kind: "font/woff2",
        plain: include_bytes!("assets/inter-latin-wght-normal-Dx4kXJAl.woff2"),
        brotli: None,
    },
    PageFile {
        name: "style-BJrTYq4-.css",
        kind: "text/css; charset=utf-8",
        plain: include_bytes!("assets/style-BJrTYq4-.css"),
        brotli: Some(include_bytes!("assets/style-BJrTYq4-.css.br")),
    },
];
