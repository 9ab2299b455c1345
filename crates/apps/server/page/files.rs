// Made by `cargo xtask web`.
static FILES: &[PageFile] = &[
    PageFile {
        name: "",
        kind: "text/html; charset=utf-8",
        plain: include_bytes!("index.html"),
        brotli: Some(include_bytes!("index.html.br")),
    },
    PageFile {
        name: "icon-BEhuqOmr.svg",
        kind: "image/svg+xml",
        plain: include_bytes!("assets/icon-BEhuqOmr.svg"),
        brotli: Some(include_bytes!("assets/icon-BEhuqOmr.svg.br")),
    },
    PageFile {
        name: "index-DFQU5OWW.js",
        kind: "text/javascript; charset=utf-8",
        plain: include_bytes!("assets/index-DFQU5OWW.js"),
        brotli: Some(include_bytes!("assets/index-DFQU5OWW.js.br")),
    },
    PageFile {
        name: "inter-latin-wght-normal-Dx4kXJAl.woff2",
        kind: "font/woff2",
        plain: include_bytes!("assets/inter-latin-wght-normal-Dx4kXJAl.woff2"),
        brotli: None,
    },
    PageFile {
        name: "style-KUbwCSWd.css",
        kind: "text/css; charset=utf-8",
        plain: include_bytes!("assets/style-KUbwCSWd.css"),
        brotli: Some(include_bytes!("assets/style-KUbwCSWd.css.br")),
    },
];
